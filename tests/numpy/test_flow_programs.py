"""Programs with control flow that data decide, views and writing in place give what numpy gives, or are refused."""

from __future__ import annotations

import linecache
import os
import warnings
from typing import Any

import numpy as np

import onnxsmith
import onnxsmith.numpy as xp
from onnxsmith import optimize, script
from onnxsmith.errors import OnnxsmithError
from tests.numpy import flow_programs

#: How many programs are asked; more by hand.
_COUNT = int(os.environ.get("ONNXSMITH_PROGRAMS", "150"))
_FIRST = int(os.environ.get("ONNXSMITH_FIRST_PROGRAM", "0"))
#: The types of parameters; complex numbers come as their parts.
_KINDS = {"float64": "DOUBLE", "float32": "FLOAT", "int64": "INT64", "complex128": "DOUBLE"}


def load(source: str, name: str, names: dict[str, Any]) -> Any:
    """A function of a source, which can be read again."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), names)
    return names["program"]


def elements(dtype: str, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Small whole numbers, which all element types add without rounding."""
    rng = np.random.default_rng(seed)
    given = rng.integers(-3, 7, size)
    return (
        (given + 1j * rng.integers(-3, 7, size)).astype(dtype)
        if dtype == "complex128"
        else given.astype(dtype)
    )


def as_fed(given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array as models take it: complex numbers with a last dimension of 2."""
    return np.stack([given.real, given.imag], -1) if given.dtype.kind == "c" else given


def of_numpy(source: str, dtype: str) -> Any:
    """The program as numpy runs it."""
    text = source.replace("{parameters}", "x, k").replace("{given}", "x.copy()")
    return load(text, f"<flow of numpy {abs(hash(text))}>", {"m": np})


def of_ours(source: str, dtype: str) -> Any:
    """The program as a model with open sizes."""
    is_complex = dtype == "complex128"
    kind = _KINDS[dtype]
    shape = '["N", 2]' if is_complex else '["N"]'
    text = source.replace("{parameters}", f"x: {kind}{shape}, k: INT64[2]")
    text = text.replace("{given}", f"m.asarray(x, dtype='{dtype}', copy=True)\n    k = m.asarray(k)")
    names = {"m": xp, **{each: getattr(onnxsmith, each) for each in (kind, "INT64")}}
    made: Any = script(load(text, f"<flow {abs(hash(text))}>", names))
    return made.to_model()


def check(seed: int, *, is_optimised: bool = False) -> bool:
    """Compare a program with numpy, as it is recorded or as `xp.jit` runs it; False where it is refused."""
    source, dtype = flow_programs.make(seed)
    try:
        model = of_ours(source, dtype)
    except OnnxsmithError:
        return False
    if is_optimised:
        model = optimize(model, opset="keep")
    reference = of_numpy(source, dtype)
    for size, each in flow_programs.inputs(seed):
        x, k = elements(dtype, size, each), np.random.default_rng(each).integers(-1, 4, 2)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = reference(x, k)
        except Exception:  # numpy has a class for each reason, and any means that it refuses
            continue
        got = model(as_fed(x), k)
        for name, ours, theirs in zip(flow_programs.RESULTS, got, wanted, strict=True):
            if name == "out" and not np.size(theirs):
                assert not np.size(ours)  # of no elements numpy knows no type
                continue
            np.testing.assert_allclose(
                ours,
                as_fed(np.asarray(theirs)),
                rtol=1e-5,
                err_msg=f"{name} of seed {seed} for {x}, {k}\n{source}",
            )
    return True


def test_programs_with_control_flow_give_what_numpy_gives_or_are_refused() -> None:
    done = sum(check(seed, is_optimised=seed % 3 == 0) for seed in range(_FIRST, _FIRST + _COUNT))
    assert done > _COUNT / 3, f"{_COUNT - done} of {_COUNT} programs are refused"

"""The law of agreement: what one part of the package calls equal, all call equal, on arrays that differ in one way.

Each user of the comparison is asked by the function of its own that compares results, with the same tolerance. The law
is broken where two users differ, or one of them from a definition in plain Python.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import ml_dtypes
import numpy as np

from onnxsmith import DOUBLE
from onnxsmith.comparing.outputs import value_difference
from onnxsmith.errors import VerificationError
from onnxsmith.graphs.agreement import CONVERTED, EXACT, FLOAT16, FLOAT32, Tolerance, compare
from onnxsmith.passes import verifying as passes_verifying
from onnxsmith.scripting.dialects.numpy import verifying as numpy_verifying
from onnxsmith.scripting.dialects.numpy.reports import ModelReport
from onnxsmith.sklearn import verifying as sklearn_verifying
from tests.laws.named import Law, Verdict

Array = np.ndarray[Any, Any]
#: Parts of an element, or of an array, that is off.
_OFF = (0.0, 1e-15, 1e-12, 1e-7, 5e-6, 5e-5, 2e-4, 3e-3, 2e-2, 0.3, 2.0)
_SCALES = (1.0, 1e-6, 1e-9, 1e5, 1e30)
_TOLERANCES = {
    "exact": EXACT,
    "converted": CONVERTED,
    "float32": FLOAT32,
    "float16": FLOAT16,
    "part": Tolerance.part(1e-3),
}
_KINDS: tuple[Any, ...] = (
    np.float64,
    np.float32,
    np.float16,
    ml_dtypes.bfloat16,
    np.complex64,
    np.complex128,
    np.int64,
    np.uint8,
    np.bool_,
    object,
)


# -- pairs that differ in one way ------------------------------------------------------------------------


def pairs(seed: int) -> Iterator[tuple[str, Array, Array]]:
    """What differs, the array that is wanted, and another."""
    rng = np.random.default_rng(seed)
    while True:
        kind = _KINDS[rng.integers(len(_KINDS))]
        wanted = _drawn(rng, kind)
        name, change = _CHANGES[rng.integers(len(_CHANGES))]
        with np.errstate(all="ignore"):
            got = change(rng, wanted.copy())
        if got is not None:
            yield f"{np.dtype(kind)}, {name}", wanted, got


def _drawn(rng: np.random.Generator, kind: Any) -> Array:
    size = int(rng.integers(1, 6))
    if kind is object:
        return np.array(rng.choice(["", "a", "b", "é", "nan"], size).tolist(), object)
    if np.dtype(kind).kind in "iub":
        return rng.integers(0, 2 if kind is np.bool_ else 100, size).astype(kind)
    made = rng.normal(0, 1, size) * _SCALES[rng.integers(len(_SCALES))]
    if np.dtype(kind).kind == "c":
        made = made + 1j * rng.normal(0, 1, size)
    with np.errstate(all="ignore"):
        made = made.astype(kind)
    if rng.random() < 0.2:
        made[rng.integers(size)] = np.inf
    return made


def _is_real(array: Array) -> bool:
    return array.dtype.kind in "fcV"


def _one_off(rng: np.random.Generator, array: Array) -> Array | None:
    if not _is_real(array):
        return None
    array[rng.integers(len(array))] *= np.asarray(1 + _OFF[rng.integers(len(_OFF))]).astype(array.dtype)
    return array


def _all_off(rng: np.random.Generator, array: Array) -> Array | None:
    factor = np.asarray(1 + _OFF[rng.integers(len(_OFF))])
    return (array * factor.astype(array.dtype)).astype(array.dtype) if _is_real(array) else None


def _to_zero(rng: np.random.Generator, array: Array) -> Array | None:
    return np.zeros_like(array) if _is_real(array) else None


def _other_sign(rng: np.random.Generator, array: Array) -> Array | None:
    if not _is_real(array):
        return None
    array[rng.integers(len(array))] *= np.asarray(-1.0).astype(array.dtype)
    return array


def _special(rng: np.random.Generator, array: Array) -> Array | None:
    if not _is_real(array):
        return None
    array[rng.integers(len(array))] = (np.nan, np.inf, -np.inf, 0.0, -0.0)[rng.integers(5)]
    return array


def _one_more(rng: np.random.Generator, array: Array) -> Array | None:
    if array.dtype.kind not in "iub":
        return None
    place = rng.integers(len(array))
    array[place] = not array[place] if array.dtype.kind == "b" else array[place] + 1
    return array


def _other_text(rng: np.random.Generator, array: Array) -> Array | None:
    if array.dtype != object:
        return None
    array[rng.integers(len(array))] += "x"
    return array


def _small_beside_large(rng: np.random.Generator, array: Array) -> Array | None:
    if not _is_real(array) or len(array) < 2:
        return None
    far = _OFF[rng.integers(len(_OFF))] * float(np.abs(array[:1].astype(np.complex128))[0])
    array[-1] += np.asarray(far).astype(array.dtype)
    return array


def _other_shape(rng: np.random.Generator, array: Array) -> Array | None:
    return array[:-1] if rng.random() < 0.1 else None


def _nothing(rng: np.random.Generator, array: Array) -> Array | None:
    return array if rng.random() < 0.3 else None


_CHANGES: list[tuple[str, Callable[[np.random.Generator, Array], Array | None]]] = [
    ("one element off", _one_off),
    ("all elements off", _all_off),
    ("all elements 0", _to_zero),
    ("another sign", _other_sign),
    ("NaN, an infinity or 0", _special),
    ("one more", _one_more),
    ("another text", _other_text),
    ("off by a part of another element", _small_beside_large),
    ("another shape", _other_shape),
    ("nothing", _nothing),
]


# -- the definition, in plain Python -----------------------------------------------------------------------


def is_equal(wanted: Array, got: Array, tolerance: Tolerance) -> bool:
    """Two arrays element by element."""
    if wanted.shape != got.shape:
        return False
    ones, twos = wanted.tolist(), got.tolist()
    if not _is_real(wanted):
        return ones == twos
    values = [(complex(one), complex(two)) for one, two in zip(ones, twos, strict=True)]
    sizes = [abs(one) if _is_finite(one) else 0.0 for one, _ in values]
    own, of_largest = tolerance.parts(wanted)
    tiny = 2.0**-1022 if wanted.dtype in (np.dtype(np.float64), np.dtype(np.complex128)) else 2.0**-126
    for (one, two), size in zip(values, sizes, strict=True):
        if _is_finite(one) and _is_finite(two):
            allowed = max(own * size, of_largest * _scale(size, sizes), tiny)
            if abs(one - two) > allowed:
                return False
        elif one != two and not (one != one and two != two):
            return False
    return True


def _is_finite(number: complex) -> bool:
    return math.isfinite(number.real) and math.isfinite(number.imag)


def _scale(size: float, sizes: list[float]) -> float:
    largest = max(sizes)
    rest = [each for each in sizes if each < largest / 4]
    is_mask = 1e4 <= largest < math.inf and 0 < max(rest, default=0.0) <= largest / 1000
    return max(rest) if is_mask and size in rest else largest


# -- the users ---------------------------------------------------------------------------------------------


def _passes(wanted: Array, got: Array) -> bool:
    model: Any = SimpleNamespace(outputs=[SimpleNamespace(name="y")])
    return passes_verifying._difference(model, [wanted], [got]) is None


def _comparing(wanted: Array, got: Array, tolerance: Tolerance) -> bool:
    return value_difference(wanted, got, tolerance) is None


@functools.cache
def _numpy_verification() -> Any:
    made: list[Any] = []
    original = numpy_verifying.Verification.run

    def run(self: Any, data: Any) -> Any:
        made.append(self)
        return original(self, data)

    numpy_verifying.Verification.run = run  # type: ignore[method-assign]
    try:
        from onnxsmith.numpy import to_model

        to_model(_same, DOUBLE["N"])
    finally:
        numpy_verifying.Verification.run = original  # type: ignore[method-assign]
    return made[0]


def _same(x: Any) -> Any:
    return x + 0.0


def _numpy(wanted: Array, got: Array, tolerance: Tolerance) -> bool:
    verification = _numpy_verification()
    verification._tolerance = tolerance
    try:
        example = numpy_verifying.Example("drawn", {}, [np.ones(1)])
        verification._compared(example, "y", got, wanted, ModelReport())
    except VerificationError:
        return False
    return True


def _sklearn(wanted: Array, got: Array, tolerance: Tolerance) -> bool:
    try:
        sklearn_verifying._check(cast(Any, object()), "drawn", "transform", got, wanted, tolerance, 0.0)
    except VerificationError:
        return False
    return True


@functools.cache
def _torch_verification() -> Any:
    import torch

    import onnxsmith.torch
    from onnxsmith.torch import verifying

    made: list[Any] = []
    original = verifying.Verification.run

    def run(self: Any, report: Any) -> Any:
        made.append(self)
        return original(self, report)

    class Same(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 0.0

    verifying.Verification.run = run  # type: ignore[method-assign]
    try:
        onnxsmith.torch.export(Same(), (torch.ones(2),), verify=True)
    finally:
        verifying.Verification.run = original  # type: ignore[method-assign]
    return made[0]


def _torch(wanted: Array, got: Array, tolerance: Tolerance) -> bool:
    import torch

    from onnxsmith.torch.resizing import Inputs

    verification = _torch_verification()
    bits = {"bfloat16": torch.bfloat16}.get(wanted.dtype.name)
    theirs = torch.from_numpy(wanted.view(np.int16)).view(bits) if bits else torch.from_numpy(wanted)
    verification.reference, verification._scales = (lambda *_: theirs), {}
    rows = verification.compared(lambda _: [got], Inputs("drawn", (torch.ones(2),), {}), tolerance)
    return all(each.is_close for each in rows)


def verdicts_of_users(wanted: Array, got: Array, name: str) -> dict[str, bool]:
    """Who calls two arrays equal."""
    tolerance = _TOLERANCES[name]
    found = {
        "agreement": compare(wanted, got, tolerance) is None,
        "definition": is_equal(wanted, got, tolerance),
        "sklearn": _sklearn(wanted, got, tolerance),
    }
    if name == "converted":
        found["passes"] = _passes(wanted, got)
    if name in ("converted", "part"):
        found["compare"] = _comparing(wanted, got, tolerance)
    if wanted.dtype.kind in "fiub":  # numpy code has no other types, and complex numbers as pairs
        found["numpy"] = _numpy(wanted, got, tolerance)
    if wanted.dtype.kind in "fiubV" and wanted.dtype != object:
        found["torch"] = _torch(wanted, got, tolerance)
    return found


def _verdicts(seed: int) -> Iterator[Verdict]:
    rng = np.random.default_rng(seed)
    names = list(_TOLERANCES)
    for text, wanted, got in pairs(seed):
        name = names[rng.integers(len(names))]
        found = verdicts_of_users(wanted, got, name)
        if len(set(found.values())) == 1:
            yield Verdict("equal")
        else:
            told = ", ".join(f"{who} {'equal' if each else 'different'}" for who, each in found.items())
            yield Verdict("wrong", f"{text}, tolerance {name}: {wanted!r} and {got!r}: {told}")


LAW = Law("what one part of the package calls equal, all call equal", 5000, _verdicts)

"""Every universal function computes what numpy's does, in every element type and on every kind of number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.numpy.refused import REFUSED
from onnxsmith.numpy.registry import UFUNCS
from tests.numpy.ufuncs.comparing import agrees, wider
from tests.numpy.ufuncs.drawing import Elements, joined, operands

assert xp.add  # the namespace is filled when a name is first asked for
ALL = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc))
#: Each function once, under its own name.
OWN = sorted({getattr(np, name).__name__ for name in ALL} & set(UFUNCS))
ELEMENTWISE = [name for name in OWN if getattr(np, name).signature is None]
#: Codes of element types that arrays have not, or have under another code.
FOREIGN = set("mMOgGqQ")


def test_every_function_of_numpy_is_there_or_refused_with_a_reason() -> None:
    assert set(ALL) == set(UFUNCS) & set(ALL) | set(REFUSED) & set(ALL)
    assert not set(UFUNCS) & set(REFUSED)
    assert all(REFUSED.values())
    assert len(set(ALL) & set(UFUNCS)) >= 95


@pytest.mark.parametrize("name", sorted(set(ALL) & set(UFUNCS)))
def test_a_function_under_another_name_is_the_same(name: str) -> None:
    assert getattr(xp, name) is getattr(xp, getattr(np, name).__name__)


@pytest.mark.parametrize("name", OWN)
def test_what_a_function_is(name: str) -> None:
    mine, theirs = getattr(xp, name), getattr(np, name)
    assert (mine.nin, mine.nout, mine.nargs) == (theirs.nin, theirs.nout, theirs.nargs)
    assert (mine.identity, mine.signature) == (theirs.identity, theirs.signature)
    assert set(mine.types) <= set(theirs.types)


def _tamed(name: str, inputs: list[Elements]) -> list[Elements]:
    """Without what numpy refuses, or gives a result of that hangs on the processor."""
    if name == "power" and inputs[1].dtype.kind == "i":
        inputs[1] = np.abs(np.maximum(inputs[1], -np.iinfo(inputs[1].dtype).max))
    if name == "ldexp":
        # Most exponents lead beyond all numbers.
        half = len(inputs[1]) // 2
        inputs[1] = np.concatenate([inputs[1][:half] % 300 - 150, inputs[1][half:]]).astype(inputs[1].dtype)
    if inputs[0].dtype.kind == "c":
        with np.errstate(invalid="ignore"):
            # Where products overflow before they are added, and where an angle has no digits left.
            limit = {"multiply": 1e18, "square": 1e18, "exp2": 1e4, "power": 1e4, "float_power": 1e4}.get(
                name
            )
            if limit is not None:
                limited = inputs[1:] if "power" in name else inputs
                keep = np.all([(np.abs(each) < limit) | ~np.isfinite(each) for each in limited], axis=0)
                inputs = [each[keep] for each in inputs]
    return inputs


def _reference(
    theirs: np.ufunc, inputs: list[Elements], wanted: tuple[Elements, ...]
) -> tuple[Elements, ...]:
    """The results with more digits; numpy's own where it has no such loop, or a worse one."""
    if theirs.__name__ == "log1p" and inputs[0].dtype.kind == "c":
        z = wider(inputs[0])
        x, y = np.real(z), np.imag(z)
        near = np.log1p(x * (x + 2) + y**2) / 2  # numpy's is log(|1 + z|)
        made = np.log1p(z)
        return (joined(np.where(np.abs(z) < 0.5, near, np.real(made)), np.imag(made), made.dtype),)
    found = theirs(*[wider(each) for each in inputs])
    many: tuple[Elements, ...] = found if isinstance(found, tuple) else (found,)
    return tuple(
        wide if wide.dtype.kind == each.dtype.kind else wider(each)
        for wide, each in zip(many, wanted, strict=True)
    )


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_loops(name: str) -> None:
    mine, theirs = getattr(xp, name), getattr(np, name)
    rng = np.random.default_rng(len(name))
    for loop in dict.fromkeys(theirs.types):
        if set(loop) & FOREIGN:
            continue
        inputs = _tamed(name, operands(loop.split("->")[0], rng))
        with np.errstate(all="ignore"):
            found = theirs(*inputs)
            wanted: tuple[Any, ...] = found if isinstance(found, tuple) else (found,)
            references = _reference(theirs, inputs, wanted)
        made = mine(*[xp.asarray(each) for each in inputs])
        results = [np.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]
        for got, want, wide in zip(results, wanted, references, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape), loop
            wrong = np.flatnonzero(~agrees(name, inputs, got, want, wide))[:5]
            shown = [(*[each[k] for each in inputs], got[k], want[k]) for k in wrong]
            assert not shown, f"{name} {loop}: {shown}"


@pytest.mark.parametrize("name", ["sin", "cos", "sinh", "cosh", "exp"])
def test_the_smallest_times_what_overflows(name: str) -> None:
    """A denormal number times a power of e beyond the largest number is neither lost nor infinite."""
    parts = np.array([5e-324, 1e-310, 878.0, -878.0, 720.0, 1400.0, 0.5])
    x = (parts[:, None] + 1j * parts).ravel()
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x)
    got = np.asarray(getattr(xp, name)(xp.asarray(x)))
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(got), part(wanted), rtol=1e-14)

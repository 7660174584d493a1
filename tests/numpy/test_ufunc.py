"""What `inspect.signature` shows of universal functions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.numpy.registry import UFUNCS
from onnxsmith.numpy.ufunc import Ufunc


def parameters(function: object) -> list[tuple[str, object]]:
    return [(each.name, each.kind) for each in inspect.signature(function).parameters.values()]  # type: ignore[arg-type]


def test_a_ufunc_shows_what_numpy_documents() -> None:
    assert str(inspect.signature(xp.add)) == (
        "(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None)"
    )
    assert str(inspect.signature(xp.modf)).startswith("(x, /, out=(None, None), *, where=True")


def test_a_product_has_axes_and_no_mask() -> None:
    shown = inspect.signature(xp.vecdot).parameters
    assert {"axis", "axes", "keepdims"} <= set(shown)
    assert "where" not in shown


@pytest.mark.parametrize("name", [each for each in dir(np) if isinstance(getattr(np, each), np.ufunc)])
def test_every_ufunc_takes_what_it_shows(name: str) -> None:
    ufunc = getattr(xp, name, None)
    if not isinstance(ufunc, Ufunc):  # refused by name, or a function of another kind here
        return
    options = {
        each.name: each.default
        for each in inspect.signature(ufunc).parameters.values()
        if each.kind is not inspect.Parameter.POSITIONAL_ONLY
    }
    inputs = [xp.ones((2, 2), dtype="bool" if name.startswith("logical") else "int64")] * ufunc.nin
    try:
        expected = ufunc(*inputs)
    except TypeError:
        inputs = [xp.ones((2, 2), dtype="float64")] * ufunc.nin
        if name == "ldexp":
            inputs[1] = xp.ones((2, 2), dtype="int32")
        expected = ufunc(*inputs)
    given = ufunc(*inputs, **options)
    np.testing.assert_equal(np.asarray(given), np.asarray(expected))


def test_the_class_has_a_signature_of_its_own() -> None:
    assert "real" in inspect.signature(Ufunc).parameters
    assert UFUNCS["add"] is xp.add

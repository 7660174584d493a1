"""Decorating and exporting stage a script once, unless something that it refers to has changed in between."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from onnxsmith.scripting.functions import export

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that are staged from now on."""
    names: list[str] = []
    real = export.stage

    def counting(definition: Any, *args: Any, **kwargs: Any) -> Any:
        names.append(definition.name)
        return real(definition, *args, **kwargs)

    monkeypatch.setattr(export, "stage", counting)
    return names


def scaled(weight: Array) -> Any:
    @script
    def scale(x: FLOAT["N", 40]) -> FLOAT["N", 40]:
        return op.Mul(x, weight)

    return scale


def held(model: Any) -> Array:
    (initializer,) = model.ir.graph.initializers.values()
    return initializer.const_value.numpy()


@pytest.mark.parametrize("rows", [1, 40], ids=["copied", "shared"])
def test_a_script_with_an_array_is_staged_once(rows: int, staged: list[str]) -> None:
    scale = scaled(np.ones((rows, 40), np.float32))
    scale.to_model()
    assert staged == ["scale"]


def _set_first(array: Array) -> None:
    array[0] = 7


def _set_a_nan(array: Array) -> None:
    array[0] = np.nan


def _negate_zero(array: Array) -> None:
    array[-1] = -0.0


def _reshape(array: Array) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy 2.5 still allows it
        array.shape = (40, 1)


@pytest.mark.parametrize("change", [_set_first, _set_a_nan, _negate_zero])
@pytest.mark.parametrize("rows", [1, 40], ids=["copied", "shared"])
def test_an_array_that_changed_is_seen(change: Callable[[Array], None], rows: int, staged: list[str]) -> None:
    weight = np.ones((rows, 40), np.float32)
    weight[-1] = 0
    scale = scaled(weight)
    change(weight)
    model = scale.to_model()
    assert held(model).tobytes() == weight.tobytes()
    assert staged == ["scale", "scale"]


def test_an_array_that_was_reshaped_is_seen() -> None:
    weight = np.ones((1, 40), np.float32)
    scale = scaled(weight)
    _reshape(weight)
    assert held(scale.to_model()).shape == (40, 1)


def test_what_python_computed_of_an_array_is_computed_anew() -> None:
    weight = np.ones((40, 40), np.float32)

    @script
    def scale(x: FLOAT["N", 40]) -> FLOAT["N", 40]:
        return op.Mul(x, weight * 2)

    weight[:] = 3
    assert held(scale.to_model()).max() == 6


def test_an_array_in_the_place_of_another_is_seen() -> None:
    weight = np.ones((40, 40), np.float32)

    @script
    def scale(x: FLOAT["N", 40]) -> FLOAT["N", 40]:
        return op.Mul(x, weight)

    weight = np.full((40, 40), 2, np.float32)
    assert held(scale.to_model()).max() == 2


def test_an_array_of_a_helper_that_changed_is_seen() -> None:
    weight = np.ones((40, 40), np.float32)
    inner = scaled(weight)

    @script
    def outer(x: FLOAT["N", 40]) -> FLOAT["N", 40]:
        return inner(x)

    weight[:] = 3
    x = np.ones((40, 40), np.float32)
    assert np.array_equal(outer.to_model()(x), x * 3)


def test_large_arrays_are_not_compared() -> None:
    assert scaled(np.ones((40, 40), np.float32)).kept is not None
    assert scaled(np.ones((40_000, 40), np.float32)).kept is None

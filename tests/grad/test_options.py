"""Options of a function whose gradient is asked for: they mean what they mean in a call of the function itself."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT
from onnxsmith.errors import OnnxsmithError
from onnxsmith.grad import grad

X = np.arange(6.0).reshape(3, 2) + 1


def squares(x, part):
    return (x[part] * x[part]).sum()


def converted(x, dtype=np.float64):
    return (x.astype(dtype) * 2).sum()


def unused(x, option=None):
    return (x * x).sum()


PARTS: list[Any] = [
    slice(0, 2),
    slice(None, None, 2),
    np.s_[0:2, 1],
    np.s_[..., 0],
    np.s_[1:, None],
    (slice(1), slice(None)),
    Ellipsis,
    None,
    [0, 2],
    (2, 1),
    range(2),
]


@pytest.mark.parametrize("wrapped", [xp.jit, lambda function: function], ids=["jit", "tensors"])
@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_parts_of_an_index_are_options(part: Any, wrapped: Callable[..., Any]) -> None:
    expected = np.zeros_like(X)
    expected[part] = 2 * X[part]
    made = grad(wrapped(squares))
    np.testing.assert_array_equal(made(X, part), expected)
    np.testing.assert_array_equal(made(X, part=part), expected)
    np.testing.assert_array_equal(made(X, slice(0, 1)), np.where(np.arange(3)[:, None] == 0, 2 * X, 0))


@pytest.mark.parametrize("dtype", [np.float32, float, np.dtype("float32"), "float32", np.float64])
def test_element_types_are_options(dtype: Any) -> None:
    made = grad(xp.jit(converted))
    np.testing.assert_array_equal(made(X, dtype), np.full_like(X, 2))
    np.testing.assert_array_equal(made(X, dtype=dtype), np.full_like(X, 2))


class Mode(enum.Enum):
    ONE = 1


class WithoutHash:
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __call__(self) -> None: ...


OPTIONS: list[Any] = [
    *(None, True, "mode", b"mode", 1j, Ellipsis, slice(2), range(3), (), [], (1, [2.0, None])),
    *(float, int, bool, str, object, np.float32, np.int8, np.dtype("int8"), FLOAT, FLOAT["N"], datetime.date),
    *([float, np.float32], (np.float64, slice(1)), len, WithoutHash(), [WithoutHash()], Mode, Mode.ONE),
    {"a": 1},
]
#: What may change, so that a model could not be kept for it.
REFUSED: list[Any] = [{1}, bytearray(b"a"), object(), slice(X, 1), [slice({})]]


@pytest.mark.parametrize("wrapped", [xp.jit, lambda function: function], ids=["jit", "tensors"])
@pytest.mark.parametrize("option", [*OPTIONS, *REFUSED], ids=range(len(OPTIONS) + len(REFUSED)))
def test_an_option_is_taken_or_refused_by_our_error(option: Any, wrapped: Callable[..., Any]) -> None:
    made = grad(wrapped(unused))
    if any(option is each for each in REFUSED):
        with pytest.raises(OnnxsmithError, match="'option'"):
            made(X, option)
        return
    found = made(X, option)
    np.testing.assert_array_equal(found, 2 * X)


def test_slices_have_one_session_for_each_value() -> None:
    jitted: Any = xp.jit(squares)
    for _ in range(3):
        jitted(X, slice(0, 2))
        jitted(X, np.s_[0:2, 1])
    assert len(jitted.sessions) == 2


def test_models_are_made_for_options() -> None:
    model = grad(xp.jit(squares)).to_model(X, slice(0, 2))
    assert [each.name for each in model.inputs] == ["x"]
    model = grad(xp.jit(converted)).to_model(X, np.float32)
    assert [each.name for each in model.inputs] == ["x"]

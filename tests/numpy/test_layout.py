"""Where elements stand: strides, views and flags, against numpy where it promises the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import errors
from onnxsmith import numpy as xp

A = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "of", [lambda x: x, lambda x: x[1], lambda x: x[0, 0], lambda x: x.reshape(-1), lambda x: x[0, 0, 0]]
)
def test_strides_of_elements_one_after_the_other(of: Any) -> None:
    assert tuple(of(xp.asarray(A)).strides) == of(A).strides


def test_other_strides_are_not_known() -> None:
    with pytest.raises(errors.TracedValueError, match="known to numpy alone"):
        _ = xp.asarray(A).T.strides


@pytest.mark.parametrize("options", [(), (np.int32,), ("int32",), (np.ndarray,), (np.int32, np.ndarray)])
def test_views_share_elements(options: tuple[Any, ...]) -> None:
    x = xp.asarray(A.copy())
    view = x.view(*options)
    assert view is not x
    assert view.dtype == x.dtype
    view[0, 0, 0] = 99
    assert x[0, 0, 0] == 99


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((np.float32,), "int32 are not read as float32"),
        (("int64",), "int32 are not read as int64"),
        ((np.matrix,), "is no matrix"),
        ((np.int32, np.matrix), "is no matrix"),
    ],
)
def test_elements_are_not_read_as_another_type(options: tuple[Any, ...], text: str) -> None:
    with pytest.raises(errors.InputTypeError, match=text):
        xp.asarray(A).view(*options)


def test_flags() -> None:
    flags = xp.asarray(A).flags
    assert flags.writeable
    assert flags.c_contiguous == A.flags.c_contiguous

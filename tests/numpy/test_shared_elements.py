"""Views wherever numpy's are: a slice of the law, and the programs that showed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import OnnxsmithError, TensorAssignmentError
from tests.numpy.shared_elements import LAW


def test_after_the_first_writes_of_the_law_arrays_hold_what_numpys_hold() -> None:
    assert LAW.wrong(0, 400) == []


def _diagonal_by_letters(b: Any) -> Any:
    b = b.copy()
    d = np.einsum("ii->i", b)
    d[:] = 7
    b[0, 0] = 3
    return b, d


def _transposed_by_letters(b: Any) -> Any:
    b = b.copy()
    t = np.einsum("ij->ji", b)
    t[0] = 7
    return b, t


def _diagonals_of_several(b: Any) -> Any:
    b = np.stack([b, b + 1])
    d = np.einsum("...ii->i...", b)
    d[1] = 5
    return b, d


def _windows(b: Any) -> Any:
    row = b[0].copy()
    w = np.lib.stride_tricks.sliding_window_view(row, 2)
    row[1] = 9
    return w


def _strided(b: Any) -> Any:
    row = b[0].copy()
    w = np.lib.stride_tricks.as_strided(row, (2, 2), (row.itemsize, row.itemsize))
    row[1] = 9
    return w


def _trimmed(b: Any) -> Any:
    row = b[0].copy()
    t = np.trim_zeros(row)
    row[1] = 9
    t[1] = 4
    return row, t


def _grid(b: Any) -> Any:
    row = b[0].copy()
    g, h = np.meshgrid(row, row, copy=False)
    row[1] = 9
    return g, h


def _places(b: Any) -> Any:
    v = np.nonzero(b > 0)[0].copy()
    w = np.nonzero(b > 0)[1]
    v.ravel()[0] = 44
    return v, w + 1


_MATRIX = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])


@pytest.mark.parametrize(
    "function",
    [
        _diagonal_by_letters,
        _transposed_by_letters,
        _diagonals_of_several,
        _windows,
        _strided,
        _trimmed,
        _grid,
        _places,
    ],
)
def test_programs_that_write_to_what_they_share(function: Callable[..., Any]) -> None:
    wanted, found = function(_MATRIX), xp.jit(function)(_MATRIX)
    pairs = zip(wanted, found, strict=True) if isinstance(wanted, tuple) else [(wanted, found)]
    for one, other in pairs:
        np.testing.assert_array_equal(np.asarray(other), one)


def test_places_in_a_matrix_are_no_side_by_side_elements() -> None:
    for m in (np.array([[0, 1], [1, 1]]), xp.asarray([[0, 1], [1, 1]])):
        v = np.nonzero(m)[0]
        v.ravel()[0] = 44
        assert np.asarray(v).tolist() == [0, 1, 1]

    def written(m: Any) -> Any:
        v = np.nonzero(m)[0]
        v.ravel()[0] = 44
        return v

    with pytest.raises(OnnxsmithError, match="cannot be written to"):
        xp.jit(written)(np.array([[0, 1], [1, 1]]))


def test_elements_in_the_order_of_memory_are_a_view_of_a_transposed_array() -> None:
    for m in (_MATRIX.copy(), xp.asarray(_MATRIX)):
        turned = m.T
        row = np.ravel(turned, order="A")
        turned[0, 1] = 44
        assert np.asarray(row).tolist() == [0, 1, 2, 44, 4, 5, 6, 7, 8]


def test_strides_of_what_lies_in_another_order_are_refused() -> None:
    def turned(b: Any) -> Any:
        return np.lib.stride_tricks.as_strided(b.T, (2,), (8,))

    with pytest.raises(OnnxsmithError, match="how far apart"):
        xp.jit(turned)(_MATRIX)


@pytest.mark.parametrize(
    "made",
    [
        lambda b: np.argwhere(b > 0),
        lambda b: np.einsum("ij,jk->ki", b, b),
        lambda b: np.zeros_like(b.T),
        lambda b: np.unique(b, axis=1),
        lambda b: np.histogram2d(b[0], b[1], bins=2)[0],
        lambda b: np.unravel_index(np.array([1, 2]), (2, 3))[0],
        lambda b: np.linspace(b[0], b[1], 3, axis=1),
        lambda b: np.block([b.T, b.T]),
    ],
)
def test_what_numpy_lays_out_in_another_order_is_not_written_to_in_a_row(made: Callable[[Any], Any]) -> None:
    def changed(b: Any) -> Any:
        v = made(b)
        v.ravel()[...] = 44
        return v

    assert not (changed(_MATRIX) == 44).all()  # numpy's `ravel` makes a copy
    try:
        found = xp.jit(changed)(_MATRIX)
    except OnnxsmithError:
        return  # whether it is one depends on what the model does not know
    np.testing.assert_array_equal(found, changed(_MATRIX))


def test_letters_with_dots_that_stand_for_nothing_give_a_view() -> None:
    b = xp.asarray(_MATRIX)
    xp.einsum("...ij->...ji", b)[0] = 7
    assert np.asarray(b)[:, 0].tolist() == [7, 7, 7]


def test_ravel_in_the_order_of_memory_is_a_view() -> None:
    b = xp.asarray(_MATRIX)
    xp.ravel(b.T, order="A")[...] = 7
    assert (np.asarray(b) == 7).all()


_LAID_OUT: list[Callable[[Any], Any]] = [
    np.ascontiguousarray,
    np.asfortranarray,
    lambda m: np.ascontiguousarray(m.T),
    lambda m: np.ascontiguousarray(m[:, :1]),
    lambda m: np.ascontiguousarray(m[::2]),
    lambda m: np.asfortranarray(m.T),
    lambda m: np.asarray(m, order="C"),
    lambda m: np.asarray(m, order="F"),
    lambda m: np.asarray(m, order=cast(Any, "f")),
    lambda m: np.asarray(m, order=cast(Any, "a")),
    lambda m: np.asarray(m.T, order="C"),
    lambda m: np.array(m, copy=None, order="F"),
    lambda m: np.require(m.T, requirements=["C"]),
    lambda m: np.require(m, requirements=["F"]),
    lambda m: m.astype(float, order="F", copy=False),
    lambda m: m.T.astype(float, order="A", copy=False),
    lambda m: m.astype(np.float32, order="F"),
]


@pytest.mark.parametrize("made", _LAID_OUT)
@pytest.mark.parametrize("shape", [(3, 2), (1, 4), (4, 1), (1, 1), (0, 3)])
def test_an_order_that_is_asked_for_decides_between_view_and_copy(
    made: Callable[[Any], Any], shape: tuple[int, int]
) -> None:
    def changed(m: Any) -> Any:
        v = made(m)
        v[:] = 0
        return m * 1

    given = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
    wanted = changed(given.copy())
    try:
        found = xp.jit(changed)(given.copy())
    except TensorAssignmentError:
        return  # the model does not know the layout
    np.testing.assert_array_equal(found, wanted)


def test_an_order_of_declared_sizes_is_known() -> None:
    def changed(m: Any) -> Any:
        v = np.asfortranarray(m)
        v[:] = 0
        return m * 1

    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(xp.to_model(changed, DOUBLE[2, 2])(given), given)
    assert not xp.to_model(changed, DOUBLE[2, 1])(given[:, :1]).any()


def test_an_array_of_its_own_lies_as_the_order_says() -> None:
    def changed(m: Any) -> Any:
        v = np.array(m, order="F")
        w = np.array(m.T, order="C")
        w.ravel()[...] = 44
        return v, w, m

    for one, other in zip(xp.jit(changed)(_MATRIX.copy()), changed(_MATRIX.copy()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_order_that_does_not_exist_is_refused() -> None:
    with pytest.raises(OnnxsmithError, match="order is one of"):
        xp.jit(lambda m: np.asarray(m, order=cast(Any, "Q")))(_MATRIX)
    with pytest.raises(OnnxsmithError, match="may take a copy"):
        xp.jit(lambda m: np.asarray(m, order="F", copy=False))(_MATRIX)

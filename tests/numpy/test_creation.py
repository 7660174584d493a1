"""Arrays of numbers, lists, numpy arrays and tensors, and copies of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith as smith
from onnxsmith import errors
from onnxsmith import numpy as xp
from onnxsmith.onnx_types import FLOAT
from tests.numpy.every_argument import disagreements

#: With any types: tensors of the checkers are no arrays.
onnxsmith: Any = smith
A = np.array([[1.5, 2.0], [-3.0, 4.0]], np.float32)
MADE: list[tuple[Any, dict[str, Any]]] = [
    (3, {}),
    (2.5, {}),
    (True, {}),
    ([1, 2.5], {}),
    ([[1], [2]], {"dtype": np.int8}),
    ([True, False], {"dtype": "float32"}),
    (A, {}),
    (A, {"dtype": np.float64}),
    (A, {"dtype": np.float32}),
    (np.float16(2), {}),
    ([1 + 2j], {}),
    (A.T, {}),
    ([], {}),
]


@pytest.mark.parametrize(("given", "options"), MADE)
@pytest.mark.parametrize("function", ["asarray", "array"])
def test_elements_are_those_of_numpy(function: str, given: Any, options: dict[str, Any]) -> None:
    found, wanted = getattr(xp, function)(given, **options), getattr(np, function)(given, **options)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("ndmin", [0, 1, 2, 3])
def test_least_rank(ndmin: int) -> None:
    for given in (3, [1, 2], A):
        assert xp.array(given, ndmin=ndmin).shape == np.array(given, ndmin=ndmin).shape


def test_numpy_arrays_are_copied() -> None:
    source = A.copy()
    held = xp.asarray(source)
    source[0, 0] = 9
    assert held[0, 0] == 1.5
    held[0, 1] = 7
    assert source[0, 1] == 2


def test_an_array_is_itself_unless_a_copy_is_asked_for() -> None:
    x = xp.asarray(A)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, dtype=np.float32) is x
    copies: list[Callable[[Any], Any]] = [
        lambda x: xp.asarray(x, copy=True),
        xp.array,
        xp.copy,
        lambda x: xp.copy(x, order="F"),
        lambda x: xp.copy(x.T, order="C").T,
        xp.from_dlpack,
        lambda x: xp.asarray(x, dtype=np.float64),
    ]
    for made in (function(x) for function in copies):
        assert made.tolist() == A.tolist()
        made[0, 0] = 8
        assert x[0, 0] == 1.5


def test_strides_of_copies() -> None:
    x = xp.asarray(A)
    for order in "CAK":
        assert xp.copy(x, order=order).strides == A.strides
        assert xp.copy(x[0], order=order).strides == A[0].strides
    assert xp.copy(x[0], order="F").strides == A[0].strides
    assert xp.copy(x.T, order="C").strides == A.strides
    for order, of in (("F", x), ("A", x.T), ("K", x.T)):
        with pytest.raises(errors.TracedValueError):
            _ = xp.copy(of, order=order).strides


def test_tensors() -> None:
    tensor = onnxsmith.tensor(A)
    held = xp.asarray(tensor)
    assert held.tolist() == A.tolist()
    parts = xp.asarray(tensor, dtype=np.complex64)
    assert parts.dtype == np.complex64
    assert parts.tolist() == (A[:, 0] + 1j * A[:, 1]).tolist()
    assert xp.asarray(onnxsmith.tensor(A.astype(np.float16)), dtype=np.complex64).tolist() == parts.tolist()


def test_tensors_of_a_graph() -> None:
    def doubled(x: Any) -> Any:
        return (xp.asarray(x) * 2).tensor

    model = onnxsmith.trace(doubled, FLOAT["N", 2])
    assert model(A).tolist() == (A * 2).tolist()
    with pytest.raises(errors.UnknownRankError):
        onnxsmith.trace(doubled, FLOAT[...])


def test_through_dlpack() -> None:
    assert xp.from_dlpack(A).tolist() == A.tolist()
    assert np.from_dlpack(xp.asarray(A)).tolist() == A.tolist()
    with pytest.raises(BufferError, match="never shares"):
        xp.from_dlpack(A, copy=False)
    with pytest.raises(BufferError, match="as a copy alone"):
        xp.asarray(A).__dlpack__(copy=False)
    with pytest.raises(BufferError, match="on the cpu"):
        xp.asarray(A).__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize(
    ("refused", "text"),
    [
        (lambda: xp.asarray([1, 2], copy=False), "never shares its elements with a list"),
        (lambda: xp.asarray(A, copy=False), "never shares its elements"),
        (lambda: xp.asarray(onnxsmith.tensor(A), copy=False), "never shares its elements with a Tensor"),
        (lambda: xp.from_dlpack(3), "takes an array of another library, not an int"),
        (
            lambda: xp.asarray(xp.asarray(A), dtype=np.float64, copy=False),
            "another element type takes a copy",
        ),
        (lambda: xp.asarray(A, device="cuda"), "there is no device 'cuda'"),
        (lambda: xp.from_dlpack(A, device="cuda"), "there is no device 'cuda'"),
        (lambda: xp.copy(A, order="Z"), "order is one of C, F, A, K"),
        (lambda: xp.asarray(onnxsmith.tensor(A[:, :1]), dtype=np.complex64), "a last dimension of 2"),
        (lambda: xp.asarray(onnxsmith.tensor(np.float32(1)), dtype=np.complex64), "a last dimension of 2"),
        (lambda: xp.asarray(onnxsmith.tensor(np.array([1, 2])), dtype=np.complex64), "a last dimension of 2"),
    ],
)
def test_refused(refused: Callable[[], Any], text: str) -> None:
    with pytest.raises(errors.OnnxsmithError, match=text):
        refused()


def test_all_kinds_of_arguments() -> None:
    assert disagreements("creation") == []

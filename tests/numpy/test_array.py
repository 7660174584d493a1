"""Arrays: operators, methods, attributes and protocols, each against numpy's own array."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import errors
from onnxsmith import numpy as xp

A = np.array([[3.0, -1.5, 2.0], [0.5, 4.0, -2.0]])
WHOLE = np.array([[7, 2, 5], [1, 12, 3]])
COMPLEX = A + 1j * A[::-1]
TRUTH = A > 1


def same(found: Any, wanted: Any) -> None:
    """Equal in value, shape and element type, in every part."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, np.ndarray | np.generic):
        expected: Any = np.asarray(wanted)
        got = np.asarray(found)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
    else:
        assert found == wanted
        assert type(found) is type(wanted)


BINARY = [
    *(
        getattr(operator, name)
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    ),
    *(getattr(operator, name) for name in ("and_", "or_", "xor", "lshift", "rshift")),
    *(getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    divmod,
]


@pytest.mark.parametrize("function", BINARY, ids=lambda each: each.__name__)
def test_binary_operators(function: Callable[..., Any]) -> None:
    one, other = (WHOLE, WHOLE.T) if function is operator.matmul else (WHOLE, WHOLE[::-1] % 4 + 1)
    same(function(xp.asarray(one), xp.asarray(other)), function(one, other))
    same(function(xp.asarray(one), other), function(one, other))
    same(function(one, xp.asarray(other)), function(one, other))
    if function is not operator.matmul:
        same(function(xp.asarray(one), 2), function(one, 2))
        same(function(2, xp.asarray(one)), function(2, one))


@pytest.mark.parametrize(
    "function",
    [
        getattr(operator, f"i{name}")
        for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")
    ],
    ids=lambda each: each.__name__,
)
def test_operators_in_place(function: Callable[..., Any]) -> None:
    held, wanted = xp.asarray(WHOLE.copy()), WHOLE.copy()
    view = held[0]
    assert function(held, 2) is held
    function(wanted, 2)
    same(held, wanted)
    same(view, wanted[0])
    with pytest.raises(errors.OnnxsmithError):
        held /= 2


@pytest.mark.parametrize("function", [operator.neg, operator.pos, abs, operator.invert])
def test_unary_operators(function: Callable[..., Any]) -> None:
    same(function(xp.asarray(WHOLE)), function(WHOLE))


METHODS: dict[str, Callable[[Any], Any]] = {
    "add.reduce": lambda x: np.add.reduce(x),
    "add.reduce, axis": lambda x: np.add.reduce(x, axis=1, keepdims=True),
    "add.accumulate": lambda x: np.add.accumulate(x, axis=1),
    "multiply.outer": lambda x: np.multiply.outer(x, x[0]),
    "maximum": lambda x: np.maximum(x, 1.0),
    "np.concatenate": lambda x: np.concatenate([x, x], axis=1),
    "compress": lambda x: x.compress([False, True, True], axis=1),
    "reshape": lambda x: x.reshape(3, 2),
    "reshape, tuple": lambda x: x.reshape((-1,)),
    "reshape, order": lambda x: x.reshape(3, 2, order="F"),
    "transpose": lambda x: x.transpose(),
    "transpose, axes": lambda x: x.transpose(1, 0),
    "transpose, tuple": lambda x: x.transpose((0, 1)),
    "copy": lambda x: x.copy(),
    "flatten": lambda x: x.flatten(),
    "flatten, order": lambda x: x.flatten("F"),
    "astype": lambda x: x.astype("int32"),
    "astype, same": lambda x: x.astype(x.dtype, copy=False),
    "conj": lambda x: x.conj(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "flat": lambda x: x.flat[4],
    "item": lambda x: x.item(1, 2),
    "item, flat": lambda x: x.item(4),
    "tolist": lambda x: x.tolist(),
    "len": len,
    "iter": lambda x: [row.tolist() for row in x],
    "contains": lambda x: (4.0 in x, 9.0 in x),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "itemsize": lambda x: x.itemsize,
    "nbytes": lambda x: x.nbytes,
    "dtype": lambda x: x.dtype,
    "strides": lambda x: x.strides,
    "tobytes": lambda x: x.tobytes(),
    "tobytes, order": lambda x: x.tobytes("F"),
    "view": lambda x: x.view(),
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "cumsum": lambda x: x.cumsum(1),
    "argmax": lambda x: x.argmax(1),
    "round": lambda x: x.round(),
    "clip": lambda x: x.clip(0, 2),
    "dot": lambda x: x.dot(x.T),
    "take": lambda x: x.take([2, 0], axis=1),
    "repeat": lambda x: x.repeat(2, axis=0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "squeeze": lambda x: x[None].squeeze(0),
    "std": lambda x: x.std(axis=1, ddof=1),
    "nonzero": lambda x: x.nonzero(),
    "ravel": lambda x: x.ravel(),
    "diagonal": lambda x: x.diagonal(1),
    "trace": lambda x: x.trace(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "dlpack": np.from_dlpack,
    "str": lambda x: str(x).split(),
    "format": lambda x: f"{x[0, 0]:.3f}",
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_and_attributes(name: str) -> None:
    same(METHODS[name](xp.asarray(A)), METHODS[name](A))


@pytest.mark.parametrize(
    "name", ["conj", "real", "imag", "T", "sum", "copy", "nbytes", "tolist", "astype, same"]
)
def test_of_complex_numbers(name: str) -> None:
    same(METHODS[name](xp.asarray(COMPLEX)), METHODS[name](COMPLEX))


WRITES: dict[str, Callable[[Any], None]] = {
    "item": lambda x: operator.setitem(x, (0, 1), 9.0),
    "row": lambda x: operator.setitem(x, 1, [1.0, 2.0, 3.0]),
    "mask": lambda x: operator.setitem(x, x > 1, 0.0),
    "fill": lambda x: x.fill(2.5),
    "sort": lambda x: x.sort(),
    "sort, axis": lambda x: x.sort(axis=0),
    "partition": lambda x: x.partition(1),
    "flat": lambda x: setattr(x, "flat", [1.0, 2.0]),
    "real": lambda x: setattr(x, "real", x.real + 1),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    found, wanted = xp.asarray(A.copy()), A.copy()
    view = found.T
    WRITES[name](found)
    WRITES[name](wanted)
    same(found, wanted)
    same(view, wanted.T)


def test_parts_of_complex_numbers_are_written() -> None:
    found, wanted = xp.asarray(COMPLEX.copy()), COMPLEX.copy()
    found.imag = wanted.imag = A * 2
    same(found, wanted)
    found.real = wanted.real = 1.0
    same(found, wanted)


def test_numbers() -> None:
    for element in (np.array(2.5), np.array(3), np.array(True)):
        held = xp.asarray(element)
        assert (bool(held), int(held), float(held), complex(held)) == (
            bool(element),
            int(element),
            float(element),
            complex(element),
        )
    assert operator.index(xp.asarray(3)) == 3
    assert [10, 20, 30][xp.asarray(1)] == 20
    for refused in (
        lambda: bool(xp.asarray(A)),
        lambda: operator.index(xp.asarray(2.5)),
        lambda: len(xp.asarray(2.5)),
        lambda: hash(xp.asarray(A)),
    ):
        with pytest.raises((errors.OnnxsmithError, TypeError, ValueError)):
            refused()


def test_protocols() -> None:
    held = xp.asarray(A)
    assert held.__array_namespace__() is xp
    assert held.device == "cpu"
    assert held.to_device("cpu") is held
    assert tuple(held.__dlpack_device__()) == (1, 0)
    assert np.asarray(held, dtype=np.float32).dtype == np.float32
    assert np.array(held) is not np.array(held)
    assert "3." in repr(held)
    with pytest.raises(BufferError):
        held.__dlpack__(copy=False)
    with pytest.raises(BufferError):
        held.__dlpack__(dl_device=(2, 0))
    with pytest.raises(errors.OnnxsmithError):
        held.to_device("cuda")
    with pytest.raises(AttributeError):
        held.nosuch  # noqa: B018
    with pytest.raises(errors.OnnxsmithError):
        np.frompyfunc(abs, 1, 1)(held)


@pytest.mark.parametrize("method", ["sum", "asked_for_truth", "reshape", "clip"])
def test_a_method_refuses_an_argument_called_name_as_any_other(method: str) -> None:
    texts = []
    for argument in ("name", "nosuch"):
        with pytest.raises(TypeError) as caught:
            getattr(xp.asarray([1.0]), method)(**{argument: 1})
        texts.append(str(caught.value).replace(argument, "…"))
    assert texts[0].splitlines()[0] == texts[1].splitlines()[0]

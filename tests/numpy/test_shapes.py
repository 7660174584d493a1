"""Shapes that do not go together: what numpy refuses is refused in our words, and what it takes has its shape.

Each function of two arrays is asked with pairs of small shapes, sizes 0 and 1 among them: they are where a runtime
broadcasts what numpy does not.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import trace
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy import dtypes
from onnxsmith.types.value_types import TensorType

Function = Callable[[Any, Any, Any], Any]

SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    *[(a,) for a in range(4)],
    *itertools.product(range(4), repeat=2),
    (2, 1, 3),
    (1, 2, 2),
    (3, 2, 2),
)
#: How many pairs of shapes a function is asked with.
COUNT = 90


def _count(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape))).reshape(shape)


def _floats(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.asarray(_count(shape) + 1.0)


def _places(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.asarray(_count(shape) % 2)


def _mask(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.asarray(_count(shape) % 2 == 0)


def _written(change: Callable[[Any, Any, Any], Any]) -> Function:
    """What an array is after a change in place."""

    def call(m: Any, a: Any, b: Any) -> Any:
        own = a.copy()
        change(m, own, b)
        return own

    return call


OF_NUMBERS: dict[str, Function] = {
    "add": lambda m, a, b: a + b,
    "add in place": _written(lambda m, a, b: a.__iadd__(b)),
    "where": lambda m, a, b: m.where(True, a, b),
    "assignment": _written(lambda m, a, b: a.__setitem__(..., b)),
    "copyto": _written(lambda m, a, b: m.copyto(a, b)),
    "fill_diagonal": _written(lambda m, a, b: m.fill_diagonal(a, b)),
    "concatenate": lambda m, a, b: m.concatenate([a, b]),
    "concatenate along 1": lambda m, a, b: m.concatenate([a, b], axis=1),
    "stack": lambda m, a, b: m.stack([a, b]),
    "vstack": lambda m, a, b: m.vstack([a, b]),
    "hstack": lambda m, a, b: m.hstack([a, b]),
    "dstack": lambda m, a, b: m.dstack([a, b]),
    "column_stack": lambda m, a, b: m.column_stack([a, b]),
    "append along 0": lambda m, a, b: m.append(a, b, axis=0),
    "block": lambda m, a, b: m.block([a, b]),
    "insert": lambda m, a, b: m.insert(a, 0, b),
    "insert along 0": lambda m, a, b: m.insert(a, 0, b, axis=0),
    "searchsorted": lambda m, a, b: m.searchsorted(a, b),
    "digitize": lambda m, a, b: m.digitize(b, a),
    "interp": lambda m, a, b: m.interp(1.5, a, b),
    "average": lambda m, a, b: m.average(a, weights=b),
    "average along 0": lambda m, a, b: m.average(a, axis=0, weights=b),
    "cov": lambda m, a, b: m.cov(a, b),
    "corrcoef": lambda m, a, b: m.corrcoef(a, b),
    "histogram": lambda m, a, b: m.histogram(a, weights=b)[0],
    "histogram2d": lambda m, a, b: m.histogram2d(a, b)[0],
    "convolve": lambda m, a, b: m.convolve(a, b),
    "correlate": lambda m, a, b: m.correlate(a, b),
    "dot": lambda m, a, b: m.dot(a, b),
    "inner": lambda m, a, b: m.inner(a, b),
    "outer": lambda m, a, b: m.outer(a, b),
    "linalg.outer": lambda m, a, b: m.linalg.outer(a, b),
    "tensordot": lambda m, a, b: m.tensordot(a, b),
    "tensordot over 1": lambda m, a, b: m.tensordot(a, b, 1),
    "kron": lambda m, a, b: m.kron(a, b),
    "vdot": lambda m, a, b: m.vdot(a, b),
    "matmul": lambda m, a, b: m.matmul(a, b),
    "einsum": lambda m, a, b: m.einsum("ij,jk->ik", a, b),
    "lstsq": lambda m, a, b: m.linalg.lstsq(a, b)[0],
    "trapezoid": lambda m, a, b: m.trapezoid(a, b),
    "gradient": lambda m, a, b: m.gradient(a, b),
    "diff with more before": lambda m, a, b: m.diff(a, prepend=b),
    "ediff1d": lambda m, a, b: m.ediff1d(a, to_end=b),
    "broadcast_arrays": lambda m, a, b: m.broadcast_arrays(a, b)[0],
    "isin": lambda m, a, b: m.isin(a, b),
    "array_equal": lambda m, a, b: m.array_equal(a, b),
    "array_equiv": lambda m, a, b: m.array_equiv(a, b),
    "allclose": lambda m, a, b: m.allclose(a, b),
    "clip": lambda m, a, b: m.clip(a, b, 9),
    "lexsort": lambda m, a, b: m.lexsort([a, b]),
    "meshgrid": lambda m, a, b: m.meshgrid(a, b)[0],
}
#: Products that numpy has since 2.0 or 2.2.
NEWER: dict[str, Function] = {
    "vecdot": lambda m, a, b: m.vecdot(a, b),
    "linalg.vecdot": lambda m, a, b: m.linalg.vecdot(a, b),
    "linalg.vecdot along -2": lambda m, a, b: m.linalg.vecdot(a, b, axis=-2),
    "matvec": lambda m, a, b: m.matvec(a, b),
    "vecmat": lambda m, a, b: m.vecmat(a, b),
}
OF_NUMBERS |= {
    name: function for name, function in NEWER.items() if hasattr(np, name.rpartition(".")[2].split()[0])
}
OF_MASKS: dict[str, Function] = {
    "where": lambda m, a, b: m.where(b, a, 0.0),
    "index": lambda m, a, b: a[b],
    "index at the end": lambda m, a, b: a[..., b],
    "assignment": _written(lambda m, a, b: a.__setitem__(b, 7.0)),
    "putmask": _written(lambda m, a, b: m.putmask(a, b, 5.0)),
    "compress": lambda m, a, b: m.compress(b, a),
    "compress along 0": lambda m, a, b: m.compress(b, a, axis=0),
    "extract": lambda m, a, b: m.extract(b, a),
    "select": lambda m, a, b: m.select([b], [a]),
    "sum": lambda m, a, b: m.sum(a, where=b),
    "max": lambda m, a, b: m.max(a, where=b, initial=0),
    "mean": lambda m, a, b: m.mean(a, where=b),
}
OF_PLACES: dict[str, Function] = {
    "index": lambda m, a, b: a[b],
    "two indices": lambda m, a, b: a[b, b],
    "take": lambda m, a, b: m.take(a, b),
    "take along 0": lambda m, a, b: m.take(a, b, axis=0),
    "take_along_axis": lambda m, a, b: m.take_along_axis(a, b, axis=-1),
    "take_along_axis 0": lambda m, a, b: m.take_along_axis(a, b, axis=0),
    "choose": lambda m, a, b: m.choose(b, [a, a]),
    "repeat": lambda m, a, b: m.repeat(a, b),
    "repeat along 0": lambda m, a, b: m.repeat(a, b, axis=0),
    "delete": lambda m, a, b: m.delete(a, b),
    "put": _written(lambda m, a, b: m.put(a, b, 5.0)),
}
CASES: dict[str, tuple[Function, Callable[[tuple[int, ...]], np.ndarray[Any, Any]]]] = {
    **{f"{name} of numbers": (function, _floats) for name, function in OF_NUMBERS.items()},
    **{f"{name} by a mask": (function, _mask) for name, function in OF_MASKS.items()},
    **{f"{name} by places": (function, _places) for name, function in OF_PLACES.items()},
}


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args)
    except Exception as error:  # numpy has a class for each reason
        return error


def _pairs(name: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return random.Random(name).sample(list(itertools.product(SHAPES, SHAPES)), COUNT)


def _check(got: Any, wanted: Any, told: str) -> None:
    if isinstance(wanted, Exception):
        assert isinstance(got, OnnxsmithError), f"{told}: {got!r}, and numpy refuses: {wanted}"
        assert isinstance(got, IndexError | TypeError | ValueError | ZeroDivisionError), f"{told}: {got!r}"
        return
    assert not isinstance(got, Exception), f"{told}: {got!r}"
    mine, theirs = np.asarray(got), np.asarray(wanted)
    assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), told
    np.testing.assert_allclose(mine, theirs, atol=1e-12, err_msg=told)


@pytest.mark.parametrize("name", CASES)
def test_shapes(name: str) -> None:
    function, second = CASES[name]
    for first_shape, second_shape in _pairs(name):
        a, b = _floats(first_shape), second(second_shape)
        wanted = _outcome(function, np, a.copy(), b)
        got = _outcome(function, xp, xp.asarray(a), xp.asarray(b))
        _check(got, wanted, f"{name} of {first_shape} and {second_shape}")


@pytest.mark.parametrize("name", ["matmul", "array_equal", *(each for each in NEWER if each in OF_NUMBERS)])
def test_open_sizes(name: str) -> None:
    """Models, too: ONNX Runtime gets the shapes of some products without elements wrong, and broadcasts them."""
    function = OF_NUMBERS[name]
    models: dict[tuple[int, int], Any] = {}
    for first_shape, second_shape in _pairs(name):
        a, b = _floats(first_shape), _floats(second_shape)
        types = [
            TensorType(dtypes.onnx_type(each.dtype), tuple(f"{letter}{k}" for k in range(each.ndim)))
            for letter, each in zip("NM", (a, b), strict=True)
        ]
        key = (a.ndim, b.ndim)
        if key not in models:
            models[key] = _outcome(
                trace, lambda x, y: function(xp, xp.asarray(x), xp.asarray(y)).tensor, *types
            )
        made = models[key]
        got = made if isinstance(made, Exception) else _outcome(made, a, b)
        wanted = _outcome(function, np, a, b)
        if isinstance(wanted, Exception):
            assert isinstance(got, OnnxsmithError), f"{name} of {first_shape} and {second_shape}"
        else:
            _check(got, wanted, f"recorded {name} of {first_shape} and {second_shape}")

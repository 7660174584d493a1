"""Shapes, orders of dimensions and broadcasting, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT
from tests.numpy.agreement import ALL, agrees, sample
from tests.numpy.every_argument import disagreements

CALLS: list[tuple[str, tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = [
    ("reshape", (2, 6), ((3, 4),), {}),
    ("reshape", (2, 6), ((3, -1),), {}),
    ("reshape", (2, 6), (-1,), {}),
    ("reshape", (), ((1, 1),), {}),
    ("reshape", (0, 3), ((3, 0, 2),), {}),
    ("reshape", (0, 3), ((-1, 3),), {}),
    ("reshape", (2, 6), ((5, 2),), {}),
    ("reshape", (2, 6), ((-1, -1),), {}),
    ("reshape", (2, 6), ((3, 4),), {"order": "F"}),
    ("ravel", (2, 3), (), {}),
    ("ravel", (2, 3), (), {"order": "F"}),
    ("transpose", (2, 3, 4), (), {}),
    ("transpose", (2, 3, 4), ((1, -1, 0),), {}),
    ("transpose", (2, 3, 4), ((0, 0, 1),), {}),
    ("swapaxes", (2, 3, 4), (0, -1), {}),
    ("moveaxis", (2, 3, 4), (0, -1), {}),
    ("moveaxis", (2, 3, 4), ((0, 1), (-1, 0)), {}),
    ("moveaxis", (2, 3, 4), (3, 0), {}),
    ("rollaxis", (2, 3, 4), (2, 0), {}),
    ("rollaxis", (2, 3, 4), (0, 3), {}),
    ("squeeze", (1, 3, 1), (), {"axis": 0}),
    ("squeeze", (1, 3, 1), (), {"axis": (0, -1)}),
    ("squeeze", (1, 3, 1), (), {"axis": 1}),
    ("expand_dims", (2, 3), (), {"axis": 1}),
    ("expand_dims", (2, 3), (), {"axis": (0, -1)}),
    ("expand_dims", (2, 3), (), {"axis": 5}),
    ("broadcast_to", (3,), ((2, 3),), {}),
    ("broadcast_to", (2, 1), ((4, 2, 3),), {}),
    ("broadcast_to", (3,), ((2, 4),), {}),
    ("broadcast_to", (2, 3), ((3,),), {}),
    ("atleast_1d", (), (), {}),
    ("atleast_2d", (3,), (), {}),
    ("atleast_3d", (3,), (), {}),
    ("atleast_3d", (2, 3), (), {}),
    ("flip", (2, 3), (), {}),
    ("flip", (2, 3), (), {"axis": 1}),
    ("fliplr", (2, 3), (), {}),
    ("flipud", (2, 3), (), {}),
    ("rot90", (2, 3), (), {}),
    ("rot90", (2, 3), (), {"k": 2}),
    ("rot90", (2, 3, 2), (), {"k": -1, "axes": (1, 2)}),
    ("roll", (2, 3), (4,), {}),
    ("roll", (2, 3), (-1,), {"axis": 1}),
    ("roll", (2, 3), ((1, 2),), {"axis": (0, 1)}),
    ("roll", (0, 3), (1,), {"axis": 0}),
    ("diagonal", (3, 4), (), {}),
    ("diagonal", (3, 4), (), {"offset": -1}),
    ("diagonal", (3, 4), (), {"offset": 9}),
    ("diagonal", (2, 3, 4), (), {"offset": 1, "axis1": 2, "axis2": 1}),
    ("diag", (3,), (), {}),
    ("diag", (3,), (), {"k": 2}),
    ("diag", (3,), (), {"k": -1}),
    ("diag", (0,), (), {}),
    ("diag", (3, 4), (), {"k": 1}),
    ("diagflat", (2, 2), (), {"k": 1}),
    ("tril", (3, 4), (), {}),
    ("tril", (2, 3, 4), (), {"k": 1}),
    ("triu", (3, 4), (), {"k": -1}),
    ("triu", (0, 4), (), {}),
    ("real", (2, 3), (), {}),
    ("imag", (2, 3), (), {}),
    ("tile", (2, 3), ((2, 2),), {}),
    ("tile", (3,), ((2, 1, 2),), {}),
    ("tile", (2, 3), (2,), {}),
    ("repeat", (2, 3), (2,), {}),
    ("repeat", (2, 3), (0,), {"axis": 1}),
    ("repeat", (2, 3), ([0, 2],), {"axis": 0}),
    ("repeat", (2, 3), ([0, 2, 1],), {"axis": -1}),
    ("repeat", (2, 3), ([0, 2, 1],), {"axis": 0}),
    ("repeat", (2, 3), (np.array([2]),), {"axis": 0}),
    ("repeat", (2, 3), (np.array([0, 2]),), {"axis": 0}),
    ("repeat", (0, 3), (np.array([2]),), {"axis": 0}),
    ("array_split", (5, 2), (3,), {}),
    ("array_split", (2, 5), ([1, 3],), {"axis": 1}),
    ("hsplit", (2, 4), (2,), {}),
    ("vsplit", (4, 2), (2,), {}),
    ("zeros_like", (2, 3), (), {}),
    ("ones_like", (2, 3), (), {}),
    ("full_like", (2, 3), (1,), {}),
    ("matrix_transpose", (2, 3, 4), (), {}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]}{call[1]}{call[2]}{call[3]}")
def test_as_numpy(call: tuple[str, tuple[int, ...], tuple[Any, ...], dict[str, Any]]) -> None:
    name, shape, args, kwargs = call
    for dtype in ("float32", "int64", "complex64"):
        agrees(name, sample(dtype, shape), *args, **kwargs)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["ravel", "transpose", "flip", "tril", "diag", "tile", "roll", "zeros_like"])
def test_every_element_type(name: str, dtype: str) -> None:
    args = {"tile": ((2, 2),), "roll": (1,)}.get(name, ())
    agrees(name, sample(dtype, (3, 3)), *args)


def test_join() -> None:
    a, b, c = sample("float32", (2, 3)), sample("int16", (2, 3)), sample("complex64", (2, 3))
    v, w = sample("int8", (3,)), sample("float64", (3,))
    agrees("concatenate", [a, b])
    agrees("concatenate", [a, c], axis=1)
    agrees("concatenate", [a, v], axis=None)
    agrees("concatenate", [a, v])
    agrees("concatenate", [sample("float32", (0, 3)), a])
    agrees("stack", [a, b], axis=-1)
    agrees("stack", [v, w], axis=2)
    for name in ("vstack", "hstack", "dstack", "column_stack"):
        agrees(name, [v, w])
        agrees(name, [a, b])
    agrees("append", a, v)
    agrees("append", a, b, axis=0)
    agrees("meshgrid", v, w)
    agrees("meshgrid", v, w, indexing="ij", sparse=True)
    agrees("block", [[a, b], [b, a]])
    agrees("broadcast_arrays", a, v)


def test_delete() -> None:
    a = sample("float32", (3, 4))
    agrees("delete", a, 1, axis=0, recorded=False)
    agrees("delete", a, [0, 3], axis=1, recorded=False)
    agrees("delete", a, slice(1, 5), recorded=False)
    agrees("delete", a, 7, axis=0, recorded=False)


def test_all_kinds_of_arguments() -> None:
    assert disagreements("reshaping", {"reshape": 1}) == []


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    "shapes",
    [
        lambda n: [(n,), (1,)],
        lambda n: [(1,), (n,)],
        lambda n: [(n, 1), (n,)],
        lambda n: [(n, 3), (3,)],
        lambda n: [(1, 3), (n, 1), ()],
        lambda n: [(n,), (n,), (n,)],
        lambda n: [(1,), (n,), (1,)],
        lambda n: [(1, 1, n), (2, 1)],
        lambda n: [(n, 1), (1, 1)],
    ],
)
def test_sizes_that_only_the_model_knows_broadcast(shapes: Callable[[Any], list[Any]], count: int) -> None:
    x = np.zeros(count, np.float32)
    model = xp.to_model(lambda a: xp.zeros(xp.broadcast_shapes(*shapes(a.shape[0]))), FLOAT["N"])
    assert model(x).shape == np.broadcast_shapes(*shapes(count))
    assert xp.broadcast_shapes(*shapes(count)) == np.broadcast_shapes(*shapes(count))

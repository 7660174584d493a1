"""Functions of elements beside the universal ones, padding, polynomials and sums of products, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.numpy.agreement import ALL, COMPLEX, FLOATS, INTEGERS, REAL, agrees, sample
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", REAL)
def test_clip(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    if dtype != "bool":
        agrees("clip", x, 2, 9)
        agrees("clip", x, 3, None)
        agrees("clip", x, None, 5)
        agrees("clip", x, sample(dtype, (4,), 1), sample(dtype, (3, 1), 2))
    agrees("clip", x, 0.5, 2.5)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("decimals", [0, 1, -1])
def test_round(decimals: int, dtype: str) -> None:
    agrees("round", sample(dtype, (3, 4)), decimals, exact=False, ulps=1)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("name", ["nan_to_num", "sinc", "angle", "isreal", "iscomplex", "fix"])
def test_one_argument(name: str, dtype: str) -> None:
    if name == "fix" and dtype in COMPLEX:
        return
    x = sample(dtype, (3, 4), special=name not in ("sinc",))
    agrees(
        name, x, exact=False, ulps=8, scale=1 if name == "sinc" else 0
    )  # a sine is as near as its largest value


def test_bessel() -> None:
    agrees("i0", sample("float64", (20,), special=False), exact=False, ulps=16)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_near(dtype: str) -> None:
    x, y = sample(dtype, (4, 5)), sample(dtype, (4, 5), 1)
    for other in (x, y, (x + x.dtype.type(0)).astype(dtype)):
        agrees("isclose", x, other)
        agrees("isclose", x, other, equal_nan=True, rtol=0.5)
        agrees("allclose", x, other)
        agrees("array_equal", x, other)
        agrees("array_equiv", x, other[:1].copy())
    agrees("isposinf", x)
    agrees("isneginf", x)


@pytest.mark.parametrize(
    "mode", ["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean"]
)
def test_pad(mode: str) -> None:
    for dtype in ("float32", "int16", "complex64"):
        if dtype == "complex64" and mode in ("maximum", "minimum"):
            continue
        x = sample(dtype, (3, 4), special=False)
        agrees("pad", x, 1, mode)
        agrees("pad", x, (2, 1), mode)
        agrees("pad", x, ((0, 7), (5, 0)), mode)
    agrees("pad", sample("float32", (1,)), (2, 3), mode)


def test_pad_values() -> None:
    x = sample("int32", (2, 3))
    agrees("pad", x, ((1, 2), (0, 1)), constant_values=((1, 2), (3, 4)))
    agrees("pad", x, 1, "nothing")
    agrees("pad", x, -1)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_polynomials(dtype: str) -> None:
    p, q = sample(dtype, (4,), special=False), sample(dtype, (2,), 1, special=False)
    x = sample(dtype, (3, 2), 2, special=False)
    agrees("polyval", p, x, exact=False, ulps=16, scale=float(np.abs(np.polyval(np.abs(p), np.abs(x))).max()))
    agrees("polyadd", p, q, recorded=False)
    agrees("polysub", q, p, recorded=False)
    agrees("polyder", p)
    agrees("polyder", p, 2)
    agrees("polyint", p)
    agrees("vander", p, exact=False, ulps=8)
    agrees("vander", p, 3, increasing=True, exact=False, ulps=8)


def test_polyfit() -> None:
    x = np.linspace(-1, 2, 9)
    y = 3 * x**2 - x + np.cos(5 * x)
    np.testing.assert_allclose(
        np.asarray(xp.polyfit(xp.asarray(x), xp.asarray(y), 3)), np.polyfit(x, y, 3), rtol=1e-10
    )


EQUATIONS: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("ij,jk", ((2, 3), (3, 4))),
    ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)),
    ("ij->ji", ((2, 3),)),
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 2))),
    ("...ij,...jk->...ik", ((2, 3, 4), (4, 2))),
    ("i,j,k->ijk", ((2,), (3,), (4,))),
    ("ij,ij->", ((2, 3), (2, 3))),
    ("ij,kj->ik", ((0, 3), (2, 3))),
]


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128", "int8"])
@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda each: each[0])
def test_einsum(equation: tuple[str, tuple[tuple[int, ...], ...]], dtype: str) -> None:
    text, shapes = equation
    operands = [sample(dtype, shape, k, special=False) for k, shape in enumerate(shapes)]
    agrees("einsum", text, *operands, exact=False, ulps=16, scale=200)


def test_inserting() -> None:
    x = sample("float32", (3, 4))
    agrees("insert", x, 1, 5.0, axis=0)
    agrees("insert", x, 2, sample("float32", (3,)), axis=1)
    agrees("insert", x, -1, 7.0)
    agrees("insert", sample("int64", (4,)), 2, np.array([8, 9]))
    agrees("resize", x, (5, 2))
    agrees("ix_", np.array([0, 2]), np.array([1, 3]))
    agrees("tril_indices_from", x, recorded=False)
    agrees("triu_indices_from", x, 1, recorded=False)


def test_written_to() -> None:
    for namespace in (np, xp):
        a: Any = namespace.asarray(np.arange(6.0).reshape(2, 3))
        namespace.copyto(a, 7, where=namespace.asarray([True, False, True]))
        namespace.putmask(a, a > 6, namespace.asarray([1.0, 2.0]))
        namespace.fill_diagonal(a, -1)
        assert np.asarray(a).tolist() == [[-1.0, 1.0, 1.0], [2.0, -1.0, 2.0]]


def test_all_kinds_of_arguments() -> None:
    # numpy writes to more dimensions of size 1 than the result has.
    assert disagreements("elementwise", refused={"round": 1}) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.clip(x, 0, 1, out=x[:1]),
        lambda x: np.round(x, 1, out=np.zeros((2, 3))),
        lambda x: np.fix(x, out=np.zeros(3, np.int32)),
        lambda x: np.clip(x, 0.5, None, out=np.zeros(3, np.int64)),
        lambda x: np.isposinf(x, out=np.zeros(2)),
        lambda x: np.argmax(x, out=np.zeros(())),
        lambda x: np.stack([x, x], out=np.zeros((2, 3)), dtype=np.float64),
    ],
)
def test_what_numpy_does_not_write_to_out_is_refused(call: Any) -> None:
    x = np.array([0.25, 1.75, -3.0])
    with pytest.raises((ValueError, TypeError)):
        call(x.copy())
    with pytest.raises((OnnxsmithError, ValueError)):  # numpy's own, where the model finds it
        xp.jit(call)(x)


def test_out_of_more_dimensions_is_written_all_over() -> None:
    def clipped(x: Any) -> Any:
        wide = np.zeros((2, 3))
        np.clip(x, 0, 1, out=wide)
        return wide

    x = np.array([0.25, 1.75, -3.0])
    np.testing.assert_array_equal(xp.jit(clipped)(x), clipped(x))

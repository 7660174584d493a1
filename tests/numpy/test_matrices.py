"""Linear algebra, against numpy by value where that is unique, else by residual; of open sizes, and of none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LinearAlgebraError
from tests.numpy.agreement import agrees, run_recorded
from tests.numpy.every_argument import disagreements

SHAPES = [(3, 3), (2, 4, 4), (1, 1), (0, 0), (2, 0, 0), (0, 3, 3)]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def matrix(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng([seed, *shape])
    made = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.normal(size=shape)
    return made.astype(dtype)


def hermitian(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    a = matrix(dtype, shape)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])).astype(dtype)


def results(name: str, *args: Any, **kwargs: Any) -> list[Any]:
    """Eagerly, and by a model that was recorded with every size open."""
    function = getattr(xp.linalg, name)
    ours = function(*[xp.asarray(each) if isinstance(each, np.ndarray) else each for each in args], **kwargs)
    recorded = run_recorded(f"linalg.{name}", args, kwargs)
    return [ours, recorded]


def close(ours: Any, expected: Any) -> None:
    mine = np.asarray(ours)
    assert mine.dtype == expected.dtype
    assert mine.shape == expected.shape
    single = expected.dtype.name in ("float32", "complex64")
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(
        mine, expected, rtol=2e-4 if single else 1e-9, atol=scale * (1e-4 if single else 1e-10)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["inv", "det", "pinv", "svdvals", "cholesky", "eigvalsh", "matrix_rank"])
def test_unique_results(name: str, shape: tuple[int, ...], dtype: str) -> None:
    a = (hermitian if name in ("cholesky", "eigvalsh") else matrix)(dtype, shape)
    theirs = (lambda x: np.linalg.svd(x, compute_uv=False)) if name == "svdvals" else getattr(np.linalg, name)
    expected = np.asarray(theirs(a))
    for ours in results(name, a):
        close(ours, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_solve(shape: tuple[int, ...], dtype: str) -> None:
    a, b = matrix(dtype, shape), matrix(dtype, (*shape[:-1], 2), seed=1)
    for ours in results("solve", a, b):
        close(ours, np.linalg.solve(a, b))
    if len(shape) == 2:
        for ours in results("solve", a, b[:, 0].copy()):
            close(ours, np.linalg.solve(a, b[:, 0]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 3), (0, 3), (3, 0)])
def test_factors_give_the_matrix(shape: tuple[int, ...], dtype: str) -> None:
    a = matrix(dtype, shape)
    for mode in ("reduced", "complete"):
        for q, r in results("qr", a, mode=mode):
            q, r = np.asarray(q), np.asarray(r)
            theirs = np.linalg.qr(a, mode)
            assert (q.shape, r.shape) == (theirs[0].shape, theirs[1].shape)
            close(q @ r, a)
            np.testing.assert_array_equal(r, np.triu(r))
    for full in (True, False):
        for u, s, vh in results("svd", a, full_matrices=full):
            u, s, vh = np.asarray(u), np.asarray(s), np.asarray(vh)
            theirs = np.linalg.svd(a, full)
            assert [each.shape for each in (u, s, vh)] == [each.shape for each in theirs]
            close(s, theirs[1])
            k = s.shape[-1]
            close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors(dtype: str) -> None:
    h = hermitian(dtype, (2, 4, 4))
    for values, vectors in results("eigh", h):
        w, v = np.asarray(values), np.asarray(vectors)
        close((v * w[..., None, :].astype(v.dtype)) @ np.conj(np.swapaxes(v, -1, -2)), h)
    a = matrix(dtype, (4, 4))
    for values, vectors in results("eig", a):
        w, v = np.asarray(values), np.asarray(vectors)
        single = v.dtype == np.complex64
        np.testing.assert_allclose(a @ v, v * w, atol=1e-4 if single else 1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4)])
@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(order: Any, shape: tuple[int, ...]) -> None:
    a = matrix("float64", shape)
    for ours in results("matrix_norm", a, ord=order):
        close(ours, np.asarray(np.linalg.matrix_norm(a, ord=order)))
    if len(shape) == 2:
        close(xp.linalg.norm(xp.asarray(a), order), np.asarray(np.linalg.norm(a, order)))


@pytest.mark.parametrize("order", [0, 1, 2, 3, -1, 0.5, np.inf, -np.inf])
def test_vector_norms(order: float) -> None:
    for dtype in ("float64", "complex128"):
        a = matrix(dtype, (2, 3))
        for axis in (None, 0, 1, (0, 1)):
            for ours in results("vector_norm", a, ord=order, axis=axis):
                close(ours, np.asarray(np.linalg.vector_norm(a, ord=order, axis=axis)))


@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
def test_products(dtype: str) -> None:
    a, b = matrix("float64", (3, 4)), matrix("float64", (4, 2))
    x, y = (np.round(4 * each).astype(dtype) for each in (a, b))
    agrees("dot", x, y)
    agrees("dot", x, y[:, 0].copy())
    agrees("inner", x, x)
    agrees("vdot", x, x)
    agrees("outer", x, y)
    agrees("kron", x, y)
    agrees("trace", x, offset=1)
    agrees("tensordot", x, y, axes=1)
    agrees("tensordot", x, x, axes=2)
    agrees("tensordot", x, y, axes=([1], [0]))
    agrees("tensordot", x, x, axes=1)
    agrees("cross", x[:, :3].copy(), x[:, 1:].copy())
    agrees("linalg.matrix_power", x[:, :3].copy(), 3)
    agrees("linalg.matrix_power", x[:, :3].copy(), 0)


def test_no_solution() -> None:
    with pytest.raises(LinearAlgebraError, match="singular"):
        xp.linalg.inv(xp.zeros((2, 2)))
    with pytest.raises(LinearAlgebraError, match="positive"):
        xp.linalg.cholesky(xp.asarray([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("size", [1e-200, 1e155, 1e-30])
def test_far_from_one(size: float) -> None:
    a = size * np.array([[1.0, 0.1], [0.1, 1.0]])
    for name in ("eigvalsh", "svdvals"):
        expected = np.sort(np.abs(np.linalg.eigvalsh(a)))
        np.testing.assert_allclose(
            np.sort(np.asarray(getattr(xp.linalg, name)(xp.asarray(a)))), expected, rtol=1e-12
        )
    found = np.sort(np.asarray(xp.linalg.eigvals(xp.asarray(a))).real)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(a), rtol=1e-12)
    q, r = (np.asarray(each) for each in xp.linalg.qr(xp.asarray(a)))
    np.testing.assert_allclose(q @ r, a, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_as_matrices(dtype: str) -> None:
    a = matrix(dtype, (6, 6)).reshape(2, 3, 6)
    for ours in results("tensorinv", a, 2):
        close(ours, np.linalg.tensorinv(a, 2))
    b = matrix(dtype, (2, 3), seed=1)
    for ours in results("tensorsolve", a, b):
        close(ours, np.linalg.tensorsolve(a, b))
    turned = np.moveaxis(a, 2, 0).copy()
    for ours in results("tensorsolve", turned, b, axes=(0,)):
        close(ours, np.linalg.tensorsolve(turned, b, axes=(0,)))


def test_arrays_that_are_no_matrices() -> None:
    agrees("linalg.tensorinv", np.ones((2, 3)), 1)
    agrees("linalg.tensorinv", np.ones((2, 2)), 0)
    agrees("linalg.tensorsolve", np.ones((2, 3)), np.ones(2))


@pytest.mark.parametrize(
    ("module", "refused"),
    [
        ("contractions", {"cross": 9, "tensordot": 1}),
        ("factors", {}),
        ("norms", {}),
        ("solving", {"linalg.matrix_rank": 2}),
    ],
)
def test_all_kinds_of_arguments(module: str, refused: dict[str, int]) -> None:
    assert disagreements(f"matrices.{module}", refused) == []

"""Linear algebra: factors, solutions and norms are torch's, for real and complex batches of any size."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.function_agreement import agree  # noqa: E402  # torch may be missing

DTYPES = (torch.float32, torch.complex64)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def positive(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    a = torch.randn(*shape, dtype=dtype)
    return a @ a.mH + 3 * torch.eye(shape[-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.inv,
        torch.linalg.det,
        torch.linalg.slogdet,
        torch.linalg.lu,
        torch.linalg.lu_factor,
        torch.linalg.pinv,
        torch.linalg.matrix_exp,
        torch.linalg.cond,
        lambda a: torch.linalg.matrix_power(a, -3),
        lambda a: torch.linalg.matrix_norm(a, "nuc"),
        lambda a: torch.linalg.solve(a, a.mH),
        lambda a: torch.linalg.solve(a, a[:, 0], left=True),
        lambda a: torch.linalg.solve(a, a.mH, left=False),
    ],
)
def test_square_matrices_of_any_size(function, dtype):
    example, other = torch.randn(2, 3, 3, dtype=dtype), torch.randn(3, 5, 5, dtype=dtype)
    agree(function, example, others=[(other,)], dims=[(0, 1, 2)], tolerance=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(dtype, upper):
    def function(a):
        factor = torch.linalg.cholesky(a, upper=upper)
        return factor, torch.cholesky_inverse(factor, upper), torch.cholesky_solve(a, factor, upper)

    agree(function, positive(4, 4, dtype=dtype), others=[(positive(6, 6, dtype=dtype),)], dims=[(0, 1)])
    other_triangle = torch.tril if not upper else torch.triu
    agree(lambda a: torch.linalg.cholesky(a, upper=upper), other_triangle(positive(4, 4, dtype=dtype)))


def test_cholesky_that_fails_says_where():
    a = torch.diag(torch.tensor([1.0, 2.0, -1.0, 3.0]))
    agree(lambda a: torch.linalg.cholesky_ex(a).info, a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
def test_qr(dtype, shape):
    a = torch.randn(shape, dtype=dtype)
    for mode in ("reduced", "complete"):
        agree(lambda a, mode=mode: torch.linalg.qr(a, mode), a)
    agree(torch.geqrf, a)
    agree(lambda a: torch.linalg.householder_product(*torch.geqrf(a)), a[..., : min(a.shape[-2:])])


def test_qr_of_any_size():
    agree(torch.linalg.qr, torch.randn(5, 3), others=[(torch.randn(7, 4),)], dims=[(0, 1)])


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_reflections(left, transpose, dtype):
    packed, factors = torch.geqrf(torch.randn(4, 4, dtype=dtype))
    other = torch.randn(4, 3, dtype=dtype) if left else torch.randn(3, 4, dtype=dtype)
    agree(lambda p, f, c: torch.ormqr(p, f, c, left, transpose), packed, factors, other)


def rebuilt(a, full):
    """What does not depend on the signs of singular vectors."""
    u, s, v = torch.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    return s, (u[..., :k] * s.unsqueeze(-2)) @ v[..., :k, :], u.mH @ u, v @ v.mH


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
@pytest.mark.parametrize("full", [True, False])
def test_svd(dtype, shape, full):
    agree(lambda a: rebuilt(a, full), torch.randn(shape, dtype=dtype))


def test_svd_of_a_singular_matrix_has_orthonormal_vectors():
    agree(lambda a: rebuilt(a, True), torch.ones(4, 4))
    agree(lambda a: rebuilt(a, True), torch.zeros(3, 3))


def test_svd_where_rows_may_be_more_or_fewer_than_columns():
    agree(lambda a: rebuilt(a, False), torch.randn(3, 5), others=[(torch.randn(6, 4),)], dims=[(0, 1)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(dtype, triangle):
    def function(a):
        values, vectors = torch.linalg.eigh(a, triangle)
        return values, (vectors * values.unsqueeze(-2)) @ vectors.mH, vectors.mH @ vectors

    a = torch.randn(2, 4, 4, dtype=dtype)
    agree(function, a, others=[(torch.randn(3, 6, 6, dtype=dtype),)], dims=[(0, 1, 2)])


CYCLE = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    "a",
    [
        torch.randn(5, 5, generator=torch.Generator().manual_seed(1)),
        torch.randn(2, 4, 4, dtype=torch.complex64, generator=torch.Generator().manual_seed(1)),
        CYCLE,  # which a QR step maps to itself
        torch.eye(3),
        torch.ones(3, 3),
    ],
)
def test_eig(a):
    def function(a):
        values, vectors = torch.linalg.eig(a)
        rest = a.to(values.dtype) @ vectors - vectors * values.unsqueeze(-2)
        return rest, vectors.abs().square().sum(-2), values.sum(-1), values.square().sum(-1)

    agree(function, a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_with_blocks_of_two(dtype, hermitian):
    a = torch.randn(2, 6, 6, dtype=dtype)
    a = a + (a.mH if hermitian else a.mT)
    a.diagonal(dim1=-2, dim2=-1).zero_()
    factors, pivots = torch.linalg.ldl_factor(a, hermitian=hermitian)
    assert bool((pivots < 0).any())
    agree(lambda a: torch.linalg.ldl_factor(a, hermitian=hermitian), a)
    agree(
        lambda f, p, b: torch.linalg.ldl_solve(f, p, b, hermitian=hermitian),
        *(factors, pivots, torch.randn(2, 6, 2, dtype=dtype)),
    )


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu_solve(left, adjoint, dtype):
    factors, pivots = torch.linalg.lu_factor(torch.randn(2, 4, 4, dtype=dtype))
    b = torch.randn(2, 4, 3, dtype=dtype) if left else torch.randn(2, 3, 4, dtype=dtype)
    agree(lambda f, p, b: torch.linalg.lu_solve(f, p, b, left=left, adjoint=adjoint), factors, pivots, b)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_systems_broadcast(upper, left, unit):
    a, b = torch.randn(4, 4) + 4 * torch.eye(4), torch.randn(2, 4, 4)
    agree(lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit), a, b)


@pytest.mark.parametrize("order", [1, -1, float("inf"), "fro", "nuc", 2, -2])
def test_condition_numbers(order):
    agree(lambda a: torch.linalg.cond(a, order), torch.randn(2, 3, 3))


def test_tolerances_of_ranks_and_inverses():
    a = torch.diag(torch.tensor([1.0, 1e-2, 1e-9]))
    agree(lambda a: (torch.linalg.matrix_rank(a), torch.linalg.pinv(a)), a)
    agree(lambda a: (torch.linalg.matrix_rank(a, atol=0.1), torch.linalg.pinv(a, rtol=0.1)), a)
    agree(lambda a, t: torch.linalg.matrix_rank(a, atol=t), a.expand(2, 3, 3), torch.tensor([0.1, 1e-10]))


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, float("inf"), float("-inf"), -1])
@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_vector_norms(order, keepdim, dtype):
    a = torch.randn(2, 3, 4, dtype=dtype)
    for dim in (None, -1, (0, 2)):
        agree(lambda a, dim=dim: torch.linalg.vector_norm(a, order, dim=dim, keepdim=keepdim), a)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")])
def test_matrix_norms(order):
    a = torch.randn(2, 3, 4)
    for dim in ((-2, -1), (0, 2), (2, 1)):
        for keepdim in (True, False):
            agree(lambda a, d=dim, k=keepdim: torch.linalg.matrix_norm(a, order, dim=d, keepdim=k), a)


def test_nothing_to_factor():
    empty = torch.zeros(0, 0)
    agree(torch.linalg.inv, empty)
    agree(torch.linalg.det, empty)
    agree(torch.linalg.svd, torch.zeros(3, 0))
    agree(torch.linalg.qr, torch.zeros(0, 3))


def test_loops_keep_graphs_small_and_run_at_opset_18():
    big = torch.randn(40, 40)
    model = agree(torch.linalg.inv, big, opset_version=18)
    assert len(model.proto.graph.node) < 30

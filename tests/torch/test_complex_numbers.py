"""Complex tensors as pairs of real ones: arithmetic, functions, sums and products are torch's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.function_agreement import agree  # noqa: E402  # torch may be missing


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.complex64)


FUNCTIONS = (
    *("abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1"),
    *("log", "log10", "log1p", "log2", "neg", "reciprocal", "rsqrt", "sgn", "sigmoid", "sin", "sinc"),
    *("sinh", "sqrt", "square", "tan", "tanh", "conj_physical", "isfinite", "logical_not"),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    real, imag = torch.meshgrid(torch.linspace(-2.5, 2.5, 7), torch.linspace(-2.1, 2.3, 6), indexing="ij")
    z = torch.complex(real, imag)
    agree(getattr(torch, name), torch.cat([z, z * 1e-3, z * 8]))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "tanh", "asin", "acosh", "atan", "angle"])
def test_functions_in_double_precision(name):
    agree(getattr(torch, name), numbers(20).to(torch.complex128), tolerance=1e-12)


def test_arithmetic_with_real_tensors_and_numbers():
    z, x = numbers(2, 3), torch.randn(3)
    agree(
        lambda z, x: (z + x, x - z, z * x, x / z, z / x, z + (1 - 2j), 2 - z, torch.add(z, x, alpha=3)), z, x
    )
    agree(lambda z, x: (z**2, z**-1, z**2.5, z ** (1 + 1j), z**x, 2**z, x**z), z, x)
    agree(lambda z, x: (z == x, z != z, torch.isclose(z, z + 1e-9), torch.where(x > 0, z, 1.0)), z, x)
    agree(lambda z, x: (torch.addcmul(z, z, x, value=2), torch.lerp(z, z.conj(), 0.3)), z, x)


def test_infinite_numbers_keep_their_other_part():
    x = torch.tensor([float("inf"), 1.0])
    agree(lambda x: x.to(torch.complex64), x)
    agree(lambda x: torch.complex(x, x).abs(), x)


def test_parts():
    z = numbers(3, 4)
    agree(lambda z: (z.real, z.imag, z.conj(), z.mH, torch.view_as_real(z), z.to(torch.bool)), z)
    agree(lambda x: torch.view_as_complex(x) * 1j, torch.randn(3, 2))
    agree(torch.polar, torch.rand(3), torch.randn(3))
    agree(torch.complex, torch.rand(2, 1), torch.randn(3))


def test_elements_move_with_both_parts():
    z = numbers(2, 3, 4)
    agree(lambda z: (z.reshape(6, 4), z.permute(2, 0, 1), z[:, 1:], z.flip(0), torch.cat([z, z.real])), z)


def test_a_complex_tensor_that_only_gives_a_shape():
    agree(lambda x, z: x.expand_as(z), torch.randn(3), numbers(2, 3))
    agree(torch.nn.functional.normalize, numbers(4, 3))


@pytest.mark.parametrize("keepdim", [True, False])
def test_sums(keepdim):
    z = numbers(2, 3, 4)
    agree(lambda z: (z.sum(), z.mean(1, keepdim), z.prod(), z.prod(-1, keepdim), z.cumsum(0)), z)
    agree(lambda z: (z.var(), z.std(1, keepdim=keepdim), torch.var_mean(z, (0, 2), correction=0)), z)
    agree(lambda z: (z.cumprod(1), torch.logcumsumexp(z, 2), z.any(), z.all(1), z.count_nonzero(0)), z)


def test_products():
    a, b, v = numbers(2, 3, 4), numbers(2, 4, 5), numbers(4)
    agree(lambda a, b, v: (a @ b, a @ v, torch.bmm(a, b), torch.vdot(v, v), torch.dot(v, v)), a, b, v)
    agree(lambda a, b, v: torch.addmm(b[0, :3], a[0], b[0], beta=2j, alpha=1 - 1j), a, b, v)
    agree(lambda a, b: torch.einsum("bij,bjk->bik", a, b), a, b)
    agree(lambda v: (torch.outer(v, v), torch.linalg.vecdot(v, 2 * v)), v)


def test_rotary_embedding_by_complex_numbers():
    """As language models turn queries: pairs as complex numbers, times numbers of length one."""

    def rotated(x, angles):
        turns = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3).type_as(x)

    def example(batch, time):
        return torch.randn(batch, time, 2, 8), torch.outer(torch.arange(time).float(), torch.rand(4))

    agree(rotated, *example(2, 5), others=[example(3, 7)], dims=[(0, 1), (0,)])


def test_sizes_are_read_off_complex_inputs():
    # torch asks for the sizes before anything is computed with the elements.
    agree(lambda z: z.chunk(2, 1), numbers(3, 4), others=[(numbers(5, 6),)], dims=[(0, 1)])
    agree(lambda a, b: a.expand_as(b), numbers(1, 4), numbers(3, 4), dims=[(1,), (0, 1)])


def test_dynamic_shapes():
    agree(lambda z: (z * z.conj()).sum(0) / z.shape[0], numbers(3, 2), others=[(numbers(5, 2),)], dims=[(0,)])
    agree(lambda z: z.cumprod(0), numbers(3, 2), others=[(numbers(5, 2),)], dims=[(0,)])

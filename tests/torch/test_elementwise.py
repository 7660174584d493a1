"""Arithmetic and special functions, element by element: what ONNX Runtime gives is what torch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.library.together import agree as agree_together  # noqa: E402  # torch may be missing
from tests.torch.test_sorting import agrees  # noqa: E402

NAN, INF = float("nan"), float("inf")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN, 1e-30]


#: Arithmetic of two operands, each also with a number of Python's; of floats, and of whole numbers where torch has it.
OF_FLOATS: dict[str, Callable[..., Any]] = {
    "div": lambda x, y: (x / y, x / 3, 3 / x, torch.true_divide(x, y)),
    "div, rounding": lambda x, y: [torch.div(x, y, rounding_mode=each) for each in (None, "floor", "trunc")],
    "powers": lambda x, y: (x**2, x**1, x.abs() ** 0.5, x.abs() ** -0.5, x**-1, x**3, x.abs() ** y, 2.0**x),
    "functions": lambda x, y: (
        x.abs().rsqrt(),
        x.exp2(),
        x.expm1(),
        x.abs().log1p(),
        x.abs().log2(),
        x.abs().log10(),
    ),
    "roundings": lambda x, y: (x.ceil(), x.floor(), x.round(), x.trunc(), x.frac()),
    "copysign": lambda x, y: (torch.copysign(x, y), torch.copysign(x, -0.0), torch.copysign(x, 1)),
    "atan2": lambda x, y: (torch.atan2(x, y), torch.hypot(x, y)),
    "addcmul": lambda x, y: (torch.addcmul(x, y, x), torch.addcmul(x, y, x, value=-0.5)),
    "addcdiv": lambda x, y: (torch.addcdiv(x, y, x), torch.addcdiv(x, y, x, value=-0.5)),
    "lerp": lambda x, y: (torch.lerp(x, y, 0.25), torch.lerp(x, y, x)),
}
OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: (x + y, x + 2, 2 + x, torch.add(x, y, alpha=3)),
    "sub": lambda x, y: (
        x - y,
        x - 2,
        2 - x,
        torch.sub(x, y, alpha=3),
        torch.rsub(x, y, alpha=2),
        torch.rsub(x, 5),
    ),
    "mul": lambda x, y: (x * y, x * 3),
    "one": lambda x, y: (-x, x.abs(), x.square(), x.sign()),
    "remainders": lambda x, y: (x % y, torch.fmod(x, y), x % 3, x // y, x // 2, x / y),
    "clamp": lambda x, y: (
        x.clamp(-1, 2),
        x.clamp(min=1),
        x.clamp(max=1),
        x.clamp_min(0),
        x.clamp_max(y),
        x.clamp(y),
    ),
    "orderings": lambda x, y: (
        x < y,
        x <= y,
        x > y,
        x >= y,
        x == y,
        x != y,
        x < 2,
        x <= 2,
        x > 2,
        x >= 2,
        x == 2,
        x != 2,
    ),
    "logical": lambda x, y: [
        *(getattr(torch, f"logical_{name}")(x - 2, y + 2) for name in ("and", "or", "xor")),
        torch.logical_not(x - 2),
    ],
    "extremes": lambda x, y: (torch.maximum(x, y), torch.minimum(x, y)),
    "where": lambda x, y: (torch.where(x > y, x, y), torch.where(x > y, x, 7), torch.where(x > 0, 1, y)),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 9),
}
OF_TRUTHS: dict[str, Callable[..., Any]] = {
    "sums": lambda x, y: (x + y, torch.add(x, y, alpha=False), torch.add(x, y, alpha=True), x * y),
    "logical": lambda x, y: (
        torch.logical_and(x, y),
        torch.logical_xor(x, y),
        x == y,
        x != y,
        torch.logical_not(x),
    ),
    "where": lambda x, y: (torch.where(x, y, x), x.masked_fill(y, True)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int32, torch.bool])
def test_arithmetic(dtype: Any):
    x, y = torch.tensor([-7.0, 2.0, -1.0, 5.0, 1.0, 4.0]), torch.tensor([2.0, 2.0, 3.0, -4.0, -1.0, 2.0])
    if dtype.is_floating_point:
        agree_together(OF_NUMBERS | OF_FLOATS, x.to(dtype) / 2, y.to(dtype) / 2)
    elif dtype is torch.bool:
        agree_together(OF_TRUTHS, x > 0, y > 2)
    else:
        agree_together(OF_NUMBERS, x.to(dtype), y.to(dtype))


def test_a_float_less_an_integer_mask():
    mask = torch.tensor([[1, 0], [1, 1]])
    for dtype in (torch.int64, torch.uint8, torch.int32):
        agrees(lambda x: 1.0 - x, mask.to(dtype), others=[(torch.ones(5, 2).to(dtype),)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_clamp_between_numbers_and_tensors(dtype: Any):
    x = torch.tensor([-5.0, 0.0, 3.0, 9.0]).to(dtype)
    agrees(lambda x: (x.clamp(1), x.clamp(max=2.5), torch.clamp(x, x * 0 + 1, x * 0 + 4)), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "name",
    ["atan2", "copysign", "fmax", "fmin", "hypot", "remainder", "fmod", "floor_divide", "maximum", "pow"],
)
def test_two_operands_at_the_edges(name: str, dtype: Any):
    edges = torch.tensor(EDGES, dtype=dtype)
    agrees(getattr(torch, name), edges[:, None], edges[None])


def test_floats_divided_and_rounded_down():
    x, y = torch.tensor([1.0, -1.0, 7.0, -7.0]), torch.tensor([0.1, 0.1, 2.0, 2.0])
    agrees(lambda x, y: (torch.floor_divide(x, y), torch.div(x, y, rounding_mode="trunc")), x, y)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8])
def test_integers_divided(dtype: Any):
    x = torch.tensor([-7, 7, -6, 5]).to(dtype)
    y = torch.tensor([2, -2, 3, 4]).to(dtype)
    agrees(lambda x, y: (x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc")), x, y)
    agrees(lambda x, y: (torch.gcd(x, y), torch.lcm(x, y), x**7), x, y)


def test_floor_division_of_symbolic_sizes():
    agrees(
        lambda x: x.sum(0) + (1 - x.shape[0]) // 2 + (-x.shape[0]) % 3,
        torch.randn(4, 2),
        others=[(torch.randn(7, 2),)],
    )


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_shifts(dtype: Any):
    x = torch.tensor([[5], [100], [77]]).to(dtype)
    x = x if dtype is torch.uint8 else torch.cat([x, -x])
    by = torch.tensor([[0, 1, 3, 7, 31, 63, 70]]).to(dtype)
    agrees(lambda x, by: (torch.bitwise_left_shift(x, by), torch.bitwise_right_shift(x, by)), x, by)


def test_parts_of_numbers():
    x = torch.tensor([0.0, 1.0, -3.0, 0.4999, 1e-40, 3e38, 1024.0])
    agrees(torch.frexp, x, tolerance=0.0)
    agrees(torch.nextafter, x[:, None], torch.tensor([[INF, -INF, 0.0, 5.0]]), tolerance=0.0)
    agrees(torch.signbit, torch.tensor(EDGES))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_arguments_are_not_lost(dtype: Any):
    x = torch.tensor([1e-12, -1e-9, 1e-5, 0.3, -0.7, 2.0], dtype=dtype)
    scale = 1 / x.abs()
    agrees(lambda x, s: (x.log1p() * s, x.expm1() * s, x.sinh() * s, x.atan() * s), x, scale, tolerance=1e-6)


def test_logarithms_of_powers_are_whole():
    agrees(lambda x: (x.log2().floor(), (x * 0 + 1000).log10().floor()), 2.0 ** torch.arange(1.0, 20.0))


@pytest.mark.parametrize(
    "name",
    [
        *("i0", "i0e", "i1", "i1e", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "airy_ai"),
        *("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "spherical_bessel_j0"),
        *("scaled_modified_bessel_k1", "erfc", "erfcx", "log_ndtr", "ndtr", "gammaln", "digamma"),
    ],
)
def test_special_functions(name: str):
    x = torch.cat([torch.linspace(-20, 20, 81), torch.tensor([0.013, 3.7, 7.9, 8.1, 12.34, *EDGES])])
    agrees(getattr(torch.special, name), x.double(), tolerance=1e-6)
    agrees(getattr(torch.special, name), x[5:9], others=[(x,)], tolerance=1e-4)


def test_inverse_functions():
    x = torch.cat([torch.linspace(-1, 1, 41), 1 - torch.logspace(-7, -1, 20)]).double()
    agrees(torch.erfinv, x, tolerance=1e-8)
    agrees(torch.special.ndtri, torch.cat([x, torch.logspace(-30, 0, 31).double()]), tolerance=1e-8)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_polygamma(order: int):
    x = torch.tensor([0.1, 0.5, 1.0, 3.3, 11.0, 40.0, -0.3, -7.6, 0.0])
    agrees(lambda x: torch.polygamma(order, x), x, tolerance=1e-4)


def test_zeta_and_incomplete_gamma():
    s, q = torch.linspace(1, 9, 9).double()[:, None], torch.linspace(-6, 20, 27).double()[None]
    agrees(torch.special.zeta, s, q, tolerance=1e-7)
    a, x = torch.logspace(-2, 3, 16).double()[:, None], torch.logspace(-2, 3, 16).double()[None]
    agrees(lambda a, x: (torch.igamma(a, x), torch.igammac(a, x)), a, x, tolerance=1e-7)
    edges = torch.tensor(EDGES)
    agrees(lambda a, x: (torch.igamma(a, x), torch.igammac(a, x)), edges[:, None], edges[None])


@pytest.mark.parametrize(
    "family", ["chebyshev_polynomial_t", "hermite_polynomial_h", "laguerre_polynomial_l"]
)
def test_polynomials_of_any_degree(family: str):
    degrees = torch.arange(-1, 9)[:, None]
    points = torch.linspace(-1.5, 1.5, 7)[None]
    agrees(lambda x, n: getattr(torch.special, family)(x, n), points, degrees, tolerance=1e-4)
    agrees(
        lambda x: getattr(torch.special, family)(x, 3), points[0], others=[(points[0, :4],)], tolerance=1e-4
    )

"""Rules of special functions by name, against torch in double precision; beside seams and where they overflow."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import DOUBLE, Model, algorithms, load, trace
from onnxsmith import opset21 as op
from onnxsmith.algorithms import angles
from onnxsmith.algorithms.named import DOMAIN
from onnxsmith.algorithms.special import bessel, circular, double, error_functions, gamma, logarithms
from onnxsmith.grad.table import RULES

LINE = np.array([-30.0, -7.5, -2.2, -1.0, -0.3, -1e-9, 1e-9, 0.25, 0.5, 1.0, 1.7, 3.75, 8.0, 26.0])
INSIDE = np.array([-0.999, -0.5, -1e-9, 0.0, 0.3, 0.9])
POSITIVE = np.array([1e-3, 0.1, 0.5, 1.5, 7.9, 8.1, 40.0])

CASES: list[tuple[Callable[..., Any], Callable[..., Any], np.ndarray]] = [
    (circular.sin, torch.sin, LINE),
    (circular.cos, torch.cos, LINE),
    (circular.tan, torch.tan, LINE),
    (circular.asin, torch.asin, INSIDE),
    (circular.acos, torch.acos, INSIDE),
    (circular.atan, torch.atan, LINE),
    (circular.sinh, torch.sinh, LINE),
    (circular.cosh, torch.cosh, LINE),
    (circular.asinh, torch.asinh, LINE),
    (circular.acosh, torch.acosh, POSITIVE + 1.0),
    (circular.atanh, torch.atanh, INSIDE),
    (double.log1p, torch.log1p, POSITIVE),
    (double.expm1, torch.expm1, LINE),
    (error_functions.erf, torch.erf, LINE),
    (error_functions.erfc, torch.erfc, LINE),
    (error_functions.erfcx, torch.special.erfcx, LINE[2:9]),
    (error_functions.erfinv, torch.erfinv, INSIDE),
    (error_functions.normal, torch.special.ndtr, LINE),
    (error_functions.log_of_normal, torch.special.log_ndtr, LINE),
    (error_functions.normal_quantile, torch.special.ndtri, (INSIDE + 1.0) / 2.0),
    (gamma.lgamma, torch.lgamma, LINE[[1, 2, 4, 7, 8, 9, 10, 13]]),
    (bessel.i0, torch.special.i0, LINE),
    (bessel.scaled_i0, torch.special.i0e, LINE),
    (bessel.i1, torch.special.i1, LINE),
    (bessel.scaled_i1, torch.special.i1e, LINE),
]


def slopes(function: Callable[..., Any], *xs: np.ndarray) -> tuple[Model, list[np.ndarray]]:
    names = [f"x{k}" for k in range(len(xs))]
    kinds = [DOUBLE["N"]] * len(xs)
    model = trace(lambda *x: op.ReduceSum(function(*x), keepdims=0), *kinds, input_names=names)
    made = model.gradient(wrt=names)
    return made, list(made(*xs)[1:])


@pytest.mark.parametrize(("ours", "theirs", "x"), CASES, ids=[case[0].__name__ for case in CASES])
def test_slopes_are_those_of_torch(
    ours: Callable[..., Any], theirs: Callable[..., Any], x: np.ndarray
) -> None:
    given = torch.tensor(x, requires_grad=True)
    (wanted,) = torch.autograd.grad(theirs(given).sum(), given)
    _, (found,) = slopes(ours, x)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=2e-13, atol=1e-300)


def trigamma(x: np.ndarray) -> np.ndarray:
    """The sum of 1 / (x + k)², with the integral and three terms for what is behind the thousandth."""
    end = x + 1000
    head = (1 / (x[:, None] + np.arange(1000)) ** 2)[:, ::-1].sum(1)
    return head + 1 / end + 1 / (2 * end**2) + 1 / (6 * end**3)


def bessel_j1(x: np.ndarray) -> np.ndarray:
    """Bessel's integral; of a periodic function a sum over equal parts is exact."""
    angle = np.arange(200) * np.pi / 100
    return np.cos(angle - x[:, None] * np.sin(angle)).mean(1)


@pytest.mark.parametrize(
    ("ours", "slope", "tolerance"),
    [
        (bessel.j0, lambda x: -bessel_j1(x), 1e-11),
        (bessel.y0, lambda x: -torch.special.bessel_y1(torch.tensor(x)).numpy(), 1e-7),  # torch's own error
        (gamma.digamma, trigamma, 1e-12),
    ],
    ids=["j0", "y0", "digamma"],
)
def test_slopes_that_torch_has_less_exactly(
    ours: Callable[..., Any], slope: Callable[..., Any], tolerance: float
) -> None:
    _, (found,) = slopes(ours, POSITIVE)
    np.testing.assert_allclose(found, slope(POSITIVE), rtol=tolerance)


@pytest.mark.parametrize(("ours", "theirs"), [(angles.atan2, torch.atan2), (angles.hypot, torch.hypot)])
def test_functions_of_two_numbers(ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    one, other = LINE, LINE[::-1].copy()
    given = [torch.tensor(one, requires_grad=True), torch.tensor(other, requires_grad=True)]
    wanted = torch.autograd.grad(theirs(*given).sum(), given)
    _, found = slopes(ours, one, other)
    for mine, other_slope in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other_slope.numpy(), rtol=1e-13)


FACTORS, ARGUMENTS = (
    each.ravel() for each in np.meshgrid([0.0, -0.0, 1.5], [0.0, 0.5, 1.0, 2.0, np.inf, np.nan, -1.0, -0.5])
)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(logarithms.xlogy, torch.xlogy), (logarithms.xlog1py, torch.special.xlog1py)],
    ids=["xlogy", "xlog1py"],
)
def test_a_number_times_a_logarithm(ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    given = [torch.tensor(each, requires_grad=True) for each in (FACTORS, ARGUMENTS)]
    made, found = slopes(ours, FACTORS, ARGUMENTS)
    first = torch.autograd.grad(theirs(*given).sum(), given, create_graph=True)
    for mine, wanted in zip(found, first, strict=True):
        np.testing.assert_allclose(mine, wanted.detach().numpy(), rtol=1e-13)
    # Where nothing is infinite, the slopes of slopes.
    inside = ARGUMENTS[(ARGUMENTS > 0) & (ARGUMENTS < np.inf)]
    factors = np.zeros_like(inside)
    given = [torch.tensor(each, requires_grad=True) for each in (factors, inside)]
    one, other = torch.autograd.grad(theirs(*given).sum(), given, create_graph=True)
    wanted = torch.autograd.grad((one + 2 * other).sum(), given)
    total = trace(
        lambda x, y: op.ReduceSum(made(x, y)[1] + made(x, y)[2] * 2.0, keepdims=0), DOUBLE["N"], DOUBLE["N"]
    )
    for mine, each in zip(total.gradient(wrt=["x", "y"])(factors, inside)[1:], wanted, strict=True):
        np.testing.assert_allclose(mine, each.numpy(), rtol=1e-13)


def test_the_entropy_of_a_number() -> None:
    given = torch.tensor(ARGUMENTS, requires_grad=True)
    (wanted,) = torch.autograd.grad(torch.special.entr(given).sum(), given)
    _, (found,) = slopes(logarithms.entropy, ARGUMENTS)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-13)


def test_a_rule_is_found_by_name_after_saving(tmp_path) -> None:
    model = trace(lambda x: op.ReduceSum(error_functions.erf(x), keepdims=0), DOUBLE["N"])
    model.save(tmp_path / "model.onnx")
    made = load(tmp_path / "model.onnx").gradient(wrt="x")
    np.testing.assert_allclose(made(INSIDE)[1], 2 / np.sqrt(np.pi) * np.exp(-(INSIDE**2)), rtol=1e-15)
    # Through the approximation it would be several times the nodes of the function.
    assert len(made.ir.graph) < 150


def test_second_derivatives() -> None:
    model = trace(lambda x: op.ReduceSum(gamma.lgamma(x), keepdims=0), DOUBLE["N"])
    first = model.gradient(wrt="x")
    total = trace(lambda x: op.ReduceSum(first(x)[1], keepdims=0), DOUBLE["N"])
    found = total.gradient(wrt="x")(POSITIVE)[1]
    np.testing.assert_allclose(found, trigamma(POSITIVE), rtol=1e-12)


def test_algorithms_with_rules_keep_their_names_in_training() -> None:
    """Where algorithms are inlined, one without its name is differentiated through its nodes."""
    ruled = {name for domain, name in RULES if domain == DOMAIN}
    flags: dict[str, bool] = {}
    for path in Path(algorithms.__file__).parent.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        for function in [each for each in nodes if isinstance(each, ast.FunctionDef)]:
            for made in function.decorator_list:
                named = made.func if isinstance(made, ast.Call) else made
                if isinstance(named, ast.Name) and named.id == "algorithm":
                    given = made.keywords if isinstance(made, ast.Call) else []
                    constants = [(each.arg, each.value) for each in given]
                    said = {key: each.value for key, each in constants if isinstance(each, ast.Constant)}
                    flags[str(said.get("name", function.name))] = bool(said.get("has_gradient", False))
    assert {name for name, has_gradient in flags.items() if has_gradient} == ruled

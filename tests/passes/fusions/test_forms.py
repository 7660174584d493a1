"""Fusions are found however an expression is written, and where the search is spared none is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from onnxsmith import DOUBLE, FLOAT, FLOAT16, Model, Tensor, opset17, trace
from onnxsmith import opset23 as op
from onnxsmith.passes import optimize
from onnxsmith.passes.rules import applying
from onnxsmith.passes.worklist import NamedRule
from tests.passes.agreement import model_of, operators, results
from tests.passes.fusions.test_fusions import GELUS, ROOT_HALF, ROOT_PI, layer, rows

X = np.linspace(-3, 3, 15, dtype=np.float32).reshape(3, 5)


def products(factors: Sequence[Any]) -> Iterator[Any]:
    """The product of some factors, in every way to put brackets, and all pairs in both orders."""
    if len(factors) == 1:
        yield factors[0]
        return
    first, *others = factors
    for chosen in range(2 ** len(others) - 1):
        left = [first, *(each for k, each in enumerate(others) if chosen >> k & 1)]
        right = [each for k, each in enumerate(others) if not chosen >> k & 1]
        for one in products(left):
            for other in products(right):
                yield one * other if chosen % 2 else other * one


def ways(factors: int) -> range:
    """The ways to multiply so many factors."""
    return range(len(list(products([1.0] * factors))))


def product(way: int, *factors: Any) -> Any:
    """The product of some factors, in one of the ways; two numbers are one by then."""
    return list(products(factors))[way]


@pytest.mark.parametrize("way", ways(3))
def test_gelu_in_every_order(way: int) -> None:
    def network(x: Tensor) -> Any:
        return product(way, x, op.Erf(x * ROOT_HALF) + 1.0, op.Identity(0.5))

    small = optimize(trace(network, FLOAT["N", 5]))
    assert operators(small) == ["Gelu"]


@pytest.mark.parametrize("way", ways(4))
def test_the_cube_in_gelu_in_every_order(way: int) -> None:
    def network(x: Tensor) -> Any:
        term = product(way, op.Identity(0.044715), x, x, x)
        return 0.5 * x * (op.Tanh(ROOT_PI * (x + term)) + 1.0)

    model = trace(network, FLOAT["N", 5])
    small = optimize(model)
    assert operators(small) == ["Gelu"]
    np.testing.assert_allclose(results(small, [X])[0], results(model, [X])[0], atol=1e-5)


@pytest.mark.parametrize("way", ways(3))
def test_the_factored_gelu_in_every_order(way: int) -> None:
    def network(x: Tensor) -> Any:
        growth = 1.0 + product(way, op.Identity(0.044715), x, x)
        return x * 0.5 * (1.0 + op.Tanh(product(way, x, op.Identity(ROOT_PI), growth)))

    assert operators(optimize(trace(network, FLOAT["N", 5]))) == ["Gelu"]


@pytest.mark.parametrize("kind", [FLOAT, FLOAT16, DOUBLE])
@pytest.mark.parametrize("name", GELUS)
def test_gelu_in_every_precision(name: str, kind: Any) -> None:
    assert operators(optimize(trace(GELUS[name], kind["N", 5]))) == ["Gelu"]


def test_a_number_that_is_almost_right_is_no_gelu() -> None:
    model = trace(lambda x: 0.5 * x * (op.Erf(x * (ROOT_HALF + 1e-5)) + 1.0), FLOAT["N", 5])
    assert "Gelu" not in operators(optimize(model))


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("opset", [17, "runtime"])
def test_layer_normalisation_where_axes_are_an_attribute(axis: int, opset: int | Literal["runtime"]) -> None:
    def network(x: Tensor) -> Any:
        centred = x - opset17.ReduceMean(x, axes=[axis])
        return centred / opset17.Sqrt(opset17.ReduceMean(centred * centred, axes=[axis]) + 1e-5)

    model = trace(network, FLOAT["N", 5])
    small = optimize(model, opset=opset)
    assert operators(small) == ["LayerNormalization"]
    np.testing.assert_allclose(results(small, [X])[0], results(model, [X])[0], atol=1e-5)


def test_a_mean_over_another_axis_is_no_layer_normalisation() -> None:
    def network(x: Tensor) -> Any:
        centred = x - op.ReduceMean(x, [0])
        return centred / op.Sqrt(op.ReduceMean(centred * centred, [0]) + 1e-5)

    assert "LayerNormalization" not in operators(optimize(trace(network, FLOAT[3, 5])))


INVERSES: dict[str, Callable[[Tensor], Any]] = {
    "reciprocal": lambda v: op.Reciprocal(op.Sqrt(v)),
    "quotient": lambda v: 1.0 / op.Sqrt(v),
    "power": lambda v: v**-0.5,
}


@pytest.mark.parametrize("inverse", INVERSES)
@pytest.mark.parametrize("is_centred", [False, True])
def test_normalisation_by_an_inverse(inverse: str, is_centred: bool) -> None:
    scale = rows(5)

    def network(x: Tensor) -> Any:
        y = x - op.ReduceMean(x, [-1]) if is_centred else x
        return scale * (INVERSES[inverse](op.ReduceMean(y * y, [-1]) + 1e-5) * y)

    model = trace(network, FLOAT["N", 5])
    small = optimize(model)
    assert operators(small) == ["LayerNormalization" if is_centred else "RMSNormalization"]
    np.testing.assert_allclose(results(small, [X])[0], results(model, [X])[0], atol=1e-5)


BOUNDED = {
    "upper": "r = Relu(x) h = Constant<value_float=6.0>() y = Clip(r, , h)",
    "lower": "r = Relu(x) l = Constant<value_float=-1.0>() y = Clip(r, l)",
    "both": "r = Relu(x) l = Constant<value_float=1.0>() h = Constant<value_float=2.0>() y = Clip(r, l, h)",
    "minimum": "l = Constant<value_float=-1.0>() h = Constant<value_float=1.0>() m = Max(l, x) y = Min(m, h)",
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds(name: str) -> None:
    model = model_of(f"g (float[N, 5] x) => (float[N, 5] y) {{ {BOUNDED[name]} }}")
    small = optimize(model)
    assert operators(small) == ["Clip"]
    np.testing.assert_array_equal(results(small, [X])[0], results(model, [X])[0])


def test_bounds_that_cross_stay() -> None:
    body = "l = Constant<value_float=1.0>() h = Constant<value_float=-1.0>() m = Max(l, x) y = Min(m, h)"
    model = model_of(f"g (float[N, 5] x) => (float[N, 5] y) {{ {body} }}")
    assert operators(optimize(model)) == ["Max", "Min"]


def _models() -> list[Model]:
    scale, bias, weight = rows(5), rows(5), rows(5, 5)
    networks: list[Callable[[Tensor], Any]] = [
        *GELUS.values(),
        *(lambda x, form=form: layer(x, scale, bias, form) for form in ("power", "product", "reciprocal")),
        lambda x: x * INVERSES["quotient"](op.ReduceMean(x * x, [-1]) + 1e-6) * scale,
        lambda x: op.Relu(x @ weight + bias) * (x @ weight),
        lambda x: op.Exp(op.LogSoftmax(x)) + op.Clip(op.Relu(x), None, 6.0),
    ]
    return [trace(each, FLOAT["N", 5]) for each in networks]


def test_what_spares_a_search_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    models = _models()
    spared = [[each.rule for each in optimize(model).report.edits] for model in models]
    monkeypatch.setattr(NamedRule, "may_apply", lambda self, makers: True)
    monkeypatch.setattr(applying, "may_be", lambda wanted, node: True)
    assert [[each.rule for each in optimize(model).report.edits] for model in models] == spared
    assert any("gelu" in each for each in spared)


def test_a_model_that_is_wrong_is_left_as_it_is() -> None:
    """A replacement that cannot be made is the model's own mistake, and none of a rule's."""
    body = "p = MatMul(x, w) y = Add(p, b)"
    ends = "g (float[2, 3] x, float[4, 5] w, float[5] b) => (float[2, 5] y)"
    assert operators(optimize(model_of(f"{ends} {{ {body} }}"))) == ["Add", "MatMul"]


def test_a_row_that_nobody_could_hold_is_not_made() -> None:
    body = (
        "a = Constant<value_ints=[-1]>() m = ReduceMean(x, a) c = Sub(x, m) s = Mul(c, c) v = ReduceMean(s, a)"
        " e = Constant<value_float=0.00001>() w = Add(v, e) r = Sqrt(w) y = Div(c, r)"
    )
    model = model_of(f"g (float[N, {10**13}] x) => (float[N, {10**13}] y) {{ {body} }}")
    assert "LayerNormalization" not in operators(optimize(model))

"""Functions that a model calls at several places: differentiated once, with the gradient of the dissolved model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import pytest
import torch

from onnxsmith import FLOAT, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad import checkpoint, grad, jvp

RNG = np.random.default_rng(0)


def dissolved(model: Model) -> Model:
    return Model.from_proto(onnx.inliner.inline_local_functions(model.proto))


def drawn(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) * 0.4).astype(np.float32)


@script
def layer(x: FLOAT["N", 4], w: FLOAT[4, 4], b: FLOAT[4]):
    h = op.Tanh(op.MatMul(op.LayerNormalization(x, b, axis=-1), w) + b)
    return x + op.MatMul(op.Softmax(op.MatMul(h, op.Transpose(h)), axis=-1), h)


@script
def block(x: FLOAT["N", 4], w: FLOAT[4, 4], b: FLOAT[4]):
    return layer(layer(x, w, b), w, b)


@script
def two_results(x: FLOAT["N", 4]):
    return op.Exp(x), op.Relu(x)


@script
def guarded(x: FLOAT["N", 4]):
    return op.Where(x > 0.0, op.Log(x), x)


@script
def root(x: FLOAT["N", 4]):
    return op.Sqrt(x)


@script
def branching(x: FLOAT["N", 4]):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        y = op.Sin(x) * 2.0
    else:
        y = op.Cos(x)
    return y


@script
def looping(x: FLOAT["N", 4], n: INT64):
    for _ in range(n):
        x = op.Tanh(x * 0.9)
    return x


@script
def reaching(x: FLOAT["N", 4], shape: INT64[2]):
    return op.Expand(op.ReduceSum(x, [1], keepdims=1), shape) * x


W, B = [drawn(4, 4) for _ in range(3)], [drawn(4) for _ in range(3)]


def total(x: Any) -> Any:
    return op.ReduceSum(x * x, keepdims=0)


def _layers(x: Any, of: Callable[..., Any] = layer) -> Any:
    for w, b in zip(W, B, strict=True):
        x = of(x, w, b)
    return total(x)


def _results(x: Any) -> Any:
    e, r = two_results(x)
    _, s = two_results(e)  # of this call one result is left
    return total(r * s)


def _behind_mask(x: Any) -> Any:
    kept = root(x * x + 1.0)
    return total(op.Where(x > 0.0, root(x), 0.0) + kept)


def _in_branches(x: Any) -> Any:
    return total(
        op.If(
            op.ReduceSum(x, keepdims=0) > 0.0,
            then_branch=lambda: layer(x, W[0], B[0]),
            else_branch=lambda: layer(x * 2.0, W[1], B[1]),
        )
    )


def _in_loop(x: Any) -> Any:
    @script
    def turns(x: FLOAT["N", 4]):
        for _ in range(3):
            x = layer(layer(x, W[0], B[0]), W[1], B[1])
        return x

    return total(turns(x))


def _unreached(x: Any) -> Any:
    layer(x, W[0], B[0])
    return total(layer(x, W[1], B[1]))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "layers": _layers,
    "functions of functions": lambda x: _layers(x, block),
    "several results": _results,
    "a mask inside": lambda x: total(guarded(guarded(x))),
    "a mask outside": _behind_mask,
    "a branch inside": lambda x: total(branching(branching(x))),
    "a loop inside": lambda x: total(looping(looping(x, np.int64(2)), np.int64(3))),
    "sizes that are given": lambda x: total(reaching(reaching(x, op.Shape(x)), op.Shape(x))),
    "in branches": _in_branches,
    "in a loop": _in_loop,
    "nobody reads one": _unreached,
    "computed again": lambda x: total(checkpoint(lambda y: layer(layer(y, W[0], B[0]), W[1], B[1]))(x)),
}
X = drawn(5, 4)


def values(model: Model, *inputs: np.ndarray) -> list[np.ndarray]:
    onnx.checker.check_model(model.proto, full_check=True)
    found = model(*inputs)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def assert_same(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    for one, other in zip(left, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_that_of_the_dissolved_model(name: str) -> None:
    model = trace(PROGRAMS[name], FLOAT["N", 4], opset_version=21)
    assert model.ir.functions
    made = model.gradient(wrt=["x"])
    assert_same(values(made, X), values(dissolved(model).gradient(wrt=["x"]), X))


@pytest.mark.parametrize("name", ["layers", "functions of functions", "several results", "a branch inside"])
def test_so_is_the_gradient_of_the_gradient(name: str) -> None:
    direction = drawn(5, 4)
    model = trace(PROGRAMS[name], FLOAT["N", 4])
    plain = dissolved(model)
    once = jvp(grad(model))(X, tangent=direction)
    assert_same(list(map(np.asarray, once)), list(map(np.asarray, jvp(grad(plain))(X, tangent=direction))))


def test_equal_layers_have_one_way_back() -> None:
    sizes: dict[int, int] = {}
    for count in (3, 12):
        model = trace(
            lambda x, *ws: _deep(x, ws),
            FLOAT["N", 4],
            *[FLOAT[4, 4], FLOAT[4]] * count,
            input_names=_names(count),
        )
        made = model.gradient(wrt=["x", "w*"])
        called = [node.op_type for node in made.ir.graph]
        assert called.count("layer") == count
        assert called.count("layer_backward") == count
        assert sorted(each.name for each in made.ir.functions.values()) == ["layer", "layer_backward"]
        sizes[count] = len(made.ir.graph) - 2 * count
    assert sizes[3] == sizes[12]


def _names(count: int) -> list[str]:
    return ["x", *(f"{kind}{k}" for k in range(count) for kind in ("w", "b"))]


def _deep(x: Any, ws: tuple[Any, ...]) -> Any:
    for k in range(0, len(ws), 2):
        x = layer(x, ws[k], ws[k + 1])
    return total(x)


def test_torch_gives_the_same() -> None:
    model = trace(
        lambda x, *ws: _deep(x, ws), FLOAT["N", 4], *[FLOAT[4, 4], FLOAT[4]] * 3, input_names=_names(3)
    )
    given = [X, *(each for pair in zip(W, B, strict=True) for each in pair)]
    found = values(model.gradient(wrt=_names(3)), *given)[1:]
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    x = tensors[0]
    for w, b in zip(tensors[1::2], tensors[2::2], strict=True):
        h = torch.tanh(torch.nn.functional.layer_norm(x, (4,), b) @ w + b)
        x = x + torch.softmax(h @ h.T, -1) @ h
    (x * x).sum().backward()
    assert_same(found, [each.grad.numpy() for each in tensors if each.grad is not None])


def test_types_and_what_is_asked_for_make_forms() -> None:
    @script
    def scaled(x: FLOAT[...], w: FLOAT[4]):
        return op.Tanh(x * w)

    def program(x: Any, y: Any, w: Any) -> Any:
        inner = scaled(scaled(x, w), w)
        return total(inner) + total(scaled(y, w))

    model = trace(program, FLOAT["N", 4], FLOAT[2, 3, 4], FLOAT[4])
    y, w = drawn(2, 3, 4), drawn(4)
    for wrt in (["x"], ["w"], ["y"], ["x", "y", "w"]):
        made = model.gradient(wrt=wrt)
        assert_same(values(made, X, y, w), values(dissolved(model).gradient(wrt=wrt), X, y, w))


def test_attributes_make_forms() -> None:
    @script
    def leaky(x: FLOAT["N", 4], alpha: float = 0.1):
        return op.LeakyRelu(x, alpha=alpha)

    model = trace(lambda x: total(leaky(leaky(leaky(x), alpha=0.3))), FLOAT["N", 4])
    assert_same(values(model.gradient(wrt=["x"]), X), values(dissolved(model).gradient(wrt=["x"]), X))


def test_what_has_no_gradient_is_named() -> None:
    @script
    def pooled(x: FLOAT["N", 4]):
        return op.MaxRoiPool(op.Reshape(x, [1, 1, -1, 4]), np.float32([[0, 0, 0, 1, 1]]), pooled_shape=[1, 1])

    model = trace(lambda x: total(pooled(x)) + total(pooled(x * 2.0)), FLOAT["N", 4])
    with pytest.raises(NotDifferentiableError, match="MaxRoiPool") as caught:
        model.gradient(wrt=["x"])
    assert "a result of pooled" in caught.value.message

"""Models of any size that look like transformers: layers of attention and feed-forward nets with residual lines."""

from __future__ import annotations

import inspect

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from onnxsmith import Model
from onnxsmith.graphs.origins import SOURCE_KEY, written
from onnxsmith.source import Span

WIDTH = 8


class _Maker:
    def __init__(self, has_scopes: bool) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.has_scopes = has_scopes

    def add(self, scope: str, operator: str, *inputs: str, **attributes: object) -> str:
        number = len(self.nodes)
        output = f"v{number}"
        name = f"/{scope}/{operator}" if self.has_scopes else f"{operator}_{number}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=name, **attributes))
        return output

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        content = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        self.weights.append(numpy_helper.from_array(content, name))
        return name

    def layer(self, number: int, x: str) -> str:
        scope = f"layers.{number}"
        normed = self.norm(f"{scope}/norm", x)
        parts = [self.linear(f"{scope}/attn/{each}", normed) for each in "qkv"]
        turned = self.add(f"{scope}/attn", "Transpose", parts[1], perm=[1, 0])
        scores = self.add(f"{scope}/attn", "MatMul", parts[0], turned)
        shares = self.add(f"{scope}/attn", "Softmax", scores, axis=-1)
        mixed = self.linear(f"{scope}/attn/out", self.add(f"{scope}/attn", "MatMul", shares, parts[2]))
        x = self.add(scope, "Add", x, mixed)
        hidden = self.linear(f"{scope}/mlp/up", self.norm(f"{scope}/norm2", x))
        gated = self.add(f"{scope}/mlp", "Mul", hidden, self.add(f"{scope}/mlp", "Sigmoid", hidden))
        return self.add(scope, "Add", x, self.linear(f"{scope}/mlp/down", gated))

    def norm(self, scope: str, x: str) -> str:
        return self.add(scope, "LayerNormalization", x, self.weight(WIDTH), self.weight(WIDTH))

    def linear(self, scope: str, x: str) -> str:
        product = self.add(scope, "MatMul", x, self.weight(WIDTH, WIDTH))
        return self.add(scope, "Add", product, self.weight(WIDTH))


def transformer(count: int, *, has_scopes: bool) -> onnx.ModelProto:
    """A model of about `count` nodes; without scopes its names say nothing of layers."""
    maker = _Maker(has_scopes)
    x, number = "x", 0
    while len(maker.nodes) < count - 22:
        x = maker.layer(number, x)
        number += 1
    while len(maker.nodes) < count - 1:
        x = maker.add("head", "Relu", x)
    maker.nodes.append(helper.make_node("Identity", [x], ["y"], name="last"))
    shape = ["N", WIDTH]
    graph = helper.make_graph(
        maker.nodes,
        "transformer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        maker.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def with_source(model: Model) -> Model:
    """The same, with each node written in this very file, at the line that makes nodes like it."""
    lines, first = inspect.getsourcelines(_Maker)
    numbers = [first + k for k, line in enumerate(lines) if "self.add(" in line]
    for position, node in enumerate(model.ir.graph):
        line = numbers[position % len(numbers)]
        span = Span(__file__, line, 8, line, 20, "layer")
        node.metadata_props[SOURCE_KEY] = written(span.stored, span)
    return model

"""Networks of layers for the tests of grouping, put together node by node, and what must hold once they are grouped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

import onnxsmith
from onnxsmith.passes.outlining import group_repeated
from tests.decompile.only_onnxsmith import offences
from tests.decompile.round_trip import compile_text, first_difference

#: Wide enough for biases to be weights, and not literals.
WIDTH = 24
LAYERS = 12
FLOAT = ir.TensorType(ir.DataType.FLOAT)


class Net:
    """A model that is put together node by node, with names or without."""

    def __init__(self, *, named: bool = True, seed: int = 0) -> None:
        self.named = named
        self.nodes: list[ir.Node] = []
        self.weights: list[ir.Value] = []
        self.random = np.random.default_rng(seed)
        self.x = ir.Value(name="x", type=FLOAT, shape=ir.Shape(["N", WIDTH]))

    def __call__(self, scope: str, op: str, *inputs: ir.Value | None, outputs: int = 1, **attrs: Any) -> Any:
        node = ir.Node(
            "",
            op,
            inputs,
            [ir.convenience.convert_attribute(*each) for each in attrs.items()],
            num_outputs=outputs,
        )
        if self.named:
            count = sum(
                each.op_type == op and (each.name or "").startswith(f"/{scope}/") for each in self.nodes
            )
            node.name = f"/{scope}/{op}" + (f"_{count}" if count else "")
        for number, value in enumerate(node.outputs):
            value.name = f"{node.name}_output_{number}" if self.named else f"{len(self.nodes)}_{number}"
        self.nodes.append(node)
        return node.outputs[0] if outputs == 1 else tuple(node.outputs)

    def weight(self, name: str, *shape: int) -> ir.Value:
        return self.initializer(name, self.random.normal(0, 0.3, shape or (WIDTH, WIDTH)).astype(np.float32))

    def initializer(self, name: str, array: Any) -> ir.Value:
        name = name if self.named else f"w{len(self.weights)}"
        tensor = ir.tensor(array, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor
        )
        self.weights.append(value)
        return value

    def constant(self, scope: str, array: Any) -> ir.Value:
        return self(scope, "Constant", value=ir.tensor(array))

    def linear(self, scope: str, x: ir.Value) -> ir.Value:
        path = scope.replace("/", ".")
        product = self(scope, "MatMul", x, self.weight(f"{path}.weight"))
        return self(scope, "Add", product, self.weight(f"{path}.bias", WIDTH))

    def model(self, *outputs: ir.Value, ir_version: int = 10, opset: int = 18) -> ir.Model:
        for value in outputs:
            value.type = FLOAT
            value.shape = ir.Shape(["N", WIDTH])
        graph = ir.Graph(
            [self.x],
            outputs,
            nodes=self.nodes,
            initializers=self.weights,
            opset_imports={"": opset},
            name="network",
        )
        return ir.Model(graph, ir_version=ir_version)


def layer(net: Net, scope: str, x: ir.Value, *, slope: float = 0.1, scale: float = 0.5) -> ir.Value:
    """A small pre-norm transformer layer."""
    path = scope.replace("/", ".")
    scales = net.weight(f"{path}.norm.weight", WIDTH), net.weight(f"{path}.norm.bias", WIDTH)
    normed = net(f"{scope}/norm", "LayerNormalization", x, *scales, axis=-1)
    query, key, value = (net.linear(f"{scope}/attn/{each}", normed) for each in ("q", "k", "v"))
    turned = net(f"{scope}/attn", "Transpose", key, perm=[1, 0])
    scores = net(f"{scope}/attn", "MatMul", query, turned)
    scaled = net(f"{scope}/attn", "Mul", scores, net.constant(f"{scope}/attn", np.float32(scale)))
    attended = net(f"{scope}/attn", "MatMul", net(f"{scope}/attn", "Softmax", scaled, axis=-1), value)
    x = net(scope, "Add", x, net.linear(f"{scope}/attn/o", attended))
    hidden = net(f"{scope}/mlp", "LeakyRelu", net.linear(f"{scope}/mlp/up", x), alpha=slope)
    return net(scope, "Add", x, net.linear(f"{scope}/mlp/down", hidden))


def transformer(*, named: bool = True, prefix: str = "decoder/layers.") -> ir.Model:
    net = Net(named=named)
    x = net.linear("embed", net.x)
    for number in range(LAYERS):
        x = layer(net, f"{prefix}{number}", x)
    return net.model(net.linear("head", x))


def run(model: ir.Model | onnx.ModelProto) -> list[Any]:
    import onnxruntime

    proto = ir.to_proto(model) if isinstance(model, ir.Model) else model
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(1).normal(size=(5, WIDTH)).astype(np.float32)
    return session.run(None, {"x": x})


def assert_same(model: ir.Model, other: ir.Model | onnx.ModelProto) -> None:
    proto = ir.to_proto(other) if isinstance(other, ir.Model) else other
    onnx.checker.check_model(proto, full_check=True)
    for one, two in zip(run(model), run(proto), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def grouped(model: ir.Model) -> ir.Model:
    """The grouped model, after all that must hold for any: equal results, valid, its text too, nothing changed."""
    before = ir.to_proto(model).SerializeToString(deterministic=True)
    result = group_repeated(model)
    assert ir.to_proto(model).SerializeToString(deterministic=True) == before, "the model itself was changed"
    assert_same(model, result)
    text = onnxsmith.decompile(model, group=True)
    assert not offences(text), text
    again = compile_text(text)
    assert_same(model, again)
    assert first_difference(text, onnxsmith.decompile(again)) is None
    assert [f.name for f in again.functions] == [f.name for f in result.functions.values()]
    return result


def calls(model: ir.Model) -> dict[str, int]:
    """Function -> how often it is called."""
    names = {name for _, name, _ in model.functions}
    return dict(Counter(node.op_type for node in model.graph if node.op_type in names))


def only_function(model: ir.Model) -> ir.Function:
    (function,) = model.functions.values()
    return function

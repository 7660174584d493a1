"""What each fusion of ours takes, spelled out; and fusions that we do not make, as they are and as they would be.

Shapes are those of BERT (12 heads of 64, 128 tokens) and of a ResNet's first stage. Nothing is measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOKENS, WIDTH, HEADS = 128, 768, 12
HEAD = WIDTH // HEADS


@dataclass
class Sketch:
    """A model that is being written: calls add nodes and return the names of their results."""

    shape: tuple[int, ...]
    opset: int = 23
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    weights: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])

    def __call__(
        self, operator: str, *inputs: str | float, domain: str = "", outputs: int = 1, **attributes: Any
    ) -> str:
        names = [each if isinstance(each, str) else self.constant(np.float32(each)) for each in inputs]
        results = [f"v{len(self.nodes)}{'_' * number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(operator, names, results, domain=domain, **attributes))
        return results[0]

    def constant(self, content: Any) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(content), name))
        return name

    def weight(self, *shape: int) -> str:
        drawn = np.random.default_rng(len(self.weights)).standard_normal(shape, dtype=np.float32)
        return self.constant(drawn / math.sqrt(shape[-1]))

    def positive(self, *shape: int) -> str:
        return self.constant(np.random.default_rng(len(self.weights)).random(shape, dtype=np.float32) + 0.5)

    def model(self, result: str) -> onnx.ModelProto:
        rank = len(self.shape)
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        made = helper.make_tensor_value_info(result, TensorProto.FLOAT, None if rank else [])
        graph = helper.make_graph(self.nodes, "case", [given], [made], self.weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


Written = Callable[[Sketch], str]


@dataclass(frozen=True)
class Case:
    """A fusion: the nodes that it takes, the one that they become, and why we leave it, where we do."""

    name: str
    shape: tuple[int, ...]
    before: Written
    #: None where `optimize` makes it.
    after: Written | None = None
    #: Why it is not made, where it is not.
    reason: str = ""
    opset: int = 23

    def written_out(self) -> onnx.ModelProto:
        """The model as it is before."""
        return self._model(self.before)

    def fused(self) -> onnx.ModelProto:
        """The model as it would be with the fusion."""
        assert self.after is not None
        return self._model(self.after)

    def _model(self, written: Written) -> onnx.ModelProto:
        sketch = Sketch(self.shape, self.opset)
        return sketch.model(written(sketch))


def _erf_gelu(op: Sketch, x: str = "x") -> str:
    return op("Mul", op("Mul", x, 0.5), op("Add", op("Erf", op("Div", x, math.sqrt(2))), 1.0))


def _tanh_gelu(op: Sketch) -> str:
    inner = op("Add", "x", op("Mul", op("Pow", "x", 3.0), 0.044715))
    curve = op("Tanh", op("Mul", inner, math.sqrt(2 / math.pi)))
    return op("Mul", op("Mul", "x", 0.5), op("Add", curve, 1.0))


def _layer_norm(op: Sketch) -> str:
    axes = op.constant(np.array([-1]))
    centred = op("Sub", "x", op("ReduceMean", "x", axes))
    spread = op("ReduceMean", op("Pow", centred, 2.0), axes)
    normal = op("Div", centred, op("Sqrt", op("Add", spread, 1e-5)))
    return op("Add", op("Mul", normal, op.weight(WIDTH)), op.weight(WIDTH))


def _rms_norm(op: Sketch) -> str:
    axes = op.constant(np.array([-1]))
    size = op("Sqrt", op("Add", op("ReduceMean", op("Pow", "x", 2.0), axes), 1e-5))
    return op("Mul", op("Mul", "x", op("Reciprocal", size)), op.weight(WIDTH))


def _heads(op: Sketch, x: str, perm: list[int]) -> str:
    parted = op("Reshape", x, op.constant(np.array([0, TOKENS, HEADS, HEAD])))
    return op("Transpose", parted, perm=perm)


def _attention(op: Sketch) -> str:
    query, value = _heads(op, "x", [0, 2, 1, 3]), _heads(op, "x", [0, 2, 1, 3])
    scores = op("MatMul", query, _heads(op, "x", [0, 2, 3, 1]))
    weights = op("Softmax", op("Mul", scores, HEAD**-0.5), axis=-1)
    joined = op("Transpose", op("MatMul", weights, value), perm=[0, 2, 1, 3])
    return op("Reshape", joined, op.constant(np.array([0, TOKENS, WIDTH])))


def _rotary(op: Sketch) -> str:
    turns = np.outer(np.arange(TOKENS), 1e4 ** -(np.arange(HEAD // 2) / (HEAD // 2)))
    angles = np.concatenate([turns, turns], -1)[None, None].astype(np.float32)
    halves = [op.constant(np.array([each])) for each in (0, HEAD // 2, HEAD, -1)]
    first = op("Slice", "x", halves[0], halves[1], halves[3])
    second = op("Slice", "x", halves[1], halves[2], halves[3])
    turned = op("Concat", op("Neg", second), first, axis=-1)
    straight = op("Mul", "x", op.constant(np.cos(angles)))
    return op("Add", straight, op("Mul", turned, op.constant(np.sin(angles))))


def _linear(op: Sketch) -> str:
    return op("Add", op("MatMul", "x", op.weight(WIDTH, WIDTH)), op.weight(WIDTH))


def _turned_linear(op: Sketch) -> str:
    turned = op("Transpose", op.weight(WIDTH, WIDTH), perm=[1, 0])
    return op("Add", op("MatMul", "x", turned), op.weight(WIDTH))


def _squares(op: Sketch) -> str:
    x = op("Cast", "x", to=TensorProto.DOUBLE)
    total = op("ReduceSum", op("Mul", x, x), op.constant(np.array([1])), keepdims=0)
    return op("Cast", total, to=TensorProto.FLOAT)


def _accumulated(op: Sketch) -> str:
    product = op("Gemm", "x", op.weight(TOKENS, 4 * WIDTH), transA=1)
    return op("Sub", op.weight(WIDTH, 4 * WIDTH), op("Mul", product, 0.01))


def _convolution(op: Sketch) -> str:
    return op("Conv", "x", op.weight(64, 64, 3, 3), pads=[1, 1, 1, 1])


def _normalised_convolution(op: Sketch) -> str:
    ends = [op.positive(64) for _ in range(4)]
    return op("BatchNormalization", _convolution(op), *ends)


def _group_norm_parts(op: Sketch) -> str:
    scale, shift = op.weight(64), op.weight(64)
    scale, shift = (op("Unsqueeze", each, op.constant(np.array([1, 2]))) for each in (scale, shift))
    flat = op("Reshape", "x", op.constant(np.array([0, 32, -1])))
    ones, zeros = op.constant(np.ones(32, np.float32)), op.constant(np.zeros(32, np.float32))
    normal = op("InstanceNormalization", flat, ones, zeros)
    image = op("Reshape", normal, op.constant(np.array([1, 64, 56, 56])))
    return op("Add", op("Mul", image, scale), shift)


def _group_norm(op: Sketch) -> str:
    return op("GroupNormalization", "x", op.weight(64), op.weight(64), num_groups=32)


def _skip_layer_norm(op: Sketch) -> str:
    total = op("Add", "x", op("Neg", "x"))
    return op("LayerNormalization", total, op.weight(WIDTH), op.weight(WIDTH))


def _turned_product(op: Sketch) -> str:
    scores = op("MatMul", "x", op("Transpose", op("Neg", "x"), perm=[0, 1, 3, 2]))
    return op("Mul", scores, 0.125)


def _dynamic_product(op: Sketch) -> str:
    weight = op.constant(np.random.default_rng(1).integers(-127, 127, (WIDTH, WIDTH)).astype(np.int8))
    op("DynamicQuantizeLinear", "x", outputs=3)
    rounded, scale, zero = op.nodes[-1].output
    whole = op("MatMulInteger", rounded, weight, zero, op.constant(np.int8(0)))
    scaled = op("Mul", scale, op.constant(np.float32(0.01)))
    return op("Mul", op("Cast", whole, to=TensorProto.FLOAT), scaled)


def _dynamic_product_as_one(op: Sketch) -> str:
    weight = op.constant(np.random.default_rng(1).integers(-127, 127, (WIDTH, WIDTH)).astype(np.int8))
    ends = (op.constant(np.float32(0.01)), op.constant(np.int8(0)))
    return op("DynamicQuantizeMatMul", "x", weight, *ends, domain="com.microsoft")


_ROWS = (1, TOKENS, WIDTH)
_WIDE = (1, TOKENS, 4 * WIDTH)
_IMAGE = (1, 64, 56, 56)
_BY_HEAD = (1, HEADS, TOKENS, HEAD)
_MS = {"domain": "com.microsoft"}

OURS = (
    Case("Gelu, exact", _WIDE, _erf_gelu),
    Case("Gelu, with tanh", _WIDE, _tanh_gelu),
    Case("LayerNormalization", _ROWS, _layer_norm),
    Case("RMSNormalization", _ROWS, _rms_norm),
    Case("Attention", _ROWS, _attention),
    Case("RotaryEmbedding", _BY_HEAD, _rotary),
    Case("Gemm of MatMul and Add", (TOKENS, WIDTH), _linear),
    Case("Gemm of a product and a sum", (TOKENS, WIDTH), _accumulated),
    Case("ReduceSumSquare of float64", (TOKENS * WIDTH, 8), _squares),
    Case("a weight that was turned", (TOKENS, WIDTH), _turned_linear),
    Case("BatchNormalization into Conv", _IMAGE, _normalised_convolution),
    Case("a factor into Conv", _IMAGE, lambda op: op("Mul", _convolution(op), op.weight(64, 1, 1))),
    Case("a bias into Conv", _IMAGE, lambda op: op("Add", _convolution(op), op.weight(64, 1, 1))),
    Case("Clip of Relu", _IMAGE, lambda op: op("Clip", op("Relu", "x"), 0.0, 6.0)),
    Case("Clip of Max and Min", _IMAGE, lambda op: op("Min", op("Max", "x", 0.0), 6.0)),
    Case("Softmax of Exp and LogSoftmax", _ROWS, lambda op: op("Exp", op("LogSoftmax", "x", axis=-1))),
)

#: Fusions to other operators: those without a reason are made on request, the others are not.
OTHERS = (
    Case("QuickGelu", _WIDE, lambda op: op("Mul", "x", op("Sigmoid", op("Mul", "x", 1.702))),
         lambda op: op("QuickGelu", "x", alpha=1.702, **_MS)),
    Case("QuickGelu for Swish", _WIDE, lambda op: op("Mul", "x", op("Sigmoid", "x")),
         lambda op: op("QuickGelu", "x", alpha=1.0, **_MS)),
    Case("FusedMatMul", _BY_HEAD, _turned_product,
         lambda op: op("FusedMatMul", "x", op("Neg", "x"), transB=1, alpha=0.125, **_MS)),
    Case("GroupNormalization", _IMAGE, _group_norm_parts, _group_norm, "slower"),
    Case("Swish", _WIDE, lambda op: op("Mul", "x", op("Sigmoid", "x")), lambda op: op("Swish", "x"), "slower", 24),
    Case("SkipLayerNormalization", _ROWS, _skip_layer_norm,
         lambda op: op("SkipLayerNormalization", "x", op("Neg", "x"), op.weight(WIDTH), op.weight(WIDTH), **_MS),
         "slower"),
    Case("FastGelu", _WIDE, lambda op: op("Gelu", "x", approximate="tanh"), lambda op: op("FastGelu", "x", **_MS),
         "no faster than Gelu"),
    Case("BiasGelu", _WIDE, lambda op: op("Gelu", op("Add", "x", op.weight(4 * WIDTH))),
         lambda op: op("BiasGelu", "x", op.weight(4 * WIDTH), **_MS), "slower"),
    Case("FusedConv", _IMAGE, lambda op: op("Relu", _convolution(op)),
         lambda op: op("FusedConv", "x", op.weight(64, 64, 3, 3), pads=[1, 1, 1, 1], activation="Relu", **_MS),
         "hardly faster"),
    Case("FusedGemm", (TOKENS, WIDTH),
         lambda op: op("Relu", op("Gemm", "x", op.weight(WIDTH, WIDTH), op.weight(WIDTH))),
         lambda op: op("FusedGemm", "x", op.weight(WIDTH, WIDTH), op.weight(WIDTH), activation="Relu", **_MS),
         "hardly faster"),
    Case("MultiHeadAttention", _ROWS,
         lambda op: op("Attention", "x", "x", "x", q_num_heads=HEADS, kv_num_heads=HEADS),
         lambda op: op("MultiHeadAttention", "x", "x", "x", num_heads=HEADS, **_MS), "slower than Attention"),
    Case("DynamicQuantizeMatMul", (TOKENS, WIDTH), _dynamic_product, _dynamic_product_as_one, "hardly faster"),
)  # fmt: skip

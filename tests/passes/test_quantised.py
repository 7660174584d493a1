"""Quantised models after passes: their error against the same model in double precision, labels, and bytes of weights.

What is measured against is the quantised model itself with every float in double, integers and roundings included, not
the model that it was quantised from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

from onnxsmith import Model
from tests.passes.double_precision import in_double
from tests.passes.test_precision import bare, block, no_worse

Array = NDArray[Any]


def network() -> onnx.ModelProto:
    """A convolution with batch normalisation, and a linear layer on what is left of the image."""
    rng = np.random.default_rng(2)
    drawn = {
        "kernel": rng.standard_normal((8, 3, 3, 3)) / 5,
        "s": rng.random(8) + 0.5,
        "b": rng.standard_normal(8),
        "m": rng.standard_normal(8),
        "v": rng.random(8) + 0.5,
        "w": rng.standard_normal((8, 4)),
        "c": rng.standard_normal(4),
    }
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["a"], pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("BatchNormalization", ["a", "s", "b", "m", "v"], ["n"], name="norm"),
        helper.make_node("Relu", ["n"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
        helper.make_node("Flatten", ["p"], ["f"], name="flat"),
        helper.make_node("MatMul", ["f", "w"], ["l"], name="linear"),
        helper.make_node("Add", ["l", "c"], ["y"], name="bias"),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
        [numpy_helper.from_array(each.astype(np.float32), name) for name, each in drawn.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


IMAGES = np.random.default_rng(3).standard_normal((16, 3, 8, 8)).astype(np.float32)


class _Calibration(quantization.CalibrationDataReader):
    def __init__(self, given: Array) -> None:
        self._left: Iterator[dict[str, Array]] = iter([{"x": given}])

    def get_next(self) -> dict[str, Array] | None:
        return next(self._left, None)


def quantised(folder: Path, proto: onnx.ModelProto, given: Array, how: str) -> onnx.ModelProto:
    source, target = folder / "float.onnx", folder / "quantised.onnx"
    onnx.save(proto, source)
    if how == "dynamic":
        quantization.quantize_dynamic(source, target, op_types_to_quantize=["MatMul"])
    else:
        quantization.quantize_static(
            source, target, _Calibration(given), quant_format=quantization.QuantFormat[how], per_channel=True
        )
    return onnx.load(target)


ROWS = np.random.default_rng(4).standard_normal((16, 32)).astype(np.float32)

WAYS: dict[str, Callable[[Model], Model]] = {
    "optimised": lambda model: model.optimize(),
    "optimised in its opset": lambda model: model.optimize(opset="keep"),
    "newer": lambda model: model.convert_version(23),
    "rewritten in a newer opset": lambda model: model.convert_version(23).optimize(opset="keep"),
}


def agree(proto: onnx.ModelProto, change: Callable[[Model], Model], x: Array) -> Model:
    """The changed model, which is valid, as exact as it was, and of the same labels."""
    changed = change(Model.from_proto(proto))
    onnx.checker.check_model(changed.proto, full_check=True)
    exact = in_double(proto, x=x)
    results = zip(bare(proto, x=x), bare(changed.proto, x=x), exact, strict=True)
    for before, after, truth in results:
        no_worse(before, after, truth)
        assert (before.argmax(-1) == after.argmax(-1)).all()
    return changed


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("how", ["QDQ", "QOperator", "dynamic"])
@pytest.mark.parametrize(
    ("make", "given"),
    [pytest.param(network, IMAGES, id="images"), pytest.param(lambda: block(1, opset=18), ROWS, id="block")],
)
def test_quantised_models(
    tmp_path: Path,
    make: Callable[[], onnx.ModelProto],
    given: Array,
    how: str,
    change: Callable[[Model], Model],
) -> None:
    proto = quantised(tmp_path, make(), given, how)
    changed = agree(proto, change, given)
    # Weights in few bits stay in few bits.
    if change is WAYS["optimised"]:
        assert weight_bytes(changed.proto) <= weight_bytes(proto)


def weight_bytes(proto: onnx.ModelProto) -> int:
    return sum(numpy_helper.to_array(each).nbytes for each in proto.graph.initializer)


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT8, TensorProto.UINT16])
def test_weights_in_blocks(kind: int, change: Callable[[Model], Model]) -> None:
    changed = agree(in_blocks(kind), change, ROWS)
    assert [each.data_type for each in changed.proto.graph.initializer].count(kind) >= 1


def test_blocks_in_an_older_opset() -> None:
    agree(in_blocks(TensorProto.UINT8), lambda model: model.convert_version(13), ROWS)


def in_blocks(kind: int) -> onnx.ModelProto:
    """A linear layer whose weights are integers with a scale and a zero point for each block of sixteen."""
    rng = np.random.default_rng(3)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    low, high = (-8, 8) if kind in (TensorProto.INT4, TensorProto.INT8) else (0, 16)
    weights = {
        "w": rng.integers(low, high, (32, 8)).astype(dtype),
        "scale": rng.random((2, 8)).astype(np.float32),
        "zero": rng.integers(0, 4, (2, 8)).astype(dtype),
        "bias": rng.standard_normal(8).astype(np.float32),
        "one": np.ones(8, np.float32),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["wide"], axis=0, block_size=16),
        helper.make_node("MatMul", ["x", "wide"], ["product"]),
        helper.make_node("Mul", ["product", "one"], ["same"]),
        helper.make_node("Add", ["same", "bias"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(*each) for each in (("x", 1, ["N", 32]), ("y", 1, ["N", 8]))]
    held = [numpy_helper.from_array(each, name) for name, each in weights.items()]
    graph = helper.make_graph(nodes, "blocks", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("seed", range(12))
def test_random_chains_of_quantised_layers(seed: int, change: Callable[[Model], Model]) -> None:
    agree(chain(seed), change, ROWS)


def chain(seed: int) -> onnx.ModelProto:
    """Layers and no-ops in a random order, with pairs of QuantizeLinear and DequantizeLinear between some of them."""
    rng = np.random.default_rng(seed)
    nodes: list[onnx.NodeProto] = []
    held: dict[str, Array] = {}

    def weight(content: Array) -> str:
        held[f"w{len(held)}"] = content
        return f"w{len(held) - 1}"

    def put(op_type: str, *inputs: str, **how: Any) -> str:
        nodes.append(helper.make_node(op_type, inputs, [f"v{len(nodes)}"], **how))
        return f"v{len(nodes) - 1}"

    def drawn(*shape: int) -> str:
        return weight(rng.standard_normal(shape).astype(np.float32) / 4)

    def pair(value: str) -> str:
        kind = rng.choice([np.uint8, np.int8])
        scale = weight(np.float32(rng.choice([0.03, 0.05])))
        zero = weight(np.array(rng.integers(0, 9)).astype(kind))
        return put("DequantizeLinear", put("QuantizeLinear", value, scale, zero), scale, zero)

    def product(value: str) -> str:
        narrow = weight(rng.integers(-99, 99, (32, 32)).astype(np.int8))
        scales = weight((rng.random(32) / 500).astype(np.float32))
        zeros = weight(np.zeros(32, np.int8))
        wide = put("DequantizeLinear", narrow, scales, zeros, axis=1)
        return put("Add", put("MatMul", value, wide), drawn(32))

    layers: list[Callable[[str], str]] = [
        pair,
        lambda value: pair(pair(value)),
        product,
        lambda value: put("Relu", value),
        lambda value: put("Mul", put("Add", value, drawn(32)), drawn(32)),
        lambda value: put("Transpose", put("Transpose", value)),
        lambda value: put("Mul", value, weight(np.ones(1, np.float32))),
        lambda value: put(
            "Reshape", put("Reshape", value, weight(np.array([-1, 4, 8]))), weight(np.array([-1, 32]))
        ),
        lambda value: put("Add", pair(value), pair(value)),
        lambda value: put("Clip", value, weight(np.float32(0)), weight(np.float32(6))),
    ]
    value = "x"
    for choice in rng.integers(0, len(layers), 9):
        value = layers[choice](value)
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    ends = [helper.make_tensor_value_info(name, 1, ["N", 32]) for name in ("x", "y")]
    graph = helper.make_graph(
        nodes,
        "chain",
        ends[:1],
        ends[1:],
        [numpy_helper.from_array(each, name) for name, each in held.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

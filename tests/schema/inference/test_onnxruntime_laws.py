"""Random calls, right and wrong, through ONNX Runtime: its outputs have the inferred shapes, and what is refused here
it refuses too.

For operators that numpy has no counterpart of; the others are in `test_numpy_laws`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema import registry
from onnxsmith.schema.inference import Known, infer
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType

ort = pytest.importorskip("onnxruntime")

VERSION = 21
Draw = Callable[[st.SearchStrategy[Any]], Any]
#: operator, inputs, attributes, number of outputs
Example = tuple[str, list[np.ndarray | None], dict[str, Any], int]


def f(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def between(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


def several(draw: Draw, count: int, low: int, high: int) -> list[int]:
    return [draw(between(low, high)) for _ in range(count)]


def padding(draw: Draw, count: int, kernel: list[int]) -> dict[str, Any]:
    kind = draw(st.sampled_from(("none", "pads", "SAME_UPPER", "SAME_LOWER", "VALID")))
    if kind == "none":
        return {}
    if kind == "pads":
        return {"pads": [min(draw(between(0, 2)), size - 1) for size in kernel] * 2}
    return {"auto_pad": kind}


def conv(draw: Draw) -> Example:
    axes, group = draw(between(1, 2)), draw(st.sampled_from((1, 2)))
    channels, kernel = group * draw(between(1, 2)), several(draw, axes, 1, 4)
    weights = f(group * draw(between(1, 2)), channels // group + draw(st.sampled_from((0, 0, 0, 1))), *kernel)
    attributes = {"group": group, "strides": several(draw, axes, 1, 3), **padding(draw, axes, kernel)}
    if "auto_pad" not in attributes:
        attributes["dilations"] = several(draw, axes, 1, 2)
    return "Conv", [f(1, channels, *several(draw, axes, 1, 8)), weights], attributes, 1


def conv_transpose(draw: Draw) -> Example:
    axes = draw(between(1, 2))
    kernel, strides = several(draw, axes, 1, 4), several(draw, axes, 1, 3)
    attributes = {"strides": strides, "dilations": several(draw, axes, 1, 2), **padding(draw, axes, kernel)}
    if draw(st.booleans()):
        attributes["output_padding"] = [draw(between(0, stride - 1)) for stride in strides]
    return "ConvTranspose", [f(1, 2, *several(draw, axes, 2, 5)), f(2, 3, *kernel)], attributes, 1


def pool(draw: Draw) -> Example:
    axes = draw(between(1, 2))
    kernel = several(draw, axes, 1, 4)
    attributes = {"kernel_shape": kernel, "strides": several(draw, axes, 1, 4), **padding(draw, axes, kernel)}
    attributes["ceil_mode"] = draw(between(0, 1))
    name = draw(st.sampled_from(("MaxPool", "AveragePool", "LpPool")))
    return name, [f(1, 2, *several(draw, axes, 4, 9))], attributes, 1


def resize(draw: Draw) -> Example:
    image = f(1, 2, draw(between(1, 6)), draw(between(1, 6)))
    if draw(st.booleans()):
        scales = [draw(st.sampled_from((0.5, 1, 1.5, 2, 0.7, 3))) for _ in range(2)]
        return "Resize", [image, None, np.array([1, 1, *scales], np.float32)], {"mode": "nearest"}, 1
    policy = draw(st.sampled_from(("stretch", "not_larger", "not_smaller")))
    attributes = {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": policy}
    return "Resize", [image, None, None, ints(*several(draw, 2, 1, 9))], attributes, 1


def split(draw: Draw) -> Example:
    parts = draw(between(1, 3))
    return "Split", [f(draw(between(parts, 9)), 2)], {"num_outputs": parts}, parts


def pad(draw: Draw) -> Example:
    return "Pad", [f(3, 4), ints(*several(draw, 4, -2, 3))], {}, 1


def top_k(draw: Draw) -> Example:
    return "TopK", [f(3, 4), ints(draw(between(0, 5)))], {"axis": draw(between(-3, 2))}, 2


def gather(draw: Draw) -> Example:
    return (
        "Gather",
        [f(3, 4), ints(*several(draw, draw(between(0, 3)), -4, 4))],
        {"axis": draw(between(-3, 2))},
        1,
    )


def gather_nd(draw: Draw) -> Example:
    width = draw(between(1, 4))
    return "GatherND", [f(2, 3, 4), np.zeros((5, width), np.int64)], {}, 1


def einsum(draw: Draw) -> Example:
    equation = draw(
        st.sampled_from(("ij,jk->ik", "bij,bjk->bik", "...ij,...jk->...ik", "ij,ij", "i,j->ij", "ij->"))
    )
    terms = equation.partition("->")[0].replace("...", "b").split(",")
    sizes = {letter: draw(between(1, 3)) for letter in "bijk"}
    arrays = [f(*(sizes[letter] if draw(between(0, 9)) else 4 for letter in term)) for term in terms]
    return "Einsum", list(arrays), {"equation": equation}, 1


def gemm(draw: Draw) -> Example:
    rows, inner, columns = several(draw, 3, 1, 4)
    turned = [draw(between(0, 1)), draw(between(0, 1))]
    left = f(*((inner, rows) if turned[0] else (rows, inner)))
    other = draw(st.sampled_from((inner, inner, inner, 5)))
    right = f(*((columns, other) if turned[1] else (other, columns)))
    addend = f(*draw(st.sampled_from(((), (columns,), (rows, 1), (rows, columns), (3,)))))
    return "Gemm", [left, right, addend], {"transA": turned[0], "transB": turned[1]}, 1


def blocks(draw: Draw) -> Example:
    name = draw(st.sampled_from(("DepthToSpace", "SpaceToDepth")))
    shape = (1, draw(st.sampled_from((4, 8, 9))), draw(between(1, 6)), draw(between(1, 6)))
    return name, [f(*shape)], {"blocksize": draw(between(1, 3))}, 1


def recurrent(draw: Draw) -> Example:
    name, gates = draw(st.sampled_from((("LSTM", 4), ("GRU", 3), ("RNN", 1))))
    ways, hidden, features = draw(between(1, 2)), draw(between(1, 4)), draw(between(1, 3))
    weights = [f(ways, gates * hidden, features), f(ways, gates * hidden, hidden)]
    direction = "bidirectional" if ways == 2 else "forward"
    return name, [f(4, 2, 2), *weights], {"hidden_size": hidden, "direction": direction}, 2


def float_range(draw: Draw) -> Example:
    start, limit = (np.float32(draw(between(-30, 60)) / 10) for _ in range(2))
    delta = np.float32(draw(st.sampled_from((0.1, 0.25, 0.3, 1, 2, -0.5))))
    return "Range", [np.asarray(start), np.asarray(limit), np.asarray(delta)], {}, 1


def normalize(draw: Draw) -> Example:
    return "LayerNormalization", [f(2, 3, 4), f(4)], {"axis": draw(st.sampled_from((-1, 2, -4, 3)))}, 1


def flatten(draw: Draw) -> Example:
    return "Flatten", [f(*several(draw, draw(between(0, 4)), 1, 3))], {"axis": draw(between(-5, 5))}, 1


EXAMPLES = (
    conv, conv_transpose, pool, resize, split, pad, top_k, gather, gather_nd,
    einsum, gemm, blocks, recurrent, float_range, normalize, flatten,
)  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
@settings(max_examples=40)
@given(data=st.data())
def test_inference_agrees_with_onnx_runtime(example: Callable[[Draw], Example], data: st.DataObject) -> None:
    name, arrays, attributes, outputs = example(data.draw)
    expected = run(name, arrays, attributes, outputs)
    sizes: dict[str, int] = {}
    for show in (as_constant, lambda array: with_names(data.draw, array, sizes)):
        known = inferred(name, [None if each is None else show(each) for each in arrays], attributes, outputs)
        if expected is None:
            continue
        assert known is not None, f"refused, but the output is {[each.shape for each in expected]}"
        for each, actual in zip(known, expected, strict=True):
            agree(each, actual, sizes)


def inferred(
    name: str, inputs: list[Known | None], attributes: dict[str, Any], outputs: int
) -> tuple[Known, ...] | None:
    op = registry.find("", name, VERSION)
    assert op is not None
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in attributes.items()}
    try:
        return infer(op, VERSION, inputs, frozen, outputs)
    except OnnxsmithError:
        return None


def as_constant(array: np.ndarray) -> Known:
    return Known(TensorType(DType.from_numpy(array.dtype), array.shape), array)


def with_names(draw: Draw, array: np.ndarray, sizes: dict[str, int]) -> Known:
    if array.dtype == np.int64 or array.ndim == 0:
        return as_constant(array)
    shape: list[Dimension] = []
    for size in array.shape:
        kind = draw(st.sampled_from(("size", "name", "unknown")))
        shape.append(size if kind == "size" else f"d{size}" if kind == "name" else None)
        sizes[f"d{size}"] = size
    return Known(TensorType(DType.from_numpy(array.dtype), tuple(shape)))


def agree(known: Known, actual: np.ndarray, sizes: dict[str, int]) -> None:
    assert isinstance(known.type, TensorType)
    assert known.type.dtype is DType.from_numpy(actual.dtype)
    if known.type.shape is None:
        return
    values = [
        eval(each, {"min": min, "max": max}, sizes) if isinstance(each, str) else each
        for each in known.type.shape
    ]
    assert len(values) == actual.ndim, (known.type, actual.shape)
    assert all(value in (None, size) for value, size in zip(values, actual.shape, strict=True)), (
        known.type,
        actual.shape,
    )


def run(
    name: str, arrays: list[np.ndarray | None], attributes: dict[str, Any], outputs: int
) -> list[Any] | None:
    """What ONNX Runtime gives; None when it refuses. Shapes are left open, so that only running decides."""
    names = [f"i{position}" if each is not None else "" for position, each in enumerate(arrays)]
    given_arrays = {label: each for label, each in zip(names, arrays, strict=True) if each is not None}
    inputs = [
        helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(each.dtype), None)
        for label, each in given_arrays.items()
    ]
    results = [f"o{position}" for position in range(outputs)]
    node = helper.make_node(name, names, results, **attributes)
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=each) for each in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", VERSION)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, given_arrays)
    except Exception:
        return None

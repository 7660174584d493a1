"""Half-precision calls computed in single precision: cast, the operator on float32, cast back.

For operators that sum many products, which ONNX Runtime may lack for bfloat16 or float16 and which numpy computes
without a matrix library, a hundred times slower. One rounding at the end is what a kernel that accumulates in float32
does. Whether this is asked for is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import onnx
from onnx import helper

from onnxsmith.runtime import versions
from onnxsmith.runtime.equivalents import earlier_calls
from onnxsmith.runtime.single_node import Call, make_model, type_proto
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType

_OPERATORS = frozenset(
    """
    AveragePool Conv ConvTranspose Einsum GRU Gemm GlobalAveragePool GlobalMaxPool GridSample
    InstanceNormalization LRN LSTM LpPool MatMul MaxPool RNN Resize
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
_NARROW = (DType.BFLOAT16, DType.FLOAT16)
#: The first opset whose Cast has bfloat16.
_CAST_VERSION = 13


def widened_models(call: Call) -> Iterator[onnx.ModelProto]:
    """Models that compute a call in float32, best first; none for what need not or cannot be."""
    if call.op.domain or call.op.name not in _OPERATORS or call.opset_version is not None:
        return
    narrow = next((each for each in call.input_types if each in _NARROW), None)
    if not isinstance(narrow, DType):
        return
    wide = replace(
        call, input_types=tuple(DType.FLOAT if each is narrow else each for each in call.input_types)
    )
    for same in (wide, *earlier_calls(wide)):
        version = max(_CAST_VERSION, same.op.since_version)
        if registry.find("", same.op.name, version) is same.op:
            yield _with_casts(call, same, narrow, version)


def _with_casts(call: Call, wide: Call, narrow: DType, version: int) -> onnx.ModelProto:
    model = make_model(wide)
    graph = model.graph
    node = graph.node[0]
    before: list[onnx.NodeProto] = []
    after: list[onnx.NodeProto] = []
    for position, (name, kind) in enumerate(zip(call.input_names, call.input_types, strict=True)):
        if kind is not narrow:
            continue
        node.input[position] = f"wide_{name}"
        before.append(helper.make_node("Cast", [name], [f"wide_{name}"], to=int(DType.FLOAT)))
        for info in graph.input:
            if info.name == name:
                info.type.CopyFrom(type_proto(narrow))
    narrowed = {
        parameter.type_name
        for parameter, kind in zip(call.op.inputs, call.input_types, strict=False)
        if kind is narrow
    }
    for position, name in enumerate(call.output_names):
        formal = call.op.outputs[min(position, len(call.op.outputs) - 1)]
        if formal.type_name in narrowed:
            node.output[position] = f"wide_{name}"
            after.append(helper.make_node("Cast", [f"wide_{name}"], [name], to=int(narrow)))
    nodes = [*before, node, *after]
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("", version))
    model.ir_version = versions.lowest_ir_version(model)
    return model

"""Half-precision nodes computed in single precision: cast, the operator on float32, cast back.

For operators that sum many products, which ONNX Runtime may lack for bfloat16 or float16 and which numpy computes
without a matrix library, a hundred times slower. One rounding at the end is what a kernel that accumulates in float32
does. Whether this is asked for is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

import onnx

from onnxsmith.graphs.rewriting.rewrite import rewrite
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.equivalents import earlier_calls
from onnxsmith.runtime.single_node import Call, make_model
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


def widened(model: onnx.ModelProto, operators: Set[str] = _OPERATORS) -> onnx.ModelProto | None:
    """The model with these operators computed in float32 where they are given less; None when none is."""
    rules = {("", name): _widen for name in operators & _OPERATORS}
    result = rewrite(model, rules)
    return result.model if result.edits else None


def widened_models(call: Call) -> Iterator[onnx.ModelProto]:
    """Models that compute a call in float32, best first; none for what need not or cannot be."""
    if call.opset_version is not None:
        return
    types = tuple(DType.FLOAT if each in _NARROW else each for each in call.input_types)
    wide = replace(call, input_types=types)
    for same in (wide, *earlier_calls(wide)):
        model = widened(make_model(replace(same, input_types=call.input_types)))
        if model is not None:
            yield model


def _widen(site: Site) -> list[tuple[str, str]]:
    narrow = next((each for each in map(site.dtype, range(len(site.node.input))) if each in _NARROW), None)
    op = registry.find("", site.node.op_type, site.version)
    if narrow is None or op is None or site.emit.version < _CAST_VERSION:
        return []
    emit = site.emit
    formals = op.inputs
    changed: set[str] = set()
    inputs: list[str] = []
    for position, name in enumerate(site.node.input):
        if name and site.dtype(position) is narrow:
            changed.add(formals[min(position, len(formals) - 1)].type_name)
            name = emit.cast(name, DType.FLOAT)
        inputs.append(name)
    outputs = list(site.node.output)
    after: list[tuple[str, str]] = []
    for position, name in enumerate(outputs):
        if name and op.outputs[min(position, len(op.outputs) - 1)].type_name in changed:
            outputs[position] = emit.names.after(name)
            after.append((outputs[position], name))
    site.same_node(inputs, outputs)
    for wide, name in after:
        emit.cast(wide, narrow, into=name)
    return [("widened", f"there is no kernel for {narrow.spelling}")]

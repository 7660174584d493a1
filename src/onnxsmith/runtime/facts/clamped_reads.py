"""Nodes that read elements by an index, in a form that cannot fail: an index outside is that of the nearest element.

An axis without elements has one zero there; a sequence without tensors is left to the caller. For runs whose shapes
alone are of interest. Needs opset 15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx
from onnx import helper

from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.scopes import inner_graphs, plain_domain
from onnxsmith.types.dtypes import DType

#: The first opset with CastLike; Reshape keeps sizes of 0 since the one before.
SINCE = 15
#: Operators that read or write along one axis, and those that take several indices for each element.
_ALONG = frozenset({"Gather", "GatherElements", "ScatterElements"})
_BY_TUPLES = frozenset({"GatherND", "ScatterND"})
CLAMPED = _ALONG | _BY_TUPLES | {"SequenceAt"}


def clamped(emit: Emitter, nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes, in the bodies of which the same is done where they stand, with reads that cannot fail."""
    inner = emit.inner()
    for node in nodes:
        for graph in inner_graphs(node):
            made = clamped(emit, graph.node)
            copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in made]
            del graph.node[:]
            graph.node.extend(copies)
        if node.op_type == "SequenceAt" and not plain_domain(node.domain):
            _read_tensor(inner, node)
        elif node.op_type in CLAMPED and not plain_domain(node.domain) and len(node.input) > 1:
            _read(inner, node)
        else:
            inner.keep(node)
    return inner.nodes


def _read(emit: Emitter, node: onnx.NodeProto) -> None:
    data, given, *updates = node.input
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    index, shape = emit.cast(given, DType.INT64), emit.op("Shape", data)
    if node.op_type in _ALONG:
        axis = int(attributes.get("axis", 0))
        size = emit.op("Max", emit.op("Gather", shape, emit.constant([axis])), emit.constant([1]))
        wanted = emit.op("ScatterElements", shape, emit.constant([axis]), size, axis=0)
        limit = emit.op("Gather", wanted, emit.constant(axis))
    else:
        first = emit.constant([int(attributes.get("batch_dims", 0))])
        count = emit.op("Gather", emit.op("Shape", index), emit.constant([-1]))
        end = emit.op("Add", first, count)
        axes = emit.op("Range", emit.constant(0), emit.rank(data), emit.constant(1))
        is_read = emit.both(emit.negated(emit.op("Less", axes, first)), emit.op("Less", axes, end))
        wanted = emit.where(is_read, emit.op("Max", shape, emit.constant([1])), shape)
        limit = emit.op("Slice", wanted, first, end)
    index = _nearest(emit, index, limit)
    filled = _reshaped(emit, data, wanted)
    made = emit.names.after(node.output[0]) if updates else node.output[0]
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = [filled, index, *updates]
    copy.output[:] = [made]
    emit.keep(copy)
    if updates:
        _reshaped(emit, made, shape, into=node.output[0])


def _read_tensor(emit: Emitter, node: onnx.NodeProto) -> None:
    sequence, given = node.input
    index = _nearest(emit, emit.cast(given, DType.INT64), emit.op("SequenceLength", sequence))
    emit.op("SequenceAt", sequence, index, into=node.output[0])


def _nearest(emit: Emitter, index: str, limit: str) -> str:
    """The index, below 0 from the end, of the nearest of so many elements."""
    wrapped = emit.where(emit.op("Less", index, emit.constant(0)), emit.op("Add", index, limit), index)
    last = emit.op("Sub", limit, emit.constant(1))
    return emit.op("Min", emit.op("Max", wrapped, emit.constant(0)), last)


def _reshaped(emit: Emitter, value: str, shape: str, *, into: str | None = None) -> str:
    """A value in another shape; zeros follow its elements, or the last are left out, where the sizes differ."""
    count = emit.reduce("Prod", shape, [0], keepdims=True)
    zero = emit.op("CastLike", emit.constant(0), value)
    parts: Sequence[str] = (emit.op("Reshape", value, emit.constant([-1])), emit.op("Expand", zero, count))
    elements = emit.op("Slice", emit.op("Concat", *parts, axis=0), emit.constant([0]), count)
    return emit.op("Reshape", elements, shape, into=into, allowzero=1)

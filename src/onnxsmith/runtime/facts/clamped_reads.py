"""Nodes in a form that does not fail for want of elements, for runs whose shapes alone are of interest.

An index outside is that of the nearest element. An axis without elements has one zero there, where an operator reads it
by an index or looks for its greatest element, and whole numbers are divided by 1 in the place of 0. A sequence without
tensors is left to the caller. Checks that do not hold give what they would have failed with. Needs opset 15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx
from onnx import helper

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.scopes import inner_graphs, plain_domain
from onnxsmith.runtime.facts.gating import is_check
from onnxsmith.types.dtypes import DType

#: The first opset with CastLike; Reshape keeps sizes of 0 since the one before.
SINCE = 15
#: Operators that read or write along one axis, and those that take several indices for each element.
_ALONG = frozenset({"Gather", "GatherElements", "ScatterElements"})
_BY_TUPLES = frozenset({"GatherND", "ScatterND"})
_POSITIONS = frozenset({"SequenceAt", "SequenceErase", "SequenceInsert"})
#: Operators that need an element along an axis, and those that reduce several.
_OF_ELEMENTS = frozenset({"ArgMax", "ArgMin", "Split", "TopK"})
_REDUCING = frozenset({"ReduceMax", "ReduceMin"})
_DIVIDING = frozenset({"Div", "Mod"})
#: All that have another form here.
PARTIAL = _ALONG | _BY_TUPLES | _POSITIONS | _OF_ELEMENTS | _REDUCING | _DIVIDING | {"OneHot"}


def clamped(emit: Emitter, nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes, in the bodies of which the same is done where they stand, in forms that do not fail."""
    inner = emit.inner()
    for node in nodes:
        for graph in inner_graphs(node):
            made = clamped(emit, graph.node)
            copies = [copied(each) for each in made]
            del graph.node[:]
            graph.node.extend(copies)
        kind = "" if plain_domain(node.domain) else node.op_type
        if kind in _POSITIONS and len(node.input) > 1:
            _at_position(inner, node)
        elif kind in _ALONG | _BY_TUPLES and len(node.input) > 1:
            _read(inner, node)
        elif kind == "Reshape" and is_check(node):
            inner.op("Identity", node.input[0], into=node.output[0])
        else:
            if kind in _OF_ELEMENTS | _REDUCING:
                node.input[0] = _with_elements(inner, node)
            elif kind in _DIVIDING:
                node.input[1] = _not_zero(inner, node.input[1])
            elif kind == "OneHot":
                node.input[1] = inner.op("Max", inner.cast(node.input[1], DType.INT64), inner.constant(1))
            inner.keep(node)
    return inner.nodes


def _not_zero(emit: Emitter, divisor: str) -> str:
    """A divisor, of whole numbers with 1 in the place of 0. Half of one is nothing only among whole numbers."""
    half = emit.op("CastLike", emit.constant(0.5, DType.FLOAT), divisor)
    stays = emit.either(emit.cast(divisor, DType.BOOL), emit.cast(half, DType.BOOL))
    # Not Where: it has kernels for fewer types than Div.
    return emit.op("Add", divisor, emit.op("CastLike", emit.negated(stays), divisor))


def _with_elements(emit: Emitter, node: onnx.NodeProto) -> str:
    """The data of a node, with as many elements along its axes as it needs."""
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    data, *others = node.input
    needed = emit.constant([1])
    if node.op_type not in _REDUCING:
        axes = emit.constant([int(attributes.get("axis", -1 if node.op_type == "TopK" else 0))])
        if node.op_type == "TopK":
            needed = emit.op("Max", needed, others[0])
        elif node.op_type == "Split":
            if any(others):
                return data  # says itself how many
            needed = emit.constant([int(attributes.get("num_outputs", len(node.output)))])
    elif "axes" in attributes:
        axes = emit.constant([int(each) for each in attributes["axes"]])
    elif any(others):
        axes = others[0]
    else:
        axes = emit.op("Range", emit.constant(0), emit.rank(data), emit.constant(1))
    shape = emit.op("Shape", data)
    sizes = emit.op("Max", emit.op("Gather", shape, axes), needed)
    return _reshaped(emit, data, emit.op("ScatterElements", shape, axes, sizes, axis=0))


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
    copy = copied(node)
    copy.input[:] = [filled, index, *updates]
    copy.output[:] = [made]
    emit.keep(copy)
    if updates:
        _reshaped(emit, made, shape, into=node.output[0])


def _at_position(emit: Emitter, node: onnx.NodeProto) -> None:
    at = 2 if node.op_type == "SequenceInsert" else 1
    if len(node.input) > at and node.input[at]:
        count = emit.op("SequenceLength", node.input[0])
        limit = emit.op("Add", count, emit.constant(1)) if at == 2 else count
        position = emit.cast(node.input[at], DType.INT64)
        wrapped = emit.where(
            emit.op("Less", position, emit.constant(0)), emit.op("Add", position, count), position
        )
        node.input[at] = _nearest(emit, wrapped, limit)
    emit.keep(node)


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

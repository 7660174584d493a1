"""Scan outputs of a loop without an iteration: no elements, of the shape that an iteration would give.

ONNX says nothing of it. ONNX Runtime takes the sizes that the body declares, and 0 for those that are dynamic, against
the types that inference finds. The sizes are those of the first iteration here, as in an eager run.
Before opset 15 those stay 0 that inference does not find, where an operator may fail for want of elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.copies import copied, copied_nodes
from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from onnxsmith.graphs.rewriting.scopes import all_nodes, inner_graphs, names_around, outer_names
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.clamped_reads import PARTIAL, SINCE, clamped
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.types.dtypes import DType

#: The opset that brought Where.
_WHERE = 9
#: Constants with more elements than this say nothing of shapes.
_MOST_ELEMENTS = 64
#: The prefix of names for sizes that have none, which no size of a model has.
_UNNAMED = "onnxsmith: size "


@rewrite(
    "Loop",
    "what a loop without an iteration collects has 0 for each size that is dynamic",
    probe="g (float[N] x, int64 n, bool go) => (float[K, N] y) { last, y = Loop (n, go, x)"
    " <body = b (int64 i, bool on, float[N] now) => (bool on_out, float[N] next, float[N] one)"
    " { on_out = Identity(on) next = Add(now, x) one = Identity(now) }> }",
    given={"x": np.ones(3, np.float32), "n": np.array(0), "go": np.array(True)},
    right=[np.zeros((0, 3), np.float32)],
)
def collects_sizes(site: Site) -> bool:
    shapes = shapes_of_nothing(site)
    if not shapes:
        return False
    give_sizes(site, site.same_node(site.node.input), shapes)
    return True


#: For the dimensions of an element: a size, or the value and the axis that have it; None for nodes that compute it.
_Sizes = Sequence[int | tuple[str, int]] | None


def shapes_of_nothing(site: Site) -> dict[int, _Sizes]:
    """The elements that a loop collects and whose sizes the runtime does not know, by the position of the output."""
    node = site.node
    body = _body(site)
    states = max(0, len(node.input) - 2)
    if body is None or site.emit.version < _WHERE or len(body.input) != states + 2 or _has_iterations(site):
        return {}
    places = {
        place: body.output[place + 1]
        for place in range(states, min(len(node.output), len(body.output) - 1))
        if node.output[place] and _is_dynamic(body.output[place + 1].type, site.emit.version)
    }
    if not places or not all(node.input[2:]):
        return {}
    found = _inferred_sizes(site, body, [each.name for each in places.values()])
    return {
        place: found.get(info.name)
        for place, info in places.items()
        if info.name in found or site.emit.version >= SINCE or _is_total(body, info.name)
    }


def _body(site: Site) -> onnx.GraphProto | None:
    """The body of a loop, with the nodes of functions in the place of their calls."""
    body = next(iter(inner_graphs(site.node)), None)
    functions = [] if body is None else site.called(body.node)
    if body is None or not functions:
        return body
    imports = [helper.make_opsetid("", site.emit.version)]
    model = onnx.ModelProto(ir_version=10, graph=body, functions=functions, opset_import=imports)
    whole = without_functions(model)
    return body if whole is None else whole.graph


def _is_total(body: onnx.GraphProto, output: str) -> bool:
    """True if no operator that an output follows from may fail for want of elements."""
    return PARTIAL.isdisjoint(each.op_type for each in all_nodes(_needed(body, output)[0]))


def _sequences(nodes: Sequence[onnx.NodeProto]) -> set[str]:
    """The sequences that nodes read tensors of."""
    return {each.input[0] for each in all_nodes(nodes) if each.op_type == "SequenceAt"}


def give_sizes(site: Site, loop: onnx.NodeProto, shapes: Mapping[int, _Sizes]) -> None:
    """Emit nodes behind a loop that was emitted, which give sizes to what it collects where it has no iteration."""
    emit, body = site.emit, _body(site)
    assert body is not None
    for place, sizes in shapes.items():
        collected = loop.output[place]
        raw = loop.output[place] = emit.names.after(collected)
        shape = emit.op("Shape", raw)
        has_some = emit.op("Greater", emit.slice(shape, 0, 1), emit.constant([0]))
        if sizes is not None:
            target = emit.where(has_some, shape, _joined(emit, sizes))
        else:
            target = _of_an_iteration(site, body, body.output[place + 1].name, shape, has_some)
        # A size of 0 in the shape is the size that stands there already, which is 0, where the runtime knows the rank.
        knows_rank = body.output[place + 1].type.tensor_type.HasField("shape")
        emit.op("Reshape", raw, target, into=collected, allowzero=None if knows_rank else 1)


def _joined(emit: Emitter, sizes: Sequence[int | tuple[str, int]]) -> str:
    """The shape of no elements of these sizes."""
    parts = [emit.constant([0])]
    for each in sizes:
        if isinstance(each, int):
            parts.append(emit.constant([each]))
        else:
            value, axis = each
            parts.append(emit.slice(emit.op("Shape", value), axis, axis + 1))
    return emit.op("Concat", *parts, axis=0)


def _of_an_iteration(site: Site, body: onnx.GraphProto, output: str, shape: str, has_some: str) -> str:
    """The shape of what is collected; without an iteration, nodes of the body compute an element for its shape."""
    emit = site.emit
    nodes, needed = _needed(body, output)
    outer = {each: each for each in outer_names(body)}
    outer.update(zip((each.name for each in body.input[2:]), site.node.input[2:], strict=True))
    for sequence in sorted(_sequences(nodes) & outer.keys()):
        # No tensor of an empty sequence has a shape.
        length = emit.op("SequenceLength", outer[sequence])
        has_some = emit.either(has_some, emit.op("Equal", length, emit.constant(0)))

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.op("Identity", shape, into=names[target])

    def computed(inner: Emitter, names: Mapping[str, str]) -> None:
        # Under names of their own: the runtime warns of values of one name in several graphs.
        prefix = inner.names.after(output)
        for tensor in body.initializer:
            if tensor.name in needed:
                inner.op("Constant", value=tensor, into=prefix + tensor.name)
        for info, known in zip(body.input[:2], (np.array(0), np.array(True)), strict=True):
            if info.name in needed:
                inner.op("Constant", value=numpy_helper.from_array(known), into=prefix + info.name)
        apart = copied_nodes(nodes, outer, {}, prefix)
        inner.nodes.extend(clamped(inner, apart) if inner.version >= SINCE else apart)
        element = outer.get(output, prefix + output)
        inner.op("Concat", inner.constant([0]), inner.op("Shape", element), axis=0, into=names[target])

    target = emit.names.after(shape)
    choose(
        emit, emit.op("Reshape", has_some, emit.constant(np.zeros(0, np.int64))), [target], as_it_is, computed
    )
    return target


def _has_iterations(site: Site) -> bool:
    """True if it is certain that the loop has an iteration."""
    count, condition = site.constant(0), site.constant(1)
    is_counted = not site.has(0) or (count is not None and count.size == 1 and int(count.reshape(())) > 0)
    goes_on = not site.has(1) or (
        condition is not None and condition.size == 1 and bool(condition.reshape(()))
    )
    return is_counted and goes_on


def _is_dynamic(proto: onnx.TypeProto, version: int) -> bool:
    """True if the runtime does not know all sizes of an element. Without a rank, they have no form before `SINCE`."""
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return version >= SINCE
    return not all(each.HasField("dim_value") for each in tensor.shape.dim)


def _inferred_sizes(
    site: Site, body: onnx.GraphProto, wanted: Sequence[str]
) -> dict[str, Sequence[int | tuple[str, int]]]:
    """The sizes that inference finds for values of the first iteration, where it finds all sizes of a value."""
    graph = onnx.GraphProto(name="iteration", node=body.node, initializer=body.initializer)
    sources: dict[str, tuple[str, int]] = {}
    ports = dict(zip((each.name for each in body.input[2:]), site.node.input[2:], strict=True))
    ports.update((each, each) for each in outer_names(body))
    for name, value in ports.items():
        proto = site.scope.type_of(value)
        known = site.scope.constant(value) if value == name else None
        if known is not None and 0 < known.size <= _MOST_ELEMENTS and known.dtype.kind in "iuf":
            graph.initializer.append(numpy_helper.from_array(known, name))
        elif proto is not None and proto.WhichOneof("value") is not None:
            graph.input.append(onnx.ValueInfoProto(name=name, type=_with_names(proto, value, sources)))
    number, condition = (each.name for each in body.input[:2])
    graph.input.append(helper.make_tensor_value_info(number, int(DType.INT64), []))
    graph.input.append(helper.make_tensor_value_info(condition, int(DType.BOOL), []))
    graph.output.extend(onnx.ValueInfoProto(name=each) for each in dict.fromkeys(wanted))
    imports = [helper.make_opsetid("", site.emit.version)]
    inferred = inferred_graph(onnx.ModelProto(ir_version=10, graph=graph, opset_import=imports))
    found: dict[str, Sequence[int | tuple[str, int]]] = {}
    for info in (*inferred.input, *inferred.value_info, *inferred.output):
        if info.name in wanted and info.type.tensor_type.HasField("shape"):
            sizes = [
                each.dim_value if each.HasField("dim_value") else sources.get(each.dim_param)
                for each in info.type.tensor_type.shape.dim
            ]
            given = [each for each in sizes if each is not None]
            if len(given) == len(sizes):
                found[info.name] = given
    return found


def _with_names(proto: onnx.TypeProto, value: str, sources: dict[str, tuple[str, int]]) -> onnx.TypeProto:
    """The type with a name for each dynamic size; notes which value has it."""
    copy = copied(proto)
    for axis, each in enumerate(copy.tensor_type.shape.dim):
        if not each.HasField("dim_value"):
            each.dim_param = each.dim_param or f"{_UNNAMED}{len(sources)}"
            sources.setdefault(each.dim_param, (value, axis))
    return copy


def _needed(body: onnx.GraphProto, output: str) -> tuple[list[onnx.NodeProto], Set[str]]:
    """The nodes of a body that an output follows from, in order, and all values on the way."""
    needed, nodes = {output}, list[onnx.NodeProto]()
    for node in reversed(body.node):
        if not needed.isdisjoint(node.output):
            needed.update(node.input, names_around(node))
            nodes.append(node)
    return nodes[::-1], needed

"""Functions that have one name in every model: those of this package, such as algorithms, whose names say what they do.

A model that is called keeps such names in the model that calls it, where a name stands for one definition in both.
Functions of other domains get names of their own there.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from onnxsmith.core.target import RecordingTarget
from onnxsmith.graphs.ir_maker import function_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import AnyFunction
from onnxsmith.schema import registry

#: What the domains of those functions begin with.
_OWN = "onnxsmith."
#: Under which what a program shares has them.
_SHARED = "named functions"


def named_functions(scope: RecordingTarget) -> dict[ir.OperatorIdentifier, AnyFunction]:
    """Those of the model that is being made, by identifier, its functions' included."""
    return scope.shared.setdefault(_SHARED, {})


def kept_names(
    scope: RecordingTarget, functions: Mapping[ir.OperatorIdentifier, ir.Function]
) -> Collection[ir.OperatorIdentifier]:
    """The functions of a called model that keep their names: none of another definition has it, nor what they call."""
    held = named_functions(scope)
    kept = {
        identifier
        for identifier, function in functions.items()
        if identifier[0].startswith(_OWN) and (identifier not in held or is_same(held[identifier], function))
    }
    while True:
        lost = {each for each in kept if not _called(functions[each], functions) <= kept}
        if not lost:
            return kept
        kept -= lost


def _called(
    function: ir.Function, functions: Collection[ir.OperatorIdentifier]
) -> set[ir.OperatorIdentifier]:
    return {each.op_identifier() for each in function.all_nodes()} & set(functions)


# -- when two functions are the same -------------------------------------------------------------------------


def is_same(one: AnyFunction, other: AnyFunction) -> bool:
    """True if two functions have the same nodes, whatever their values are called."""
    return one is other or definition_of(one) == definition_of(other)


def definition_of(function: AnyFunction) -> Hashable:
    """Equal for functions of equal definitions: operators, attributes and constants to the bit, and how they are wired.

    An operator is that of the version that the function imports; two versions in which it is the same are equal.
    """
    made = function_to_ir(function)
    attributes = tuple((name, _attribute(each, {}, {})) for name, each in sorted(made.attributes.items()))
    return (attributes, _graph(made.graph, {}, dict(made.opset_imports)))


def _graph(graph: ir.Graph, around: Mapping[ir.Value, int], imports: Mapping[str, int]) -> Hashable:
    numbers = dict(around)
    for value in (*graph.inputs, *graph.initializers.values()):
        numbers.setdefault(value, len(numbers))
    weights = tuple(_tensor(value.const_value) for value in graph.initializers.values())
    nodes: list[Hashable] = []
    for node in graph:
        nodes.append(_node(node, numbers, imports))
        for value in node.outputs:
            numbers[value] = len(numbers)
    return (len(graph.inputs), weights, tuple(nodes), _numbered(graph.outputs, numbers))


def _node(node: ir.Node, numbers: Mapping[ir.Value, int], imports: Mapping[str, int]) -> Hashable:
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = imports.get(domain)
    definition = None if version is None else registry.find(domain, node.op_type, version)
    attributes = tuple(
        (name, _attribute(each, numbers, imports)) for name, each in sorted(node.attributes.items())
    )
    return (
        (domain, node.op_type, node.overload, None if definition is None else definition.since_version),
        _numbered(node.inputs, numbers),
        len(node.outputs),
        attributes,
    )


def _numbered(values: Sequence[ir.Value | None], numbers: Mapping[ir.Value, int]) -> Hashable:
    return tuple(None if each is None else numbers.get(each) for each in values)


def _attribute(attribute: ir.Attr, numbers: Mapping[ir.Value, int], imports: Mapping[str, int]) -> Hashable:
    kind, value = attribute.type, attribute.value
    if attribute.is_ref():
        return ("reference", attribute.ref_attr_name, int(kind))
    if kind == ir.AttributeType.TENSOR:
        return _tensor(attribute.as_tensor())
    if kind == ir.AttributeType.GRAPH:
        return _graph(attribute.as_graph(), numbers, imports)
    return (int(kind), repr(value))  # tells -0.0 from 0.0


def _tensor(tensor: ir.TensorProtocol | None) -> Hashable:
    if tensor is None:
        return None
    shape = tuple(str(each) for each in tensor.shape)
    if tensor.dtype == ir.DataType.STRING:
        return ("strings", shape, repr(tensor.numpy().tolist()))
    return (int(tensor.dtype), shape, tensor.tobytes())

"""Identity: when two tensors, attributes, nodes, graphs or functions are the same. Things are, whose keys are equal.

There is one key of contents, to the bit: a NaN by its bits, -0.0 apart from 0.0, bytes apart from text. There is one
walk over nodes and the graphs inside them. A policy says what counts on top: `VALUE_NUMBER`, `EXACT`, `FINGERPRINT`
and `ISOMORPHIC`. Nothing is changed here, and no graph is run.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.graphs import stamps
from onnxsmith.graphs.elements import Elements, read_only, stored_bytes
from onnxsmith.graphs.ir_types import dimensions_of, type_from_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.schema import registry

#: Contents up to this size stand in a key as they are, larger ones as a digest that nobody finds a second content for.
SMALL_BYTES = 4096
#: Weights up to this size are read to find nodes that give the same values.
_NUMBERED_BYTES = 1 << 20
#: Of larger weights a fingerprint looks at so many bytes, and of text at so many elements.
_SAMPLED_BYTES = 1 << 16
_SAMPLED_TEXTS = 1000
#: Stands for a value that comes from outside of what a key is of.
OUTSIDE = -1

#: Operators whose results differ from run to run.
RANDOM = frozenset(
    {
        "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"
    }
)  # fmt: skip
#: With one that draws numbers in training.
DRAWING = RANDOM | {"Dropout"}

_OfTensor: TypeAlias = "Callable[[ir.TensorProtocol], Hashable]"
_OfGraph: TypeAlias = "Callable[[ir.Graph], Hashable]"
_OfValue: TypeAlias = "Callable[[ir.Value], Hashable]"


# -- contents ----------------------------------------------------------------------------------------------


class Itself:
    """An object that is the same as itself alone; it is kept, so that its id stays its own."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __hash__(self) -> int:
        return id(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other._value is self._value


def value_key(value: object) -> Hashable:
    """The key of a value in Python, of an attribute or an option; `1`, `1.0` and `True` are not the same.

    An object without a hash is the same as itself alone.
    """
    kind = type(value)
    if np.ndarray in kind.__mro__:  # not `isinstance`, after which less is known
        return array_key(cast(Elements, value))
    if isinstance(value, tuple | list):
        return (kind, *map(value_key, cast("Sequence[object]", value)))
    if isinstance(value, float):
        return (kind, struct.pack("<d", value))
    if isinstance(value, complex | np.generic):
        return (kind, array_key(np.asarray(cast(Any, value))))
    if hasattr(value, "SerializeToString"):  # a message of protobuf
        return (kind.__name__, cast(Any, value).SerializeToString(deterministic=True))
    if isinstance(value, slice):  # has a hash from Python 3.12 on
        return (kind, *map(value_key, slice_parts(cast("slice[object, object, object]", value))))
    try:
        hash(value)
    except TypeError:
        return Itself(value)
    return (kind, cast(Hashable, value))


def slice_parts(part: slice[object, object, object]) -> tuple[object, object, object]:
    """The start, stop and step of a slice."""
    return part.start, part.stop, part.step


def values_key(values: Mapping[str, object]) -> Hashable:
    """The key of values by name, in the order of their names."""
    return tuple([(name, value_key(values[name])) for name in sorted(values)])


def array_key(array: Elements) -> Hashable:
    """The key of an array: its type, shape and elements."""
    if array.dtype.kind in "OUST":
        return (array.dtype.kind, array.shape, tuple(map(value_key, array.reshape(-1).tolist())))
    if array.dtype.hasobject:  # a structure that holds objects
        return Itself(array)
    if array.nbytes <= SMALL_BYTES:
        return (array.dtype, array.shape, array.tobytes())
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return (array.dtype, array.shape, hashlib.blake2b(content, digest_size=32).digest())


def tensor_key(tensor: ir.TensorProtocol, most_bytes: int | None = None) -> Hashable:
    """The key of a tensor: its type, shape and elements. One beyond `most_bytes` is not read, and is where it lies."""
    dtype, shape = tensor.dtype, dimensions_of(tensor)
    is_text = dtype == ir.DataType.STRING
    size = math.prod(shape) * (
        1 if is_text else dtype.itemsize
    )  # quicker than `nbytes`, for which onnx-ir makes a shape
    if most_bytes is not None and (isinstance(tensor, ir.LazyTensor) or size > most_bytes):
        return storage_key(tensor)
    if is_text or size > SMALL_BYTES:
        return (int(dtype), array_key(read_only(tensor)))
    return (int(dtype), shape, stored_bytes(tensor))


def storage_key(tensor: ir.TensorProtocol) -> Hashable:
    """The key of tensors that are the same without a look at their elements: one object, or one place in one file."""
    if isinstance(tensor, ir.ExternalTensor):
        file = (str(tensor.path), stamps.marked(tensor))
        return (*file, tensor.offset, tensor.nbytes, int(tensor.dtype), dimensions_of(tensor))
    return Itself(tensor)


def sampled_key(array: Elements) -> Hashable:
    """The key of a sample of an array: equal for equal arrays, and for few others."""
    flat = array.reshape(-1)
    if array.dtype.kind in "OUST":
        return (array.shape, array_key(flat[:_SAMPLED_TEXTS]))
    return (array.shape, array_key(flat[:: max(1, array.nbytes // _SAMPLED_BYTES)]))


def _stored_float(value: float) -> bytes:
    """A float as a file has it, in 32 bits: one that was not saved yet may have more digits."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


# -- attributes, nodes, graphs, functions --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Policy:
    """A choice of what counts besides operators, attributes and wiring, which always do."""

    #: The key of a tensor.
    tensor: _OfTensor = tensor_key
    #: The names of nodes and values count.
    names: bool = False
    #: Doc strings and metadata count, which say where a node was written.
    places: bool = False
    #: The types count that graphs declare for their inputs and outputs.
    types: bool = False

    def attribute(self, attribute: ir.Attr, graph: _OfGraph = Itself) -> Hashable:
        """The key of an attribute, without its name; `graph` gives those of graphs."""
        kind, value = attribute.type, attribute.value
        if attribute.is_ref():
            return ("reference", attribute.ref_attr_name, int(kind))
        if value is None:  # a parameter of a function without a default
            return (int(kind), None)
        said: Hashable
        match kind:
            case ir.AttributeType.INT | ir.AttributeType.STRING:
                said = value
            case ir.AttributeType.INTS | ir.AttributeType.STRINGS:
                said = tuple(value)
            case ir.AttributeType.FLOAT:
                said = _stored_float(value)
            case ir.AttributeType.FLOATS:
                said = tuple([_stored_float(each) for each in value])
            case ir.AttributeType.TENSOR:
                said = self.tensor(value)
            case ir.AttributeType.TENSORS:
                said = tuple([self.tensor(each) for each in value])
            case ir.AttributeType.GRAPH:
                said = graph(value)
            case ir.AttributeType.GRAPHS:
                said = tuple([graph(each) for each in value])
            case ir.AttributeType.TYPE_PROTO:
                said = type_from_ir(value.type, value.shape)
            case ir.AttributeType.TYPE_PROTOS:
                said = tuple([type_from_ir(each.type, each.shape) for each in value])
            case _:  # sparse tensors, as protos
                said = value_key(value)
        return (int(kind), said)

    def node(
        self,
        node: ir.Node,
        value: _OfValue,
        graph: _OfGraph = Itself,
        versions: Mapping[str, int] | None = None,
    ) -> Hashable:
        """The key of a node, with `value` for what it takes. `versions` are those of the opsets, if they count."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = None if versions is None else versions.get(domain)
        definition = None if version is None else registry.find(domain, node.op_type, version)
        taken = [None if each is None else value(each) for each in node.inputs]
        while taken and taken[-1] is None:  # what is left out at the end says nothing
            taken.pop()
        held = node.attributes
        key = (
            (domain, node.op_type, node.overload, None if definition is None else definition.since_version),
            tuple(taken),
            tuple([bool(each.name) for each in node.outputs]),
            tuple([(name, self.attribute(held[name], graph)) for name in sorted(held)]) if held else (),
        )
        if self.names:
            key = (*key, node.name, tuple([each.name for each in node.outputs]))
        return (*key, *_place(node)) if self.places else key

    def graph(
        self,
        graph: ir.Graph,
        numbers: dict[ir.Value, Hashable] | None = None,
        versions: Mapping[str, int] | None = None,
    ) -> Hashable:
        """The key of a graph, nodes in their order. `numbers` are those of values around it; others are `OUTSIDE`."""
        known: dict[ir.Value, Hashable] = {} if numbers is None else numbers

        def value(each: ir.Value) -> Hashable:
            found = known.get(each, OUTSIDE)
            return (found, each.name) if self.names else found

        def inner(each: ir.Graph) -> Hashable:
            return self.graph(each, known, versions)

        for each in graph.inputs:
            known[each] = len(known)
        for each in graph.initializers.values():
            if each not in known:  # a weight is what it holds
                known[each] = ("weight", None if each.const_value is None else self.tensor(each.const_value))
        ports = tuple([self._port(each) for each in graph.inputs])
        nodes: list[Hashable] = []
        for node in graph:
            nodes.append(self.node(node, value, inner, versions))
            for each in node.outputs:
                known[each] = len(known)
        key = (ports, tuple(nodes), tuple([(value(each), self._port(each)) for each in graph.outputs]))
        return (*key, *_place(graph)) if self.places else key

    def _port(self, value: ir.Value) -> Hashable:
        kind = (repr(value.type), repr(value.shape)) if self.types else ()
        return (*kind, value.name) if self.names else kind

    def function(self, function: ir.Function, *, versions: bool = True) -> Hashable:
        """The key of a function, whatever it is called. Versions in which an operator is the same are one."""
        parameters = [(name, self.attribute(each)) for name, each in sorted(function.attributes.items())]
        imports = function.opset_imports if versions else None
        return (tuple(parameters), self.graph(function.graph, versions=imports))


def _place(held: ir.Node | ir.Graph) -> tuple[Hashable, ...]:
    return (held.doc_string, tuple(sorted(held.metadata_props.items())))


#: Equal for what computes the same of what it is given; nothing is read of weights beyond 4 kB, which are themselves.
EXACT = Policy(partial(tensor_key, most_bytes=SMALL_BYTES), types=True)
#: Equal for graphs and functions with the same nodes in the same order, whatever values are called.
ISOMORPHIC = Policy()
#: The same, with all that a person may look at: names, and where nodes were written.
IDENTICAL = Policy(names=True, places=True, types=True)
#: Equal for what may be the same: large weights are sampled. For guesses that are looked at afterwards.
FINGERPRINT = Policy(lambda tensor: (int(tensor.dtype), sampled_key(read_only(tensor))))
#: Equal for nodes that give the same values.
VALUE_NUMBER = Policy(partial(tensor_key, most_bytes=_NUMBERED_BYTES))


# -- value numbers -------------------------------------------------------------------------------------------


def is_random(node: ir.Node) -> bool:
    """True if two runs of a node may give different results."""
    if node.domain not in ("", "ai.onnx"):
        return False
    if node.op_type == "Dropout":
        given = node.attributes.get("is_test")
        return len(node.inputs) > 2 or (given is not None and given.value == 0)
    return node.op_type in RANDOM


def value_number(node: ir.Node) -> Hashable | None:
    """The key of nodes that give the same values of the same values; None for a node that is the same as no other.

    Random nodes are, those of foreign domains, of which nobody knows whether they give the same twice, and those with
    graphs.
    """
    if node.domain not in ("", "ai.onnx", "ai.onnx.ml") or is_random(node) or not node.outputs:
        return None
    if not node.inputs and node.op_type != "Constant":
        return None
    if next(bodies_of(node), None) is not None:
        return None
    return VALUE_NUMBER.node(node, _same)


def number_of_call(
    op_type: str, inputs: Sequence[Hashable], attributes: Mapping[str, object], outputs: int
) -> Hashable | None:
    """The same for a call of one of ONNX's operators that becomes no node yet."""
    if op_type in RANDOM:
        return None
    return (op_type, outputs, tuple(inputs), values_key(attributes))


def _same(value: ir.Value) -> Hashable:
    return value

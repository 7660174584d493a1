"""One node in its place: its attributes, and the types and constants of what it takes and makes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.ir_types import CONSTANT_NUMBERS
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.scopes import inner_graphs, plain_domain
from onnxsmith.schema import registry
from onnxsmith.schema.definition import Parameter
from onnxsmith.types.dtypes import DType

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
#: A constant as a proto, as an array, or as what reads it; None for what is no constant.
Held: TypeAlias = onnx.TensorProto | Array | Callable[[], Array | None] | None


class Scope:
    """The facts of the values that can be seen in one graph: declared or inferred types, constants.

    Inference is asked when a type is not declared, and not before: most rules need no more than attributes.
    """

    def __init__(
        self,
        infer: Callable[[], onnx.GraphProto],
        outer: Scope | None = None,
        nodes: Sequence[onnx.NodeProto] = (),
        fixed: Set[str] = frozenset(),
    ) -> None:
        #: This one and those around it.
        self._around: tuple[Scope, ...] = (self,) if outer is None else (self, *outer._around)
        # Whether values may be fixed, as far as it was asked; and inputs of a function that are where it is called.
        self._fixed = dict.fromkeys(fixed, True)
        self._nodes = nodes
        self._producers: dict[str, onnx.NodeProto] | None = None
        self._infer: Callable[[], onnx.GraphProto] | None = infer
        self.types: dict[str, onnx.TypeProto] = {}
        self._tensors: dict[str, Held] = {}
        #: What rules made in this graph for nodes that come later, too, under keys of theirs.
        self.made: dict[Hashable, tuple[str, ...]] = {}

    def hold(self, name: str, tensor: Held) -> None:
        """Note a constant of this graph; None for a value that hides one of the same name around it."""
        self._tensors[name] = tensor

    def type_of(self, name: str) -> onnx.TypeProto | None:
        """The type of a value, as far as anything is known of it."""
        return self._declared(name) or self._inferred(name)

    def _declared(self, name: str) -> onnx.TypeProto | None:
        for scope in self._around:
            if name in scope.types:
                return scope.types[name]
        return None

    def _inferred(self, name: str) -> onnx.TypeProto | None:
        for scope in self._around:
            if scope._infer is not None:
                graph, scope._infer = scope._infer(), None
                for info in (*graph.input, *graph.value_info, *graph.output):
                    scope.types.setdefault(info.name, info.type)
            if name in scope.types:
                return scope.types[name]
        return None

    def constant(self, name: str) -> Array | None:
        """The content of a value that is the same in every run."""
        for scope in self._around:
            if name in scope._tensors:
                found = scope._tensors[name]
                if isinstance(found, onnx.TensorProto):
                    found = _content(found)
                elif callable(found):
                    found = found()
                scope._tensors[name] = found
                return found
        return None

    def producer(self, name: str) -> onnx.NodeProto | None:
        """The node that makes a value; None for inputs and initializers."""
        for scope in self._around:
            if scope._producers is None:
                made = {each: node for node in scope._nodes for each in node.output if each}
                scope._producers, scope._nodes = made, ()
            if name in scope._producers:
                return scope._producers[name]
            if name in scope._tensors:  # hides what is called so around it
                return None
        return None

    def may_be_fixed(self, name: str) -> bool:
        """True if a value may follow from constants, and from shapes that are known, alone.

        A runtime works such values out when it loads a model, and all that follows from them, also in branches that no
        run takes.
        """
        if self._is_of_a_run(name):
            return False
        # Depth first, each value once: what is on the way to a value that only a run knows is known by a run only.
        way, seen = [(name, iter(self._causes(name)))], {name}
        while way:
            value, causes = way[-1]
            cause = next(causes, None)
            if cause is None:
                self._fixed[value] = True
                way.pop()
            elif self._is_of_a_run(cause):
                self._fixed.update((each, False) for each, _ in way)
                return False
            elif cause not in seen:
                seen.add(cause)
                way.append((cause, iter(self._causes(cause))))
        return True

    def _is_of_a_run(self, name: str) -> bool:
        """True if it is certain that only a run knows a value: an input, or what a loop makes."""
        found = self._found_fixed(name)
        if found is not None:
            return not found
        node = self.producer(name)
        if node is None:
            return not self._is_held(name)
        # A branch may be chosen when the model is loaded, where a constant does.
        return node.op_type != "If" and bool(inner_graphs(node))

    def _causes(self, name: str) -> Sequence[str]:
        """The values that one follows from, unless that is known to lead nowhere."""
        node = None if self._found_fixed(name) is not None else self.producer(name)
        if node is None:
            return ()
        given = [each for each in node.input if each]
        is_of_shape = node.op_type in ("Shape", "Size") and len(given) == 1
        return () if is_of_shape and _is_sized(self.type_of(given[0])) else given

    def _found_fixed(self, name: str) -> bool | None:
        for scope in self._around:
            if name in scope._fixed:
                return scope._fixed[name]
        return None

    def _is_held(self, name: str) -> bool:
        """True if a value is a constant; does not read it."""
        for scope in self._around:
            if name in scope._tensors:
                return scope._tensors[name] is not None
        return False

    def note_constant_node(self, node: onnx.NodeProto) -> None:
        """Remember what a Constant node gives; one of a broken model may have no output."""
        if not node.output:
            return
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                continue
            if attribute.name == "value":
                self.hold(node.output[0], attribute.t)
            elif attribute.name in CONSTANT_NUMBERS:
                value = helper.get_attribute_value(attribute)
                self.hold(node.output[0], np.array(value, CONSTANT_NUMBERS[attribute.name]))


def _is_sized(proto: onnx.TypeProto | None) -> bool:
    """True if every dimension is known."""
    if proto is None or not proto.tensor_type.HasField("shape"):
        return False
    return all(each.HasField("dim_value") for each in proto.tensor_type.shape.dim)


def _content(tensor: onnx.TensorProto) -> Array | None:
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):  # as broken as models from strangers may be
        return None


class Site:
    """One node, what is known around it, and an emitter for what takes its place."""

    def __init__(
        self,
        node: onnx.NodeProto,
        version: int,
        scope: Scope,
        emit: Emitter,
        called: Callable[[Iterable[onnx.NodeProto]], list[onnx.FunctionProto]],
    ) -> None:
        self.node = node
        #: The functions of the model that nodes call, and those that these call.
        self.called = called
        #: The version of the node's domain.
        self.version = version
        self.scope = scope
        self.emit = emit
        #: Nodes that come before those of the emitter, for good, and what they make.
        self.ahead: list[onnx.NodeProto] = []
        self.made: dict[Hashable, tuple[str, ...]] = {}

    def once(self, key: Hashable, make: Callable[[Emitter], tuple[str, ...]]) -> tuple[str, ...]:
        """Names of values that depend on `key` alone: made here, unless an earlier node of the graph has them made."""
        found = self.made.get(key) or self.scope.made.get(key)
        if found is None:
            emit = self.emit.inner()
            found = self.made[key] = make(emit)
            self.ahead.extend(emit.nodes)
        return found

    # -- inputs and outputs -----------------------------------------------------------------------------

    def has(self, position: int) -> bool:
        """True if an input is given."""
        return position < len(self.node.input) and self.node.input[position] != ""

    def input(self, position: int) -> str:
        """The name of an input; empty where it is left out."""
        return self.node.input[position] if position < len(self.node.input) else ""

    def output(self, position: int) -> str:
        """The name of an output; empty where it is left out."""
        return self.node.output[position] if position < len(self.node.output) else ""

    def dtype(self, position: int) -> DType | None:
        """The element type of an input that is a tensor."""
        return element_type(self.scope.type_of(self.input(position)))

    def output_type(self, position: int) -> onnx.TypeProto | None:
        """The type of an output: by inference, or by the operator's signature, which knows no shapes."""
        found = self.scope.type_of(self.output(position))
        if found is not None and found.WhichOneof("value") is not None:
            return found
        dtypes = (self.dtype(k) for k in self._inputs_like_output(position))
        dtype = next((each for each in dtypes if each is not None), None)
        return None if dtype is None else helper.make_tensor_type_proto(int(dtype), None)

    def input_like_output(self, position: int) -> str | None:
        """The name of an input that has the type of an output by the operator's signature, whatever that is."""
        return next((self.input(k) for k in self._inputs_like_output(position) if self.has(k)), None)

    def _inputs_like_output(self, position: int) -> list[int]:
        """The positions of inputs that have the type of an output by the operator's signature."""
        op = registry.find(plain_domain(self.node.domain), self.node.op_type, self.version)
        if op is None or not op.outputs:
            return []
        wanted = op.outputs[min(position, len(op.outputs) - 1)]
        if _holds_many(wanted):
            return []
        return [k for k, formal in enumerate(op.inputs) if formal.type_name == wanted.type_name]

    def shape(self, position: int) -> tuple[int | None, ...] | None:
        """The dimensions of an input, None for those that are not known; None when its rank is not."""
        found = self.scope.type_of(self.input(position))
        if found is None or not found.tensor_type.HasField("shape"):
            constant = self.constant(position)
            return None if constant is None else constant.shape
        return tuple(
            each.dim_value if each.HasField("dim_value") else None for each in found.tensor_type.shape.dim
        )

    def rank(self, position: int) -> int | None:
        """How many dimensions an input has, where that is known."""
        shape = self.shape(position)
        return None if shape is None else len(shape)

    def constant(self, position: int) -> Array | None:
        """The content of an input that is the same in every run."""
        return self.scope.constant(self.input(position)) if self.has(position) else None

    # -- attributes -------------------------------------------------------------------------------------

    def has_attribute(self, name: str) -> bool:
        """True if an attribute is given."""
        return any(each.name == name for each in self.node.attribute)

    def _attribute(self, name: str, kind: int) -> onnx.AttributeProto | None:
        # A stranger's model may have an attribute of another kind than the operator defines: as good as none.
        for each in self.node.attribute:
            if each.name == name and each.type == kind and not each.ref_attr_name:
                return each
        return None

    def integer(self, name: str, default: int) -> int:
        """An INT attribute, or what holds where it is not given."""
        found = self._attribute(name, onnx.AttributeProto.INT)
        return default if found is None else found.i

    def number(self, name: str, default: float) -> float:
        """A FLOAT attribute."""
        found = self._attribute(name, onnx.AttributeProto.FLOAT)
        return default if found is None else found.f

    def text(self, name: str, default: str) -> str:
        """A STRING attribute."""
        found = self._attribute(name, onnx.AttributeProto.STRING)
        return default if found is None else found.s.decode(errors="replace")

    def integers(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """An INTS attribute."""
        found = self._attribute(name, onnx.AttributeProto.INTS)
        return tuple(default if found is None else found.ints)

    def texts(self, name: str) -> tuple[str, ...]:
        """A STRINGS attribute."""
        found = self._attribute(name, onnx.AttributeProto.STRINGS)
        return () if found is None else tuple(each.decode(errors="replace") for each in found.strings)

    def attributes_without(self, *names: str) -> list[onnx.AttributeProto]:
        """The node's attributes but for some."""
        return [each for each in self.node.attribute if each.name not in names]

    def same_node(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str] | None = None,
        *,
        without: Sequence[str] = (),
        changed: Mapping[str, int | float | str | Sequence[int]] | None = None,
    ) -> onnx.NodeProto:
        """Emit the node again with other inputs, outputs or attributes."""
        copy = copied(self.node)
        copy.input[:] = inputs
        if outputs is not None:
            copy.output[:] = outputs
        changes = changed or {}
        kept = self.attributes_without(*without, *changes)
        del copy.attribute[:]
        copy.attribute.extend(kept)
        copy.attribute.extend(helper.make_attribute(name, value) for name, value in changes.items())
        self.emit.keep(copy)
        return copy


def _holds_many(parameter: Parameter) -> bool:
    return any(not each.startswith("tensor(") for each in parameter.types)


def element_type(proto: onnx.TypeProto | None) -> DType | None:
    """The element type of a tensor's type."""
    if proto is None or not proto.HasField("tensor_type") or not proto.tensor_type.elem_type:
        return None
    try:
        return DType(proto.tensor_type.elem_type)
    except ValueError:  # a code that nobody has defined yet
        return None

"""One step of one node across a version in which its operator changed: what an adapter sees, and what it can say.

An adapter makes nodes that mean the same on the other side of the version, or says why there are none. Adapters are
registered by operator and version: `@up("Squeeze", since=13)` for the way into that version, `@down` for the way out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, AttributeContent, Editor
from onnxsmith.passes.values import Dimension, attribute_of, int_attribute, rank
from onnxsmith.registry import Registry
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType


class Refusal(Exception):
    """A node cannot be said on the other side of a version."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Unchanged(enum.Enum):
    """The answer of an adapter that has looked at a node and leaves it as it is."""

    AS_IT_IS = enum.auto()


AS_IT_IS = Unchanged.AS_IT_IS

#: What is read instead of a node's outputs.
Answer: TypeAlias = Sequence[ir.Value | None] | ir.Value | Unchanged


class Step(Attempt):
    """A node at one side of a version, and the nodes that are made for the other side."""

    __slots__ = ("at", "since", "sizes", "target")

    def __init__(
        self,
        edit: Editor,
        node: ir.Node,
        since: int,
        at: int,
        target: int,
        sizes: Mapping[ir.Value, Known] | None = None,
    ) -> None:
        super().__init__(edit, node)
        #: What is known of small integers that the model computes of sizes.
        self.sizes: Mapping[ir.Value, Known] = sizes or {}
        #: The version in which the operator changed.
        self.since = since
        #: The version that new nodes are of. An adapter may choose another one on the way to the target.
        self.at = at
        #: The version that is wanted in the end.
        self.target = target

    def entries(self, position: int) -> tuple[Dimension, ...] | None:
        """The entries of a shape: ints, and symbolic sizes where they are computed of dynamic ones."""
        value = self.input(position)
        known = None if value is None else self.sizes.get(value)
        data = None if known is None else known.data
        return data if isinstance(data, tuple) else self.numbers(position)

    def again(
        self,
        *inputs: ir.Value | None,
        without: Sequence[str] = (),
        op_type: str | None = None,
        outputs: int | None = None,
        attributes: Mapping[str, ir.Attr] | None = None,
        **changed: AttributeContent,
    ) -> Sequence[ir.Value]:
        """The node once more, with these inputs, without some attributes and with others changed."""
        others = {**(attributes or {}), **_attributes(changed)}
        dropped = {*without, *changed, *others}
        kept = {name: each for name, each in self.node.attributes.items() if name not in dropped}
        made = self.ops(
            op_type or self.node.op_type,
            *inputs,
            outputs=len(self.node.outputs) if outputs is None else outputs,
            domain=self.node.domain,
            attributes={**kept, **others},
        )
        node = self.made[-1]
        node.name, node.doc_string = self.node.name, self.node.doc_string
        self.hand_over(kept)
        return made

    def hand_over(self, names: Iterable[str]) -> None:
        """Take graphs out of the node that a new one has: what a node holds goes with it."""
        for name in names:
            attribute = self.node.attributes[name]
            if attribute.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS):
                del self.node.attributes[name]

    def with_inputs(self, **changed: AttributeContent) -> Sequence[ir.Value]:
        """The node once more, with the same inputs and other attributes."""
        return self.again(*self.node.inputs, attributes=_attributes(changed))

    # -- what the node says -----------------------------------------------------------------------------

    def required(self, position: int) -> ir.Value:
        """An input that the operator always has."""
        value = self.input(position)
        if value is None:
            raise Refusal("an input that it needs is left out")
        return value

    def rank_of(self, position: int, why: str) -> int:
        """How many dimensions an input has; refuses where that is not known."""
        found = rank(self.input(position))
        if found is None:
            raise Refusal(f"the rank of its input {position} is not known, {why}", DECLARE_TYPES)
        return found

    def dtype_of(self, position: int, why: str) -> ir.DataType:
        """The element type of an input; refuses where that is not known."""
        value = self.required(position)
        if value.dtype is None or not int(value.dtype):
            raise Refusal(f"the element type of its input {position} is not known, {why}", DECLARE_TYPES)
        return value.dtype

    def not_taken(self) -> Refusal:
        """The refusal of the first input for its element type, which came with the version."""
        dtype = DType(int(self.dtype_of(0, "and older versions take fewer")))
        op_type = self.node.op_type
        return Refusal(
            f"its input 0 is {dtype.spelling}, which {op_type} takes since opset {self.since}",
            "use another type there",
        )

    def axis(self, default: int, name: str = "axis") -> int:
        """The attribute for an axis; refuses one that comes with each call of a function."""
        self.not_a_reference(name)
        return int_attribute(self.node, name, default)

    def not_a_reference(self, *names: str) -> None:
        """Refuse attributes that are those of the function around the node."""
        for name in names:
            attribute = self.node.attributes.get(name)
            if attribute is not None and attribute.is_ref():
                raise Refusal(
                    f"its attribute {name} comes with each call of the function that it is in",
                    "inline the function first",
                )

    # -- attributes that became inputs, and back --------------------------------------------------------

    def as_input(self, name: str, dtype: ir.DataType = ir.DataType.INT64) -> ir.Value | None:
        """An attribute as a value: INT64 for ints, else of the element type that is asked for."""
        attribute = self.node.attributes.get(name)
        if attribute is None:
            return None
        if attribute.is_ref():
            return self._reference_as_input(attribute)
        content = attribute.value
        if attribute.type in (ir.AttributeType.INT, ir.AttributeType.INTS):
            return self.constant(np.array(content, np.int64), name)
        return self.constant(np.array(content, dtype.numpy()), name)

    def _reference_as_input(self, attribute: ir.Attr) -> ir.Value:
        kinds = {
            ir.AttributeType.INT: "value_int",
            ir.AttributeType.INTS: "value_ints",
            ir.AttributeType.FLOAT: "value_float",
            ir.AttributeType.FLOATS: "value_floats",
        }
        kind = kinds.get(attribute.type)
        if kind is None or self.at < 12:
            self.not_a_reference(attribute.name)
        assert kind is not None
        return self.op(
            "Constant", attributes={kind: ir.RefAttr(kind, attribute.ref_attr_name or "", attribute.type)}
        )

    def ints(self, position: int, name: str) -> tuple[int, ...] | None:
        """The ints of an input that is to be an attribute; None where it is left out. Refuses what is computed."""
        if self.input(position) is None:
            return None
        found = self.numbers(position)
        if found is None:
            raise Refusal(
                f"its input {name} is computed when the model runs, and was an attribute before opset {self.since}",
                f"make {name} a constant",
            )
        return found

    # -- small pieces -----------------------------------------------------------------------------------

    def int_constant(self, numbers: Sequence[int], name: str = "constant") -> ir.Value:
        """A vector of INT64."""
        return self.constant(np.array(list(numbers), np.int64), name)

    def number_constant(self, number: float, dtype: ir.DataType, name: str = "constant") -> ir.Value:
        """A number in an element type."""
        return self.constant(np.array(number, dtype.numpy()), name)

    def from_the_front(self, places: ir.Value, count: ir.Value) -> ir.Value:
        """Places along so many, counted from the front where they are counted from the end."""
        is_negative = self.op("Less", places, self.int_constant([0], "zero"))
        return self.op("Where", is_negative, self.op("Add", places, count), places)

    def unsqueezed(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """A value with more dimensions of one."""
        if self.at < 13:
            return self.op("Unsqueeze", value, axes=list(axes))
        return self.op("Unsqueeze", value, self.int_constant(axes, "axes"))

    def reduced(self, op_type: str, value: ir.Value, axes: Sequence[int], *, keepdims: bool) -> ir.Value:
        """A reduction along axes that are known."""
        if self.at >= (13 if op_type == "ReduceSum" else 18):
            return self.op(op_type, value, self.int_constant(axes, "axes"), keepdims=int(keepdims))
        return self.op(op_type, value, axes=list(axes), keepdims=int(keepdims))


def _attributes(contents: Mapping[str, AttributeContent]) -> dict[str, ir.Attr]:
    return {name: attribute_of(name, each) for name, each in contents.items() if each is not None}


#: What to do about types and shapes that are not known.
DECLARE_TYPES = "declare the types of the values in the model (value_info), or of its inputs"

DECLARE_SHAPES = "fix the sizes of its inputs: model.with_shapes(…)"

Adapter: TypeAlias = Callable[[Step], Answer]

#: Adapters by domain, operator and the version that they lead into, or out of.
Adapters: TypeAlias = Registry[tuple[str, str, int], Adapter]
INTO: Adapters = Registry("onnxsmith.passes.versions.up", "INTO")
OUT_OF: Adapters = Registry("onnxsmith.passes.versions.down", "OUT_OF")


def up(*op_types: str, since: int, domain: str = "") -> Callable[[Adapter], Adapter]:
    """Registers an adapter from the definition before a version to the one of it."""
    return _registering(INTO, op_types, since, domain)


def down(*op_types: str, since: int, domain: str = "") -> Callable[[Adapter], Adapter]:
    """Registers an adapter from the definition of a version to the one before it."""
    return _registering(OUT_OF, op_types, since, domain)


def _registering(
    table: Adapters, op_types: Sequence[str], since: int, domain: str
) -> Callable[[Adapter], Adapter]:
    def register(adapter: Adapter) -> Adapter:
        for each in op_types:
            table.register((domain, each, since), adapter)
        return adapter

    return register

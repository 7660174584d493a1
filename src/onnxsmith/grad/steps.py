"""A step: one node of a model that was recorded again, with what a rule asks of it.

Holds facts. How steps are recorded stands in `replaying`, what is done with them in `reverse`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array, Value
from onnxsmith.errors import UnknownRankError
from onnxsmith.graphs.records import tensor_inside
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Shape, TensorType

#: What a rule gives for one input: its cotangent, None where it is zero, or a function that makes it if it is needed.
Cotangent: TypeAlias = "Value | Callable[[], Value | None] | None"
#: What a rule gives: a cotangent for each input, those at the end that are zero left out.
Cotangents: TypeAlias = Sequence[Cotangent]


@dataclass(slots=True, eq=False)
class Step:
    """A call of an operator, as it stands in the graph that the gradient is recorded in."""

    node: ir.Node
    definition: OperatorDef
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value, ...]
    attributes: Mapping[str, object]
    #: Whether each input depends on what the gradient is taken with respect to.
    active: tuple[bool, ...]
    #: What a rule for control flow has kept of the forward pass.
    kept: object = None
    #: Whether the cotangents that arrive have passed a mask: zeros among them mean that nothing depends on an element.
    is_masked: bool = field(default=False)
    #: Whether numbers are handled as their bits, for which other rules hold.
    is_on_bits: bool = field(default=False)

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.definition.name

    # -- inputs and outputs ----------------------------------------------------------------------------

    def has(self, position: int) -> bool:
        """True if an input is given."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def input(self, position: int = 0) -> Tensor:
        """An input that is given."""
        return tensor_of(self.inputs[position])

    def optional(self, position: int) -> Tensor | None:
        """An input, None where it is left out."""
        return self.input(position) if self.has(position) else None

    def output(self, position: int = 0) -> Tensor:
        """An output."""
        return tensor_of(self.outputs[position])

    def content(self, position: int) -> Array | None:
        """The known content of an input; None where it is not known, or where the input is left out."""
        return content_of(self.inputs[position]) if self.has(position) else None

    def rank(self, position: int = 0) -> int:
        """How many dimensions an input has. Raises UnknownRankError."""
        shape = shape_of(self.input(position))
        if shape is None:
            raise UnknownRankError(
                f"the gradient of {self.name} needs to know how many dimensions its input {position} has",
                help="declare the shapes of the model's inputs: model.with_shapes(...)",
            )
        return len(shape)

    # -- attributes ------------------------------------------------------------------------------------

    def attribute(self, name: str) -> object:
        """The value of an attribute: what is given, or the default; None where there is neither."""
        if name in self.attributes:
            return self.attributes[name]
        formal = self.definition.attributes.get(name)
        return None if formal is None else formal.default

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is a whole number."""
        value = self.attribute(name)
        return default if value is None else int(cast(int, value))

    def integers(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of whole numbers; None where it is not given."""
        value = self.attribute(name)
        return None if value is None else tuple(int(each) for each in cast("Sequence[int]", value))

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute that is a number."""
        value = self.attribute(name)
        return default if value is None else float(cast(float, value))

    def text(self, name: str, default: str = "") -> str:
        """An attribute that is a text."""
        value = self.attribute(name)
        if isinstance(value, bytes):
            return value.decode()
        return default if value is None else str(value)


def tensor_of(value: Value | None) -> Tensor:
    """A value that is known to be a tensor: rules know their operators."""
    assert isinstance(value, Tensor)
    return value


def content_of(value: Value | None) -> Array | None:
    """The known content of a value, as an array; None where a part of it is not known."""
    return None if value is None else value.known.array()


def shape_of(value: Value) -> Shape | None:
    """The shape of a tensor as far as it is known; None where the rank is not."""
    kind = value.known.type
    return kind.shape if isinstance(kind, TensorType) else None


def dtype_of(value: Value) -> DType | None:
    """The element type of a tensor; None of anything else."""
    kind = value.known.type
    return kind.dtype if isinstance(kind, TensorType) else None


def numpy_of(value: Value) -> np.dtype[np.float32]:
    """The element type of a tensor that has a derivative, as numpy has it."""
    dtype = dtype_of(value)
    assert dtype is not None  # what has a derivative has an element type
    return dtype.numpy


def is_real(value: Value) -> bool:
    """True if a value holds numbers that have derivatives."""
    kind = tensor_inside(value.known.type)
    return kind is not None and (kind.dtype is None or kind.dtype.kind in ("float", "complex"))

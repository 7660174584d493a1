"""One operator call as inference rules see it, and the registry that rules enter themselves in.

Reads inputs and attributes and words the errors that many rules share; it computes no shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import AttributeValueError, GivenCulprit, OnnxsmithError, ShapeError, TensorIndexError
from onnxsmith.registry import Registry
from onnxsmith.schema.definition import AttributeReference, OperatorDef, parameter_at
from onnxsmith.schema.inference.known import BodyOutputs, Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, TensorType, describe_shape

#: Contents above this many elements are not computed with: no shape hangs on them.
LARGEST_CONTENT = 1024

#: Ranks and lists of axes are far shorter.
_MOST_ENTRIES = 1 << 16

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class UnresolvedAttribute(Exception):
    """A rule needs an attribute whose value comes only with each call of the function that the node stands in."""


class Call:
    """An operator, its inputs (None where an optional one is left out) and its attributes."""

    __slots__ = ("attributes", "bodies", "inputs", "op", "output_count", "version")

    def __init__(
        self,
        op: OperatorDef,
        version: int,
        inputs: Sequence[Known | None],
        attributes: Mapping[str, Any],
        output_count: int,
        bodies: Mapping[str, BodyOutputs],
    ) -> None:
        self.op = op
        self.version = version
        self.inputs = inputs
        self.attributes = attributes
        self.output_count = output_count
        self.bodies = bodies

    def input(self, position: int) -> Known | None:
        """An input, or None where it is left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def tensor(self, position: int) -> TensorType:
        """The tensor type of an input; one that says nothing where it is left out or no tensor."""
        known = self.inputs[position] if position < len(self.inputs) else None
        return known.type if known is not None and isinstance(known.type, TensorType) else _UNKNOWN

    def shape(self, position: int) -> Shape | None:
        return self.tensor(position).shape

    def dtype(self, *positions: int) -> DType | None:
        """The element type that the inputs at these positions share: the first that is known."""
        for position in positions:
            dtype = self.tensor(position).dtype
            if dtype is not None:
                return dtype
        return None

    def entries(self, position: int) -> tuple[Dimension, ...] | None:
        """The content of an integer vector, entry by entry."""
        known = self.input(position)
        if known is None:
            return None
        data = known.data
        if isinstance(data, tuple):
            return data
        if isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "iu":
            return tuple(data.tolist()) if data.size <= LARGEST_CONTENT else None
        return None

    def entry(self, position: int) -> Dimension:
        """The content of an integer scalar, or of a vector of one entry."""
        known = self.input(position)
        if known is None:
            return None
        data = known.data
        if isinstance(data, int | str):
            return data
        if isinstance(data, tuple):
            return data[0] if len(data) == 1 else None
        if data is not None and data.size == 1 and data.dtype.kind in "iu":
            return int(data.item())
        return None

    def length(self, position: int) -> int | None:
        """How many entries a vector has, whatever they are; None for more than any shape has."""
        shape = self.tensor(position).shape
        size = shape[0] if shape is not None and len(shape) == 1 else None
        return size if isinstance(size, int) and size <= _MOST_ENTRIES else None

    def array(self, position: int) -> Array | None:
        """The content of a constant of any element type, if it is small."""
        known = self.input(position)
        return None if known is None else small_content(known)

    def integer(self, name: str, default: int) -> int:
        """An int attribute."""
        value = self.attributes.get(name, default)
        if isinstance(value, int):
            return value
        raise UnresolvedAttribute(name)

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of ints, or None where it is left out."""
        value = self.attributes.get(name)
        if value is None or isinstance(value, tuple):
            return cast("tuple[int, ...] | None", value)
        raise UnresolvedAttribute(name)

    def string(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.attributes.get(name, default)
        if isinstance(value, str):
            return value
        raise UnresolvedAttribute(name)

    def attribute(self, name: str) -> Any:
        """An attribute of any type, or None where it is left out."""
        value = self.attributes.get(name)
        if isinstance(value, AttributeReference):
            raise UnresolvedAttribute(name)
        # A weight that lies in a file is mapped, not read.
        return np.asarray(value) if getattr(value, "is_stored", False) else value

    def given_dtype(self, name: str) -> DType | None:
        """The element type that an attribute names; None where it is left out or says "as the input"."""
        code = self.integer(name, 0)
        if not code:
            return None
        try:
            return DType(code)
        except ValueError:
            raise self.attribute_error(name, f"needs an element type, not {name}={code}") from None

    def input_name(self, position: int) -> str:
        """The formal name of an input; those of a variadic one are counted."""
        formals = self.op.inputs
        parameter = parameter_at(formals, position)
        if parameter is None:
            return f"input {position}"
        if parameter.option == "variadic":
            return f"{parameter.name}[{position - len(formals) + 1}]"
        return parameter.name

    def described(self, position: int) -> str:
        """An input for a message: `A of shape (N, 4)`."""
        shape = self.shape(position)
        where = "of unknown shape" if shape is None else f"of shape {describe_shape(shape)}"
        return f"{self.input_name(position)} {where}"

    def index_error(self, message: str, culprit: GivenCulprit | None = None) -> TensorIndexError:
        """The error for an index that no element has."""
        return TensorIndexError(f"{self.op.qualified_name} {message}", culprit=culprit)

    def shape_error(self, message: str, culprit: GivenCulprit | None = None) -> ShapeError:
        """An error that begins with the operator's name."""
        return ShapeError(f"{self.op.qualified_name} {message}", culprit=culprit)

    def attribute_error(self, name: str, message: str) -> AttributeValueError:
        """An error about an attribute that begins with the operator's name."""
        return AttributeValueError(f"{self.op.qualified_name} {message}", culprit=name)

    def axis(self, name: str, default: int, position: int, rank: int, extra: int = 0) -> int:
        """An axis attribute as an index from the front; `extra` more than `rank` are allowed at the end."""
        axis = self.integer(name, default)
        if -rank - extra <= axis < rank + extra:
            return axis + rank + extra if axis < 0 else axis
        raise self.attribute_error(name, self._out_of_range(name, axis, position, rank + extra))

    def check_axes(
        self, axes: Sequence[int], source: str | int, rank: int, may_repeat: bool = False
    ) -> tuple[int, ...]:
        """Axes of the first input as indices from the front; `source` is the attribute or input they come from."""
        for axis in axes:
            if not -rank <= axis < rank:
                raise self.axes_error(source, self._out_of_range("axis", axis, 0, rank))
        result = tuple(axis + rank if axis < 0 else axis for axis in axes)
        if not may_repeat and len(set(result)) != len(result):
            message = f"names an axis twice in axes={tuple(axes)} on {self.described(0)}"
            raise self.axes_error(source, message)
        return result

    def axes_error(self, source: str | int, message: str) -> OnnxsmithError:
        """An error about axes that come from an attribute or an input."""
        if isinstance(source, str):
            return self.attribute_error(source, message)
        return self.shape_error(message, source)

    def _out_of_range(self, name: str, axis: int, position: int, rank: int) -> str:
        allowed = f"it is from {-rank} to {rank - 1}" if rank else "a scalar has no axes"
        return f"cannot use {name}={axis} on {self.described(position)}: {allowed}"


_UNKNOWN = TensorType(None, None)

#: What a rule gives: what is known of the outputs, as many as it knows of; None hands the call to onnx.
Result: TypeAlias = tuple[Known, ...] | None
Rule: TypeAlias = Callable[[Call], Result]

#: (domain, name) -> (first version, first version it no longer holds for, rule)
RULES: Registry[tuple[str, str], tuple[tuple[int, int, Rule], ...]] = Registry(
    "onnxsmith.schema.inference.rules", "RULES"
)

_NEVER = 1 << 30


def rule(*names: str, since: int = 1, before: int = _NEVER, domain: str = "") -> Callable[[Rule], Rule]:
    """Enter a function as the rule of these operators, for the schema versions from `since` up to `before`."""

    def enter(function: Rule) -> Rule:
        for name in names:
            others = RULES.loaded((domain, name), ())
            RULES[domain, name] = (*others, (since, before, function))
        return function

    return enter


@lru_cache(maxsize=8192)  # definitions are made once and compared by identity
def find_rule(op: OperatorDef) -> Rule | None:
    """The rule of an operator, if it has one."""
    for since, before, function in RULES.get((op.domain, op.name)) or ():
        if since <= op.since_version < before:
            return function
    return None


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "output"), counted(2, "output")
    ('1 output', '2 outputs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def small_content(known: Known) -> Array | None:
    """The content of a value as an array; of a larger constant None."""
    is_large = isinstance(known.data, np.ndarray) and known.data.size > LARGEST_CONTENT
    return None if is_large else known.array()


def tensor(dtype: DType | None, shape: Shape | None) -> Known:
    """A tensor of which nothing more is known."""
    return Known(TensorType(dtype, shape))

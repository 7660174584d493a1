"""The sizes that a model is made for when functions are called on arrays: those of the call, until they change.

A dimension that has had two sizes is open from then on. Dimensions that were always equal have one name, so that what
is made of them is known to be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from onnxsmith.core.value import Array
from onnxsmith.grad.arguments import Casts
from onnxsmith.graphs.model import Model
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.scripting.functions.specialised import Watch
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Dimension, TensorType

#: The sizes of all arguments, one after the other.
Sizes = tuple[int, ...]


@dataclass(slots=True)
class OpenSizes:
    """The dimensions of arguments of fixed element types and ranks."""

    #: The sizes of all calls that had something new.
    seen: list[Sizes] = field(default_factory=list[Sizes])
    pattern: tuple[Dimension, ...] = ()

    def dimensions(self, sizes: Sizes) -> tuple[Dimension, ...]:
        """The dimensions of a model that these sizes fit."""
        if not self.seen or not fits(self.pattern, sizes):
            self.seen.append(sizes)
            self.pattern = _pattern(self.seen)
        return self.pattern


def fits(pattern: Sequence[Dimension], sizes: Sizes) -> bool:
    """True if sizes fit a pattern: the same name stands for the same size."""
    named: dict[Dimension, int] = {}
    return all(
        each == size if isinstance(each, int) else named.setdefault(each, size) == size
        for each, size in zip(pattern, sizes, strict=True)
    )


def _pattern(seen: Sequence[Sizes]) -> tuple[Dimension, ...]:
    """The common pattern of all calls: a size that never changed, or a name for those that changed together.

    >>> _pattern([(8, 4, 8)]), _pattern([(8, 4, 8), (16, 4, 16)]), _pattern([(8, 4, 8), (16, 4, 16), (2, 4, 3)])
    ((8, 4, 8), ('n0', 4, 'n0'), ('n0', 4, 'n1'))
    """
    names: dict[tuple[int, ...], str] = {}
    pattern: list[Dimension] = []
    for column in zip(*seen, strict=True):
        is_fixed = len(set(column)) == 1
        pattern.append(column[0] if is_fixed else names.setdefault(column, f"n{len(names)}"))
    return tuple(pattern)


@dataclass(slots=True)
class CachedModel:
    """A model that was made for the types of a call, and what its outputs are."""

    model: Model
    value_count: int
    #: What the function's model makes of arguments that are numbers, by position.
    casts: Casts = field(default_factory=dict[int, tuple[DType, ...]])
    #: The containers that the function gives its results in; None for a tensor, or a tuple of them.
    form: Held = None
    #: The functions among the options, as they were; None where there are none.
    options: Watch | None = None


def open_types(arrays: Sequence[Array], sizes: OpenSizes) -> list[AnyValueType]:
    """The types of arrays; a dimension that has had several sizes is open."""
    dimensions = list(sizes.dimensions(tuple(size for each in arrays for size in each.shape)))
    types: list[AnyValueType] = []
    for array in arrays:
        kind = array.type if isinstance(array, DeviceArray) else type_of_example(array)
        assert isinstance(kind, TensorType)  # the type of an array
        shape, dimensions = dimensions[: array.ndim], dimensions[array.ndim :]
        types.append(TensorType(kind.dtype, tuple(shape)))
    return types

"""Models that `grad` and the like have made, and the types that they are made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from onnxsmith.core.value import Array
from onnxsmith.grad.arguments import Casts
from onnxsmith.grad.open_sizes import OpenSizes
from onnxsmith.graphs.model import Model
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.scripting.functions.specialised import Watch
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType


@dataclass(slots=True)
class KeptCall:
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

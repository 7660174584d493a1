"""Models that `grad` and the like have made, kept for calls with arguments of the same types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxsmith.core.value import Array
from onnxsmith.grad.arguments import Casts
from onnxsmith.grad.open_sizes import OpenSizes
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: How many models of one function are kept.
LIMIT = 64


@dataclass(slots=True)
class KeptCall:
    """A model that was made for the types of a call, and what its outputs are."""

    model: Model
    value_count: int
    #: What the function's model makes of arguments that are numbers, by position.
    casts: Casts = field(default_factory=dict[int, tuple[DType, ...]])
    run: Callable[[Sequence[Any]], Any] | None = None
    #: The containers that the function gives its results in; None for a tensor, or a tuple of them.
    form: Held = None


@dataclass(slots=True)
class Kept:
    """Models by the types of their inputs, and the sizes that each element types and ranks have had."""

    calls: dict[tuple[Hashable, ...], KeptCall] = field(default_factory=dict[tuple[Hashable, ...], KeptCall])
    sizes: dict[tuple[object, ...], OpenSizes] = field(default_factory=dict[tuple[object, ...], OpenSizes])
    #: Tells whether what the models were made with is another one now; None before there is one.
    is_old: Callable[[], bool] | None = None

    def look_outside(self) -> None:
        """Forget models where something around the function is another one: it runs with that, too."""
        if self.is_old is not None and self.is_old():
            self.calls.clear()
            self.is_old = None

    def open_types(self, arrays: Sequence[Array]) -> list[AnyValueType]:
        """The types of arrays; a dimension that has had several sizes is open."""
        kinds = [type_of_example(each) for each in arrays]
        key = tuple((each.dtype, each.ndim) for each in arrays)
        sizes = tuple(size for each in arrays for size in each.shape)
        if len(self.sizes) >= LIMIT:
            self.sizes.clear()
        dimensions = list(self.sizes.setdefault(key, OpenSizes()).dimensions(sizes))
        types: list[AnyValueType] = []
        for array, kind in zip(arrays, kinds, strict=True):
            assert isinstance(kind, TensorType)  # the type of an array
            shape, dimensions = dimensions[: array.ndim], dimensions[array.ndim :]
            types.append(TensorType(kind.dtype, tuple(shape)))
        return types

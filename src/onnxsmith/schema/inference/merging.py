"""Joins of types: of a value that comes from one of several places, such as the branches of an `If`.

Works on types; the words of an error are the caller's.
"""

from __future__ import annotations

from onnxsmith.schema.inference.broadcasting import merge
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
)


class Different(Exception):
    """Two types that no value has both of; carries the two."""

    def __init__(self, left: AnyValueType, right: AnyValueType) -> None:
        self.left = left
        self.right = right


def is_nothing(value_type: AnyValueType) -> bool:
    """True if a type says nothing at all, not even that the value is a tensor."""
    return isinstance(value_type, TensorType) and value_type.dtype is None and value_type.shape is None


def merge_types(left: AnyValueType, right: AnyValueType) -> AnyValueType:
    """The type that values of both have; raises Different where there is none."""
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        if left.dtype is not None and right.dtype is not None and left.dtype is not right.dtype:
            raise Different(left, right)
        dtype = right.dtype if left.dtype is None else left.dtype
        return left if left == right else TensorType(dtype, merge(left.shape, right.shape))
    if is_nothing(left) or is_nothing(right):
        return UNKNOWN_TENSOR
    if isinstance(left, SequenceType) and isinstance(right, SequenceType):
        return SequenceType(merge_types(left.element, right.element))
    if isinstance(left, OptionalType) or isinstance(right, OptionalType):
        # A value where an optional may stand is taken for one that is there.
        element = merge_types(
            left.element if isinstance(left, OptionalType) else left,
            right.element if isinstance(right, OptionalType) else right,
        )
        return OptionalType(element if isinstance(element, TensorType | SequenceType) else UNKNOWN_TENSOR)
    if isinstance(left, MapType) and isinstance(right, MapType) and left.key is right.key:
        value = merge_types(left.value, right.value)
        return MapType(left.key, value if isinstance(value, TensorType) else UNKNOWN_TENSOR)
    raise Different(left, right)


def contradict(one: AnyValueType, other: AnyValueType) -> bool:
    """True if no tensor can be of both types, as far as they are known."""
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return False
    if None not in (one.dtype, other.dtype) and one.dtype is not other.dtype:
        return True
    if one.shape is None or other.shape is None:
        return False
    return len(one.shape) != len(other.shape) or any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(one.shape, other.shape, strict=True)
    )

"""numpy's broadcasting on shapes with symbolic and unknown sizes, and how shapes and types are merged and completed.

Pure functions; what to say to a user about a mismatch is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    Dimension,
    MapType,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
    shapes_differ,
)


class Mismatch(Exception):
    """Two sizes that cannot be broadcast; `axis` counts from the end."""

    def __init__(self, axis: int, left: int, right: int) -> None:
        self.axis = axis
        self.left = left
        self.right = right


def broadcast_dimension(left: Dimension, right: Dimension) -> Dimension:
    """
    >>> [broadcast_dimension(*pair) for pair in (("N", "N"), ("N", 1), ("N", 4), ("N", "M"), (None, 1), (0, 1))]
    ['N', 'N', 4, None, None, 0]
    """
    if left == right and left is not None:
        return left
    if right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int):
        if isinstance(right, int):
            raise ValueError((left, right))
        return left
    if isinstance(right, int):
        return right
    return left if symbolic.is_same(left, right) else None


def broadcast(left: Shape, right: Shape) -> Shape:
    """The shape two shapes are broadcast to; raises Mismatch where that is impossible."""
    if len(left) < len(right):
        left = (1,) * (len(right) - len(left)) + left
    elif len(right) < len(left):
        right = (1,) * (len(left) - len(right)) + right
    out: list[Dimension] = []
    for position, (first, second) in enumerate(zip(left, right, strict=True)):
        if (
            isinstance(first, int)
            and isinstance(second, int)
            and first != second
            and 1 not in (first, second)
        ):
            raise Mismatch(position - len(left), first, second)
        out.append(broadcast_dimension(first, second))
    return tuple(out)


def broadcast_all(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape that several are broadcast to; None when the rank of one is unknown."""
    result: Shape = ()
    is_unknown = False
    for shape in shapes:
        if shape is None:
            is_unknown = True
        else:
            result = broadcast(result, shape)
    return None if is_unknown else result


def merge_dimension(left: Dimension, right: Dimension) -> Dimension:
    """The join of two dimensions: what holds for either."""
    return left if left == right or symbolic.is_same(left, right) else None


def merge(left: Shape | None, right: Shape | None) -> Shape | None:
    """The join of two shapes: what holds for either."""
    if left is None or right is None or len(left) != len(right):
        return None
    return left if left == right else tuple(map(merge_dimension, left, right))


def meet_dimension(left: Dimension, right: Dimension) -> Dimension:
    """The more telling of two dimensions that are equal: a size, else a name."""
    if left is None or (isinstance(right, int) and not isinstance(left, int)):
        return right
    return left


def meet(left: Shape | None, right: Shape | None) -> Shape | None:
    """The meet of two shapes: what both together say."""
    if left is None or (right is not None and len(left) != len(right)):
        return right
    return left if right is None else tuple(map(meet_dimension, left, right))


# -- Joins of types: of a value that comes from one of several places, such as the branches of an `If` --


class Different(Exception):
    """Two types that no value has both of; carries the two."""

    def __init__(self, left: AnyValueType, right: AnyValueType) -> None:
        self.left = left
        self.right = right


def is_nothing(value_type: AnyValueType) -> bool:
    """True if a type says nothing at all, not even that the value is a tensor."""
    return isinstance(value_type, TensorType) and value_type.dtype is None and value_type.shape is None


def is_complete(value_type: AnyValueType) -> bool:
    """True if nothing can be added to a type: it is no tensor's, or has an element type and a shape."""
    return not isinstance(value_type, TensorType) or (
        value_type.dtype is not None and value_type.shape is not None
    )


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
    return shapes_differ(one.shape, other.shape)


def completed_type(
    known: AnyValueType, declared: AnyValueType, sizes: Mapping[str, Dimension]
) -> AnyValueType:
    """The type that is known, with what is declared where that is more; `sizes` are those of declared names."""
    if not isinstance(known, TensorType):
        return known
    if not isinstance(declared, TensorType):
        return declared if known.dtype is None and known.shape is None else known
    dtype = known.dtype or declared.dtype
    shape = known.shape
    if declared.shape is not None and (shape is None or len(shape) == len(declared.shape)):
        theirs = [each if isinstance(each, int) else sizes.get(each or "") for each in declared.shape]
        ours = shape or (None,) * len(theirs)
        # A size is more than a name, and what the caller calls it is more than what the model does.
        shape = tuple(
            b if a is None or (isinstance(b, int) and not isinstance(a, int)) else a
            for a, b in zip(ours, theirs, strict=True)
        )
    return known if (dtype, shape) == (known.dtype, known.shape) else TensorType(dtype, shape)


class OwnNames(Mapping[str, Dimension]):
    """Every name of a dimension stands for itself."""

    def __getitem__(self, name: str) -> Dimension:
        if not name:
            raise KeyError(name)
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

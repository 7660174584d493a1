"""numpy's broadcasting on shapes with symbolic and unknown dimensions, and how shapes are merged.

Pure functions on shapes; what to say to a user about a mismatch is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension, Shape


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
            and first != 1
            and second != 1
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

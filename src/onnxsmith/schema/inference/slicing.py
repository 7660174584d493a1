"""How many elements a slice takes of a dimension that may be symbolic.

Python's slices, which are also numpy's, and ONNX's but for bounds far out with a negative step.
"""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension

#: Bounds this far out mean "to the end", whatever the size is; exporters write 2**31-1 and 2**63-1.
FAR = (1 << 31) - 1


def slice_length(size: Dimension, start: Dimension, end: Dimension, step: int) -> Dimension:
    """The length of `x[start:end:step]` for an `x` of this size; None where it cannot be told.

    >>> slice_length(10, 2, -1, 3), slice_length("N", 1, FAR, 1), slice_length("N", 0, -2, 1)
    (3, 'N-1', 'max(0,N-2)')
    >>> slice_length("N", -1, -FAR, -1), slice_length("N", 0, "N//2", 1), slice_length(None, 0, 1, 1)
    ('N', 'N//2', None)
    """
    if size == 0:
        return 0
    if step < 0 and _is_disputed(size, start, end):
        return None
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice(start, end, step).indices(size)))
    if step > 0:
        first, last = _bound(start, size, 0, size), _bound(end, size, 0, size)
        return symbolic.maximum(0, symbolic.ceildiv(symbolic.sub(last, first), step))
    top = symbolic.sub(size, 1)
    first, last = _bound(start, size, -1, top), _bound(end, size, -1, top)
    return symbolic.maximum(0, symbolic.ceildiv(symbolic.sub(first, last), -step))


def _is_disputed(size: Dimension, start: Dimension, end: Dimension) -> bool:
    """Bounds that runtimes read differently when stepping backwards.

    An end of 2**31-1 or more: to the specification nothing is taken, to ONNX Runtime everything. A start before the
    first element: to numpy nothing is taken, to the specification the first element is.
    """
    if isinstance(end, int) and end >= FAR:
        return True
    return not symbolic.is_at_least(start, 0) and not symbolic.is_at_least(symbolic.add(size, start), 0)


def _bound(at: Dimension, size: Dimension, lowest: int, highest: Dimension) -> Dimension:
    """A bound counted from the front and held within the dimension."""
    if isinstance(at, int):
        if at >= FAR:
            return highest
        if at <= -FAR:
            return lowest
    if symbolic.is_at_least(at, 0):
        return symbolic.minimum(at, highest) if at != 0 or lowest < 0 else 0
    if symbolic.compare_less(at, 0):
        return symbolic.maximum(symbolic.add(size, at), lowest)
    return None

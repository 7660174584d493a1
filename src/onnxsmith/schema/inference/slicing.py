"""How many elements a slice takes of a dimension that may be symbolic.

Python's slices, which are also numpy's, and ONNX's but for bounds far out with a negative step.
"""

from __future__ import annotations

from functools import reduce

from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension

#: Bounds this far out mean "to the end", whatever the size is; exporters write 2**31-1 and 2**63-1.
FAR = (1 << 31) - 1


def slice_length(size: Dimension, start: Dimension, end: Dimension, step: int) -> Dimension:
    """The length of `x[start:end:step]` for an `x` of this size; None where it cannot be told.

    >>> slice_length(10, 2, -1, 3), slice_length("N", 1, FAR, 1), slice_length("N", 0, -2, 1)
    (3, 'max(0,N-1)', 'max(0,N-2)')
    >>> slice_length("N", 0, 1, 1), slice_length("N", -1, FAR, 1), slice_length("N", 1, 3, 1)
    ('min(1,N)', 'min(1,N)', 'max(0,min(2,N-1))')
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
        highs, lows = _uppermost(end, size, size), _lowermost(start, size, 0)
    else:
        highs, lows = _uppermost(start, size, symbolic.sub(size, 1)), _lowermost(end, size, -1)
    distances = [symbolic.sub(high, low) for high in highs for low in lows]
    if not distances:
        return None
    return symbolic.maximum(0, symbolic.ceildiv(reduce(symbolic.minimum, distances), abs(step)))


def _is_disputed(size: Dimension, start: Dimension, end: Dimension) -> bool:
    """Bounds that runtimes read differently when stepping backwards.

    An end of 2**31-1 or more: to the specification nothing is taken, to ONNX Runtime everything. A start before the
    first element: to numpy nothing is taken, to the specification the first element is. That -1 is before the first
    element is the case only where there is none to take.
    """
    if isinstance(end, int) and end >= FAR:
        return True
    if start == -1:
        return False
    return not symbolic.is_at_least(start, 0) and not symbolic.is_at_least(symbolic.add(size, start), 0)


# Of two bounds the greater is held below the end of the dimension, the lesser above its beginning. The other side needs
# no holding: there the distance between the two is negative, and nothing is taken. So a length says no more than it has
# to, and minima of differences are what a reader recognises: `min(1,N)`, and not `N-max(0,N-1)`.


def _uppermost(at: Dimension, size: Dimension, highest: Dimension) -> list[Dimension]:
    """The greater bound, counted from the front: the least of these; none where its sign is not known."""
    if isinstance(at, int) and abs(at) >= FAR:
        return [highest if at > 0 else -1]
    if symbolic.is_at_least(at, 0):
        return [at, highest]
    return [symbolic.add(size, at)] if symbolic.compare_less(at, 0) else []


def _lowermost(at: Dimension, size: Dimension, lowest: int) -> list[Dimension]:
    """The lesser bound, counted from the front: the greatest of these; none where its sign is not known."""
    if isinstance(at, int) and abs(at) >= FAR:
        return [size if at > 0 else lowest]
    if symbolic.is_at_least(at, 0):
        return [at]
    return [lowest, symbolic.add(size, at)] if symbolic.compare_less(at, 0) else []

"""What numpy's functions require of arguments that only the model knows; where it does not hold, numpy raises an error.

Of elements that are known each function looks for itself. Here stands the rest: what the model of a function of plain
numpy code has to find out when it runs (`core.demands`). Elsewhere nothing of this leaves a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.operators import op
from onnxsmith.core.demands import Refusal, Truth, demand
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import tensor_of
from onnxsmith.numpy.sizes import Size
from onnxsmith.types.dtypes import DType

#: What may be said to hold: of an array, for all of its elements.
Condition: TypeAlias = "Array | Number | TensorValue | bool | np.bool_"


def require(holds: Callable[[], Condition], *errors: Exception | Refusal) -> None:
    """Something holds, or else an error is raised; `holds` is asked only where models raise errors."""
    demand(lambda: _truth(holds()), *errors)


def _truth(condition: Condition) -> Truth:
    if isinstance(condition, Array):
        if not condition.is_symbolic:
            return bool(np.asarray(condition).all())
        condition = tensor_of(condition)
    if isinstance(condition, Number):
        return condition.tensor
    if not isinstance(condition, TensorValue):
        return bool(condition)
    rank = values.rank_of(condition)
    return reductions.all_true(condition, list(range(rank)), False) if rank else condition


def sized(value: Size) -> Any:
    """A size as an operand."""
    return value.as_dtype(DType.INT64) if isinstance(value, Number) else np.int64(value)


def is_surely_same(first: Size, second: Size) -> bool:
    """Whether two sizes are known to be the same: numbers, or sizes of one name."""
    if first is second:
        return True
    if isinstance(first, int) or isinstance(second, int):
        return isinstance(first, int) and isinstance(second, int) and first == second
    mine, theirs = first.known.data, second.known.data
    return mine is not None and not isinstance(mine, np.ndarray | tuple) and mine == theirs


def require_same(first: Size, second: Size, error: Exception) -> None:
    """Two sizes are the same."""
    if is_surely_same(first, second):
        return
    if isinstance(first, int) and isinstance(second, int):
        require(lambda: first == second, error)
        return
    require(lambda: op.Equal(sized(first), sized(second)), error)


def require_same_shape(first: Array, second: Array, error: Exception) -> None:
    """Two arrays of one rank have one shape."""
    for mine, theirs in zip(first.shape, second.shape, strict=True):
        require_same(mine, theirs, error)


def require_at_least(value: Size, least: int, error: Exception) -> None:
    """A size or a count is not below a number."""
    if isinstance(value, int):
        require(lambda: value >= least, error)
        return
    require(lambda: op.GreaterOrEqual(sized(value), np.int64(least)), error)


def require_some(x: Array, axes: Sequence[int], error: Exception) -> None:
    """There are elements over axes, unless there are none to have a result for."""
    shape = x.shape
    others = [cast(Size, shape[each]) for each in range(x.ndim) if each not in axes]
    for axis in axes:
        mine = cast(Size, shape[axis])
        if isinstance(mine, int) and mine:
            continue
        require(lambda mine=mine: _is_some(mine, others), error)


def _is_some(mine: Size, others: Sequence[Size]) -> Condition:
    if isinstance(mine, int) and all(isinstance(each, int) for each in others):
        return mine > 0 or 0 in others
    found: Any = op.Greater(sized(mine), np.int64(0))
    for each in others:
        if not isinstance(each, int):
            found = op.Or(found, op.Equal(sized(each), np.int64(0)))
        elif each == 0:
            return True
    return found


def is_within(index: Array, low: Size, end: Size) -> Condition:
    """Whether all of some integers are from a number up to another, which is not among them."""
    place = values.converted(tensor_of(index), DType.INT64)
    return op.And(op.GreaterOrEqual(place, sized(low)), op.Less(place, sized(end)))

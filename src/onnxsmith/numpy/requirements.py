"""Requirements of numpy's functions on arguments that only the model knows; where one fails, numpy raises an error.

Of elements that are known each function looks for itself. Here stands the rest: what the model of a function of plain
numpy code has to find out when it runs (`core.demands`). Elsewhere nothing of this leaves a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.demands import Refusal, Truth, demand, is_noted
from onnxsmith.core.semantics.number import Number, is_natural
from onnxsmith.errors import (
    AttributeValueError,
    DivisionByZeroError,
    InputTypeError,
    LinearAlgebraError,
    OnnxsmithError,
    TensorIndexError,
)
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import tensor_of
from onnxsmith.numpy.sizes import Size, is_surely_same, product, sized
from onnxsmith.types.dtypes import DType

#: What may be said to hold: of an array, for all of its elements.
Condition: TypeAlias = "Array | Number | Tensor | bool | np.bool_"


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
    if not isinstance(condition, Tensor):
        return bool(condition)
    rank = values.rank_of(condition)
    return reductions.all_true(condition, list(range(rank)), False) if rank else condition


#: Our errors for those that numpy raises, the first that is of its class.
_OURS: tuple[tuple[type[Exception], type[OnnxsmithError]], ...] = (
    (np.linalg.LinAlgError, LinearAlgebraError),
    (IndexError, TensorIndexError),
    (TypeError, InputTypeError),
    (ZeroDivisionError, DivisionByZeroError),
    (ValueError, AttributeValueError),
)


def require_known(holds: bool, error: Exception) -> None:
    """Something that is known now holds, or else an error is raised: numpy's in numpy code, ours elsewhere."""
    if holds:
        return
    if is_noted():
        require(lambda: False, error)
    raise next(ours for theirs, ours in _OURS if isinstance(error, theirs))(str(error))


def require_same(first: Size, second: Size, error: Exception) -> None:
    """Two sizes are the same."""
    if is_surely_same(first, second):
        return
    if isinstance(first, int) and isinstance(second, int):
        require_known(first == second, error)
        return
    require(lambda: op.Equal(sized(first), sized(second)), error)


def require_same_shape(first: Array, second: Array, error: Exception) -> None:
    """Two arrays of one rank have one shape."""
    for mine, theirs in zip(first.shape, second.shape, strict=True):
        require_same(mine, theirs, error)


def require_at_least(value: Size, least: int, error: Exception) -> None:
    """A size or a count is not below a number."""
    if isinstance(value, int):
        require_known(value >= least, error)
        return
    if least <= 0 and is_natural(value):
        return
    require(lambda: sized(value) >= least, error)


def require_some(x: Array, axes: Sequence[int], error: Exception) -> None:
    """There are elements along axes, as numpy wants it even where there are no results."""
    for axis in axes:
        require_at_least(x.shape[axis], 1, error)


def is_within(index: Array, low: Size, end: Size) -> Tensor:
    """True where an integer is at least `low` and less than `end`."""
    place = values.converted(tensor_of(index), DType.INT64)
    return (place >= sized(low)) & (place < sized(end))


def require_to_fit(mine: Size, wanted: Size) -> None:
    """A size of an array broadcasts to a wanted one; of two that are not 1 the runtime itself sees that they differ."""
    if (isinstance(wanted, int) and wanted != 1) or (isinstance(mine, int) and mine == 1):
        return
    if not is_surely_same(mine, wanted):
        require(
            lambda: op.Equal(sized(mine), np.int64(1)) | op.Equal(sized(mine), sized(wanted)),
            ValueError("operands could not be broadcast together with the requested shape"),
        )


def require_together(a: Size, b: Size, error: Exception) -> None:
    """Two sizes broadcast."""
    if 1 in [each for each in (a, b) if isinstance(each, int)] or is_surely_same(a, b):
        return
    require(
        lambda: (
            op.Equal(sized(a), sized(b)) | (op.Equal(sized(a), np.int64(1)) | op.Equal(sized(b), np.int64(1)))
        ),
        error,
    )


def require_as_many(x: Array, shape: tuple[Size, ...]) -> None:
    """A shape has as many elements as there are; one of its sizes may turn out to be -1."""
    mine, wanted = x.size, product(shape)
    if is_surely_same(mine, wanted):
        return
    error = ValueError("cannot reshape array into another number of elements")
    require(lambda: op.Equal(sized(mine), sized(wanted)) | (sized(wanted) < 0), error)

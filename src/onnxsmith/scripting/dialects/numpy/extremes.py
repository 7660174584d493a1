"""Python's `min` and `max` on arrays and on numbers of numpy's, one or several, with a default or without."""

# pyright: reportPrivateUsage=false
# Which numbers of Python's an array may be is the business of this package.

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np

from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import ConditionError, InputTypeError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.grown_list import GrownList
from onnxsmith.numpy.perhaps_python import UNKNOWN, Weak, differs_from_python
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.scripting.dialects.numpy.single_numbers import is_open
from onnxsmith.scripting.staging.script_values import Function


def extreme(*, is_greater: bool) -> Callable[[Function], Function]:
    """`min` or `max`, by Python's rule: a later value counts only if it is less, or greater; NaN never is."""

    def make(usual: Function) -> Function:
        def chosen(*args: UserValue, **kwargs: UserValue) -> UserValue:
            is_python = len(args) == 1 and isinstance(args[0], GrownList) and args[0].kind == "python"
            args = tuple(of_list(each) for each in args)
            if len(args) == 1 and is_open(args[0]) and list(kwargs) == ["default"]:
                return _or_default(chosen, cast(Array, args[0]), kwargs["default"], is_python=is_python)
            if len(args) == 1 and is_open(args[0]) and not kwargs:
                if is_python:
                    return number(cast(Tensor, usual(cast(Array, args[0]).tensor)))
                return Array(cast(Tensor, usual(cast(Array, args[0]).tensor))).as_number()
            values = items_of(args[0]) if len(args) == 1 else list(args)
            is_sized = any(isinstance(each, Number) for each in values)
            if is_sized:
                # A size and a number of numpy's: what is chosen goes on as numpy's numbers do.
                values = [array_of(each) if isinstance(each, np.generic) else each for each in values]
            if kwargs or not any(is_open(each) or (is_sized and isinstance(each, Array)) for each in values):
                return usual(*([values] if len(args) == 1 else args), **kwargs)
            found = values[0]
            for each in values[1:]:
                if not isinstance(each, Array) and not isinstance(found, Array):
                    found = usual(found, each)
                    continue
                if any(isinstance(one, Array) and one.ndim for one in (each, found)):
                    raise ConditionError(
                        f"{'max' if is_greater else 'min'}() compares single numbers, and these are arrays",
                        help=f"np.{'maximum' if is_greater else 'minimum'}(…) compares element by element",
                    )
                # A number of Python's stays one until it meets one of numpy's, whose element type it takes.
                test = UFUNCS["greater" if is_greater else "less"](each, found)
                found = cast(Array, FUNCTIONS["where"](test, each, found))
            made = cast(Array, found).as_number()
            made._weak = _perhaps_python(values, made)
            return made

        return chosen

    return make


def _or_default(extreme: Function, values: Array, default: UserValue, *, is_python: bool) -> UserValue:
    """`max(values, default=…)`: what is chosen of the default alone, where there are no values."""
    adopted = values[:0].adopted(default) if values.ndim == 1 else None
    if adopted is None:
        raise InputTypeError(
            f"this is an element of {values.dtype.name}, or the default, which is none, and only the model knows which",
            help="give a default of the same kind",
        ).locate_at_caller()
    # The default stands behind the values, and is cut off where there are any.
    size = values.shape[0]
    count = size + (size == 0)
    every = cast(Array, FUNCTIONS["concatenate"]([values, adopted.reshape((1,))]))[:count]
    found = extreme(every)
    if is_python:
        return number(cast(Array, found).tensor)
    cast(Array, found)._weak = _perhaps_python([default], cast(Array, found))
    return found


def _perhaps_python(values: Sequence[UserValue], chosen: Array) -> Weak | None:
    """The Python numbers that the chosen value may be."""
    if not differs_from_python(chosen.dtype):
        return None
    found: Weak | None = None
    for each in values:
        weak = (
            each._weak
            if isinstance(each, Array)
            else UNKNOWN
            if isinstance(each, Number)
            else Weak(frozenset([cast(int, each)]))
        )
        found = weak if found is None else found.joined(weak)
    return found


def of_list(value: UserValue) -> UserValue:
    """An array of the elements of a list that only the model knows the length of."""
    return value.stacked if isinstance(value, GrownList) else value


def items_of(values: UserValue) -> list[UserValue]:
    """The items that Python iterates over."""
    return list(cast("Iterable[UserValue]", values))

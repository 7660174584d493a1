"""What Python's own syntax does when it meets a tensor whose value is not known: truth, choice, calls.

On Python values every hook does what Python does. None knows an operator's name that `core` does not.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.arithmetic import operators_for
from onnxsmith.core.number import Number, kind_of, number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import ConditionError, DTypeNotAllowedError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, SequenceType, TensorType, describe_shape

if TYPE_CHECKING:
    from onnxsmith.scripting.frame import Frame
    from onnxsmith.scripting.stager import Stager

Thunk = Callable[[], Any]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}


def is_symbolic(value: Any) -> bool:
    """Whether a value is known only when the model runs."""
    return isinstance(value, Value) and value.is_symbolic


def truth(value: Any, what: str = "the condition") -> Any:
    """A symbolic value as a scalar BOOL tensor, if it can have one truth value."""
    kind = value.known.type
    if isinstance(kind, SequenceType):
        op = operators_for(value)
        return op.Greater(op.SequenceLength(value), np.array(0, np.int64))
    if isinstance(kind, OptionalType):
        return operators_for(value).OptionalHasElement(value)
    assert isinstance(kind, TensorType)
    if kind.dtype is DType.STRING:
        raise DTypeNotAllowedError("a string tensor has no truth value", help="compare it, as in x == 'a'")
    if kind.shape is not None and any(each != 1 for each in kind.shape):
        is_open = all(each == 1 or not isinstance(each, int) for each in kind.shape)
        if not (is_open and len(kind.shape) <= 1):
            raise ConditionError(
                f"{what} has shape {describe_shape(kind.shape)}; it must be one truth value",
                help="say which is meant: (…).all() or (…).any()",
            )
    tensor = value.tensor if isinstance(value, Number) else value
    if kind.dtype is not DType.BOOL:
        tensor = operators_for(tensor).Cast(tensor, to=DType.BOOL)
    if kind.shape:
        tensor = operators_for(tensor).Reshape(tensor, np.array([], np.int64))
    return tensor


class Hooks:
    """The hooks of one frame."""

    def __init__(self, frame: Frame, stager: Stager) -> None:
        self._frame = frame
        self._stager = stager

    # -- truth -----------------------------------------------------------------------------------------

    def both(self, *operands: Thunk) -> Any:
        return self._logical("And", operands, stops_at=False)

    def either(self, *operands: Thunk) -> Any:
        return self._logical("Or", operands, stops_at=True)

    def _logical(self, name: str, operands: tuple[Thunk, ...], stops_at: bool) -> Any:
        collected: Any = None
        for position, operand in enumerate(operands):
            value = operand()
            if not is_symbolic(value):
                # A known operand decides, or does not matter: as Python does, but for the ones before it.
                if collected is None and (position == len(operands) - 1 or bool(value) is stops_at):
                    return value
                if bool(value) is stops_at:
                    return stops_at
                continue
            scalar = truth(value, "an operand of 'and' or 'or'")
            collected = scalar if collected is None else getattr(operators_for(scalar), name)(collected, scalar)
        return number(collected)

    def negated(self, value: Any) -> Any:
        if not is_symbolic(value):
            return not value
        scalar = truth(value, "the operand of 'not'")
        return number(operators_for(scalar).Not(scalar))

    def chained(self, names: tuple[str, ...], left: Any, *operands: Thunk) -> Any:
        """`a < b < c`"""

        def links() -> Any:
            before = left
            for name, operand in zip(names, operands, strict=True):
                after = operand()
                yield functools.partial(self._compare, name, before, after)
                before = after

        return self.both(*links())

    def _compare(self, name: str, a: Any, b: Any) -> Any:
        special = {"In": self.contains, "NotIn": self.lacks, "Is": self.same, "IsNot": self.different}
        return (special.get(name) or _COMPARISONS[name])(a, b)

    def same(self, a: Any, b: Any) -> Any:
        """`a is b`; an optional input that only the model knows may be None."""
        for value, other in ((a, b), (b, a)):
            if other is None and is_symbolic(value) and isinstance(value.known.type, OptionalType):
                op = operators_for(value)
                return number(op.Not(op.OptionalHasElement(value)))
        return a is b

    def different(self, a: Any, b: Any) -> Any:
        return self.negated(self.same(a, b))

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`"""
        if is_symbolic(item) and isinstance(container, tuple | list | range):
            options = [functools.partial(operator.eq, item, each) for each in cast("list[Any]", container)]
            return self.either(*options) if options else False
        if is_symbolic(container) and isinstance(container, Tensor):
            return number((container == item).any())
        return item in container

    def lacks(self, item: Any, container: Any) -> Any:
        return self.negated(self.contains(item, container))

    def choose(self, test: Any, then: Thunk, otherwise: Thunk) -> Any:
        """`then if test else otherwise`"""
        if not is_symbolic(test):
            return then() if test else otherwise()
        return self._stager.dynamic_if(truth(test), then, otherwise, name="choice", strict=True)

    # -- variables -------------------------------------------------------------------------------------

    def bind(self, name: str, value: Any) -> Any:
        """`name := value`"""
        self._stager.assign_name(name, value)
        return value

    def load(self, name: str) -> Any:
        return self._frame.read(name, self._frame.analysis.node)

    # -- calls -----------------------------------------------------------------------------------------

    def callee(self, function: Any) -> Any:
        """What is called when the user's code calls `function`."""
        try:
            replacement = _BUILTINS.get(function)
        except TypeError:  # no hash, so none of ours
            return function
        if replacement is not None:
            return replacement
        return self._stager.in_place(function)


def _length(value: Any) -> Any:
    if is_symbolic(value):
        if isinstance(value, Tensor):
            return value.shape[0]
        return number(operators_for(value).SequenceLength(value))
    return len(value)


def _converted(dtype: DType, python: Callable[[Any], Any]) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and is_symbolic(args[0]) and isinstance(args[0], Tensor):
            value = args[0]
            if dtype is DType.BOOL:
                return number(truth(value, "the operand of bool()"))
            tensor = value.tensor if isinstance(value, Number) else value
            if tensor.dtype is dtype:
                return number(tensor)
            return number(operators_for(tensor).Cast(tensor, to=dtype))
        return python(*args, **kwargs)

    return convert


def _extreme(name: str, python: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*args: Any, **kwargs: Any) -> Any:
        values = list(args[0]) if len(args) == 1 and not isinstance(args[0], Tensor) else list(args)
        if kwargs or not any(is_symbolic(each) for each in values) or len(values) < 2:
            return python(*args, **kwargs)
        if all(kind_of(each) is not None for each in values):
            is_float = "float" in [kind_of(each) for each in values]
            dtype = DType.DOUBLE if is_float else DType.INT64
            values = [each.as_dtype(dtype) if isinstance(each, Number) else np.array(each, dtype.numpy) for each in values]
            return number(getattr(operators_for(*values), name)(*values))
        return getattr(operators_for(*values), name)(*values)

    return extreme


def _total(values: Any, start: Any = 0) -> Any:
    items = list(values) if not is_symbolic(values) else None
    if items is None:
        return values.sum(0) + start if not (kind_of(start) and start == 0) else values.sum(0)
    if items and any(is_symbolic(each) for each in items) and kind_of(start) == "int" and start == 0:
        return functools.reduce(operator.add, items)  # 0 + x is x: no node for it
    return sum(items, start)


def _print_nothing(*_: Any, **__: Any) -> None:
    """A model does not print; the eager run does."""


_BUILTINS: dict[Any, Any] = {
    builtins.len: _length,
    builtins.int: _converted(DType.INT64, int),
    builtins.float: _converted(DType.DOUBLE, float),
    builtins.bool: _converted(DType.BOOL, bool),
    builtins.min: _extreme("Min", min),
    builtins.max: _extreme("Max", max),
    builtins.sum: _total,
    builtins.print: _print_nothing,
}

"""Python's built-in functions on values that only the model knows: `len(x)`, `max(a, b)`, `math.sqrt(n)`.

On Python values each does what Python's own does.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, NoReturn, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.demands import demand
from onnxsmith.core.operands import operators_for
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics.number import (
    AnyNumber,
    Number,
    is_natural,
    is_number,
    kind_of,
    literal,
    number,
)
from onnxsmith.core.semantics.number_methods import modular_power
from onnxsmith.core.sequence import TensorOptional, there
from onnxsmith.core.shown_text import tells_people
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Operand, Size, TensorValue, Value
from onnxsmith.errors import (
    ConditionError,
    DTypeNotAllowedError,
    ShapeError,
    TracedValueError,
    UnsupportedSyntaxError,
)
from onnxsmith.scripting.staging.attribute_values import AttributeList
from onnxsmith.scripting.staging.introspection import ASKING
from onnxsmith.scripting.staging.merge import NUMBER_DTYPES
from onnxsmith.scripting.staging.script_values import Function, T
from onnxsmith.scripting.staging.truth import asked, is_symbolic, truth
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import describe_shape


class Decisions(Protocol):
    """The hooks that these functions need of the function that calls them."""

    def all_true(
        self, bound: tuple[str, ...], first: UserValue, *others: Callable[[], UserValue]
    ) -> UserValue:
        """`a and b` where only its truth matters."""
        ...

    def any_true(
        self, bound: tuple[str, ...], first: UserValue, *others: Callable[[], UserValue]
    ) -> UserValue:
        """`a or b` where only its truth matters."""
        ...

    def same(self, a: UserValue, b: UserValue) -> bool | Number:
        """`a is b`"""
        ...

    def different(self, a: UserValue, b: UserValue) -> bool | Number:
        """`a is not b`"""
        ...

    def global_names(self) -> dict[str, Any]:
        """`globals()`"""
        ...


def replacement(function: Function, hooks: Decisions) -> Function | None:
    """The function to call instead of a built-in one; None for all others."""
    try:
        make = _REPLACEMENTS.get(function)
    except TypeError:  # no hash, so none of them
        return None
    if make is None:
        return _nothing if tells_people(function) else None
    return make(hooks)


def _always(function: Function) -> Callable[[Decisions], Function]:
    return lambda _: function


def _on_elements(function: Function) -> Callable[[Decisions], Function]:
    """A function that computes, and takes what is there of values that may be absent."""

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        _speaks_for_callee = True  # what Python says of its arguments is said to the code
        return function(*map(there, args), **kwargs)

    return _always(call)


# -- sizes and numbers -------------------------------------------------------------------------------------


def _length(value: UserValue) -> Size:
    _speaks_for_callee = True  # what Python says of a value without a length is said to the code
    if is_symbolic(value):
        if isinstance(value, Tensor):
            if value.type.shape == ():
                raise ShapeError(
                    "a scalar tensor has no length", help="x.size counts elements; it is 1 for a scalar"
                )
            return value.shape[0]
        return number(operators_for(value).SequenceLength(value))
    return len(cast(Sized, value))


def _converted(dtype: DType, python: Function) -> Function:
    def convert(*args: UserValue, **kwargs: UserValue) -> UserValue:
        if len(args) == 1 and is_symbolic(args[0]) and isinstance(args[0], Tensor | TensorOptional):
            value = args[0]
            if dtype is DType.BOOL:
                return number(truth(cast(Value, asked(value)), "the operand of bool()"))
            tensor = _scalar(cast(Tensor, value), f"the operand of {python.__name__}()")
            return number(tensor if tensor.dtype is dtype else operators_for(tensor).Cast(tensor, to=dtype))
        return python(*args, **kwargs)

    return convert


def _scalar(value: Tensor, what: str) -> TensorValue:
    """A tensor of one element as a scalar."""
    if isinstance(value, Number):
        return value.tensor
    shape = value.type.shape
    if shape and any(isinstance(each, int) and each != 1 for each in shape):
        raise ConditionError(f"{what} has shape {describe_shape(shape)}; it must be one number")
    return value if shape == () else operators_for(value).Reshape(value, np.array([], np.int64))


def _extreme(name: str, python: Function) -> Function:
    """`min` or `max`, by Python's rule: a later value counts only if it is less, or greater; NaN never is."""

    def extreme(*args: UserValue, **kwargs: UserValue) -> UserValue:
        if len(args) == 1 and is_symbolic(args[0]) and isinstance(args[0], Tensor) and not kwargs:
            return _extreme_element(name, python, args[0])
        values = list(cast("Iterable[UserValue]", args[0]) if len(args) == 1 else args)
        if kwargs or not any(is_symbolic(each) for each in values) or len(values) < 2:
            return python(*([values] if len(args) == 1 else args), **kwargs)
        numbers = [each for each in values if is_number(each)]
        if len(numbers) == len(values):
            kinds = [kind_of(each) for each in numbers]
            dtype = NUMBER_DTYPES["float" if "float" in kinds else "int"]
            is_whole = any(map(is_natural, values)) if name == "Max" else all(map(is_natural, values))
            found = _first_of(name, [_number_as(each, dtype) for each in numbers], dtype)
            return Number(
                cast(TensorValue, found),
                "float" if "float" in kinds else "int",
                is_natural=is_whole and "float" not in kinds,
            )
        for each in values:
            if isinstance(each, Tensor) and each.type.shape:
                raise ConditionError(
                    f"{python.__name__}() compares single numbers; this has shape {describe_shape(each.type.shape)}",
                    help=f"op.{name}(…) compares element by element",
                )
        dtype = next(each.dtype for each in values if isinstance(each, Tensor))
        return _first_of(name, cast("Sequence[Operand]", values), dtype)

    return extreme


def _first_of(name: str, values: Sequence[Operand], dtype: DType | None) -> Operand:
    """The least or greatest of single numbers; integers need no care."""
    op = operators_for(*values)
    if dtype is not None and dtype.is_integer:
        return getattr(op, name)(*values)
    compare, found = (op.Greater if name == "Max" else op.Less), values[0]
    for each in values[1:]:
        found = op.Where(compare(each, found), each, found)
    return found


def _extreme_element(name: str, python: Function, values: Tensor) -> TensorValue:
    """Of the elements of a vector. A NaN that comes first stays, others are passed over."""
    shape = values.type.shape
    if shape is not None and len(shape) != 1:
        raise ConditionError(
            f"{python.__name__}() compares single numbers; this has shape {describe_shape(shape)}",
            help=f"x.{python.__name__}() is over all elements, x.{python.__name__}(0) over the first dimension",
        )
    op = operators_for(values)
    demand(
        lambda: (shape is not None and _is_positive(shape[0])) or op.Greater(op.Size(values), np.int64(0)),
        _error_for_nothing(python),
    )
    if values.dtype is None or not values.dtype.is_float:
        return values.max() if name == "Max" else values.min()
    first = values[0]
    last = np.array(-np.inf if name == "Max" else np.inf, values.dtype.numpy)
    others: Any = op.Where(op.IsNaN(values), last, values)
    return op.Where(op.IsNaN(first), first, others.max() if name == "Max" else others.min())


def _error_for_nothing(python: Function) -> ValueError:
    """The error of `max` or `min` for no elements, in the words of this Python: they differ between versions."""
    try:
        python(())
    except ValueError as error:
        return ValueError(*error.args)
    raise AssertionError  # both raise


def _is_positive(size: UserValue) -> bool:
    return isinstance(size, int) and size > 0


def _number_as(value: AnyNumber, dtype: DType) -> TensorValue | np.generic[Any]:
    return value.as_dtype(dtype) if isinstance(value, Number) else literal(value, dtype)


def _total(values: UserValue, start: UserValue = 0) -> UserValue:
    starts_at_nothing = kind_of(start) == "int" and not is_symbolic(start) and start == 0
    if is_symbolic(values) and isinstance(values, Tensor):
        if values.dtype is DType.BOOL:
            raise DTypeNotAllowedError(
                "sum() adds, and truth values cannot be added", help="(…).sum() counts those that are true"
            )
        total: Any = values.sum(0)
        if isinstance(values, AttributeList):
            total = number(total)
        return total if starts_at_nothing else total + start
    items: list[Any] = list(cast("Iterable[Any]", values))
    if items and any(is_symbolic(each) for each in items) and starts_at_nothing:
        return functools.reduce(operator.add, items)  # 0 + x is x: no node for it
    return sum(items, cast(Any, start))


def _power(*args: UserValue, **kwargs: UserValue) -> UserValue:
    if len(args) == 3 and any(is_symbolic(each) for each in args) and all(map(is_number, args)):
        return modular_power(*cast("tuple[AnyNumber, AnyNumber, AnyNumber]", args))
    return cast(UserValue, pow(*cast(Any, args), **cast(Any, kwargs)))


# -- truth -------------------------------------------------------------------------------------------------


def _any(hooks: Decisions) -> Function:
    def any_of(values: UserValue) -> UserValue:
        if is_symbolic(values) and isinstance(values, Tensor):
            return number(values.astype(DType.BOOL).any())
        items = cast("Iterable[UserValue]", values)
        return hooks.any_true((), False, *[functools.partial(_itself, each) for each in items])

    return any_of


def _all(hooks: Decisions) -> Function:
    def all_of(values: UserValue) -> UserValue:
        if is_symbolic(values) and isinstance(values, Tensor):
            return number(values.astype(DType.BOOL).all())
        items = cast("Iterable[UserValue]", values)
        return hooks.all_true((), True, *[functools.partial(_itself, each) for each in items])

    return all_of


def _itself(value: T) -> T:
    return value


# -- what no model does ------------------------------------------------------------------------------------


def _nothing(*_: UserValue, **__: UserValue) -> None:
    """A model does not print and does not stop; the eager run does."""


def _printed(*_: UserValue, **options: UserValue) -> None:
    """`print`; what it writes to another object than the screen, the program may read."""
    file: object = options.get("file")
    if file is not None and file is not sys.stdout and file is not sys.stderr:
        raise UnsupportedSyntaxError(
            "a script cannot print to a file or a buffer: a model does not print",
            help="print to the screen, or return the value",
        ).locate_at_caller()


def _refused(python: Function, instead: str) -> Callable[[Decisions], Function]:
    def refuse(*_: UserValue, **__: UserValue) -> NoReturn:
        raise UnsupportedSyntaxError(f"a script cannot call {python.__name__}()", help=instead)

    return _always(refuse)


def _made_now(python: Function, instead: str) -> Function:
    """A function of numpy that makes an array of a given shape, which it has to know."""

    def make(*args: UserValue, **kwargs: UserValue) -> UserValue:
        if _has_open_size([*args, *kwargs.values()]):
            raise TracedValueError(
                f"np.{python.__name__} makes an array when the model is made, and only the model knows its size",
                help=f"{instead}; as an array of onnxsmith.numpy: xp.{python.__name__}(…)",
            )
        return python(*args, **kwargs)

    return make


def _has_open_size(values: Iterable[UserValue]) -> bool:
    return any(
        is_symbolic(each)
        or (isinstance(each, tuple | list) and _has_open_size(cast("Iterable[UserValue]", each)))
        for each in values
    )


_SHAPED: dict[Function, str] = {
    np.zeros: "op.Expand(0.0, [n])",
    np.ones: "op.Expand(1.0, [n])",
    np.empty: "op.Expand(0.0, [n])",
    np.full: "op.Expand(value, [n])",
    np.eye: "op.EyeLike(op.Expand(0.0, [n, n]))",
    np.identity: "op.EyeLike(op.Expand(0.0, [n, n]))",
    np.arange: "op.Range(0, n, 1)",
    np.linspace: "op.Range(0, n, 1) * step + first",
}


# -- mathematics -------------------------------------------------------------------------------------------

#: What a function of `math` is in operators, of its operands.
Mathematics: TypeAlias = Callable[[StandardOperators, Sequence[Operand]], TensorValue]


def _computed(python: Function, compute: Mathematics) -> Function:
    """A function of `math`: it computes in Python's floats, also where only the model knows them."""

    def function(*args: UserValue) -> UserValue:
        if not any(is_symbolic(each) for each in args):
            return python(*args)
        given = [
            number(_scalar(each, f"the operand of {python.__name__}()")).as_dtype(DType.DOUBLE)
            if isinstance(each, Tensor)
            else np.array(each, np.float64)
            for each in args
        ]
        return number(compute(operators_for(*given), given))

    return function


def _logarithm(base: float) -> Mathematics:
    """A logarithm that is exact for powers of its base, as Python's is: its floor is an int that code goes on with."""

    def compute(op: StandardOperators, x: Sequence[Operand]) -> TensorValue:
        rough = op.Div(op.Log(*x), np.array(math.log(base)))
        whole = op.Round(rough)
        is_power = op.Equal(op.Pow(np.array(base), whole), *x)
        return op.Where(is_power, whole, rough)

    return compute


def _with_sign(op: StandardOperators, x: Sequence[Operand]) -> TensorValue:
    """`math.copysign`. The reciprocal of a zero shows its sign; ONNX Runtime's `Where` keeps it in what stands last."""
    size, sign = op.Abs(x[0]), x[1]
    zero = np.array(0.0)
    is_negative = op.Less(op.Where(op.Equal(sign, zero), op.Reciprocal(sign), sign), zero)
    return op.Where(op.Not(is_negative), size, op.Neg(size))


def _length_of(op: StandardOperators, x: Sequence[Operand]) -> TensorValue:
    """`math.hypot`, of numbers made small first, so that no square is past the range of floats."""
    sizes = [op.Abs(each) for each in x]
    largest = op.Max(*sizes)
    scale = op.Where(op.Greater(largest, np.array(0.0)), largest, np.array(1.0))
    parts = [op.Div(each, scale) for each in sizes]
    return op.Mul(scale, op.Sqrt(op.Sum(*(op.Mul(each, each) for each in parts))))


_UNARY = ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf")
_MATHEMATICS: dict[Function, Mathematics] = {
    **{getattr(math, name): lambda op, x, name=name: getattr(op, name.capitalize())(*x) for name in _UNARY},
    math.fabs: lambda op, x: op.Abs(*x),
    math.pow: lambda op, x: op.Pow(*x),
    math.log2: _logarithm(2.0),
    math.log10: _logarithm(10.0),
    math.hypot: _length_of,
    math.copysign: _with_sign,
    math.fmod: lambda op, x: op.Mod(*x, fmod=1),
    math.degrees: lambda op, x: op.Mul(*x, np.array(180 / math.pi)),
    math.radians: lambda op, x: op.Mul(*x, np.array(math.pi / 180)),
    math.isfinite: lambda op, x: op.Not(op.Or(op.IsNaN(*x), op.IsInf(*x))),
    math.floor: lambda op, x: op.Cast(op.Floor(*x), to=DType.INT64),
    math.ceil: lambda op, x: op.Cast(op.Ceil(*x), to=DType.INT64),
    math.trunc: lambda op, x: op.Cast(*x, to=DType.INT64),
    math.isnan: lambda op, x: op.IsNaN(*x),
    math.isinf: lambda op, x: op.IsInf(*x),
}


_REPLACEMENTS: dict[Any, Callable[[Decisions], Function]] = {
    builtins.len: _on_elements(_length),
    builtins.int: _on_elements(_converted(DType.INT64, int)),
    builtins.float: _on_elements(_converted(DType.DOUBLE, float)),
    builtins.bool: _always(_converted(DType.BOOL, bool)),
    builtins.min: _on_elements(_extreme("Min", min)),
    builtins.max: _on_elements(_extreme("Max", max)),
    builtins.sum: _on_elements(_total),
    builtins.pow: _on_elements(_power),
    builtins.any: _any,
    builtins.all: _all,
    builtins.print: _always(_printed),
    builtins.breakpoint: _always(_nothing),
    warnings.warn: _always(_nothing),
    builtins.globals: lambda hooks: hooks.global_names,
    builtins.locals: _refused(locals, "name the variables"),
    builtins.eval: _refused(eval, "write the expression itself"),
    builtins.exec: _refused(exec, "write the statements themselves"),
    operator.is_: lambda hooks: hooks.same,
    operator.is_not: lambda hooks: hooks.different,
    **{python: _always(_made_now(python, instead)) for python, instead in _SHAPED.items()},
    **{python: _always(ask) for python, ask in ASKING.items()},
    **{python: _on_elements(_computed(python, compute)) for python, compute in _MATHEMATICS.items()},
}

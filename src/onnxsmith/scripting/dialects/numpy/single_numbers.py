"""Python's own functions of single numbers on arrays: `float(x)`, `round(x)`, `math.sqrt(x)`, `operator.index(x)`.

What Python gives as a number of its own is one here: with its weak meaning.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.semantics.number_errors import demand_whole
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import ConditionError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.scripting.dialects.numpy.domains import checked
from onnxsmith.scripting.staging.script_values import Function

#: Makes what is called in the place of a function, of what is called there otherwise.
Maker: TypeAlias = Callable[[Function], Function]

#: Functions of `math` that scripts have no operator for, and numpy's of the same meaning.
_MATHEMATICS: dict[str, str] = {
    **{name: name for name in ("log2", "log10", "log1p", "expm1", "exp2", "hypot", "degrees", "radians")},
    **{name: name for name in ("copysign", "fmod", "isfinite", "gcd", "lcm", "cbrt", "nextafter", "ldexp")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh")},
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "erf": "special.erf",
    "atan2": "arctan2",
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
}
_SCRIPTED = ("sqrt", "exp", "log", "tanh")
_SCRIPTED_TOO = ("fabs", "pow", "floor", "ceil", "trunc", "isnan", "isinf")


def is_open(value: UserValue) -> bool:
    """True if only the model knows the elements of a value."""
    return isinstance(value, Array) and value.is_symbolic


def _single(value: Array, what: str) -> Tensor:
    """The tensor of an array with one element."""
    if value.dtype.kind == "c":
        raise InputTypeError(f"{what} is a complex number", help="take its real part, x.real")
    if value.ndim and any(isinstance(each, int) and each != 1 for each in value.shape):
        raise ConditionError(f"{what} has shape {value.shape}; it must be one number")
    return value.tensor


@functools.cache
def _converts_vectors() -> bool:
    """True if the installed numpy makes a number of a vector of one element, as older ones do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            float(np.ones(1))  # pyright: ignore[reportArgumentType]  # which is the question
        except TypeError:
            return False
    return True


def _of_tensors(usual: Function) -> Function:
    """A function of single numbers, which scripts have for tensors."""
    name = getattr(usual, "__name__", "the function")

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        given = [
            _single(each, f"an operand of {name}()") if isinstance(each, Array) and each.is_symbolic else each
            for each in args
        ]
        return usual(*given, **kwargs)

    return call


def _number_of(usual: Function) -> Function:
    """`float(x)`, `int(x)`"""
    convert = _of_tensors(usual)

    def number_of(*args: UserValue, **kwargs: UserValue) -> UserValue:
        _speaks_for_callee = True  # says what numpy says
        if args and isinstance(args[0], Array) and args[0].ndim and not _converts_vectors():
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return convert(*args, **kwargs)

    return number_of


def _rounded(usual: Function) -> Function:
    def rounded(number: UserValue, ndigits: int | None = None) -> UserValue:
        _speaks_for_callee = True  # says what numpy says
        if not is_open(number):
            digits = () if ndigits is None else (ndigits,)
            return usual(number, *digits)
        array = cast(Array, number)
        if array.dtype.kind == "b" or not array.is_number:
            kind = f"numpy.{array.dtype.name}" if array.is_number else "numpy.ndarray"
            raise TypeError(f"type {kind} doesn't define __round__ method")
        made = cast(Array, FUNCTIONS["round"](array, ndigits or 0))
        return made if ndigits is not None else whole_number(made)

    return rounded


def whole_number(array: Array) -> Number:
    """An element as an int of Python's, which has 64 bits here."""
    demand_whole(array.tensor)
    return number(cast(Array, FUNCTIONS["astype"](array, np.int64)).tensor)


def _computed(name: str) -> Maker:
    def make(usual: Function) -> Function:
        def compute(*args: UserValue) -> UserValue:
            _speaks_for_callee = True  # says what Python says
            if not any(is_open(each) or isinstance(each, Number) for each in args):
                return usual(*args)
            given = [_as_python(each, name, place) for place, each in enumerate(args)]
            ours = _MATHEMATICS[name]
            compute = FUNCTIONS[ours] if "." in ours else UFUNCS[ours]
            start = _OF_MANY.get(name)
            if start is not None and len(given) != 2:
                return number(cast(Array, functools.reduce(compute, given, start)).tensor)
            return number(cast(Array, compute(*given)).tensor)

        return compute

    return make


#: Functions of whole numbers, which give whole numbers.
_OF_INTEGERS = frozenset(["gcd", "lcm"])
#: Functions of any number of arguments, and what they begin with.
_OF_MANY: dict[str, UserValue] = {"gcd": np.int64(0), "lcm": np.int64(1), "hypot": np.float64(0)}


def _as_python(value: UserValue, name: str, place: int) -> UserValue:
    """An operand as `math` takes it: floats are Python's, of 64 bits, and so are integers that become floats."""
    if not isinstance(value, Array | Number):
        return value
    made = array_of(value)
    if name == "ldexp" and place == 1:
        if isinstance(value, Array) or made.dtype.kind == "f":
            raise TypeError("Expected an int as second argument to ldexp.")
        return made
    if name in _OF_INTEGERS:
        if made.dtype.kind == "f":
            raise TypeError(f"'{made.dtype.name}' object cannot be interpreted as an integer")
        demand_whole(made.tensor)
        return cast(Array, FUNCTIONS["astype"](made, np.int64))
    return cast(Array, FUNCTIONS["astype"](made, dtypes.FLOAT64))


def _index(usual: Function) -> Function:
    def index(value: UserValue) -> UserValue:
        if not is_open(value):
            return usual(value)
        array = cast(Array, value)
        if array.dtype.kind not in "iu" or array.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return whole_number(array)

    return index


def _of_floats(name: str) -> Maker:
    """`math.isnan` and the like: of whole numbers it is known what they give."""

    def make(usual: Function) -> Function:
        scripted = _of_tensors(usual)

        def ask(value: UserValue) -> UserValue:
            if isinstance(value, Number) and value.kind != "float":
                return name == "isfinite"
            return scripted(value)

        return ask

    return make


def _logarithm(usual: Function) -> Function:
    """`math.log(x)`, and `math.log(x, base)`"""
    natural = checked(math.log, _of_tensors(usual))

    def logarithm(value: UserValue, base: UserValue | None = None) -> UserValue:
        if base is None:
            return natural(value)
        return cast(Number, natural(value)) / cast(Number, natural(base))

    return logarithm


def _counted(name: str, make: Maker) -> Maker:
    """A function of `math` that refuses as many arguments as Python's does, in its words."""
    function: Function = getattr(math, name)

    def counting(usual: Function) -> Function:
        call = make(usual)

        def counted(*args: UserValue) -> UserValue:
            _speaks_for_callee = True  # says what Python says
            with contextlib.suppress(
                ValueError, ArithmeticError
            ):  # 1 may be outside of its domain, which is not the question
                function(*[1] * len(args))
            if any(isinstance(each, Array) and each.ndim for each in args) and not _converts_vectors():
                raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
            return call(*args)

        return counted

    return counting


_MAKERS: dict[str, Maker] = {
    **dict.fromkeys((*_SCRIPTED, *_SCRIPTED_TOO), _of_tensors),
    **{name: _computed(name) for name in _MATHEMATICS},
    **{name: _of_floats(name) for name in ("isnan", "isinf")},
    "log": _logarithm,
}
#: What is called in the places of functions.
OF_SINGLE_NUMBERS: dict[Function, Maker] = {
    **dict.fromkeys(cast("Sequence[Function]", (int, float)), _number_of),
    builtins.bool: _of_tensors,
    builtins.round: _rounded,
    operator.index: _index,
    **{getattr(math, name): _counted(name, make) for name, make in _MAKERS.items() if hasattr(math, name)},
}

"""Python's own functions of single numbers on arrays: `float(x)`, `round(x)`, `math.sqrt(x)`, `operator.index(x)`.

What Python gives as a number of its own is one here: with its weak meaning.
"""

from __future__ import annotations

import builtins
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
from onnxsmith.scripting.staging.caught import SPEAKING
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
        if args and isinstance(args[0], Array) and args[0].ndim and not _converts_vectors():
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return convert(*args, **kwargs)

    SPEAKING.add(number_of.__code__)  # says what numpy says
    return number_of


def _textual(usual: Function) -> Function:
    """Only the model knows the elements, which scripts say of tensors."""

    def text(*args: UserValue, **kwargs: UserValue) -> UserValue:
        given = [each.tensor if isinstance(each, Array) and each.is_symbolic else each for each in args]
        return usual(*given, **kwargs)

    return text


def _rounded(usual: Function) -> Function:
    def rounded(value: UserValue, digits: int | None = None) -> UserValue:
        if not is_open(value):
            return usual(value) if digits is None else usual(value, digits)
        made = cast(Array, FUNCTIONS["round"](value, digits or 0))
        if digits is not None or made.dtype.kind in "iu":
            return made
        demand_whole(made.tensor)
        return number(cast(Array, FUNCTIONS["astype"](made, np.int64)).tensor)

    return rounded


def _computed(name: str) -> Maker:
    def make(usual: Function) -> Function:
        def compute(*args: UserValue) -> UserValue:
            if not any(is_open(each) or isinstance(each, Number) for each in args):
                return usual(*args)
            given = [_as_python(each) for each in args]
            ours = _MATHEMATICS[name]
            compute = FUNCTIONS[ours] if "." in ours else UFUNCS[ours]
            return number(cast(Array, compute(*given)).tensor)

        return compute

    return make


def _as_python(value: UserValue) -> UserValue:
    """An operand as `math` takes it: floats are Python's, of 64 bits."""
    if isinstance(value, Number):
        return array_of(value)
    if not isinstance(value, Array) or value.dtype.kind in "iub":
        return value
    return cast(Array, FUNCTIONS["astype"](value, dtypes.FLOAT64))


def _index(usual: Function) -> Function:
    def index(value: UserValue) -> UserValue:
        if not is_open(value):
            return usual(value)
        array = cast(Array, value)
        if array.dtype.kind not in "iu" or array.ndim:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return number(cast(Array, FUNCTIONS["astype"](array, np.int64)).tensor)

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


#: What is called in the places of functions.
OF_SINGLE_NUMBERS: dict[Function, Maker] = {
    **dict.fromkeys(cast("Sequence[Function]", (int, float)), _number_of),
    builtins.bool: _of_tensors,
    **dict.fromkeys(cast("Sequence[Function]", (str, repr, format)), _textual),
    builtins.round: _rounded,
    operator.index: _index,
    **{getattr(math, name): _of_tensors for name in (*_SCRIPTED, *_SCRIPTED_TOO)},
    **{getattr(math, name): _computed(name) for name in _MATHEMATICS if hasattr(math, name)},
    **{getattr(math, name): _of_floats(name) for name in ("isnan", "isinf")},
}

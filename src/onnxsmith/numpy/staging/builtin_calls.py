"""Python's own functions on arrays: `len(x)`, `float(x)`, `isinstance(x, np.ndarray)`, `max(a, b)`, `math.sqrt(x)`.

On all else they do what a script does. What Python gives as a number of its own is one here: with its weak meaning.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.dimensions import Dimensions
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.semantics.number_errors import demand_whole
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import Opaque, UserValue
from onnxsmith.errors import ConditionError, InputTypeError, TracedValueError, UnsupportedSyntaxError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.growing import list_of_elements
from onnxsmith.numpy.grown import GrownList
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.numpy.staging.domains import checked
from onnxsmith.numpy.staging.extremes import extreme, is_open, items_of, of_list
from onnxsmith.scripting.staging.caught import SPEAKING
from onnxsmith.scripting.staging.iteration import Iteration, dynamic_range
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.truth import settled

#: Makes what is called in the place of a function, of what is called there otherwise.
Maker: TypeAlias = Callable[[Function], Function]

_Kinds: TypeAlias = "type | tuple[_Kinds, ...]"


def in_place_of(function: Function, usual: Function | None) -> Function | None:
    """What is called in the place of one of Python's functions; None for all others."""
    try:
        make = _MAKERS.get(function)
    except TypeError:  # no hash, so none of them
        return None
    return None if make is None else checked(function, make(function if usual is None else usual))


# -- sizes and numbers -------------------------------------------------------------------------------------


def _length(usual: Function) -> Function:
    def length(value: UserValue) -> UserValue:
        if isinstance(value, GrownList | GrownRows):
            return value.gone_through()[0]
        if not isinstance(value, Array) or not value.is_symbolic:
            return usual(value)
        if not value.ndim:
            raise TypeError("len() of unsized object")
        return value.shape[0]

    return length


def _single(value: Array, what: str) -> Tensor:
    """The tensor of an array with one element."""
    if value.dtype.kind == "c":
        raise InputTypeError(f"{what} is a complex number", help="take its real part, x.real")
    if value.ndim and any(isinstance(each, int) and each != 1 for each in value.shape):
        raise ConditionError(f"{what} has shape {value.shape}; it must be one number")
    return value.tensor


@functools.cache
def _converts_vectors() -> bool:
    """Whether the installed numpy makes a number of a vector of one element, as older ones do."""
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


def _truths(usual: Function) -> Function:
    def truths(values: UserValue) -> UserValue:
        values = of_list(values)
        if not isinstance(values, Array) or not values.is_symbolic:
            return usual(values)
        if values.ndim != 1:
            raise ConditionError(
                "any() and all() ask each element for its truth, and those of this array are arrays",
                help="say over what it is meant: (…).all(axis=0), (…).any()",
            )
        return usual(values.tensor)

    return truths


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


def _total(usual: Function) -> Function:
    def total(values: UserValue, start: UserValue = 0) -> UserValue:
        is_python = isinstance(values, GrownList) and values.kind == "python"
        values = of_list(values)
        if not is_open(values):
            return usual(values, start)
        array = cast(Array, values)
        dtype = None if array.dtype.kind == "b" else array.dtype
        made = cast(Array, FUNCTIONS["sum"](array, axis=0, dtype=dtype))
        if is_python:
            return number(made.tensor) + cast(Number, start)
        return made if isinstance(start, int) and start == 0 else UFUNCS["add"](made, start)

    return total


def _sorted(usual: Function) -> Function:
    def in_order(values: UserValue, *, key: UserValue = None, reverse: bool = False) -> UserValue:
        if not is_open(values) or key is not None or cast(Array, values).ndim != 1:
            return usual(values, key=key, reverse=reverse)
        found = cast(Array, FUNCTIONS["sort"](values))
        return listed(found[::-1] if reverse else found)

    return in_order


def _range(usual: Function) -> Function:
    def make(*bounds: UserValue) -> UserValue:
        if not any(is_open(each) or isinstance(each, Number) for each in bounds):
            return usual(*bounds)
        return cast(Opaque, dynamic_range(*bounds))

    return make


def _list(usual: Function) -> Function:
    def make(*args: UserValue) -> UserValue:
        if len(args) == 1 and isinstance(args[0], GrownList | GrownRows):
            return args[0].copy()
        return listed(cast(Array, args[0])) if len(args) == 1 and is_open(args[0]) else usual(*args)

    return make


def listed(array: Array) -> UserValue:
    """A list of what an array has along its first dimension, which may be as long as only the model knows."""
    if array.ndim and not isinstance(array.shape[0], int):
        return cast(UserValue, list_of_elements(array))
    return list(array)


def _positions(usual: Function) -> Function:
    """`np.ndindex(x.shape)`"""

    def positions(*shape: UserValue) -> UserValue:
        only = shape[0] if len(shape) == 1 else shape
        sizes = cast("Sequence[Any]", only) if isinstance(only, tuple | list | Dimensions) else (only,)
        sizes = tuple(sizes)
        if not any(isinstance(each, Number) for each in sizes):
            return usual(*map(int, sizes))
        return cast(Opaque, Iteration(math.prod(sizes), lambda turn: _places(turn, sizes)))

    return positions


def _places(turn: Any, sizes: Sequence[Any]) -> tuple[UserValue, ...]:
    """Where the elements of an array are that are counted row by row."""
    places: list[UserValue] = []
    for size in reversed(sizes[1:]):
        places.append(turn % size)
        turn = turn // size
    return (turn, *reversed(places))


def _numbered(usual: Function) -> Function:
    """`np.ndenumerate(x)`"""

    def numbered(arr: UserValue) -> UserValue:
        array = array_of(arr)
        if not array.is_symbolic or not array.ndim:
            return [((), array[()])] if array.is_symbolic else usual(np.asarray(array))
        sizes, flat = tuple(array.shape), array.ravel()
        every = Iteration(math.prod(sizes), lambda turn: (_places(turn, sizes), flat[turn]))
        return cast(Opaque, every)

    return numbered


# -- what a value is ---------------------------------------------------------------------------------------


def class_of(value: Array) -> type:
    """The class of what numpy has in the place of an array of ours."""
    return value.dtype.type if value.is_number else np.ndarray


def _is_instance(usual: Function) -> Function:
    def is_instance(value: UserValue, kinds: _Kinds) -> bool:
        if isinstance(value, GrownList | GrownRows):
            return issubclass(list, kinds)
        if not isinstance(value, Array):
            return usual(value, kinds)
        return issubclass(class_of(value), kinds) or isinstance(value, kinds)

    return is_instance


def _type(usual: Function) -> Function:
    def type_of(*args: UserValue, **kwargs: UserValue) -> type:
        if len(args) == 1 and isinstance(args[0], GrownList | GrownRows):
            return list
        is_asked = len(args) == 1 and isinstance(args[0], Array)
        return class_of(cast(Array, args[0])) if is_asked else usual(*args, **kwargs)

    return type_of


def _has_attribute(usual: Function) -> Function:
    def has_attribute(value: UserValue, name: str) -> bool:
        return hasattr(class_of(value), name) if isinstance(value, Array) else usual(value, name)

    return has_attribute


def _attribute(usual: Function) -> Function:
    def attribute(value: UserValue, name: str, *default: UserValue) -> UserValue:
        if isinstance(value, Array) and default and not hasattr(class_of(value), name):
            return default[0]
        if isinstance(value, Array) and not hasattr(value, name) and hasattr(class_of(value), name):
            raise missing_attribute(name)
        return usual(value, name, *default)

    return attribute


def missing_attribute(name: str) -> TracedValueError:
    """The error for what arrays of numpy have and ours have not."""
    return TracedValueError(
        f"'{name}' of an array is not there when a model is made",
        help="the methods of arrays that are stand in onnxsmith.numpy.Array",
    ).locate_at_caller()


def _is_scalar(usual: Function) -> Function:
    def is_scalar(value: UserValue) -> bool:
        return value.is_number if isinstance(value, Array) else usual(value)

    return is_scalar


def _is_iterable(usual: Function) -> Function:
    def is_iterable(value: UserValue) -> bool:
        return bool(value.ndim) if isinstance(value, Array) else usual(value)

    return is_iterable


def _may_share(usual: Function) -> Function:
    def may_share(a: UserValue, b: UserValue, *options: UserValue) -> bool:
        if isinstance(a, Array) and isinstance(b, Array):
            return _owner(a) is _owner(b)
        if isinstance(a, Array) or isinstance(b, Array):
            return False
        return usual(a, b, *options)

    return may_share


def _owner(array: Array) -> Array:
    """The array whose elements a view shows."""
    while array._view is not None:  # pyright: ignore[reportPrivateUsage]  # of this package
        array = cast(Array, getattr(array._view, "base"))  # noqa: B009  # pyright: ignore[reportPrivateUsage]
    return array


# -- mathematics -------------------------------------------------------------------------------------------

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


_SCRIPTED = ("sqrt", "exp", "log", "tanh")
_SCRIPTED_TOO = ("fabs", "pow", "floor", "ceil", "trunc", "isnan", "isinf")


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


def _floating_errors(usual: Function) -> Function:
    def errors(**kinds: Any) -> UserValue:
        # What numpy.linalg has called says that LAPACK failed, and what stands for LAPACK here says that itself.
        is_lapack = str(getattr(kinds.get("call"), "__module__", "")).startswith("numpy.linalg")
        for kind, treatment in kinds.items():
            if treatment == "raise" or (treatment == "call" and not is_lapack):
                raise UnsupportedSyntaxError(
                    f"{kind}={treatment!r} makes numpy stop at what a model computes on with: infinity or NaN",
                    help="ask for it: if not np.isfinite(y).all(): raise FloatingPointError(…)",
                ).locate_at_caller()
        return usual(**kinds)

    return errors


# -- sets of sizes -----------------------------------------------------------------------------------------


class Distinct(collections.abc.Set[UserValue]):
    """A set of numbers that only the model knows, and of which it is known which are equal."""

    def __init__(self, values: Iterable[UserValue]) -> None:
        self._values: list[UserValue] = []
        for each in values:
            if not any(_is_surely_equal(each, other) for other in self._values):
                self._values.append(each)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[UserValue]:
        return iter(self._values)

    def __contains__(self, item: object) -> bool:
        return any(_is_surely_equal(cast(UserValue, item), each) for each in self._values)


def _is_surely_equal(a: UserValue, b: UserValue) -> bool:
    """Whether two sizes or shapes are equal; refused where only the model knows."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        mine, theirs = tuple(a), tuple(b)
        return len(mine) == len(theirs) and all(map(_is_surely_equal, mine, theirs))
    found = settled(cast(object, a == b))
    if isinstance(found, Number):
        raise TracedValueError(
            "a set tells its elements apart, and whether these numbers are equal is known only when the model runs",
            help="give sizes that are equal one name where the model is made: DOUBLE['N'], DOUBLE['N']",
        ).locate_at_caller()
    return bool(found)


def _set(usual: Function) -> Function:
    def make(*args: UserValue) -> UserValue:
        values = items_of(args[0]) if args else []
        is_open = any(isinstance(each, Number | Dimensions) for each in values)
        return cast(Opaque, Distinct(values)) if is_open else usual(*([values] if args else []))

    return make


_MAKERS: dict[Function, Maker] = {
    builtins.set: _set,
    builtins.list: _list,
    builtins.range: _range,
    np.ndindex: _positions,
    np.ndenumerate: _numbered,
    builtins.len: _length,
    **dict.fromkeys(cast("Sequence[Function]", (int, float)), _number_of),
    builtins.bool: _of_tensors,
    **dict.fromkeys(cast("Sequence[Function]", (str, repr, format)), _textual),
    **dict.fromkeys(cast("Sequence[Function]", (any, all)), _truths),
    builtins.round: _rounded,
    builtins.max: extreme(is_greater=True),
    builtins.min: extreme(is_greater=False),
    builtins.sum: _total,
    builtins.sorted: _sorted,
    builtins.isinstance: _is_instance,
    builtins.type: _type,
    builtins.hasattr: _has_attribute,
    builtins.getattr: _attribute,
    np.errstate: _floating_errors,
    np.isscalar: _is_scalar,
    np.iterable: _is_iterable,
    np.may_share_memory: _may_share,
    np.shares_memory: _may_share,
    operator.index: _index,
    **{getattr(math, name): _of_tensors for name in (*_SCRIPTED, *_SCRIPTED_TOO)},
    **{getattr(math, name): _computed(name) for name in _MATHEMATICS if hasattr(math, name)},
    **{getattr(math, name): _of_floats(name) for name in ("isnan", "isinf")},
}

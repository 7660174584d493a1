"""Functions that replace numpy's in numpy code: one table, by the function objects themselves.

Whatever a function was reached by (`np.linalg.norm`, `from numpy import zeros`), it is the same object. A call that is
given neither arrays of ours nor numbers of a model is numpy's own, whose arrays become ours: what is known when a model
is made is computed then.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.errors import LastingChangeError, ShapeError, TracedValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type, check_fitting, constant_of
from onnxsmith.numpy.creation import array as new_array
from onnxsmith.numpy.creation import asarray
from onnxsmith.numpy.dispatch import array_function, by_numpys
from onnxsmith.numpy.grown_list import GrownList, list_of_elements
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.numpy.layout import in_order
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.numpy.requirements import require_at_least
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import Size, size_of
from onnxsmith.scripting.dialects.numpy.compiled import internal_functions
from onnxsmith.scripting.dialects.numpy.libraries import of_library
from onnxsmith.scripting.staging.caught import is_caught

Function: TypeAlias = Callable[..., Any]

_OUTSIDE = "it lives outside the function, and a model has no memory from one call to the next"


def holds_open(value: UserValue, depth: int = 4) -> bool:
    """True if a value is an array of ours, or contains one or a number of the model."""
    if isinstance(value, Array | GrownList | GrownRows | Value):
        return True
    if not depth:
        return False
    if isinstance(value, list | tuple | set):
        return any(holds_open(each, depth - 1) for each in cast("list[UserValue]", value))
    if isinstance(value, dict):
        return any(holds_open(each, depth - 1) for each in cast("dict[object, UserValue]", value).values())
    if isinstance(value, slice):
        part = cast("slice[object, object, object]", value)
        return any(isinstance(each, Array | Value) for each in (part.start, part.stop, part.step))
    return False


def as_ours(value: UserValue, around: Sequence[UserValue] = ()) -> UserValue:
    """The result of a function of numpy, with arrays of ours in the places of numpy's.

    One that shares elements with what is `around`, such as an argument, is never written to.
    """
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        is_shared = any(
            isinstance(each, np.ndarray) and np.may_share_memory(array, cast("np.ndarray[Any, Any]", each))
            for each in around
        )
        return outside_array(array) if is_shared else array_of_numpys(array)
    if isinstance(value, list | tuple):
        items = [as_ours(each, around) for each in cast("list[Any]", value)]
        if all(a is b for a, b in zip(items, cast("list[Any]", value), strict=True)):
            return cast(Any, value)
        if isinstance(value, list):
            return items
        kind = cast(Any, type(cast(object, value)))
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    return value


def array_of_numpys(array: np.ndarray[Any, Any]) -> Array | np.ndarray[Any, Any]:
    """An array of ours that holds what numpy's holds; one of another class, or without numbers, stays as it is."""
    if type(array) is not np.ndarray or array.dtype not in dtypes.DTYPES:
        return array
    return Array(array, array.flags.c_contiguous or array.ndim <= 1)


def outside_array(array: np.ndarray[Any, Any]) -> Array | np.ndarray[Any, Any]:
    """An array that the function found around it: read, and never written to."""
    made = array_of_numpys(array)
    if isinstance(made, Array):
        made.lock(_OUTSIDE)
    return made


# -- the table ---------------------------------------------------------------------------------------------


@functools.cache
def replacements() -> Mapping[object, Function]:
    """Functions of numpy, and what is called in their places."""
    found: dict[object, Function] = {}
    for theirs, name in by_numpys().items():
        ours = functools.partial(_dispatched, theirs)
        if name in _DECIDING:
            ours = _as_python(ours)
        if name in _OF_VARIABLES:
            ours = functools.partial(_of_variables, name, ours)
        found[theirs] = _either(theirs, _uncaught(name, ours) if name.startswith("linalg.") else ours)
    for name in UFUNCS:
        theirs = getattr(np, name, None)
        if isinstance(theirs, np.ufunc):
            found[theirs] = _either(theirs, functools.partial(_universal, name))
    for theirs, ours in (*_CREATING.items(), *internal_functions().items()):
        found[theirs] = _either(cast(Function, theirs), ours)
    found[np.fromiter] = _from_iterator
    return found


def replacement(function: UserValue) -> Function | None:
    """The function that is called in the place of one of numpy's; None for all others."""
    try:
        found = replacements().get(function)
    except TypeError:  # no hash, so none of them
        return None
    if found is not None:
        return found
    if getattr(function, "__self__", None) is _SHARED_GENERATOR:
        return _refuse_drawing(str(getattr(function, "__name__", "")))
    ours = of_library(function)
    if ours is not None:
        return _either(cast(Function, function), ours)
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType):
        return _method(function)
    if isinstance(function, type):
        return _constructor(cast("type[object]", function))
    return _special(cast(Function, function))


def _either(theirs: Function, ours: Function) -> Function:
    """numpy's function on what is known, ours on arrays."""
    owner: UserValue = getattr(theirs, "__self__", None)

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        _speaks_for_callee = True
        if any(map(holds_open, args)) or any(map(holds_open, kwargs.values())):
            return ours(*args, **kwargs)
        return as_ours(theirs(*args, **kwargs), (owner, *args, *kwargs.values()))

    return functools.update_wrapper(call, theirs, updated=())


#: Functions of numpy that give a truth value of Python's.
_DECIDING = frozenset(["allclose", "array_equal", "array_equiv"])


def _as_python(ours: Function) -> Function:
    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        found: Array = ours(*args, **kwargs)
        return found.item()

    return call


#: Functions that give a number where there is one variable, and a matrix where there are more.
_OF_VARIABLES = frozenset(["cov", "corrcoef"])


def _of_variables(
    name: str,
    ours: Function,
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    **options: UserValue,
) -> Array:
    array = array_of(m)
    count: Any = 1 if array.ndim < 2 else array.shape[0 if rowvar else 1]
    if y is None and not isinstance(count, int):
        help_ = f"declare how many {'rows' if rowvar else 'columns'} there are"
        if name == "cov":  # a product is a matrix for one variable, too
            product = "d @ d.T / (d.shape[1] - 1)" if rowvar else "d.T @ d / (len(d) - 1)"
            help_ += f"; or {product}, where d = x - x.mean({'1, keepdims=True' if rowvar else '0'})"
        raise ShapeError(
            f"np.{name} of one variable gives a number, and how many there are is known only when the model runs",
            help=help_,
        ).locate_at_caller()
    return ours(m, y, rowvar, **options)


def _uncaught(name: str, ours: Function) -> Function:
    """A function that raises for some values, which the model computes: not where a `try` would catch that."""

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        if is_caught(np.linalg.LinAlgError):
            raise TracedValueError(
                f"only the model knows whether np.{name} fails, and a 'try' around it would catch that",
                help="ask beforehand: np.linalg.matrix_rank(a), np.linalg.cond(a)",
            ).locate_at_caller()
        return ours(*args, **kwargs)

    return call


def _universal(name: str, *args: UserValue, **kwargs: UserValue) -> UserValue:
    """A universal function; `out=...` asks for an array where there would be a number."""
    ours = cast(Function, UFUNCS[name])
    if kwargs.get("out") is not Ellipsis:
        return ours(*args, **kwargs)
    del kwargs["out"]
    found = cast("Array | tuple[Array, ...]", ours(*args, **kwargs))
    return tuple(map(detached, found)) if isinstance(found, tuple) else detached(found)


def _dispatched(theirs: Function, *args: UserValue, **kwargs: UserValue) -> UserValue:
    return cast(UserValue, array_function(theirs, args, kwargs))


#: The generator behind `np.random.normal` and others of the module.
_SHARED_GENERATOR: object = cast(object, getattr(np.random.normal, "__self__", None))


def _refuse_drawing(name: str) -> Function:
    def draw(*args: UserValue, **kwargs: UserValue) -> UserValue:
        raise LastingChangeError(
            f"'np.random.{name}' draws from a state that outlives the call, and a model has none",
            help="draw before, and pass the numbers as an argument, or draw with a key: "
            "onnxsmith.numpy.random.normal(key, (n,))",
        ).locate_at_caller()

    return draw


def _method(function: types.BuiltinMethodType | types.MethodWrapperType) -> Function | None:
    """A method of a universal function, or of an array of numpy's."""
    owner: object = function.__self__
    name = function.__name__
    if isinstance(owner, np.ufunc):
        ours = UFUNCS.get(owner.__name__) if getattr(np, owner.__name__, None) is owner else None
        return None if ours is None else _either(function, getattr(ours, name))
    if type(owner) is np.ndarray and hasattr(Array, name):
        return _either(function, functools.partial(_array_method, cast("np.ndarray[Any, Any]", owner), name))
    return None


def _array_method(owner: np.ndarray[Any, Any], name: str, *args: UserValue, **kwargs: UserValue) -> UserValue:
    return getattr(outside_array(owner), name)(*args, **kwargs)


def _constructor(kind: type[object]) -> Function | None:
    """`np.float64(x)`"""
    if not issubclass(kind, np.generic):
        return None
    dtype = next((each for each in dtypes.DTYPES if each.type is kind), None)
    if dtype is None:
        return None

    def construct(*args: UserValue, **kwargs: UserValue) -> UserValue:
        if len(args) != 1 or kwargs or not holds_open(args[0]):
            return as_ours(cast(Function, kind)(*args, **kwargs))
        if not isinstance(args[0], Array):  # numpy's own numbers are converted as elements are
            check_fitting(args[0], dtype)
        return as_type(array_of(args[0]), dtype).as_number()

    return construct


def _special(function: Function) -> Function | None:
    """A universal function of scipy.special, if that is loaded."""
    if not isinstance(function, np.ufunc):
        return None
    scipys = sys.modules.get("scipy.special")
    name = f"special.{function.__name__}"
    if scipys is None or name not in FUNCTIONS or getattr(scipys, function.__name__, None) is not function:
        return None
    return _either(function, FUNCTIONS[name])


# -- functions that make arrays of what they are given ---------------------------------------------------------


def _copy_mode(copy: UserValue) -> bool | None:
    """numpy's own words for when to copy: an enumeration whose members have no truth values."""
    modes: dict[str, bool | None] = {"ALWAYS": True, "IF_NEEDED": None, "NEVER": False}
    return modes.get(getattr(copy, "name", ""), cast("bool | None", copy))


def _laid_out(made: Array, order: str | None, is_own: bool, copy: bool | None) -> Array:
    # Unlike in `astype`, order "A" copies nothing.
    return made if order in ("A", "a") else in_order(made, order, is_own, copy)


def _as_array(
    a: ArrayLike, dtype: DTypeLike | None = None, order: str | None = None, **options: UserValue
) -> Array:
    mode = _copy_mode(options.get("copy"))
    made = asarray(a, dtype, copy=mode)
    return _laid_out(made, order, made is not a, mode)


def _as_contiguous(a: ArrayLike, dtype: DTypeLike | None = None, **_: UserValue) -> Array:
    """One whose elements lie one after the other; itself where they do."""
    made = _as_array(a, dtype, "C")
    return made if made.ndim else made.reshape((1,))


def _as_fortran(a: ArrayLike, dtype: DTypeLike | None = None, **_: UserValue) -> Array:
    """One whose elements lie with the first dimension fastest: a copy where that is another order."""
    made = _as_array(a, dtype, "F")
    return made if made.ndim else made.reshape((1,))


def _new_array(
    object: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    **_: UserValue,
) -> Array:
    mode = _copy_mode(copy)
    made = new_array(object, dtype, copy=mode)
    made = _laid_out(made, order, made is not object, mode)
    return new_array(made, copy=None, ndmin=ndmin) if ndmin > made.ndim else made


def _from_iterable(
    iter: UserValue, dtype: DTypeLike, count: int | Number | Array = -1, **_: UserValue
) -> Array:
    """`np.fromiter`: as many elements as are asked for; all of them for -1."""
    items: UserValue = (
        iter
        if isinstance(iter, GrownList)
        else list_of_elements(iter)
        if isinstance(iter, Array)
        else list(cast("Iterable[UserValue]", iter))
    )
    found = array_of(items)
    if found.ndim != 1:
        raise ShapeError(f"np.fromiter takes numbers here, not arrays of {found.ndim - 1} dimensions")
    made = detached(constant_of(items, dtypes.read(dtype)))
    wanted = size_of(count, "count")
    if isinstance(wanted, int) and wanted < 0:
        return made
    require_at_least(
        cast(Size, found.shape[0] - wanted), 0, ValueError("iterator too short: fewer elements than count")
    )
    return made[:wanted]


def _from_iterator(iter: UserValue, *args: UserValue, **kwargs: UserValue) -> UserValue:
    """The same of a generator, whose elements are known to be ours when they are made."""
    given = list(cast("Iterator[UserValue]", iter)) if isinstance(iter, Iterator) else iter
    call = _either(np.fromiter, _from_iterable)
    return call(given, *args, **kwargs)


def _each_element(
    op: ArrayLike,
    flags: Sequence[str] | None = None,
    op_flags: Sequence[str] | None = None,
    **options: UserValue,
) -> Array:
    """`np.nditer(x)`, which goes through all elements as they lie in memory."""
    made = array_of(op)
    is_read = not flags and not options and list(op_flags or ["readonly"]) == ["readonly"]
    if isinstance(op, list | tuple) or not is_read or not cast("tuple[bool, str | None]", made.traits)[0]:
        raise TracedValueError(
            "np.nditer goes through the elements of one array here, to read them, in the order of its rows",
            help="loop over x.flat, over np.ndenumerate(x), or over positions: for i in range(len(x))",
        ).locate_at_caller()
    return made.ravel().copy()


_CREATING: dict[Function, Function] = {
    np.nditer: _each_element,
    np.array: _new_array,
    np.asarray: _as_array,
    np.asanyarray: _as_array,
    np.ascontiguousarray: _as_contiguous,
    np.asfortranarray: _as_fortran,
}

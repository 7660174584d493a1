"""Type tests on arrays of ours: `isinstance(x, np.ndarray)`, `type(x)`, `hasattr(x, "T")`, `np.isscalar(x)`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import TracedValueError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.grown_list import GrownList
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.scripting.staging.script_values import Function

_Kinds: TypeAlias = "type | tuple[_Kinds, ...]"


def _class_of(value: Array) -> type:
    """The class of what numpy has in the place of an array of ours."""
    return value.dtype.type if value.is_number else np.ndarray


def _is_instance(usual: Function) -> Function:
    def is_instance(value: UserValue, kinds: _Kinds) -> bool:
        if isinstance(value, GrownList | GrownRows):
            return issubclass(list, kinds)
        if not isinstance(value, Array):
            return usual(value, kinds)
        return issubclass(_class_of(value), kinds) or isinstance(value, kinds)

    return is_instance


def _type(usual: Function) -> Function:
    def type_of(*args: UserValue, **kwargs: UserValue) -> type:
        if len(args) == 1 and isinstance(args[0], GrownList | GrownRows):
            return list
        is_asked = len(args) == 1 and isinstance(args[0], Array)
        return _class_of(cast(Array, args[0])) if is_asked else usual(*args, **kwargs)

    return type_of


def _has_attribute(usual: Function) -> Function:
    def has_attribute(value: UserValue, name: str) -> bool:
        return hasattr(_class_of(value), name) if isinstance(value, Array) else usual(value, name)

    return has_attribute


def _attribute(usual: Function) -> Function:
    def attribute(value: UserValue, name: str, *default: UserValue) -> UserValue:
        if isinstance(value, Array) and default and not hasattr(_class_of(value), name):
            return default[0]
        if isinstance(value, Array) and not hasattr(value, name) and hasattr(_class_of(value), name):
            raise _missing_attribute(name)
        return usual(value, name, *default)

    return attribute


def _missing_attribute(name: str) -> TracedValueError:
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


#: What is called in the places of functions.
OF_KINDS: dict[Function, Callable[[Function], Function]] = {
    builtins.isinstance: _is_instance,
    builtins.type: _type,
    builtins.hasattr: _has_attribute,
    builtins.getattr: _attribute,
    np.isscalar: _is_scalar,
    np.iterable: _is_iterable,
    np.may_share_memory: _may_share,
    np.shares_memory: _may_share,
}

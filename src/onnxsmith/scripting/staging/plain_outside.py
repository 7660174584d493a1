"""The objects that a straight function takes from outside now, and a check that using them has no effect but a result.

Staging such a function calls it, once for each model: nothing may change by that, and nobody's code may run but ours.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.core.operator import Operator
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Value
from onnxsmith.opset.custom import Opset
from onnxsmith.scripting.analysis.straight import Chain, StraightCode
from onnxsmith.scripting.source.outside import outside

#: Types whose values have no operator that does more than compute something new.
_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), type(...), slice, range])
#: What `+=` changes in place, although reading it is harmless.
CHANGEABLE = (list, np.ndarray)
#: How many lists or tuples may stand in one another.
_DEPTH = 4


class Script:
    """The base of scripts, without behaviour, so that staging knows one when it sees it."""

    __slots__ = ()


class HoldsFunction:
    """The base, without behaviour, of callables of ours that run a function of the user's: its state is theirs."""

    __slots__ = ()


def resolve(straight: StraightCode, function: types.FunctionType) -> dict[Chain, UserValue] | None:
    """The objects that the function takes from outside, as they are now; None where something is not defined."""
    around = outside(function)
    found: dict[Chain, UserValue] = {}
    for chain in straight.loaded:
        if len(chain) == 1:
            name = chain[0]
            is_free = name in function.__code__.co_freevars
            if name not in around and (is_free or not hasattr(builtins, name)):
                return None
            found[chain] = around[name] if name in around else getattr(builtins, name)
            continue
        owner = found[chain[:-1]]
        if not _has_plain_attribute(owner, chain[-1]):
            return None  # it may be computed
        try:
            found[chain] = getattr(owner, chain[-1])
        except Exception:  # the user's own code may run for it; the tree says what there is instead
            return None
    return found


def _has_plain_attribute(owner: UserValue, name: str) -> bool:
    """True if taking an attribute runs nobody's code but ours; modules may compute what they do not have yet."""
    if isinstance(owner, types.ModuleType):
        return name in vars(owner) or owner.__name__.partition(".")[0] == "onnxsmith"
    return isinstance(owner, Opset)


def is_plain_callee(callee: UserValue) -> bool:
    """True if a call does nothing but make nodes, or a value of a type of ours or NumPy's."""
    if isinstance(callee, type):
        return _is_number_type(callee) or (_is_ours(callee) and not issubclass(callee, Value))
    return isinstance(callee, Operator | Script)


def is_harmless(value: UserValue, depth: int = _DEPTH) -> bool:
    """True if reading a value, and computing with it, changes nothing and calls nobody's code but ours."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, Operator | Script | Opset | types.ModuleType):
        return True
    if kind is np.ndarray:
        return not cast(Array, value).dtype.hasobject
    if kind is tuple or kind is list:
        return depth > 0 and all(is_harmless(each, depth - 1) for each in cast("Sequence[UserValue]", value))
    return kind is type or _is_number_type(kind) or _is_ours(kind)


def _is_number_type(kind: type) -> bool:
    """True if a class is one of NumPy's numbers, or of the element types that NumPy lacks."""
    module = kind.__module__
    return module == "ml_dtypes" or (module == "numpy" and issubclass(kind, np.number | np.bool_))


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("onnxsmith.")

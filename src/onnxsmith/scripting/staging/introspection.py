"""Questions of Python about a value that only the model knows: its class, its attributes, its identity.

The answers are those of an eager run, which has a Python number, a tensor with an array or a list in its place; what
nobody can tell before the model runs is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from onnxsmith.core.semantics.number import EAGER_CLASSES, Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import OnnxsmithError, TracedValueError, UnknownMethodError, UnsupportedSyntaxError
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.scripting.staging.attribute_values import (
    AttributeNumber,
    AttributeTensor,
    AttributeText,
    refuse_unknown,
)
from onnxsmith.scripting.staging.script_values import Function, Held
from onnxsmith.scripting.staging.structure import parts
from onnxsmith.scripting.staging.truth import is_symbolic
from onnxsmith.types.value_types import SequenceType


def eager_class(value: object) -> type | None:
    """The class of what an eager run has in the place of a value of the model; None for all other values."""
    if isinstance(value, AttributeText | AttributeTensor):
        return value.eager_class
    if not is_symbolic(value):
        return None
    if isinstance(value, Number):
        return EAGER_CLASSES[value.kind]
    if isinstance(value, Tensor):
        return EagerTensor
    return list if isinstance(value.known.type, SequenceType) else None


def class_of(value: object) -> type:
    """`type(value)`, `value.__class__`; tensors of both kinds have their own, which scripts cannot tell apart."""
    found = eager_class(value)
    return value.__class__ if found is None or found is EagerTensor else found


def _is_instance(value: UserValue, kinds: Any) -> bool:
    found = eager_class(value)
    return isinstance(value, kinds) if found is None else issubclass(found, kinds)


def _type(*args: Any, **kwargs: Any) -> type:
    return class_of(args[0]) if len(args) == 1 and not kwargs else type(*args, **kwargs)


def _has_attribute(value: UserValue, name: str) -> bool:
    found = eager_class(value)
    return hasattr(value, name) if found is None else hasattr(found, name)


def _attribute(value: UserValue, name: str, *default: UserValue) -> UserValue:
    found = eager_class(value)
    if found is None or hasattr(found, name) == hasattr(type(value), name):
        return getattr(value, name, *default)
    if default and not hasattr(found, name):
        return default[0]
    shown = "a tensor" if found is EagerTensor else f"a Python {found.__name__}"
    if not hasattr(found, name):
        raise UnknownMethodError(f"{shown} has no attribute '{name}'")
    raise TracedValueError(
        f"'{name}' of {shown} that only the model knows cannot be asked for when the model is made"
    )


def _is_scalar(value: UserValue) -> bool:
    return isinstance(value, Number) if is_symbolic(value) else np.isscalar(value)


def _only_of_known(python: Function) -> Function:
    """A function that says something of the object itself, which a value of the model is not."""

    def ask(*args: UserValue) -> UserValue:
        if not args and python is not id:
            raise UnsupportedSyntaxError(
                f"a script cannot call {python.__name__}() without an argument", help="name the variables"
            )
        if args and is_symbolic(args[0]):
            raise UnsupportedSyntaxError(
                f"{python.__name__}() tells of a Python object, and this value exists only when the model runs",
                help="compare values with ==",
            )
        return python(*args)

    return ask


def is_one_object(a: object, b: object) -> bool:
    """`a is b` of two values, of which one or both are the model's; refused where only the model knows."""
    if a is b or not (is_symbolic(a) and is_symbolic(b)):
        return a is b
    if type(a) is not type(b) or contradict(a.known.type, b.known.type):
        return False
    raise _identity("tensors", "compare what they hold: (a == b).all()")


def refuse_identity_of_numbers() -> NoReturn:
    """`n is m` of two numbers."""
    raise _identity("numbers", "compare them with ==")


def _identity(what: str, instead: str) -> OnnxsmithError:
    return UnsupportedSyntaxError(
        f"'is' asks whether two {what} are one object, which nobody knows before the model runs", help=instead
    ).locate_at_caller()


def refuse_patterns(value: Held, depth: int = 3, *, asks_for_class: bool) -> None:
    """Refuse what a `match` would decide now and only the model knows: how long a list is; the class of a number."""
    if asks_for_class and isinstance(value, AttributeText | AttributeTensor | AttributeNumber):
        refuse_unknown(value)
    is_list = is_symbolic(value) and isinstance(value.known.type, SequenceType)
    if is_list or (asks_for_class and isinstance(value, Number)):
        raise UnsupportedSyntaxError(
            "'match' looks at this value when the model is made, and only the model knows it",
            help="decide with 'if': isinstance(n, int), n == 1, len(s) == 2",
        ).locate_at_caller()
    for _, each in (parts(value) if depth else None) or ():
        refuse_patterns(each, depth - 1, asks_for_class=asks_for_class)


#: What is called in the place of functions that tell of an object.
ASKING: dict[Any, Callable[..., Any]] = {
    builtins.isinstance: _is_instance,
    builtins.type: _type,
    builtins.hasattr: _has_attribute,
    builtins.getattr: _attribute,
    **{each: _only_of_known(each) for each in (id, vars, dir)},
    np.isscalar: _is_scalar,
}

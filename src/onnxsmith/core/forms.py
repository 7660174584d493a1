"""Calls of a form that some model has had before: what binding, promotion and inference gave then.

A form is an operator, the types of symbolic inputs, and the literals and attributes beside them. A network repeats a
few dozen forms thousands of times, and so do the functions of a module. What they come to depends on nothing else, so
that all models share the answers; graphs that are made exactly as they are written are not asked about here. Holds
answers and makes none: those are `call`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.core.target import OperatorCall, new_call
from onnxsmith.core.value import NumberValue, Value
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import AnyValueType, ValueType

if TYPE_CHECKING:
    from onnxsmith.core.operator import Operator
    from onnxsmith.core.target import RecordingTarget
    from onnxsmith.core.value import Array

#: Where types never repeat, remembering begins anew here; what is kept of one form takes some hundred bytes.
_LIMIT = 4096
#: The longest text and list in a form: what is longer is content, and no two calls have the same.
_LONGEST = 64

_LITERALS = frozenset({int, float, bool})
#: The classes of values that stand in a form by what is known of them; of each, one was seen.
_symbolic_kinds: set[type] = set()

Key: TypeAlias = tuple[object, ...]


class Form(NamedTuple):
    """The outcome of a call of a form: its attributes in normal form, the facts of its outputs, its literals as arrays.

    Arrays that were given stand among the literals as None: each call has its own.
    """

    attributes: Mapping[str, Any]
    outputs: tuple[Known, ...]
    literals: tuple[tuple[int, Array | None], ...]

    def call(self, operator: Operator, args: tuple[Any, ...], target: RecordingTarget) -> OperatorCall:
        """A call of this form."""
        inputs: Sequence[Any] = args
        if self.literals:
            inputs = list(args)
            for position, array in self.literals:
                inputs[position] = target.constant(args[position] if array is None else array)
        attributes, outputs, _ = self
        version = operator.version_to_record
        return new_call((operator.definition, version, inputs, attributes, len(outputs), outputs))


class CallForms:
    """The forms that calls have had. Threads may use one: nothing is lost but an answer, which is found anew."""

    __slots__ = ("_forms", "_known", "get")

    def __init__(self) -> None:
        # What is known of a value is compared by identity, and `shared` makes one object of what is equal.
        self._forms: dict[Key, Form] = {}
        #: The answer to a call of a form, or None. The dict's own method: every call of a model asks.
        self.get: Callable[[Key], Form | None] = self._forms.get
        self._known: dict[AnyValueType, Known] = {}

    def learn(self, key: Key, form: Form) -> None:
        """Keep an answer, if the types say all that it depends on."""
        if any(each.data is not None for each in form.outputs):
            return
        if len(self._forms) >= _LIMIT:
            self._forms.clear()
        self._forms[key] = form

    def shared(self, outputs: Sequence[Known]) -> tuple[Known, ...]:
        """The same, with one object for all values of a type of which nothing else is known."""
        if len(self._known) >= _LIMIT:
            self._known.clear()
        held = self._known
        return tuple(
            [each if each.data is not None else held.setdefault(each.type, each) for each in outputs]
        )

    def known(self, kind: AnyValueType) -> Known:
        """The facts of a value of which only the type is known: one object for each type."""
        return self._known.get(kind) or self.shared((Known(kind),))[0]


#: The forms of all calls that were recorded, up to a number of them.
forms_cache = CallForms()


def form_key(operator: Operator, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Key | None:
    """The key of the form of a call; None where a call has more to it than types and literals."""
    key: list[object] = [operator.definition, operator.version]
    for each in args:
        kind = type(each)
        if kind in _symbolic_kinds:
            known = cast(Value, each).known
            if known.data is not None:
                return None
            key.append(known)
        elif kind in _LITERALS:
            if each != each:
                return None
            # Zero has a sign, which a comparison does not see.
            key += (kind, each) if each else (kind, repr(each))
        elif isinstance(each, Value) and each.is_symbolic and not isinstance(each, NumberValue):
            _symbolic_kinds.add(kind)
            return form_key(operator, args, kwargs)
        elif kind is np.ndarray:
            array = cast("Array", each)
            key += (kind, array.dtype, array.shape)
        else:
            return None
    for name, value in kwargs.items():
        plain = _plain(value)
        if plain is None:
            return None
        key += (name, *plain)
    return tuple(key)


def _plain(value: object) -> tuple[object, ...] | None:
    """An attribute as a part of a key: numbers of different types differ."""
    kind = type(value)
    if kind is int or kind is bool or isinstance(value, ValueType):
        return (kind, value)
    if kind is str:
        return (kind, value) if len(cast(str, value)) <= _LONGEST else None
    if isinstance(value, list | tuple):
        elements = cast("Sequence[object]", value)
        is_short = len(elements) <= _LONGEST
        return (kind, *elements) if is_short and all(type(each) is int for each in elements) else None
    return None

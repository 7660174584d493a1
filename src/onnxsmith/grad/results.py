"""Results of differentiated functions that are containers: dicts, lists, tuples and dataclasses of tensors, nested.

A model has its outputs one by one. So results are taken apart when a function is traced, and put together again where
`vjp` and `jvp` give values and tangents; a cotangent has the form of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import CallError
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import Slot, parts, rebuilt, unflatten


def taken_apart(result: Any) -> tuple[Any, Held]:
    """The tensors of a result in order, and its form with a Slot for each; None in it stays as it is.

    What is no container stays as it is, and so does a tuple of several tensors: its form is None.
    """
    leaves: list[Any] = []
    form = _form(result, leaves)
    is_flat = type(result) is tuple and all(isinstance(each, Slot) for each in cast(Any, form))
    if isinstance(form, Slot) or (is_flat and len(leaves) > 1) or not leaves:
        return cast(Any, result), None
    return tuple(leaves), form


def _form(value: Any, leaves: list[Any]) -> Held:
    inner = None if isinstance(value, Slot) else parts(value)
    if inner is not None:
        return rebuilt(value, [_form(each, leaves) for _, each in inner])
    if value is None:
        return None
    leaves.append(value)
    return Slot(len(leaves) - 1)


def put_together(form: Held, values: Sequence[Any]) -> Any:
    """Outputs of a model in the form of the function's result."""
    if form is not None:
        return unflatten(form, values)
    return values[0] if len(values) == 1 else tuple(values)


def cotangents_of(given: UserValue) -> list[UserValue]:
    """A cotangent, one by one for each tensor of the result."""
    inner = parts(given)
    if inner is None:
        return [given]
    return [leaf for _, each in inner for leaf in _leaves(cast(UserValue, each))]


def _leaves(given: UserValue) -> Iterator[UserValue]:
    inner = parts(given)
    if inner is None or (inner and isinstance(given, list | tuple) and _is_of_numbers(given)):
        if given is not None:
            yield given  # a list of numbers is an array
        return
    for _, each in inner:
        yield from _leaves(cast(UserValue, each))


def _is_of_numbers(given: Any) -> bool:
    if isinstance(given, list | tuple):
        return all(map(_is_of_numbers, cast("Sequence[Any]", given)))
    return kind_of(given) is not None


def check_form(form: Held, given: UserValue) -> None:
    """Refuse a cotangent of another form than the result that it belongs to."""
    is_plain = isinstance(given, list | tuple) or parts(given) is None
    if is_plain if form is None else _has_form(form, given):
        return
    raise CallError(
        "the cotangent has another form than the result of the function",
        help="give it the same containers, with an array for each array",
    )


def _has_slots(form: Held) -> bool:
    return isinstance(form, Slot) or any(_has_slots(each) for _, each in parts(form) or ())


def _has_form(form: Held, given: Any) -> bool:
    if isinstance(form, Slot):
        return parts(given) is None or (isinstance(given, list | tuple) and _is_of_numbers(given))
    inner, theirs = parts(form), parts(given)
    if inner is None or theirs is None:
        # A part without numbers has no cotangent: None stands for its containers, and they for None.
        return not _has_slots(form) and next(_leaves(given), None) is None
    if isinstance(form, tuple | list) and isinstance(given, tuple | list):  # whose items may have names
        is_alike = len(inner) == len(theirs)
    else:
        is_alike = [key for key, _ in inner] == [key for key, _ in theirs]
    return is_alike and all(_has_form(one, other) for (_, one), (_, other) in zip(inner, theirs, strict=True))

"""Tensors inside tuples, lists, dicts and dataclasses: taken apart, and put together again."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.operands import in_numpy_code
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.value import Array, TensorValue, Value
from onnxsmith.core.value_containers import CarriedParts, Carrier
from onnxsmith.errors import InputTypeError
from onnxsmith.scripting.staging.perhaps import Perhaps
from onnxsmith.scripting.staging.script_values import Held, Marker, TakenApart, TensorLike
from onnxsmith.scripting.staging.watch import is_row, keep_as_row
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: The dicts that are taken apart; a user's own class may mean something else by its items.
_DICTS = frozenset({dict, OrderedDict, defaultdict})


@dataclass(frozen=True, slots=True)
class Slot(Marker):
    """Stands for one of the values that were taken out."""

    position: int


@dataclass(frozen=True, slots=True)
class Shell(TakenApart):
    """A carrier taken apart: what it is besides its values, and slots for them, or what it holds at some moment."""

    #: One of its kind.
    like: Carrier
    traits: Hashable
    names: tuple[str, ...]
    items: tuple[Held, ...]

    @classmethod
    def of(cls, carrier: Carrier, held: CarriedParts, traits: Hashable = None) -> Shell:
        """A carrier that holds these values."""
        given = carrier.traits if traits is None else traits
        return cls(carrier, given, tuple(held), tuple(held.values()))

    def filled(self, items: Sequence[Held]) -> Held:
        """With other content; a new carrier where that is values alone."""
        if any(isinstance(each, Marker) for each in items):
            return replace(self, items=tuple(items))
        values = dict(zip(self.names, cast("Sequence[TensorLike]", items), strict=True))
        return self.like.made_of(self.traits, values)


def is_tensor_like(value: Held) -> TypeIs[TensorLike]:
    """True if a value can be a tensor of the model: a tensor, an array, a number."""
    if isinstance(value, Carrier):
        return False
    return isinstance(value, Value | np.ndarray | np.generic) or kind_of(value) is not None


def beside_text(value: Held, other: Held) -> Held:
    """A text that meets a tensor of texts is one itself, as a number is that meets a tensor; all else as it is."""
    is_text = type(value) is str and isinstance(other, TensorValue) and other.dtype is DType.STRING
    return np.array(value, object) if is_text else value


def as_carried(value: Held) -> Held:
    """A value as control flow of the model has it: in numpy code what is numpy's is an array, and no tensor."""
    return cast(Held, in_numpy_code(value))


def parts(value: Held) -> list[tuple[Any, Held]] | None:
    """The parts of a container, with the key of each; None for a value that is no container."""
    if isinstance(value, Value):  # most are
        return None
    if isinstance(value, tuple | list):
        names: Sequence[Any] = getattr(value, "_fields", range(len(value)))
        return list(zip(names, value, strict=True))
    if type(value) in _DICTS:
        return list(cast("dict[Any, Any]", value).items())
    if isinstance(value, Perhaps):
        return [("is_there", value.is_there), ("value", value.value)]
    if isinstance(value, Shell):
        return list(zip(value.names, value.items, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            (each.name, getattr(value, each.name))
            for each in dataclasses.fields(value)
            if hasattr(value, each.name)
        ]
    return None


@contextmanager
def taking_apart(what: str = "an argument of this call") -> Generator[None]:
    """Refuses containers in the block that contain themselves."""
    try:
        yield
    except RecursionError:
        raise InputTypeError(
            f"{what} holds itself, or is too deep", help="give arrays, or containers of them that end"
        ) from None


def rebuilt(like: Held, items: Sequence[Held]) -> Held:
    """A container of the same form with other content."""
    if isinstance(like, list):
        return _as_row(list(items)) if is_row(like) else list(items)
    if isinstance(like, tuple):
        kind: Any = type(like)
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    if type(like) in _DICTS:
        table = cast("dict[Any, Any]", like).copy()  # of its kind, and with its order
        table.update(zip(table, items, strict=True))
        return cast(Held, table)
    if isinstance(like, Perhaps):
        return Perhaps(*items)
    if isinstance(like, Shell):
        return like.filled(items)
    made: Any = object.__new__(type(cast(object, like)))
    for (name, _), item in zip(parts(like) or (), items, strict=True):
        object.__setattr__(made, name, item)  # also where the class is frozen
    return made


def _as_row(value: list[Held]) -> Held:
    keep_as_row(cast("list[object]", value))
    return value


def as_rows_of(made: Held, *sides: Held) -> Held:
    """A value that is one of two; a list is a row of a list of the model where one of them is."""
    return _as_row(made) if isinstance(made, list) and any(map(is_row, sides)) else made


def all_as_carried(value: Held) -> Held:
    """A value as control flow of the model has it, with all that is in it; itself where nothing is numpy's."""
    inner = None if isinstance(value, Shell) else parts(value)
    if inner is None:
        return as_carried(value)
    items = [all_as_carried(each) for _, each in inner]
    is_same = all(item is each for item, (_, each) in zip(items, inner, strict=True))
    return value if is_same else rebuilt(value, items)


def flatten(value: Held, name: str, leaves: list[tuple[str, TensorLike]]) -> Held:
    """The form of a value, with a Slot for each tensor in it; the tensors are added to `leaves`, with names."""
    if isinstance(value, np.ndarray | np.generic):
        value = as_carried(value)
        value = Shell.of(value, value.carried) if isinstance(value, Carrier) else value
    if is_tensor_like(value):
        leaves.append((name, value))
        return Slot(len(leaves) - 1)
    inner = parts(value)
    if inner is None:
        return value
    # What a carrier holds are values, whatever such values are to the user.
    take = _leaf if isinstance(value, Shell) else flatten
    return rebuilt(value, [take(each, joined(name, key), leaves) for key, each in inner])


def _leaf(value: Held, name: str, leaves: list[tuple[str, TensorLike]]) -> Held:
    if not is_tensor_like(value):
        return value
    leaves.append((name, value))
    return Slot(len(leaves) - 1)


def unflatten(form: Held, values: Sequence[Held]) -> Held:
    """A value of this form, with the values in its slots."""
    if isinstance(form, Slot):
        return values[form.position]
    inner = parts(form)
    return form if inner is None else rebuilt(form, [unflatten(each, values) for _, each in inner])


def containers_in(value: Held) -> Iterator[Held]:
    """The containers in a value that can change, and itself if it is one."""
    inner = parts(value)
    if inner is None:
        return
    if not isinstance(value, tuple | Perhaps | Shell):
        yield value
    for _, each in inner:
        yield from containers_in(each)


def arrays_in(value: Held) -> Iterator[Array]:
    """The arrays of numpy in a value, and itself if it is one."""
    if isinstance(value, np.ndarray):
        yield value
    for _, each in parts(value) or ():
        yield from arrays_in(each)


def is_same_form(a: Held, b: Held) -> bool:
    """True if two forms have their slots in the same places, and the same Python values elsewhere."""
    if isinstance(a, Slot) or isinstance(b, Slot):
        return a == b
    first, second = parts(a), parts(b)
    if first is None or second is None:
        return a is b or (is_plain(a) and is_plain(b) and type(a) is type(b) and a == b)
    return (
        type(a) is type(b)
        and [key for key, _ in first] == [key for key, _ in second]
        and all(is_same_form(x, y) for (_, x), (_, y) in zip(first, second, strict=True))
    )


def joined_forms(a: Held, b: Held) -> Held:
    """Of two forms that are the same, the one that holds for carriers of both."""
    first, second = parts(a), parts(b)
    if isinstance(a, Slot) or first is None or second is None:
        return a
    items = [joined_forms(x, y) for (_, x), (_, y) in zip(first, second, strict=True)]
    is_same = all(item is each for item, (_, each) in zip(items, first, strict=True))
    if isinstance(a, Shell) and isinstance(b, Shell):
        traits = a.like.joined_traits(a.traits, b.traits)
        return a if is_same and traits == a.traits else replace(a, traits=traits, items=tuple(items))
    if is_row(b) and not is_row(a):
        return as_rows_of(rebuilt(a, items), b)
    return a if is_same else rebuilt(a, items)


def traits_in(form: Held) -> list[Hashable]:
    """The traits of the carriers of a form, besides their values, and which lists are rows of lists of the model."""
    own: list[Hashable] = [form.traits] if isinstance(form, Shell) else ["row"] if is_row(form) else []
    return own + [trait for _, each in parts(form) or () for trait in traits_in(each)]


def is_plain(value: Held) -> bool:
    """True if a value is one of those that are the same wherever they are equal."""
    return isinstance(value, str | bytes | int | float | complex | type(None) | frozenset | type)


def joined(name: str, part: Hashable) -> str:
    """The name of a part: `state_0`, `state_hidden`."""
    return f"{name}_{part}" if name and part != "" else name or str(part)

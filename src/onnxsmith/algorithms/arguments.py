"""Arguments and results of algorithms taken apart: the tensors in them, and all else as text; and put together again.

Tensors may stand in tuples, lists and dataclasses, as the parts of complex numbers do.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.types.dtypes import DType

_NO_WORD = re.compile(r"\W")


class Unnamed(Exception):  # not a mistake: the call is inlined
    """An argument that has no text, such as a function."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor or a number of the model among arguments, and what to call it."""

    name: str
    value: Tensor


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a tensor stood, or a number that only the model knows."""

    is_number: bool

    @property
    def text(self) -> str:
        """Tensors are told apart by their types."""
        return "number" if self.is_number else ""


@dataclass(frozen=True, slots=True)
class Static:
    """A value that is known now."""

    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Several parts in an object of a class."""

    kind: type[Any]
    names: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The texts of the parts; what has only tensors has none."""
        return "_".join(filter(None, (each.text for each in self.parts)))


Part: TypeAlias = Hole | Static | Group


def taken_apart(value: Any, name: str, leaves: list[Leaf]) -> Part:
    """An argument without its tensors, which are added to `leaves`. Raises Unnamed for what has no text."""
    if isinstance(value, Value):
        if not isinstance(value, Tensor):
            raise Unnamed
        leaves.append(Leaf(name, value))
        return Hole(isinstance(value, Number))
    if isinstance(value, tuple | list):
        several = cast("Sequence[Any]", value)
        parts = tuple(taken_apart(each, f"{name}_{k}", leaves) for k, each in enumerate(several))
        return Group(type(several), (), parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(each.name for each in dataclasses.fields(value))
        inner = [getattr(value, each) for each in names]
        parts = tuple(
            # What is left out shows in the number of tensors: a real number has no imaginary part.
            Static(None, "") if part is None else taken_apart(part, f"{name}_{each}", leaves)
            for each, part in zip(names, inner, strict=True)
        )
        return Group(cast("type[Any]", type(value)), names, parts)
    return Static(value, _text(value))


def filled_in(part: Part, values: Iterator[Value]) -> Any:
    """An argument put together again, with these values in the places of its tensors."""
    if isinstance(part, Hole):
        value = next(values)
        return cast(Tensor, value).as_number() if part.is_number else value
    if isinstance(part, Static):
        return part.value
    parts = [filled_in(each, values) for each in part.parts]
    if part.names:
        return part.kind(**dict(zip(part.names, parts, strict=True)))
    return (
        part.kind(*parts) if hasattr(part.kind, "_fields") else part.kind(parts)
    )  # a named tuple takes each


def _text(value: object) -> str:
    """The text for a value in a name; different values have different texts."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"m{-value}" if value < 0 else str(value)
    if isinstance(value, float | complex):
        return _NO_WORD.sub("p", repr(value).replace("-", "m"))
    if isinstance(value, str):
        return _NO_WORD.sub("_", value)
    if isinstance(value, DType):
        return value.name.lower()
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(cast("np.ndarray[Any, Any]", value))
        content = f"{array.dtype}{array.shape}".encode() + array.tobytes()
        return hashlib.sha256(content).hexdigest()[:12]
    raise Unnamed

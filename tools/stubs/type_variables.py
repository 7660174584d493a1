"""Type variables: one per set of element types, shared by all operators, never twice within one operator.

Knows names and sets; what stands where in a signature is `signatures`' business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from onnxsmith.types.dtypes import DType

Classes = frozenset[str]

_FLOATS = frozenset({"FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16"})
_SIGNED = frozenset({"INT8", "INT16", "INT32", "INT64"})
_UNSIGNED = frozenset({"UINT8", "UINT16", "UINT32", "UINT64"})

# The first of which a set is part gives a type variable its name, as an editor shows it.
_FAMILIES: tuple[tuple[str, Classes], ...] = (
    ("Index", frozenset({"INT32", "INT64"})),
    ("Float", _FLOATS),
    ("Signed", _SIGNED),
    ("Unsigned", _UNSIGNED),
    ("Integer", _SIGNED | _UNSIGNED),
    ("SignedNumber", _FLOATS | _SIGNED),
    ("Number", _FLOATS | _SIGNED | _UNSIGNED),
)

#: The Python literals that tensors of a kind meet, weakest first; each takes those before it.
_LITERALS = ("bool", "int", "float", "complex")
_LITERAL_OF_KIND = {
    "bool": "bool",
    "signed": "int",
    "unsigned": "int",
    "float": "float",
    "complex": "complex",
}


#: What an editor calls the literals that stand beside a tensor.
_LITERAL_WORDS = {
    "bool": "Truth",
    "int": "Integer",
    "float": "Number",
    "complex": "ComplexNumber",
    "str": "Text",
}


@dataclass
class TypeVariables:
    """Hands out names in the order they are asked for, which is therefore part of what is generated."""

    _tensors: dict[tuple[Classes, int], str] = field(default_factory=dict)
    _literals: dict[tuple[str, int], str] = field(default_factory=dict)

    def for_classes(self, classes: Classes, taken: Iterable[str]) -> str:
        """A variable over these tensor classes that is none of `taken`."""
        used = set(taken)
        for nth in range(len(used) + 1):
            name = self._tensors.get((classes, nth)) or self._new_tensor_name(classes, nth)
            if name not in used:
                return name
        raise AssertionError("more names than places")

    def for_literal(self, literal: str, taken: Iterable[str]) -> str:
        """A variable for the literals that go with a tensor variable, none of `taken`."""
        used = set(taken)
        for nth in range(len(used) + 1):
            words = "Or".join(_LITERAL_WORDS[part.strip()] for part in literal.split("|"))
            name = self._literals.setdefault((literal, nth), f"{words}{nth + 1 if nth else ''}")
            if name not in used:
                return name
        raise AssertionError("more names than places")

    def _new_tensor_name(self, classes: Classes, nth: int) -> str:
        family = next((name for name, members in _FAMILIES if classes <= members), "Some")
        names = set(self._tensors.values())
        number = 1
        while (name := f"{family}Tensor{number if number > 1 else ''}") in names:
            number += 1
        self._tensors[classes, nth] = name
        return name

    def names(self) -> set[str]:
        """All names handed out so far."""
        return {*self._tensors.values(), *self._literals.values()}

    def declarations(self) -> Iterable[str]:
        """The lines that define all variables handed out."""
        for (classes, _), name in self._tensors.items():
            # A bound, not constraints: as the parameter of `TypedTensor`, which is invariant, it is solved to one
            # class all the same, and mypy does not multiply out constraints to compare overloads, which takes it
            # minutes. Where no tensor solves it (the inputs are arrays) the element type stays open.
            yield f'{name} = TypeVar("{name}", bound={" | ".join(ordered(classes))}, default=AnyTensor)'
        for (literal, _), name in self._literals.items():
            yield f'{name} = TypeVar("{name}", bound={literal})'


def ordered(classes: Classes) -> list[str]:
    """Tensor classes in the order of their ONNX codes."""
    return sorted(classes, key=lambda name: DType[name])


def literal_of(classes: Classes) -> str:
    """The Python literals that tensors of these classes meet: `float`, `int`, `float | str`."""
    kinds = {DType[name].kind for name in classes}
    numbers = {_LITERAL_OF_KIND[kind] for kind in kinds if kind != "string"}
    words = [max(numbers, key=_LITERALS.index)] if numbers else []
    return " | ".join([*words, *(["str"] if "string" in kinds else [])])

"""Two paths that meet again: what a variable is after an `if` that only the model decides.

Tensors and numbers become outputs of the `If` node. Python objects that are the same on both sides stay; those
that differ are remembered as differing, and reported where they are used.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from onnxsmith.core.semantics.number import AnyNumber, Number, NumberKind, is_number, kind_of, literal
from onnxsmith.core.target import RecordingTarget
from onnxsmith.core.value import Array, TensorValue, Value
from onnxsmith.core.value_containers import CarriedParts, Carrier
from onnxsmith.errors import BranchTypeError, DynamicPythonValueError, MissingReturnError
from onnxsmith.schema.inference.broadcasting import Different, merge_types
from onnxsmith.scripting.staging import perhaps
from onnxsmith.scripting.staging.carriers import PathEnd, lock_shared
from onnxsmith.scripting.staging.merged_tensors import (
    CHOICE,
    active,
    as_tensor,
    called,
    differing_types,
    make_dummy,
    type_of_array,
)
from onnxsmith.scripting.staging.perhaps import Perhaps
from onnxsmith.scripting.staging.script_values import Held, Marker, TensorLike
from onnxsmith.scripting.staging.structure import (
    Shell,
    as_carried,
    as_rows_of,
    beside_text,
    is_plain,
    is_tensor_like,
    joined,
    parts,
    rebuilt,
)
from onnxsmith.scripting.staging.tracked_array import WHOLE, TrackedArray
from onnxsmith.scripting.staging.truth import Negation, visible
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, TensorType

#: Python's numbers have 64 bits where ONNX has to choose.
NUMBER_DTYPES: dict[NumberKind, DType] = {"int": DType.INT64, "float": DType.DOUBLE, "bool": DType.BOOL}


class Missing(Marker):
    """No value on this path, and none is needed: whoever reads it has checked another value first."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Unassigned(Marker):
    """A variable without a value on some path; using it is the mistake."""

    span: Span | None
    reason: str


@dataclass(frozen=True, slots=True)
class AssignedWhere(Unassigned, perhaps.Undecided):
    """A variable that has a value exactly where a condition holds: where that is known, it is the value."""

    held: Perhaps

    def known_under(self, condition: Value) -> bool | None:
        """True if it has a value where a condition is true; None where the condition does not tell."""
        return self.held.known_under(condition)

    def given(self, is_there: bool) -> Held:
        """The value where it is known to exist, or a marker for an unassigned variable."""
        return self.held.value if is_there else Unassigned(self.span, self.reason)


@dataclass(frozen=True, slots=True)
class Differing(Marker):
    """A Python value that depends on a condition only the model knows; using it is the mistake."""

    then: Held
    otherwise: Held


@dataclass(frozen=True, slots=True)
class _Output(Marker):
    """Stands for an output in the merged structure; a number stays a number."""

    position: int
    number: NumberKind | None


@dataclass(frozen=True, slots=True)
class _ArrayOutput(Marker):
    """Stands for an output that is an array of numpy's, which may be written to."""

    position: int
    traits: Hashable


#: What errors call the two sides of a condition, and those of a loop that may be left early.
BRANCHES = ("when the condition is true", "when it is not")
LOOP_PATHS = ("on one path", "on another")


@dataclass(slots=True)
class _Merged:
    """Two containers, what they have in common, and that filled with outputs."""

    then: Held
    otherwise: Held
    template: Held
    filled: Held = None


@dataclass(slots=True)
class Merger:
    """Collects the outputs that two branches need so that their results agree."""

    then_scope: RecordingTarget
    else_scope: RecordingTarget
    #: What decides, where truth values that differ need no output: they are the condition or its opposite.
    condition: TensorValue | None = None
    #: Whether nothing was recorded on either side: both are the graph around them.
    is_choice: bool = False
    #: What an error calls the two.
    paths: tuple[str, str] = BRANCHES
    #: What carriers hold where the two end.
    ends: tuple[PathEnd, PathEnd] | None = None
    #: How the array of numpy is written to that is one of two; None where a tensor takes their place.
    array_traits: Callable[[Held, Held], Hashable | None] | None = None
    then_outputs: list[Value] = field(default_factory=list[Value])
    else_outputs: list[Value] = field(default_factory=list[Value])
    names: list[str] = field(default_factory=list[str])
    #: Arrays of numpy that are tensors on the other side: what a variable holds then does not change with them.
    _arrays: list[Array] = field(default_factory=list[Array])
    _positions: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    #: The containers that were merged, by the identity of both: what two variables share, they share afterwards.
    _containers: dict[tuple[int, int], _Merged] = field(default_factory=dict[tuple[int, int], _Merged])
    _templates: dict[int, _Merged] = field(default_factory=dict[int, _Merged])

    def merge(self, then: Held, otherwise: Held, name: str, *, strict: bool) -> Held:
        """The structure both sides have in common, to be filled with outputs. `strict` reports what differs."""
        if then is otherwise and not self._is_inside(then):
            return then
        if _is_same_scalar(then, otherwise):
            return then
        then, otherwise = as_carried(then), as_carried(otherwise)
        for value, other in ((then, otherwise), (otherwise, then)):
            if isinstance(value, AssignedWhere):
                return Unassigned(value.span, value.reason)  # on one side alone the condition says nothing
            if isinstance(value, Unassigned | Differing):
                return value
            if isinstance(value, Missing):
                return other if isinstance(other, Missing) else self._with_dummy(value is then, other, name)
        if not strict and perhaps.is_one(then, otherwise):
            return self._perhaps(then, otherwise, name)
        then, otherwise = beside_text(then, otherwise), beside_text(otherwise, then)
        if is_tensor_like(then) and is_tensor_like(otherwise):
            traits = None if self.array_traits is None else self.array_traits(then, otherwise)
            merge = self._tensors if traits is None else functools.partial(self._array, traits)
            return merge(then, otherwise, name)
        if isinstance(then, Carrier) or isinstance(otherwise, Carrier):
            shells = self._shells(then, otherwise)
            if shells is not None:
                return self._carriers(then, otherwise, *shells, name)
        first, second = parts(then), parts(otherwise)
        if first is not None and second is not None and type(then) is type(otherwise):
            if [key for key, _ in first] == [key for key, _ in second]:
                known = self._containers.get((id(then), id(otherwise)))
                if known is not None:
                    return known.template
                pairs = zip(first, second, strict=True)
                items = [self.merge(a, b, joined(name, key), strict=strict) for (key, a), (_, b) in pairs]
                return self._template(then, otherwise, as_rows_of(rebuilt(then, items), otherwise))
        elif is_plain(then) and is_plain(otherwise) and then == otherwise:
            return then
        if not strict:
            return Differing(then, otherwise)
        if is_plain(then) and is_plain(otherwise) and None not in (then, otherwise):
            raise DynamicPythonValueError(
                f"{called(name)} is {then!r} or {otherwise!r}, depending on a tensor's value",
                help="only tensors and numbers can depend on a tensor; choose between tensors instead",
            )
        if (then is None or otherwise is None) and name != CHOICE:
            raise MissingReturnError(
                "the function returns a value when the condition is "
                f"{'false' if then is None else 'true'} and nothing when it is not",
                help="return a tensor on every path",
            )
        is_one_class = type(then) is type(otherwise)
        raise BranchTypeError(
            f"{called(name)} is {_described(then)} {self.paths[0]} and "
            f"{'another one' if is_one_class and not callable(then) else _described(otherwise)} {self.paths[1]}",
            help="call both, and choose between the results: a(x) if condition else b(x)"
            if callable(then) and callable(otherwise)
            else "give the same kind of value, and as many, in both cases",
        )

    def _shells(self, then: Held, otherwise: Held) -> tuple[Shell, Shell] | None:
        """Two sides as carriers of one kind, taken apart; None where one cannot be the other."""
        sides: list[Shell] = []
        for value, other, scope, is_then in (
            (then, otherwise, self.then_scope, True),
            (otherwise, then, self.else_scope, False),
        ):
            carrier = value
            if not isinstance(carrier, Carrier):
                with active(scope):
                    carrier = cast(Carrier, other).adopted(value)
                self._arrays += [value] if isinstance(value, np.ndarray) else []
            if carrier is None:
                return None
            sides.append(Shell.of(carrier, self._held_by(carrier, is_then=is_then)))
        first, second = sides
        is_one_kind = type(first.like) is type(second.like) and first.names == second.names
        return (first, second) if is_one_kind else None

    def _held_by(self, carrier: Carrier, *, is_then: bool) -> CarriedParts:
        """The values of a carrier at the end of a side."""
        return carrier.carried if self.ends is None else self.ends[0 if is_then else 1].parts_of(carrier)

    def _carriers(self, then: Held, otherwise: Held, first: Shell, second: Shell, name: str) -> Held:
        """A carrier that is one of two: another object, whose values are outputs."""
        known = self._containers.get((id(then), id(otherwise)))
        if known is not None:
            return known.template
        items = self._items(first, second, name)
        template = Shell(
            first.like, first.like.joined_traits(first.traits, second.traits), first.names, items
        )
        return self._template(then, otherwise, template)

    def _items(self, first: Shell, second: Shell, name: str) -> tuple[Held, ...]:
        items: list[Held] = []
        for key, a, b in zip(first.names, first.items, second.items, strict=True):
            one, other = cast(TensorLike, a), cast(TensorLike, b)
            ranks = [_rank(each) for each in (one, other)]
            if ranks[0] != ranks[1]:
                raise BranchTypeError(
                    f"{called(name)} has {ranks[0]} dimensions {self.paths[0]} and {ranks[1]} {self.paths[1]}",
                    help="give it as many in both cases: y.reshape(…), y[None]",
                )
            items.append(self._tensors(one, other, joined(name, key)))
        return tuple(items)

    def merge_written(self, names: Callable[[Carrier], str]) -> list[tuple[Carrier, Shell]]:
        """The carriers from before that a side wrote to, which stay the objects that they are, and what they hold."""
        if self.ends is None:
            return []
        every = {key: each.carrier for end in self.ends for key, each in end.written.items()}
        found: list[tuple[Carrier, Shell]] = []
        for each in every.values():
            first, second = (
                Shell.of(each, self._held_by(each, is_then=is_then)) for is_then in (True, False)
            )
            found.append((each, replace(first, items=self._items(first, second, names(each)))))
        return found

    def filled_parts(self, shell: Shell, outputs: Sequence[Value]) -> CarriedParts:
        """The values of a carrier that stays the same object."""
        items = [cast(TensorLike, self.fill(each, outputs)) for each in shell.items]
        return dict(zip(shell.names, items, strict=True))

    def _perhaps(self, then: Held, otherwise: Held, name: str) -> Perhaps:
        """None on one side and a value on the other: the value, and whether it is there."""
        flags: list[Held] = []
        for each, scope in ((then, self.then_scope), (otherwise, self.else_scope)):
            with active(scope):
                flags.append(perhaps.presence(each))
        first, second = (perhaps.value_in(each, MISSING) for each in (then, otherwise))
        is_there = self.merge(flags[0], flags[1], joined(name, "is_there"), strict=False)
        template = Perhaps(is_there, self.merge(first, second, name, strict=False))
        self._templates[id(template)] = _Merged(then, otherwise, template)
        return template

    def _template(self, then: Held, otherwise: Held, template: Held) -> Held:
        merged = _Merged(then, otherwise, template)
        self._containers[id(then), id(otherwise)] = self._templates[id(template)] = merged
        return template

    def fill(self, template: Held, outputs: Sequence[Value]) -> Held:
        """The merged structure with the outputs in it. What was the same object on both sides stays that object."""
        if isinstance(template, _Output):
            value = outputs[template.position]
            return value if template.number is None else Number(cast(TensorValue, value), template.number)
        merged = self._templates.get(id(template))
        if merged is None:
            return template
        if merged.filled is None and isinstance(template, _ArrayOutput):
            merged.filled = TrackedArray.made_of(template.traits, {WHOLE: outputs[template.position]})
        if merged.filled is None:
            items = [self.fill(each, outputs) for _, each in parts(template) or ()]
            merged.filled = rebuilt(template, items)
        return merged.filled

    def ambiguous(self, existed: Container[object]) -> list[Held]:
        """Containers that may be the same object as others, or not: only the model knows.

        Such is a container that is one from before on one side and another on the other, or that two variables share
        on one side only. `existed` is what was there before the branch.
        """
        every = [each for each in self._containers.values() if not isinstance(each.filled, tuple | Carrier)]
        counts = collections.Counter(id(side) for each in every for side in (each.then, each.otherwise))
        found: list[Held] = [*self._arrays]
        for each in every:
            sides = [side for side in (each.then, each.otherwise) if not isinstance(side, Missing)]
            if any(side in existed or counts[id(side)] > 1 for side in sides):
                found += (each.filled, *sides)
        return found

    def lock_shared_carriers(self, is_alone: Callable[[Carrier], bool]) -> None:
        """Refuse from now on that carriers are written to which may be the same as others, or not.

        `is_alone` says of one from before whether nobody else holds it.
        """
        if self.ends is None:
            return
        every = [each for each in self._containers.values() if isinstance(each.filled, Carrier)]
        merged = [
            (
                cast(Carrier, each.filled),
                [side if isinstance(side, Carrier) else None for side in (each.then, each.otherwise)],
            )
            for each in every
        ]
        start = self.ends[0].start
        lock_shared(merged, lambda owner: owner.born > start or is_alone(owner))

    def _is_inside(self, value: Held) -> bool:
        if self.is_choice or not isinstance(value, Value) or not value.is_symbolic:
            return False
        if isinstance(value, Carrier):  # one object, of the same path
            return False
        value = visible(value)
        return self.then_scope.owns(value) or self.else_scope.owns(value)

    def _with_dummy(self, is_then: bool, present: Held, name: str) -> Held:
        """One side has nothing to say: a value of the same type, which nobody reads, stands there."""
        if isinstance(present, Carrier) and self.ends is not None:
            if present.born < self.ends[0].start:
                return present  # the object is there on both sides
            pair = (MISSING, present) if is_then else (present, MISSING)
            known = self._containers.get((id(pair[0]), id(pair[1])))
            if known is not None:
                return known.template
            shell = Shell.of(present, self._held_by(present, is_then=not is_then))
            pairs = zip(shell.names, shell.items, strict=True)
            items = [self._with_dummy(is_then, each, joined(name, key)) for key, each in pairs]
            return self._template(*pair, replace(shell, items=tuple(items)))
        inner = parts(present) if not isinstance(present, Unassigned | Differing) else None
        if inner is not None:
            pair = (MISSING, present) if is_then else (present, MISSING)
            known = self._containers.get((id(pair[0]), id(pair[1])))
            if known is not None:
                return known.template
            items = [self._with_dummy(is_then, each, joined(name, key)) for key, each in inner]
            if all(item is each for item, (_, each) in zip(items, inner, strict=True)):
                return present
            return self._template(*pair, rebuilt(present, items))
        if not isinstance(present, Value):
            return present  # the same Python value on both sides, as far as anybody can tell
        if not self._is_inside(present):
            return present  # nobody reads it on this path, so it may be the same
        scope = self.then_scope if is_then else self.else_scope
        dummy = make_dummy(scope, present.known.type, name)
        pair = (dummy, present) if is_then else (present, dummy)
        return self._output(*pair, name, kind_of(present))

    def _tensors(self, then: TensorLike, otherwise: TensorLike, name: str) -> Held:
        if is_number(then) and is_number(otherwise):
            if (
                not isinstance(then, Value)
                and not isinstance(otherwise, Value)
                and _is_same_literal(then, otherwise)
            ):
                return then
            are_truths = {type(then), type(otherwise)} == {bool}
            if self.condition is not None and then is not otherwise and are_truths:
                return Number(self.condition, "bool") if then else Negation(self.condition)
            return self._numbers(then, otherwise, name)
        self._arrays += (each for each in (then, otherwise) if isinstance(each, np.ndarray))
        sides = [
            as_tensor(then, otherwise, self.then_scope, name),
            as_tensor(otherwise, then, self.else_scope, name),
        ]
        first, second = (each.known.type for each in sides)
        try:
            merge_types(first, second)
        except Different:
            raise differing_types(first, second, then, otherwise, name, self.paths) from None
        if type(first) is not type(second):  # a value where an optional may stand is none in the model
            raise differing_types(first, second, then, otherwise, name, self.paths)
        return self._output(sides[0], sides[1], name, None)

    def _array(self, traits: Hashable, then: TensorLike, otherwise: TensorLike, name: str) -> Held:
        """An array that is one of two: what two variables share on both sides, they share afterwards."""
        known = self._containers.get((id(then), id(otherwise)))
        if known is None:
            output = cast(_Output, self._tensors(then, otherwise, name))
            return self._template(then, otherwise, _ArrayOutput(output.position, traits))
        return known.template

    def _numbers(self, then: AnyNumber, otherwise: AnyNumber, name: str) -> _Output:
        kinds = kind_of(then), kind_of(otherwise)
        kind: NumberKind = "float" if "float" in kinds else "int" if kinds != ("bool", "bool") else "bool"
        key = (kind, _identity(then), _identity(otherwise))
        if key in self._positions:
            return _Output(self._positions[key], kind)
        dtype = NUMBER_DTYPES[kind]
        sides: list[Value] = []
        for value, scope in ((then, self.then_scope), (otherwise, self.else_scope)):
            with active(scope):
                if isinstance(value, Number):
                    sides.append(value.as_dtype(dtype))
                else:
                    sides.append(scope.constant(np.asarray(literal(value, dtype))))
        self._positions[key] = len(self.names)
        return self._output(sides[0], sides[1], name, kind)

    def _output(self, then: Value, otherwise: Value, name: str, number: NumberKind | None) -> _Output:
        self.then_outputs.append(then)
        self.else_outputs.append(otherwise)
        self.names.append(name)
        return _Output(len(self.then_outputs) - 1, number)


def _rank(value: TensorLike) -> int | None:
    kind = value.known.type if isinstance(value, Value) else type_of_array(value)
    return len(kind.shape) if isinstance(kind, TensorType) and kind.shape is not None else None


def _identity(value: AnyNumber) -> Hashable:
    """The key that two numbers share if they are the same output."""
    if isinstance(value, Negation):
        return "not", id(value.opposite)
    return ("value", id(value.tensor)) if isinstance(value, Number) else ("literal", repr(value))


def _is_same_literal(a: AnyNumber, b: AnyNumber) -> bool:
    return type(a) is type(b) and (a == b) and (not isinstance(a, float) or repr(a) == repr(b))


def _is_same_scalar(a: Held, b: Held) -> bool:
    """True if two are one number of numpy's, which staged code goes on knowing."""
    return isinstance(a, np.generic) and type(a) is type(b) and a.tobytes() == cast(Any, b).tobytes()


def _described(value: Held) -> str:
    if value is None:
        return "None"
    if isinstance(value, Value):
        return f"a{'n' * isinstance(value.known.type, OptionalType)} {value.known.type.described}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Carrier):
        return f"an {value.described}"
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType | type):
        return f"the function '{value.__name__}'"
    return f"a {type(value).__name__}"

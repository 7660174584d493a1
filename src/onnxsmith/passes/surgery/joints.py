"""Where two models are joined: which value goes where, whether the types fit, and what they say of dimensions.

Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, JoinError, UnknownNameError
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.rewriting.scopes import required_inputs
from onnxsmith.passes.surgery.dimensions import Sizes, atoms, dimension_names, substituted
from onnxsmith.passes.surgery.holding import ModelContent
from onnxsmith.passes.surgery.naming import names_of, unknown
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.types.value_types import (
    AnyValueType,
    Dimension,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
)

#: Outputs (or inputs, which are shared then) of the first model -> inputs of the second that take them.
Joints: TypeAlias = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Joint:
    """A value of the first model that an input of the second takes."""

    source: ir.Value
    target: ir.Value

    @property
    def described(self) -> str:
        """For people."""
        return f"'{self.source.name}' → '{self.target.name}'"


def find_joints(first: ModelContent, second: ModelContent, given: Joints | None) -> list[Joint]:
    """The pairs of outputs and inputs: as given, else by name, else in order. Raises where unclear or impossible."""
    joints = (
        _by_default(first.graph, second.graph) if given is None else _given(first.graph, second.graph, given)
    )
    for joint in joints:
        left, right = first.type_of(joint.source), second.type_of(joint.target)
        if _differ(left, right):
            raise JoinError(
                f"{joint.described} does not fit: the first model gives {left.described}, "
                f"and the second takes {right.described}"
            )
    return joints


def _by_default(first: ir.Graph, second: ir.Graph) -> list[Joint]:
    results = {each.name: each for each in first.outputs}
    inputs = required_inputs(second)
    named = [Joint(results[each.name], each) for each in inputs if each.name in results]
    if named:
        return named
    if len(first.outputs) == len(inputs) and inputs:
        return [Joint(*each) for each in zip(first.outputs, inputs, strict=True)]
    gives, takes = _listed(first.outputs), _listed(inputs)
    is_possible = inputs and first.outputs
    example = f"map={{{first.outputs[0].name!r}: {inputs[0].name!r}}}" if is_possible else None
    raise JoinError(
        f"it is not clear what goes where: the first model gives {gives}, and the second takes {takes}",
        help=None if example is None else f"say it: {example}",
    )


def _listed(values: Sequence[ir.Value]) -> str:
    return ", ".join(repr(each.name) for each in values) or "nothing"


def _given(first: ir.Graph, second: ir.Graph, given: Joints) -> list[Joint]:
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise CallError(
            f"map is a mapping from outputs to inputs, not {described_type(type(given))}",
            help='map={"output": "input"}',
            culprit="map",
        )
    sources = {each.name or "": each for each in (*first.inputs, *first.outputs)}
    targets = {each.name or "": each for each in second.inputs}
    joints: list[Joint] = []
    for source, names in given.items():
        for target in names_of(names, "map"):
            if source not in sources or target not in targets:
                raise _misdirected(first, second, source, target)
            joint = Joint(sources[source], targets[target])
            other = next((each for each in joints if each.target is joint.target), None)
            if other is not None:
                raise JoinError(
                    f"input '{target}' of the second model would be two values: "
                    f"'{other.source.name}' and '{source}'",
                    culprit="map",
                )
            joints.append(joint)
    if not joints:
        raise JoinError("map joins nothing", culprit="map")
    return joints


def _misdirected(first: ir.Graph, second: ir.Graph, source: str, target: str) -> JoinError | UnknownNameError:
    """The error for a joint between names that are not what they should be."""
    gives = [each.name or "" for each in first.outputs]
    is_backwards = source in [each.name for each in second.outputs] and target in [
        each.name for each in first.inputs
    ]
    if is_backwards:
        return JoinError(
            f"'{source}' → '{target}' goes from the second model back to the first, which would be a circle",
            help=f"map goes from outputs of the first ({', '.join(gives)}) to inputs of the second",
            culprit="map",
        )
    if source not in gives:
        error = unknown("output", source, gives, "map")
        error.message = f"the first model has no output '{source}'"
        return error
    error = unknown("input", target, [each.name or "" for each in second.inputs], "map")
    error.message = f"the second model has no input '{target}'"
    return error


def _differ(one: AnyValueType, other: AnyValueType) -> bool:
    """True if no value is of both types."""
    if isinstance(one, TensorType) and isinstance(other, TensorType):
        return contradict(one, other)
    if isinstance(one, SequenceType) and isinstance(other, SequenceType):
        return _differ(one.element, other.element)
    if isinstance(one, OptionalType) and isinstance(other, OptionalType):
        return _differ(one.element, other.element)
    if isinstance(one, MapType) and isinstance(other, MapType):
        return one.key is not other.key or _differ(one.value, other.value)
    untyped = next((each for each in (one, other) if isinstance(each, TensorType)), None)
    return untyped is None or untyped.dtype is not None


# -- dimensions ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class JointSizes:
    """The dimensions of two models by name, once they are joined: sizes, or names of the first."""

    first: dict[str, int | str] = field(default_factory=dict[str, int | str])
    second: dict[str, int | str] = field(default_factory=dict[str, int | str])
    #: Where each name of the second model was first met.
    _met_at: dict[str, Joint] = field(default_factory=dict[str, Joint])

    def join(self, left: Dimension, right: Dimension, joint: Joint) -> None:
        """Take note that two dimensions are one."""
        if left is None or right is None:
            return
        if isinstance(right, int):
            self._equal(left, right, f"{joint.described} does not fit: a dimension")
        elif atoms(right) == [right]:  # an expression follows from its names, where these are known
            known = self.second.setdefault(right, left)
            first = self._met_at.setdefault(right, joint)
            self._equal(
                known,
                left,
                f"dimension '{right}' of the second model, by {first.described} and {joint.described},",
            )

    def _equal(self, left: int | str, right: int | str, called: str) -> None:
        """Take note that two dimensions of the first model are one."""
        one, other = self._found(left), self._found(right)
        if one == other:
            return
        if isinstance(one, int) and isinstance(other, int):
            raise JoinError(f"{called} would be {one} and {other}")
        name, size = (one, other) if isinstance(one, str) and atoms(one) == [one] else (other, one)
        if isinstance(name, str) and atoms(name) == [name]:
            self.first[name] = size

    def _found(self, dimension: int | str) -> int | str:
        while isinstance(dimension, str) and dimension in self.first:
            dimension = self.first[dimension]
        return dimension

    def settled(self) -> tuple[Sizes, Sizes]:
        """For each of the two models."""
        first = {name: self._found(size) for name, size in self.first.items()}
        second: dict[str, int | str] = {}
        for name, size in self.second.items():
            told = substituted(size, first)
            if told is not None:
                second[name] = told
        return first, second


def _tensor(kind: AnyValueType) -> TensorType | None:
    """The type of the tensors that a value is, or holds."""
    while isinstance(kind, SequenceType | OptionalType):
        kind = kind.element
    return kind if isinstance(kind, TensorType) else None


def joint_sizes(first: ModelContent, second: ModelContent, joints: Sequence[Joint]) -> tuple[Sizes, Sizes]:
    """Other names, or sizes, for the dimensions of two models that are joined.

    A name of the second model that no joint explains gets another one where the first uses it for something else.
    """
    sizes = JointSizes()
    for joint in joints:
        left, right = _tensor(first.type_of(joint.source)), _tensor(second.type_of(joint.target))
        if left is not None and right is not None:
            for one, other in zip(left.shape or (), right.shape or (), strict=False):
                sizes.join(one, other, joint)
    of_first, of_second = sizes.settled()
    ours, theirs = dimension_names(first), dimension_names(second)
    names = Names()
    names.reserve((*ours, *theirs))
    free = {name: names.unique(name) for name in theirs if name in ours and name not in of_second}
    return of_first, {**free, **of_second}

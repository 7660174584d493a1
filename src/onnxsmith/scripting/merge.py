"""Two paths that meet again: what a variable is after an `if` that only the model decides.

Tensors and numbers become outputs of the `If` node. Python objects that are the same on both sides stay; those
that differ are remembered as differing, and reported where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from onnxsmith.core.number import Number, NumberKind, kind_of
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import BranchTypeError, MissingReturnError
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType


class Missing:
    """No value on this path, and none is needed: whoever reads it has checked another value first."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Unassigned:
    """A variable without a value on some path; using it is the mistake."""

    span: Span | None
    reason: str


@dataclass(frozen=True, slots=True)
class Differing:
    """A Python value that hangs on a condition only the model knows; using it is the mistake."""

    then: object
    otherwise: object


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for output `position` in the merged structure; a number stays a number."""

    position: int
    number: NumberKind | None


@dataclass(slots=True)
class Merger:
    """Collects the outputs that two branches need so that their results agree."""

    then_scope: GraphTarget
    else_scope: GraphTarget
    then_outputs: list[Any] = field(default_factory=list[Any])
    else_outputs: list[Any] = field(default_factory=list[Any])
    names: list[str] = field(default_factory=list[str])

    def merge(self, then: Any, otherwise: Any, name: str, *, strict: bool) -> Any:
        """The structure both sides have in common, with a Slot for each output. `strict` reports what differs."""
        if then is otherwise and not self._is_inside(then):
            return then
        for value, other in ((then, otherwise), (otherwise, then)):
            if isinstance(value, Unassigned | Differing):
                return value
            if isinstance(value, Missing):
                return other if isinstance(other, Missing) else self._with_dummy(value is then, other, name)
        if _is_tensor_like(then) and _is_tensor_like(otherwise):
            return self._tensors(then, otherwise, name)
        if isinstance(then, tuple | list) and type(then) is type(otherwise):
            pairs = cast("Sequence[Any]", then), cast("Sequence[Any]", otherwise)
            if len(pairs[0]) == len(pairs[1]):
                items = [
                    self.merge(a, b, _join(name, k), strict=strict) for k, (a, b) in enumerate(zip(*pairs, strict=True))
                ]
                return _rebuilt(then, items)
        if isinstance(then, dict) and isinstance(otherwise, dict) and then.keys() == otherwise.keys():
            return {
                key: self.merge(value, otherwise[key], _join(name, key), strict=strict)
                for key, value in cast("dict[Any, Any]", then).items()
            }
        if _is_plain(then) and _is_plain(otherwise) and then == otherwise:
            return then
        if not strict:
            return Differing(then, otherwise)
        if then is None or otherwise is None:
            raise MissingReturnError(
                "the function returns a value when the condition is "
                f"{'false' if then is None else 'true'} and nothing when it is not",
                help="return a tensor on every path",
            )
        raise BranchTypeError(
            f"{_called(name)} is {_described(then)} when the condition is true and {_described(otherwise)} when it is not"
        )

    def _is_inside(self, value: Any) -> bool:
        return isinstance(value, Value) and getattr(value, "scope", None) in (self.then_scope, self.else_scope)

    def _with_dummy(self, is_then: bool, present: Any, name: str) -> Any:
        """One side has nothing to say: a value of the same type, which nobody reads, stands there."""
        if isinstance(present, tuple | list):
            items = [self._with_dummy(is_then, each, _join(name, k)) for k, each in enumerate(cast("Sequence[Any]", present))]
            return _rebuilt(present, items)
        if isinstance(present, dict):
            return {
                key: self._with_dummy(is_then, value, _join(name, key))
                for key, value in cast("dict[Any, Any]", present).items()
            }
        if not isinstance(present, Value):
            return present  # the same Python value on both sides, as far as anybody can tell
        scope = self.then_scope if is_then else self.else_scope
        dummy = make_dummy(scope, present.known.type)
        pair = (dummy, present) if is_then else (present, dummy)
        return self._slot(*pair, name, kind_of(present))

    def _tensors(self, then: Any, otherwise: Any, name: str) -> Any:
        kinds = kind_of(then), kind_of(otherwise)
        if kinds[0] is not None and kinds[1] is not None:
            if not isinstance(then, Value) and not isinstance(otherwise, Value) and _is_same_literal(then, otherwise):
                return then
            return self._numbers(then, otherwise, kinds, name)
        sides = [_as_tensor(then, otherwise, self.then_scope), _as_tensor(otherwise, then, self.else_scope)]
        types: list[AnyValueType] = [each.known.type for each in sides]
        first, second = types
        if type(first) is not type(second):
            raise BranchTypeError(
                f"{_called(name)} is a {first.described} when the condition is true and a {second.described} when it is not"
            )
        if isinstance(first, TensorType) and isinstance(second, TensorType):
            if first.dtype is not None and second.dtype is not None and first.dtype is not second.dtype:
                error = BranchTypeError(
                    f"{_called(name)} is {first.dtype.spelling} when the condition is true "
                    f"and {second.dtype.spelling} when it is not",
                    help="convert one of them with x.astype(…)",
                )
                error.locate(getattr(then, "span", None), first.dtype.spelling)
                raise error.also(getattr(otherwise, "span", None), second.dtype.spelling) if error.labels else error
        return self._slot(sides[0], sides[1], name, None)

    def _numbers(self, then: Any, otherwise: Any, kinds: tuple[Any, Any], name: str) -> Slot:
        kind: NumberKind = "float" if "float" in kinds else "int" if kinds != ("bool", "bool") else "bool"
        dtype = {"float": DType.DOUBLE, "int": DType.INT64, "bool": DType.BOOL}[kind]
        sides = []
        for value, scope in ((then, self.then_scope), (otherwise, self.else_scope)):
            with active(scope):
                if isinstance(value, Number):
                    sides.append(value.as_dtype(dtype))
                else:
                    sides.append(scope.constant(np.array(value, dtype.numpy)))
        return self._slot(sides[0], sides[1], name, kind)

    def _slot(self, then: Any, otherwise: Any, name: str, number: NumberKind | None) -> Slot:
        self.then_outputs.append(then)
        self.else_outputs.append(otherwise)
        self.names.append(name)
        return Slot(len(self.then_outputs) - 1, number)


class active:
    """Makes a graph the one that operators go to, within a `with` block."""

    __slots__ = ("_scope", "_token")

    def __init__(self, scope: GraphTarget) -> None:
        self._scope = scope

    def __enter__(self) -> GraphTarget:
        self._token = ACTIVE.set(self._scope)
        return self._scope

    def __exit__(self, *_: object) -> None:
        ACTIVE.reset(self._token)


def fill_slots(template: Any, outputs: Sequence[Any]) -> Any:
    """The merged structure with its slots replaced by the outputs."""
    if isinstance(template, Slot):
        value = outputs[template.position]
        return value if template.number is None else Number(value, template.number)
    if isinstance(template, tuple | list):
        return _rebuilt(template, [fill_slots(each, outputs) for each in cast("Sequence[Any]", template)])
    if isinstance(template, dict):
        return {key: fill_slots(value, outputs) for key, value in cast("dict[Any, Any]", template).items()}
    return template


def common_known(then: Known, otherwise: Known) -> Known:
    """What holds on both sides: the element type, and the dimensions that are equal."""
    return Known(common_type(then.type, otherwise.type))


def common_type(first: AnyValueType, second: AnyValueType) -> AnyValueType:
    """The type of a value that is one or the other."""
    if not isinstance(first, TensorType) or not isinstance(second, TensorType):
        return first
    dtype = first.dtype if first.dtype is second.dtype else first.dtype or second.dtype
    if first.shape is None or second.shape is None or len(first.shape) != len(second.shape):
        return TensorType(dtype, None)
    shape = tuple(a if a == b else None for a, b in zip(first.shape, second.shape, strict=True))
    return TensorType(dtype, shape)


def make_dummy(scope: GraphTarget, kind: AnyValueType) -> Any:
    """A value of a type that nobody will read: zeros, with open dimensions empty."""
    with active(scope):
        if not isinstance(kind, TensorType):
            element = kind
            while not isinstance(element, TensorType):
                element = element.element  # type: ignore[union-attr]
            return scope.operators.SequenceEmpty(dtype=element.dtype or DType.FLOAT)
        dtype = kind.dtype or DType.FLOAT
        shape = tuple(each if isinstance(each, int) else 0 for each in kind.shape or ())
        if int(np.prod(shape)) > 4096:
            shape = (0,) * len(shape)
        return scope.constant(np.zeros(shape, dtype.numpy) if dtype is not DType.STRING else np.full(shape, "", object))


def _as_tensor(value: Any, other: Any, scope: GraphTarget) -> Any:
    """A side of a merge as a tensor; a number takes the element type of the tensor on the other side."""
    if isinstance(value, Value) and not isinstance(value, Number):
        return value
    with active(scope):
        other_type = other.known.type if isinstance(other, Value) else None
        dtype = other_type.dtype if isinstance(other_type, TensorType) else None
        if isinstance(value, Number):
            return value.tensor if dtype is None else value.as_dtype(dtype)
        if kind_of(value) is None or dtype is None:
            return scope.lift(value)
        return scope.operators.Identity(value) if dtype is None else scope.constant(np.array(value, dtype.numpy))


def _join(name: str, part: Any) -> str:
    return f"{name}_{part}" if name else str(part)


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Value | np.ndarray | np.generic) or kind_of(value) is not None


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bytes | int | float | complex | type(None) | tuple | frozenset | type)


def _is_same_literal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b) and (not isinstance(a, float) or repr(a) == repr(b))


def _rebuilt(like: Any, items: list[Any]) -> Any:
    if isinstance(like, list):
        return items
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


def _called(name: str) -> str:
    return "the result" if name.startswith("result") else f"'{name}'"


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Value):
        return f"a {value.known.type.described}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(cast('Sequence[Any]', value))}"
    return f"a {type(value).__name__}"

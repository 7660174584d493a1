"""The sides of a merge as tensors of one type: numbers beside tensors, values that nobody reads, types that differ."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.core.call import constant_like
from onnxsmith.core.semantics.number import AnyNumber, Number, is_number
from onnxsmith.core.target import ACTIVE, RecordingTarget
from onnxsmith.core.value import Array, Value
from onnxsmith.errors import BranchTypeError, OnnxsmithError
from onnxsmith.schema.promote import number_array, refuse_loss
from onnxsmith.scripting.staging.caught import note_conditional
from onnxsmith.scripting.staging.script_values import TensorLike
from onnxsmith.scripting.staging.truth import visible
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType

#: What the branches of `a if test else b` give, and what a function returns.
CHOICE = "choice"
RESULT_NAME = "result"
#: A value that nobody reads is not worth storing more than this many elements.
_LARGEST_DUMMY = 256


def differing_types(
    first: AnyValueType,
    second: AnyValueType,
    then: TensorLike,
    otherwise: TensorLike,
    name: str,
    paths: tuple[str, str],
) -> BranchTypeError:
    """The error for two values that no type has both of."""
    are_tensors = isinstance(first, TensorType) and isinstance(second, TensorType)
    is_same_kind = type(first) is type(second)
    shown = [
        cast(DType, each.dtype).spelling
        if are_tensors and isinstance(each, TensorType)
        else repr(each)
        if is_same_kind
        else f"a{'n' * isinstance(each, OptionalType)} {each.described}"
        for each in (first, second)
    ]
    help_text = "convert one of them with x.astype(…)" if is_same_kind else None
    if OptionalType in (type(first), type(second)):
        help_text = help_for_optional(name)
    error = BranchTypeError(
        f"{called(name)} is {shown[0]} {paths[0]} and {shown[1]} {paths[1]}", help=help_text
    )
    spans = [getattr(each, "span", None) for each in (then, otherwise)]
    # An input was made where the function begins, which tells nobody where the branches differ.
    if is_same_kind and not any(_is_input(each) for each in (then, otherwise)) and spans[0] != spans[1]:
        error.locate(spans[0], shown[0])
        if error.labels:
            error.also(spans[1], shown[1])
    return error


def help_for_optional(name: str) -> str:
    """How a variable that may be absent gets a value on every path."""
    name = name or "value"
    return f"give it a value before, where it is absent: {name} = {name} if {name} is not None else …"


def _is_input(value: TensorLike) -> bool:
    if not isinstance(value, Value) or isinstance(value, Number):
        return False
    recording = value.target.recording
    return recording is not None and recording.is_given(value)


class active:
    """Makes a graph the one that operators go to, within a `with` block."""

    __slots__ = ("_scope", "_token")

    def __init__(self, scope: RecordingTarget) -> None:
        self._scope = scope

    def __enter__(self) -> RecordingTarget:
        self._token = ACTIVE.set(self._scope)
        return self._scope

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object, /) -> None:
        ACTIVE.reset(self._token)
        if error is not None and not isinstance(error, OnnxsmithError):
            note_conditional(error)


def make_dummy(scope: RecordingTarget, kind: AnyValueType, name: str) -> Value:
    """A value of a type that nobody will read: zeros, with open dimensions empty."""
    with active(scope):
        if not isinstance(kind, TensorType):
            element: Any = kind
            while isinstance(element, SequenceType | OptionalType):
                element = element.element
            if element.dtype is None:
                raise needs_types(BranchTypeError, name)
            empty = scope.operators.SequenceEmpty(dtype=element.dtype)
            return empty if isinstance(kind, SequenceType) else scope.operators.Optional(type=element)
        dtype = kind.dtype
        if dtype is None:
            raise needs_types(BranchTypeError, name)
        shape = tuple(each if isinstance(each, int) else 0 for each in kind.shape or ())
        if dtype is DType.STRING:
            return scope.constant(np.full(shape, "", object))
        if int(np.prod(shape)) > _LARGEST_DUMMY:
            zero = np.zeros(1, dtype.numpy)
            return scope.operators.ConstantOfShape(np.array(shape, np.int64), value=zero)
        return scope.constant(np.zeros(shape, dtype.numpy))


def as_tensor(value: TensorLike, other: TensorLike, scope: RecordingTarget, name: str) -> Value:
    """A side of a merge as a tensor; a number takes the element type of the tensor on the other side."""
    if isinstance(value, Value) and not isinstance(value, Number):
        return value
    with active(scope):
        if not is_number(value):
            return scope.lift(value)
        other_type = other.known.type if isinstance(other, Value) else type_of_array(other)
        if not isinstance(other_type, TensorType):
            return value.tensor if isinstance(value, Number) else scope.lift(value)
        if other_type.dtype is not None:
            return number_as(scope, value, other_type.dtype, name, BranchTypeError)
        assert isinstance(other, Value)  # the element type of an array is known
        if not scope.sees(visible(other)):
            raise needs_types(BranchTypeError, name)
        return (
            value.as_like(other)
            if isinstance(value, Number)
            else constant_like(scope, np.asarray(value), other)
        )


def type_of_array(value: Array | np.generic[Any] | float) -> TensorType:
    """The type of an array or numpy scalar."""
    array = np.asarray(value)
    return TensorType(DType.from_numpy(array.dtype), array.shape)


def number_as(
    scope: RecordingTarget, value: AnyNumber, dtype: DType, name: str, error: type[OnnxsmithError]
) -> Value:
    """A number, known or not, as a scalar of an element type; refused where a literal would be."""
    if isinstance(value, Number):
        refuse_loss(value.sample, dtype, called(name), f"a Python {value.kind}", error)
        return value.as_dtype(dtype)
    return scope.constant(number_array(value, dtype, called(name), error))


def needs_types(error: type[OnnxsmithError], name: str) -> OnnxsmithError:
    """A number stands for a tensor whose element type is not known, or nothing does: whoever calls knows it."""
    raised = error(
        f"{called(name)} is a tensor of unknown element type in one place, "
        "and in another it has to be made without knowing it",
        help="annotate the parameters, so that the element type is known",
    )
    raised.needs_values = True
    return raised


def called(name: str) -> str:
    if name == CHOICE:
        return "this"
    return "the result" if name.startswith(RESULT_NAME) else f"'{name}'"

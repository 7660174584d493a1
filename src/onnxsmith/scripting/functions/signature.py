"""The parameters of a script: tensors, or attributes, by their annotations."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import undefined_name_help
from onnxsmith.errors import AnnotationError, OnnxsmithError, combined
from onnxsmith.schema.definition import AttributeType
from onnxsmith.scripting.source.definition_spans import Places
from onnxsmith.scripting.source.outside import closure_of
from onnxsmith.types.annotations import (
    Annotation,
    AttributeAnnotation,
    choice_of_dtypes,
    has_repeated_names,
    read_attribute_annotation,
    read_value_type,
    type_variable,
)
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, OptionalType

if TYPE_CHECKING:
    import onnx

_ATTRIBUTE_TYPES: dict[tuple[type, bool], AttributeType] = {
    (int, False): AttributeType.INT,
    (bool, False): AttributeType.INT,
    (float, False): AttributeType.FLOAT,
    (str, False): AttributeType.STRING,
    (int, True): AttributeType.INTS,
    (bool, True): AttributeType.INTS,
    (float, True): AttributeType.FLOATS,
    (str, True): AttributeType.STRINGS,
    (np.ndarray, False): AttributeType.TENSOR,
}


#: The value of an attribute, as an eager run has it.
AttributeScalar: TypeAlias = int | float | str | Array
AttributeContent: TypeAlias = AttributeScalar | list[int | float | str]


@dataclass(frozen=True, slots=True)
class ScriptParameter:
    """A parameter: an input with a type, or an attribute."""

    name: str
    role: Literal["input", "attribute", "self"]
    type: AnyValueType = UNKNOWN_TENSOR
    attribute: AttributeAnnotation | None = None
    default: Any = inspect.Parameter.empty
    #: The element types that a Union or TypeVar allows; `type` leaves the element type open then.
    dtypes: tuple[DType, ...] = ()
    variable: typing.TypeVar | None = None

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty

    @property
    def is_optional(self) -> bool:
        """True if the input may be None."""
        return isinstance(self.type, OptionalType) or self.default is None

    @property
    def attribute_type(self) -> AttributeType:
        assert self.attribute is not None
        return _ATTRIBUTE_TYPES[self.attribute.scalar, self.attribute.is_list]

    @property
    def example(self) -> AttributeContent:
        """Some value of the attribute's type."""
        assert self.attribute is not None
        kind = self.attribute.scalar
        scalar = "" if kind is str else np.zeros(1, np.float32) if kind is np.ndarray else kind(1)
        return cast("list[int | float | str]", [scalar]) if self.attribute.is_list else scalar

    def attribute_value(self, value: UserValue) -> AttributeContent:
        """A value given for the attribute, as an eager run has it: floats are rounded as ONNX keeps them."""
        assert self.attribute is not None
        scalar = self.attribute.scalar
        if self.attribute.is_list:
            items = [_attribute_scalar(scalar, each) for each in cast("Sequence[UserValue]", value)]
            return cast("list[int | float | str]", items)  # there is no list of tensors
        return _attribute_scalar(scalar, value)


def _attribute_scalar(scalar: type, value: UserValue) -> AttributeScalar:
    if scalar is float:
        return float(np.float32(cast(float, value)))
    if scalar is not np.ndarray:
        return scalar(value)
    if hasattr(value, "SerializeToString"):
        from onnx import numpy_helper  # heavy: only where a TensorProto is given

        return numpy_helper.to_array(cast("onnx.TensorProto", value))
    return np.asarray(value)


@dataclass(frozen=True, slots=True)
class ScriptSignature:
    """All parameters of a script, and what its annotation says it returns."""

    python: inspect.Signature
    parameters: tuple[ScriptParameter, ...]
    returns: tuple[AnyValueType, ...] | None
    is_variadic: bool
    #: Whether a dimension's name stands more than once among the inputs, where it is the same size.
    repeats_dimensions: bool
    #: Inputs that are annotated with the same TypeVar, and have one element type in each call.
    same_dtype: tuple[tuple[ScriptParameter, ...], ...] = ()

    @property
    def has_self(self) -> bool:
        """True if it is the signature of a method."""
        return any(each.role == "self" for each in self.parameters)

    @property
    def inputs(self) -> tuple[ScriptParameter, ...]:
        return tuple(each for each in self.parameters if each.role == "input")

    @property
    def attributes(self) -> tuple[ScriptParameter, ...]:
        return tuple(each for each in self.parameters if each.role == "attribute")


def read_signature(function: types.FunctionType, places: Places) -> ScriptSignature:
    """The signature of a script; annotations are evaluated where the function stands.

    Raises AnnotationError for all that cannot be read, each at its place.
    """
    annotations = function.__annotations__
    signature = inspect.signature(function)
    parameters: list[ScriptParameter] = []
    errors: list[OnnxsmithError] = []
    is_variadic = False
    for position, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            is_variadic = True
            continue
        if position == 0 and name in ("self", "cls") and name not in annotations:
            parameters.append(ScriptParameter(name, "self"))
            continue
        with _collecting(errors, places, name):
            hint = _evaluated(function, name, annotations.get(name))
            parameters.append(_parameter(name, hint, parameter.default))
    returns: tuple[AnyValueType, ...] | None = None
    with _collecting(errors, places, "return"):
        returns = _returns(_evaluated(function, "return", annotations.get("return")))
    if errors:
        raise combined(errors)
    repeats = has_repeated_names(each.type for each in parameters if each.role == "input")
    return ScriptSignature(
        signature, tuple(parameters), returns, is_variadic, repeats, _of_one_variable(parameters)
    )


def _of_one_variable(parameters: Sequence[ScriptParameter]) -> tuple[tuple[ScriptParameter, ...], ...]:
    groups: dict[typing.TypeVar, list[ScriptParameter]] = {}
    for each in parameters:
        if each.variable is not None:
            groups.setdefault(each.variable, []).append(each)
    return tuple(tuple(each) for each in groups.values() if len(each) > 1)


@contextmanager
def _collecting(errors: list[OnnxsmithError], places: Places, name: str) -> Generator[None]:
    try:
        yield
    except OnnxsmithError as error:
        error.labels = ()  # an annotation that is text was evaluated elsewhere
        errors.append(error.locate(places.annotation(name)))


def _parameter(name: str, hint: Annotation, default: UserValue) -> ScriptParameter:
    if hint is None:
        return ScriptParameter(name, "input", default=default)
    attribute = read_attribute_annotation(hint)
    if attribute is None and default is None:  # `alpha: int | None = None`
        present = [each for each in typing.get_args(hint) if each is not type(None)]
        attribute = read_attribute_annotation(present[0]) if len(present) == 1 else None
    if attribute is not None:
        return ScriptParameter(name, "attribute", attribute=attribute, default=default)
    if _is_any_tensor(hint):
        return ScriptParameter(name, "input", default=default)
    kind = read_value_type(hint, f"the annotation of '{name}'")
    return ScriptParameter(
        name,
        "input",
        kind,
        default=default,
        dtypes=choice_of_dtypes(hint),
        variable=type_variable(hint),
    )


def _is_any_tensor(hint: Annotation) -> bool:
    """Annotations that say no more than none: Any, np.ndarray, onnxsmith.Tensor."""
    return hint is Any or hint is np.ndarray or getattr(hint, "__name__", "") == "Tensor"


def _returns(hint: Annotation | tuple[Annotation, ...]) -> tuple[AnyValueType, ...] | None:
    if isinstance(hint, tuple):
        results: tuple[Any, ...] = (
            hint  # `-> (FLOAT["N"], FLOAT["N"])` is no type; it says the same as `tuple[…]`
        )
    elif hint is None or _is_any_tensor(hint):
        return None
    elif typing.get_origin(hint) is tuple:
        results = typing.get_args(hint)
    else:
        return (_result_type(hint),)
    if len(results) == 2 and results[1] is ...:
        return None
    return tuple(_result_type(each) for each in results)


def _result_type(hint: Annotation) -> AnyValueType:
    return UNKNOWN_TENSOR if _is_any_tensor(hint) else read_value_type(hint, "the return annotation")


def with_evaluated_annotations(function: types.FunctionType) -> types.FunctionType:
    """A function like this one whose annotations are objects: names that only annotations use need not be kept then."""
    result = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    result.__dict__.update(function.__dict__)
    result.__doc__, result.__module__ = function.__doc__, function.__module__
    result.__qualname__ = function.__qualname__
    result.__kwdefaults__ = function.__kwdefaults__
    result.__annotations__ = {
        name: _evaluated(function, name, each) for name, each in function.__annotations__.items()
    }
    return result


@functools.lru_cache(
    maxsize=1024
)  # a module repeats a few: compiling one takes ten times as long as its evaluation
def _compiled(annotation: str) -> types.CodeType:
    return compile(annotation.strip(), "<string>", "eval", dont_inherit=True)


def _evaluated(function: types.FunctionType, name: str, annotation: Annotation) -> Annotation:
    """An annotation as an object; under `from __future__ import annotations` it is text."""
    if not isinstance(annotation, str):
        return annotation
    try:
        # The user's own annotation, as typing.get_type_hints does.
        return eval(_compiled(annotation), function.__globals__, closure_of(function))
    except OnnxsmithError:
        raise
    except Exception as error:
        where = "the return annotation" if name == "return" else f"the annotation of '{name}'"
        unknown = error.name if isinstance(error, NameError) else None
        known = [*function.__globals__, *function.__code__.co_freevars]
        help_text = undefined_name_help(unknown, known) if unknown else None
        raise AnnotationError(f"{where} cannot be evaluated: {error}", help=help_text) from None

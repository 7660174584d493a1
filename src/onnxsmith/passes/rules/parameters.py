"""The parameters of a pattern or a replacement: tensors, constants, `*rest`, and captured numbers and attributes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import RuleError
from onnxsmith.scripting.functions.signature import ScriptParameter, with_evaluated_annotations
from onnxsmith.source import Span, code_span
from onnxsmith.tracing.trace import named_version
from onnxsmith.types.annotations import (
    Annotation,
    AttributeAnnotation,
    read_attribute_annotation,
    read_value_type,
)
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType

Role: TypeAlias = Literal["tensor", "constant", "rest", "captured"]


class Constant:
    """The annotation of a parameter that matches constants alone; the replacement gets the array.

    >>> from onnxsmith import Constant, Rule, opset21 as op
    >>> def scaled_twice(x, a: Constant, b: Constant):
    ...     return (x * a) * b
    >>> def scaled_once(x, a: Constant, b: Constant):
    ...     return x * (a * b)
    >>> Rule(scaled_twice, scaled_once)
    Rule('scaled twice': Mul)
    """


@dataclass(frozen=True, slots=True)
class RuleParameter:
    """One parameter."""

    name: str
    role: Role
    type: AnyValueType = UNKNOWN_TENSOR
    attribute: AttributeAnnotation | None = None
    is_annotated: bool = True
    #: Whether it stands before the `*`.
    is_positional: bool = True
    default: object = inspect.Parameter.empty

    @property
    def has_default(self) -> bool:
        """True if there is a value for it where nothing was matched."""
        return self.default is not inspect.Parameter.empty

    @property
    def as_script_parameter(self) -> ScriptParameter:
        """A captured parameter as scripts have it."""
        return ScriptParameter(self.name, "attribute", attribute=self.attribute)


@dataclass(frozen=True, slots=True)
class RuleFunction:
    """A pattern or a replacement: the function, and what its parameters are."""

    function: Callable[..., Any]
    parameters: tuple[RuleParameter, ...]
    #: The name of the function; empty for a lambda.
    name: str
    #: Where it is defined; None for a lambda, which stands where the rule is made.
    span: Span | None
    #: The opset version that its code means; None where the opsets that it refers to say so.
    version: int | None = None

    @property
    def opset_version(self) -> int | None:
        """The opset version that it is written in; None where it may be any."""
        return named_version(self.function) if self.version is None else self.version

    def parameter(self, name: str) -> RuleParameter | None:
        """A parameter by its name."""
        return next((each for each in self.parameters if each.name == name), None)

    def call(self, values: dict[str, Any], rest: tuple[Any, ...]) -> Any:
        """Call the function with a value for each parameter by name; `rest` is for `*xs`."""
        before = [values[each.name] for each in self.parameters if each.is_positional]
        named = {
            each.name: values[each.name]
            for each in self.parameters
            if not each.is_positional and each.role != "rest"
        }
        return self.function(*before, *rest, **named)


def read_replacement(given: object, patterns: Sequence[RuleFunction]) -> RuleFunction:
    """A replacement: what its parameters are, it need not say again where the pattern does."""
    function = read_function(given, "the replacement", is_replacement=True)
    parameters: list[RuleParameter] = []
    for each in function.parameters:
        other = next((found for pattern in patterns if (found := pattern.parameter(each.name))), None)
        if other is not None and not each.is_annotated and other.role == "captured":
            each = replace(each, role=other.role, attribute=other.attribute)
        parameters.append(each)
    return replace(function, parameters=tuple(parameters))


def read_function(given: object, what: str, *, is_replacement: bool = False) -> RuleFunction:
    """A function as a part of a rule; `what` names it in errors. Raises RuleError and AnnotationError."""
    if not isinstance(given, types.FunctionType):
        raise RuleError(
            f"{what} is a function, not {described_type(type(given))}",
            help="Rule(pattern, replacement), two plain functions of tensors",
        )
    evaluated = with_evaluated_annotations(given)
    hints = evaluated.__annotations__
    parameters: list[RuleParameter] = []
    for each in inspect.signature(given).parameters.values():
        if each.kind is each.VAR_KEYWORD:
            raise RuleError(
                f"{what} takes **{each.name}: what it stands for cannot be known",
                help="name the attributes one by one: axis: int",
            ).locate(_span(given))
        hint = hints.get(each.name)
        if hint is None and each.kind is each.KEYWORD_ONLY and not is_replacement:
            raise RuleError(
                f"'{each.name}' of {what} stands after the * and is not annotated",
                help=f"say what is captured: {each.name}: int (or float, str, bool, list[int], …)",
            ).locate(_span(given))
        is_positional = each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        read = _parameter(each, hint, what, _span(given))
        parameters.append(replace(read, is_positional=is_positional))
    name = "" if given.__name__ == "<lambda>" else given.__name__
    return RuleFunction(given, tuple(parameters), name, _span(given))


def _span(function: types.FunctionType) -> Span | None:
    return None if function.__name__ == "<lambda>" else code_span(function.__code__)


def _parameter(each: inspect.Parameter, hint: Annotation, what: str, span: Span | None) -> RuleParameter:
    if each.kind is each.VAR_POSITIONAL:
        return RuleParameter(each.name, "rest", _type(hint, each.name))
    if each.default is not each.empty:
        hint = _without_none(hint)
    attribute = read_attribute_annotation(hint)
    if attribute is not None:
        return RuleParameter(each.name, "captured", attribute=attribute, default=each.default)
    if each.kind is each.KEYWORD_ONLY and hint is not None:
        raise RuleError(
            f"'{each.name}' of {what} stands after the *, and its annotation is no number, string or list",
            help=f"say what is captured: {each.name}: int (or float, str, bool, list[int], …)",
        ).locate(span)
    if hint is Constant:
        return RuleParameter(each.name, "constant", default=each.default)
    kind = _type(hint, each.name)
    return RuleParameter(each.name, "tensor", kind, is_annotated=hint is not None, default=each.default)


def _type(hint: Annotation, name: str) -> AnyValueType:
    return UNKNOWN_TENSOR if _is_open(hint) else read_value_type(hint, f"the annotation of '{name}'")


def _without_none(hint: Annotation) -> Annotation:
    """The annotation of a parameter with a default where it is matched: `Tensor` for `Tensor | None`."""
    if not isinstance(hint, types.UnionType):
        return hint
    parts = [each for each in hint.__args__ if each is not types.NoneType]
    return parts[0] if len(parts) == 1 else hint


def _is_open(hint: Annotation) -> bool:
    return hint is None or hint is Any or getattr(hint, "__name__", "") in ("Tensor", "ndarray")

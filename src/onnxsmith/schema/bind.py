"""Binding: what a user wrote between the parentheses becomes inputs and attributes, as the schema puts them.

Looks at positions, names and attribute values. Checks that the types of inputs are allowed and agree with each other;
literals got theirs in `promote`, and tensors are never converted.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import (
    DTypeNotAllowedError,
    MissingAttributeError,
    MissingInputError,
    MixedDTypesError,
    OutputCountError,
    TooManyInputsError,
    UnknownAttributeError,
)
from onnxsmith.schema.attributes import guess_attribute, read_attribute
from onnxsmith.schema.definition import Attribute, OperatorDef, Parameter, parameter_at
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type

_OUTPUTS = re.compile("outputs_+")


class Bound(NamedTuple):
    """A call after binding. `output_count` is None where only the inputs or a body decide it."""

    inputs: list[Any]
    attributes: dict[str, Any]
    output_count: int | None


@dataclass(frozen=True, slots=True)
class _Layout:
    """The parts of a definition that binding needs, computed once."""

    input_positions: dict[str, int]
    attribute_names: dict[str, Attribute]
    required_attributes: tuple[Attribute, ...]
    required_inputs: int
    variadic: Parameter | None
    fixed: int
    default_outputs: int | None
    is_simple: bool


@lru_cache(maxsize=4096)
def layout(op: OperatorDef) -> _Layout:
    """Names as Python spells them: a keyword, or an attribute named like an input, gets a trailing underscore."""
    inputs = {python_name(p.name): k for k, p in enumerate(op.inputs) if p.option != "variadic"}
    attributes: dict[str, Attribute] = {}
    for attribute in op.attributes.values():
        spelled = python_name(attribute.name)
        attributes[spelled + "_" if spelled in inputs else spelled] = attribute
    variadic = op.inputs[-1] if op.inputs and op.inputs[-1].option == "variadic" else None
    fixed = len(op.inputs) - (variadic is not None)
    required = 0
    for position, parameter in enumerate(op.inputs[:fixed]):
        if parameter.option == "single" and position < op.min_inputs:
            required = position + 1
    has_variadic_output = any(p.option == "variadic" for p in op.outputs)
    default_outputs = None if has_variadic_output else max(1, sum(p.option == "single" for p in op.outputs))
    return _Layout(
        inputs,
        attributes,
        tuple(a for a in op.attributes.values() if a.is_required),
        required,
        variadic,
        fixed,
        default_outputs,
        op.is_known and variadic is None and not any(a.is_required for a in op.attributes.values()),
    )


def python_name(name: str) -> str:
    """A schema's name as a Python keyword argument."""
    return name + "_" if keyword.iskeyword(name) else name


def bind(op: OperatorDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Sort the arguments of a call into inputs and attributes, or say what is wrong with them."""
    plan = layout(op)
    if not kwargs and plan.is_simple and plan.fixed == len(args) and not any(each is None for each in args):
        return Bound(list(args), {}, plan.default_outputs)
    if not op.is_known:
        return _bind_unknown(op, args, kwargs)
    if len(args) > plan.fixed and plan.variadic is None:
        raise _too_many(op, plan, args)
    inputs: list[Any] = list(args)
    attributes: dict[str, Any] = {}
    output_count = plan.default_outputs
    for name, value in kwargs.items():
        position = plan.input_positions.get(name)
        if position is not None:
            _place_keyword_input(op, inputs, position, name, value)
        elif name in plan.attribute_names:
            attribute = plan.attribute_names[name]
            if value is not None:
                attributes[attribute.name] = read_attribute(op, attribute, value)
        elif name == "outputs":
            output_count = _read_output_count(op, value)
        else:
            raise _unknown_keyword(op, plan, name)
    while inputs and inputs[-1] is None:
        inputs.pop()
    _check_required(op, plan, inputs, attributes)
    return Bound(inputs, attributes, output_count)


def check_node(op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """Refuse what a node of a finished graph has and no call could have; values are in normal form, None is a hole."""
    if not op.is_known:
        return
    plan = layout(op)
    given = list(inputs)
    while given and given[-1] is None:
        given.pop()
    if len(given) > plan.fixed and plan.variadic is None:
        raise _too_many(op, plan, tuple(given))
    for name, value in attributes.items():
        if name not in op.attributes:
            raise _unknown_keyword(op, plan, name)
        read_attribute(op, op.attributes[name], value)
    _check_required(op, plan, given, attributes)


def _bind_unknown(op: OperatorDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    attributes = dict(kwargs)
    count = attributes.pop("outputs", 1)
    # An attribute that is called `outputs` is written `outputs_`, and so on.
    attributes = {name[:-1] if _OUTPUTS.fullmatch(name) else name: each for name, each in attributes.items()}
    return Bound(
        list(args),
        {name: guess_attribute(op, name, value) for name, value in attributes.items() if value is not None},
        _read_output_count(op, count),
    )


def _place_keyword_input(op: OperatorDef, inputs: list[Any], position: int, name: str, value: Any) -> None:
    if position < len(inputs) and inputs[position] is not None:
        raise TooManyInputsError(
            f"{op.qualified_name} got input '{name}' twice, by position and by keyword", culprit=name
        )
    # Whatever lies between is a hole: the input goes where the schema puts it and does not shift.
    inputs.extend([None] * (position + 1 - len(inputs)))
    inputs[position] = value


def _read_output_count(op: OperatorDef, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise OutputCountError(f"outputs= is a number of outputs, not {value!r}", culprit="outputs")
    if not max(op.min_outputs, 1) <= value <= op.max_outputs:
        names = ", ".join(parameter.name for parameter in op.outputs)
        bound = "any number of" if op.max_outputs > 10_000 else str(op.max_outputs)
        raise OutputCountError(
            f"{op.qualified_name} has {bound} outputs ({names}), not {value}", culprit="outputs"
        )
    return value


def _check_required(op: OperatorDef, plan: _Layout, inputs: list[Any], attributes: Mapping[str, Any]) -> None:
    for position in range(plan.required_inputs):
        if op.inputs[position].option == "single" and (position >= len(inputs) or inputs[position] is None):
            raise _missing_input(op, op.inputs[position].name, inputs)
    if plan.variadic is not None:
        given = max(0, len(inputs) - plan.fixed)
        if given < plan.variadic.min_arity:
            raise _missing_input(op, plan.variadic.name, inputs)
        for position in range(plan.fixed, len(inputs)):
            if inputs[position] is None:
                raise MissingInputError(
                    f"{op.qualified_name} takes no None among '{plan.variadic.name}'", culprit=position
                )
    for attribute in plan.required_attributes:
        if attribute.name not in attributes:
            raise MissingAttributeError(
                f"{op.qualified_name} needs the attribute '{attribute.name}'",
                help=f"{call_form(op)[:-1]}, {attribute.name}=…)",
            )


def _missing_input(op: OperatorDef, name: str, inputs: list[Any]) -> MissingInputError:
    given = sum(each is not None for each in inputs)
    return MissingInputError(
        f"{op.qualified_name} is missing input '{name}'; {given} of its inputs {_were(given)} given",
        help=call_form(op),
    )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _too_many(op: OperatorDef, plan: _Layout, args: tuple[Any, ...]) -> TooManyInputsError:
    names = ", ".join(parameter.name for parameter in op.inputs)
    takes = (
        f"{plan.fixed} inputs ({names})"
        if plan.fixed > 1
        else f"one input ({names})"
        if names
        else "no inputs"
    )
    help_text = call_form(op)
    if plan.attribute_names:
        help_text += "; attributes are passed by keyword: " + ", ".join(plan.attribute_names)
    return TooManyInputsError(
        f"{op.qualified_name} takes {takes}, got {len(args)}", help=help_text, culprit=plan.fixed
    )


def _unknown_keyword(op: OperatorDef, plan: _Layout, name: str) -> UnknownAttributeError:
    if plan.variadic is not None and name == plan.variadic.name:
        return UnknownAttributeError(
            f"{op.qualified_name} takes '{name}' by position",
            help=f"{op.qualified_name}(a, b, …)",
            culprit=name,
        )
    known = [*plan.attribute_names, *plan.input_positions]
    suggestion = did_you_mean(name, known)
    if suggestion is None:
        listed = ", ".join(plan.attribute_names)
        suggestion = f"its attributes are {listed}" if listed else "it has no attributes"
    return UnknownAttributeError(
        f"{op.qualified_name} has no attribute '{name}' in version {op.since_version}",
        help=suggestion,
        culprit=name,
    )


def call_form(op: OperatorDef) -> str:
    """How a call is written: `Clip(input, min=None, max=None)`."""
    parts: list[str] = []
    for parameter in op.inputs:
        name = python_name(parameter.name)
        suffix = {"single": "", "optional": "=None", "variadic": ""}[parameter.option]
        parts.append(f"*{name}" if parameter.option == "variadic" else name + suffix)
    return f"{op.qualified_name}({', '.join(parts)})"


# -- Checks that the types of an operator's inputs are allowed, and agree with each other --


#: ONNX's names of tensors. Every call that is bound asks for some.
_TENSORS = {dtype: TensorType(dtype, None).onnx_name for dtype in (None, *DType)}

_CHECKED_LIMIT = 8192
# Calls whose types were found to go together; the answer depends on nothing but the key.
_checked: dict[tuple[OperatorDef, tuple[str, ...]], bool] = {}


def parameters_of(parameters: tuple[Parameter, ...], count: int) -> tuple[Parameter | None, ...]:
    """The formal parameter of each of so many values; the last one repeats when it is variadic."""
    extra = count - len(parameters)
    if extra <= 0:
        return parameters[:count]
    last = parameters[-1] if parameters and parameters[-1].option == "variadic" else None
    return (*parameters, *[last] * extra)


def check_types(op: OperatorDef, types: Sequence[AnyValueType | None]) -> None:
    """Refuse inputs whose types the operator does not allow, or that must agree and do not."""
    names = [
        "" if each is None else _TENSORS[each.dtype] if isinstance(each, TensorType) else each.onnx_name
        for each in types
    ]
    key = (op, tuple(names))
    if key in _checked:
        return
    bound: dict[str, tuple[int, str]] = {}
    for position, (name, parameter) in enumerate(
        zip(key[1], parameters_of(op.inputs, len(types)), strict=True)
    ):
        if not name or parameter is None:
            continue
        if parameter.types and name not in parameter.types:
            raise _not_allowed(op, parameter, position, name)
        if not parameter.is_homogeneous:
            continue
        first = bound.setdefault(parameter.type_name, (position, name))
        if first[1] != name:
            raise _mixed(op, first, (position, name))
    if len(_checked) >= _CHECKED_LIMIT:
        _checked.clear()
    _checked[key] = True


def spelled(onnx_name: str) -> str:
    """ONNX's name of a type as people write it: float32 for tensor(float)."""
    parsed = parse_onnx_type(onnx_name)
    if isinstance(parsed, TensorType) and parsed.dtype is not None:
        return parsed.dtype.spelling
    return onnx_name


def _not_allowed(op: OperatorDef, parameter: Parameter, position: int, name: str) -> DTypeNotAllowedError:
    listed = sorted((spelled(each) for each in parameter.types), key=_spelling_order)
    help_text = f"'{parameter.name}' may be " + ", ".join(listed)
    if name.startswith("tensor(") and any(each.startswith("tensor(") for each in parameter.types):
        help_text += "; convert with x.astype(…)"
    return DTypeNotAllowedError(
        f"{op.qualified_name} does not take {spelled(name)} as '{parameter.name}'",
        help=help_text,
        culprit=position,
    )


def _spelling_order(spelling: str) -> tuple[int, str]:
    order = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8")
    return (order.index(spelling) if spelling in order else len(order), spelling)


#: What numpy users meet first.
_FLOAT64 = ";\nnumpy makes float64 of Python's floats: np.array(…, np.float32) does not"


def _mixed(op: OperatorDef, first: tuple[int, str], second: tuple[int, str]) -> MixedDTypesError:
    (first_position, first_name), (second_position, second_name) = first, second
    names = [parameter_at(op.inputs, each) for each in (first_position, second_position)]
    left, right = ("?" if each is None else each.name for each in names)
    if left == right:  # two of a variadic input
        left, right = f"{left}[{first_position}]", f"{right}[{second_position}]"
    return MixedDTypesError(
        f"{op.qualified_name} needs '{left}' and '{right}' to have one element type, "
        f"got {spelled(first_name)} and {spelled(second_name)}",
        help="ONNX does not promote element types; convert one of them with x.astype(…)"
        + (_FLOAT64 if {first_name, second_name} == {"tensor(float)", "tensor(double)"} else ""),
        culprit=second_position,
    )

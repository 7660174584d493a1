"""Operator definitions from the schemas that the installed `onnx` carries.

Converts one schema at a time and asks onnx for one at a time; what is kept is the registry's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef, Option, Parameter
from onnxsmith.schema.enumerations import DTYPE_ATTRIBUTES, FLAGS, choices

if TYPE_CHECKING:
    import onnx
    from onnx.defs import OpSchema

#: A model may import any version, and onnx asks by one of 32 bits.
_LARGEST_VERSION = 2**31 - 1

_OPTIONS: tuple[Option, ...] = ("single", "optional", "variadic")


def find_schema(domain: str, name: str, version: int) -> OpSchema | None:
    """The schema in force at a version of a domain, removed ones included; None when there is none."""
    import onnx.defs  # heavy: on first use

    if version < 1:
        return None
    try:
        return onnx.defs.get_schema(name, min(version, _LARGEST_VERSION), domain)
    except onnx.defs.SchemaError:
        return None


def index() -> dict[str, dict[str, tuple[tuple[int, bool], ...]]]:
    """Per domain and operator: (since version, whether it was deprecated then), ascending.

    Reads the names of all schemas (18 ms with onnx 1.23), so it is for lists and error messages, not for calls.
    """
    import onnx.defs  # heavy: on first use

    found: dict[str, dict[str, list[tuple[int, bool]]]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        entry = (schema.since_version, schema.deprecated)
        found.setdefault(schema.domain, {}).setdefault(schema.name, []).append(entry)
    return {
        domain: {name: tuple(sorted(entries)) for name, entries in sorted(operators.items())}
        for domain, operators in found.items()
    }


def latest_version(domain: str) -> int | None:
    """The newest opset version of a domain, where onnx says so apart from its schemas."""
    import onnx.defs  # heavy: on first use

    if domain == "":
        return onnx.defs.onnx_opset_version()
    if domain == "ai.onnx.ml":
        return onnx.defs.onnx_ml_opset_version()
    return None


# onnx's own type information leaves out part of what a schema has, hence Any from here on.
def convert(
    schema: Any,
    parameters: tuple[tuple[Parameter, ...], tuple[Parameter, ...]] | None = None,
    read: Callable[[Any, Any], Attribute] | None = None,
) -> OperatorDef:
    """One schema (an `onnx.defs.OpSchema`) as an operator definition.

    For schemas that others carry come inputs and outputs, and what reads an attribute; they say nothing of functions.
    """
    inputs, outputs = parameters or (_parameters(schema.inputs), _parameters(schema.outputs))
    has_function = parameters is None and (schema.has_function or schema.has_context_dependent_function)
    attribute = read or _attribute
    attributes = {name: attribute(schema, each) for name, each in schema.attributes.items()}
    return OperatorDef(
        domain=schema.domain,
        name=schema.name,
        since_version=schema.since_version,
        inputs=inputs,
        outputs=outputs,
        attributes=MappingProxyType(dict(sorted(attributes.items()))),
        min_inputs=schema.min_input,
        max_inputs=schema.max_input,
        min_outputs=schema.min_output,
        max_outputs=schema.max_output,
        doc=schema.doc or "",
        is_deprecated=schema.deprecated,
        has_function=has_function,
    )


def _parameters(formals: Iterable[Any]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            name=formal.name,
            type_name=formal.type_str,
            types=frozenset(formal.types),
            option=_OPTIONS[int(formal.option.value)],
            is_homogeneous=formal.is_homogeneous,
            min_arity=formal.min_arity,
            doc=formal.description,
        )
        for formal in formals
    )


def _attribute(schema: Any, formal: Any) -> Attribute:
    kind = AttributeType(formal.type.value)
    is_string = kind in (AttributeType.STRING, AttributeType.STRINGS)
    return Attribute(
        name=formal.name,
        type=kind,
        is_required=formal.required,
        default=default_value(formal.default_value),
        choices=choices(schema.domain, schema.name, schema.since_version, formal.name) if is_string else None,
        names_dtype=kind is AttributeType.INT and formal.name in DTYPE_ATTRIBUTES,
        is_flag=kind is AttributeType.INT and not schema.domain and formal.name in FLAGS,
        doc=formal.description,
    )


def default_value(proto: onnx.AttributeProto) -> Any:
    """The Python value of a default, or None when the schema gives none."""
    match proto.type:
        case AttributeType.FLOAT:
            return shortest_float32(proto.f)
        case AttributeType.INT:
            return proto.i
        case AttributeType.STRING:
            return proto.s.decode()
        case AttributeType.FLOATS:
            return tuple(shortest_float32(each) for each in proto.floats)
        case AttributeType.INTS:
            return tuple(proto.ints)
        case AttributeType.STRINGS:
            return tuple(each.decode() for each in proto.strings)
        case AttributeType.TENSOR:
            return proto.t
        case _:
            return None


def shortest_float32(value: float) -> float:
    """The shortest decimal that rounds to the same float32: 1e-05, not 9.999999747378752e-06.

    >>> shortest_float32(0.10000000149011612)
    0.1
    """
    return float(str(np.float32(value)))

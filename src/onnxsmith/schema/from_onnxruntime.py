"""Operator definitions from the schemas that the installed `onnxruntime` carries beyond those of onnx.

Without onnxruntime there are none. Converts one schema at a time; what is kept is the registry's business.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef, Option, Parameter
from onnxsmith.schema.enumerations import CHECKED_ONNXRUNTIME, DTYPE_ATTRIBUTES, choices
from onnxsmith.schema.from_onnx import convert as converted
from onnxsmith.schema.from_onnx import default_value

#: The domains of ONNX Runtime's own operators. The last two are what its optimizer rewrites graphs into.
DOMAINS = ("com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")

_COMPILED_MODULE = "onnxruntime.capi.onnxruntime_pybind11_state"
_OPTIONS: tuple[Option, ...] = ("single", "optional", "variadic")


@functools.cache
def schemas() -> Mapping[str, Mapping[str, Mapping[int, Any]]]:
    """Its schemas by domain, operator and since version; empty without onnxruntime.

    The schema objects come from a compiled module without type information, hence Any.
    """
    found: dict[str, dict[str, dict[int, Any]]] = {}
    try:
        compiled: Any = importlib.import_module(_COMPILED_MODULE)  # heavy: on first use
    except ImportError:
        return found
    for schema in compiled.get_all_operator_schema():
        if schema.domain in DOMAINS:
            found.setdefault(schema.domain, {}).setdefault(schema.name, {})[schema.since_version] = schema
    return found


def convert(schema: Any) -> OperatorDef:
    """One schema as an operator definition."""
    inputs = _parameters(schema.inputs, schema.min_input)
    return converted(schema, (inputs, _parameters(schema.outputs, schema.min_output)), _attribute)


def _parameters(formals: Iterable[Any], least: int) -> tuple[Parameter, ...]:
    """`least` is how many the whole operator needs: onnxruntime does not say it of a variadic parameter alone."""
    return tuple(
        Parameter(
            name=formal.name,
            type_name=formal.typeStr,
            types=frozenset(formal.types),
            option=(option := _OPTIONS[int(formal.option)]),
            is_homogeneous=formal.isHomogeneous,
            min_arity=max(least - position, 0) if option == "variadic" else 1,
            doc=formal.description,
        )
        for position, formal in enumerate(formals)
    )


def _attribute(schema: Any, formal: Any) -> Attribute:
    kind = AttributeType(int(formal.type))
    is_checked = kind in (AttributeType.STRING, AttributeType.STRINGS) and _release() <= CHECKED_ONNXRUNTIME
    return Attribute(
        name=formal.name,
        type=kind,
        is_required=formal.required,
        default=_default(formal._default_value),
        choices=choices(schema.domain, schema.name, schema.since_version, formal.name)
        if is_checked
        else None,
        names_dtype=kind is AttributeType.INT and formal.name in DTYPE_ATTRIBUTES,
        doc=formal.description,
    )


def _default(serialized: bytes) -> Any:
    if not serialized:
        return None
    import onnx  # heavy: on first use

    return default_value(onnx.AttributeProto.FromString(serialized))


@functools.cache
def _release() -> tuple[int, ...]:
    version: str = importlib.import_module("onnxruntime").__version__
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])

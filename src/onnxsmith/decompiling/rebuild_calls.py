"""The calls of `rebuild` and `rebuild_function` that a module ends with, and their tables as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import onnx_ir as ir

from onnxsmith.decompiling.details import Details
from onnxsmith.decompiling.inferring import has_value_types
from onnxsmith.decompiling.layout import Bracketed, Keyed, Text, call, dictionary, lines, listed, string
from onnxsmith.decompiling.literals import tuple_of, type_text
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.types.value_types import AnyValueType, ValueType


class WrittenFunction(NamedTuple):
    """A local function that stands in the module: what it is called there, and what goes beside it."""

    name: str
    details: Details
    opset_imports: Mapping[str, int]
    is_called: bool
    has_value_types: bool


def rebuild_call(
    model: ir.Model, main: str, details: Details, functions: Sequence[WrittenFunction], used: set[str]
) -> list[str]:
    """`model = rebuild(main_graph, …)`, with all that the code does not say; `used` collects names to import."""
    items: list[Text] = [main, f"ir_version={model.ir_version}", _imports_item(model.opset_imports)]
    for name in ("producer_name", "producer_version", "domain"):
        value = getattr(model, name)
        if value:
            items.append(f"{name}={string(value)}")
    if model.model_version:
        items.append(f"model_version={model.model_version}")
    if model.doc_string:
        items.append(f"doc_string={string(model.doc_string)}")
    if model.metadata_props:
        items.append(Keyed("model_metadata=", _plain(dict(sorted(model.metadata_props.items())), used)))
    items += _plain_types(details, has_types=has_value_types(model.graph))
    if any(SOURCE_KEY in node.metadata_props for node in model.graph):
        items.append("sources=True")
    if details.unused or any(_describes_weights(each) for each in (details, *(f.details for f in functions))):
        items.append("all_weights=weights")
    items += _tables(details, used)
    texts = [tuple_of([each.name, call("dict", _function_items(each, used))]) for each in functions]
    if texts:
        items.append(Keyed("functions=", Bracketed("[", tuple(texts), "]")))
    return lines("model = ", call("rebuild", items), "", 0)


def _function_items(function: WrittenFunction, used: set[str]) -> list[Text]:
    kept: list[Text] = [] if function.is_called else ["uncalled=True"]
    typed = _plain_types(function.details, has_types=function.has_value_types)
    return [*typed, *_tables(function.details, used), _imports_item(function.opset_imports), *kept]


def rebuild_function_call(function: WrittenFunction, used: set[str]) -> list[str]:
    """`function = rebuild_function(…)`, the same for a function alone."""
    details = function.details
    items: list[Text] = [function.name, _imports_item(function.opset_imports)]
    items += _plain_types(details, has_types=function.has_value_types)
    items += _tables(details, used)
    if _describes_weights(details):
        items.append("all_weights=weights")
    return lines("function = ", call("rebuild_function", items), "", 0)


def _describes_weights(details: Details) -> bool:
    return any(key.startswith("weight ") for key in details.docs)


def _plain_types(details: Details, *, has_types: bool) -> list[Text]:
    """Where inference finds all types that the model has, no table says that it has them."""
    return ["value_types=True"] if has_types and not details.value_types else []


def _imports_item(imports: Mapping[str, int]) -> Text:
    return Keyed(
        "opset_imports=", dictionary([(string(domain), str(each)) for domain, each in imports.items()])
    )


def _tables(details: Details, used: set[str]) -> list[Text]:
    return [Keyed(f"{name}=", _plain(value, used)) for name, value in details.entries().items()]


def _plain(value: Any, used: set[str]) -> Text:
    """Data of strings, types, lists and dictionaries as text."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, ValueType):
        return type_text(cast(AnyValueType, value), used)
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return dictionary([(string(key), _plain(each, used)) for key, each in entries.items()])
    if isinstance(value, tuple):
        return tuple_of([_plain(each, used) for each in cast("tuple[Any, ...]", value)])
    if isinstance(value, list):
        return listed([_plain(each, used) for each in cast("list[Any]", value)])
    return repr(value)

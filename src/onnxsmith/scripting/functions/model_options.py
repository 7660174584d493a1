"""The options of `to_model` and `to_model_proto`, and the error for an unknown option."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from onnxsmith.errors import CallError
from onnxsmith.graphs.interface import GivenNames, refuse_unknown


class ModelOptions(TypedDict, total=False):
    """The options, each of them optional; the docstring of `to_model` says what they mean."""

    attributes: Mapping[str, Any] | None
    opset_version: int | None
    input_types: Sequence[Any] | Mapping[str, Any] | None
    output_types: Sequence[Any] | Mapping[str, Any] | None
    io_types: Any
    value_infos: Mapping[str, Any] | None
    input_names: GivenNames | None
    output_names: GivenNames | None
    name: str | None
    doc_string: str | None
    metadata: Mapping[str, str] | None
    ir_version: int | None
    producer_name: str
    producer_version: str
    functions: Sequence[Any]
    inline: bool


OPTIONS = tuple(ModelOptions.__annotations__)


def check_options(given: Iterable[str], attributes: Collection[str]) -> None:
    """Raise CallError where an option is none; it may be one of the script's attributes."""
    for name in (name for name in given if name not in OPTIONS):
        is_attribute = name in attributes
        help = f"give attributes of the script by name: attributes={{'{name}': …}}" if is_attribute else None
        refuse_unknown("to_model", [name], OPTIONS, CallError, help)

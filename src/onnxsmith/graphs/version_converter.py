"""Who converts a finished model to other opsets, for a graph that calls one: registered by a package above this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.registry import load_module

#: A copy of a model in these versions, by domain, which shares the weights. Raises VersionConversionError.
VersionConverter: TypeAlias = "Callable[[ir.Model, Mapping[str, int]], ir.Model]"

_registered: VersionConverter | None = None


def register_version_converter(converter: VersionConverter) -> None:
    """Say who converts models."""
    global _registered  # set once, by the package itself
    _registered = converter


def version_converter() -> VersionConverter:
    """Who converts models; its module is imported on first use."""
    if _registered is None:
        load_module("version converter")
    assert _registered is not None, "the module of the converter registers it"
    return _registered

"""Modules for `from onnxsmith import opset21 as op`, whose operators are made on first use."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from typing import Any

from onnxsmith.core.operator import Operator
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema import registry

_NAME = re.compile(r"onnxsmith\.opset(?:_[a-z_]+?)?\d+")


def is_opset_module(module: types.ModuleType) -> bool:
    """True if a module is that of an opset: `opset21`, `opset_ai_onnx_ml5`."""
    return _NAME.fullmatch(module.__name__) is not None


def standard_version(module: types.ModuleType) -> int | None:
    """The version of the standard domain that a module is of; None for all other modules."""
    digits = module.__name__.removeprefix("onnxsmith.opset")
    return int(digits) if digits.isdigit() else None


def opset_module(
    module_name: str, domain: str, version: int
) -> tuple[Callable[[str], Operator], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of an opset's module."""

    def get_operator(name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        try:
            found = Operator(registry.lookup(domain, name, version), version)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise
        setattr(sys.modules[module_name], name, found)
        return found

    def list_operators() -> list[str]:
        return list(registry.names(domain, version))

    return get_operator, list_operators


def make_opset_module(module_name: str, domain: str, version: int) -> types.ModuleType:
    """A module for an opset that the installed onnx has and this package has no stub for."""
    module = types.ModuleType(
        module_name, f"The operators of {domain or 'the standard domain'}, version {version}."
    )
    sys.modules[module_name] = module
    namespace: dict[str, Any] = module.__dict__
    namespace["domain"], namespace["version"] = domain, version
    namespace["__getattr__"], namespace["__dir__"] = opset_module(module_name, domain, version)
    return module


def make_missing_opset(name: str) -> types.ModuleType:
    """The module `opset29` of an onnx that is newer than the generated modules; an error where onnx has none."""
    digits = name.rstrip("0123456789")
    version, prefix = int(name[len(digits) :]), digits.removeprefix("opset").strip("_")
    domain = prefix.replace("_", ".")
    newest = registry.latest_version(domain) if registry.is_known_domain(domain) else 0
    if not 1 <= version <= newest:
        known = f"it has versions 1 to {newest}" if newest else f"it knows no domain {domain!r}"
        raise AttributeError(
            f"module 'onnxsmith' has no attribute {name!r}: the installed onnx does not have it; {known}"
        )
    return make_opset_module(f"onnxsmith.{name}", domain, version)

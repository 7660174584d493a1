"""Names for code that comes from onnxscript: `from onnxsmith.onnx_opset import opset18`."""

from __future__ import annotations

import importlib
from typing import Any

from onnxsmith.schema import registry


def __getattr__(name: str) -> Any:
    if not name.startswith("opset"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("onnxsmith"), name)


def __dir__() -> list[str]:
    return [f"opset{version}" for version in range(1, registry.latest_version("") + 1)]

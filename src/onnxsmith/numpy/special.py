"""`xp.special`: special functions, under scipy's names. They are loaded with the namespace."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    names: dict[str, Any] = importlib.import_module("onnxsmith.numpy.namespace").part("special")
    if name not in names:
        raise AttributeError(f"module 'onnxsmith.numpy.special' has no attribute {name!r}")
    return names[name]


def __dir__() -> list[str]:
    return sorted(importlib.import_module("onnxsmith.numpy.namespace").part("special"))

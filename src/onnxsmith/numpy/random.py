"""`xp.random`: random numbers of a key. Its functions are loaded with the namespace."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    names: dict[str, Any] = importlib.import_module("onnxsmith.numpy.namespace").part("random")
    if name not in names:
        raise AttributeError(f"module 'onnxsmith.numpy.random' has no attribute {name!r}")
    return names[name]


def __dir__() -> list[str]:
    return sorted(importlib.import_module("onnxsmith.numpy.namespace").part("random"))

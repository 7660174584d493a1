"""numpy's meaning on ONNX: the Array API, running at once on ONNX Runtime and recording as a model.

A function is loaded when its name is first asked for: importing the namespace costs next to nothing.

>>> import onnxsmith.numpy as xp
>>> xp.asarray([1, 2, 3]) / 2
Array([0.5, 1. , 1.5])
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Namespace(ModuleType):
    """A module whose `array` is the function: importing the module of that name does not take its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "array" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Namespace
#: The namespaces inside this one.
_NAMESPACES = ("fft", "linalg", "random", "special")


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in ("__array_api_version__", "__array_namespace_info__"):
        raise AttributeError(name)
    if name in _NAMESPACES:
        return importlib.import_module(f"onnxsmith.numpy.{name}")
    # A module of this package that another one imports is no name of the namespace.
    if name != "array" and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module 'onnxsmith.numpy' has no attribute {name!r}")
    names = importlib.import_module("onnxsmith.numpy.names")
    try:
        value = names.value_of(name)
    except KeyError:
        raise AttributeError(f"module 'onnxsmith.numpy' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    names: list[str] = importlib.import_module("onnxsmith.numpy.names").public_names()
    return sorted({*names, *_NAMESPACES})

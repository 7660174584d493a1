"""numpy's meaning on ONNX: the Array API, running at once on ONNX Runtime and recording as a model.

Everything is loaded when a name is first asked for: importing the namespace costs next to nothing.

>>> import onnxsmith.numpy as xp
>>> xp.asarray([1, 2, 3]) / 2
Array([0.5, 1. , 1.5])
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in ("__array_api_version__", "__array_namespace_info__"):
        raise AttributeError(name)
    if name in ("linalg", "fft", "random", "special"):
        return importlib.import_module(f"onnxsmith.numpy.{name}")
    # A module of this package that another one imports needs no names: they would be asked for before they are there.
    is_loading = "onnxsmith.numpy.namespace" not in sys.modules
    if is_loading and name != "array" and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module 'onnxsmith.numpy' has no attribute {name!r}")
    namespace = importlib.import_module("onnxsmith.numpy.namespace")
    names: dict[str, Any] = namespace.NAMES
    if name not in names:
        raise AttributeError(f"module 'onnxsmith.numpy' has no attribute {name!r}")
    globals().update(names)
    return names[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *importlib.import_module("onnxsmith.numpy.namespace").NAMES})

"""onnxsmith: write, run, read and ship ONNX from Python.

Types are here at once; everything heavier is imported when it is first asked for, so that `import onnxsmith` costs
little more than importing numpy. What type checkers see stands in `__init__.pyi`.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from onnxsmith.core import target as _target
from onnxsmith.types import names as _names
from onnxsmith.types.dtypes import DType as DType
from onnxsmith.types.value_types import Dim as Dim

__version__ = "0.1.0.dev0"

#: Public name -> the module it lives in.
_LAZY = {
    "Model": "onnxsmith.graphs.model",
    "Opset": "onnxsmith.opset.custom",
    "Tensor": "onnxsmith.core.tensor",
    "graph": "onnxsmith.scripting.decorators",
    "jit": "onnxsmith.scripting.jit",
    "load": "onnxsmith.graphs.model",
    "script": "onnxsmith.scripting.decorators",
    "static_range": "onnxsmith.scripting.loops",
    "tensor": "onnxsmith.eager.tensor",
    "trace": "onnxsmith.tracing.trace",
}
_SUBMODULES = ("eager", "errors")
_OPSET = re.compile(r"opset(?:(?P<version>\d+)|_(?P<domain>[a-z_]+?)(?P<domain_version>\d+))")

globals().update({name: getattr(_names, name) for name in _names.TYPE_NAMES})

__all__ = ["DType", "Dim", *_LAZY, *_SUBMODULES, *_names.TYPE_NAMES]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"onnxsmith.{name}")
    elif _OPSET.fullmatch(name):
        value = _opset(name)
    else:
        raise AttributeError(f"module 'onnxsmith' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _opset(name: str) -> Any:
    """The module of an opset: the generated one, or one made now for an opset newer than those."""
    try:
        return importlib.import_module(f"onnxsmith.opset.{name}")
    except ModuleNotFoundError:
        module = importlib.import_module("onnxsmith.opset.module")
        return module.make_missing_opset(name)


_target.register_default(lambda: importlib.import_module("onnxsmith.eager.target").EagerTarget())

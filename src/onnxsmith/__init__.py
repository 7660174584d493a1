"""onnxsmith: write, run, read and ship ONNX from Python.

Everything is imported when it is first asked for: `import onnxsmith` costs next to nothing, `onnxsmith --help` does
not wait for numpy, and the first type costs little more than importing numpy. What type checkers see stands in
`__init__.pyi`.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from onnxsmith.registry import exports, register_module

__version__ = "0.1.0.dev0"

#: The element types; `onnxsmith.types.names` makes them.
_TYPE_NAMES = (
    *("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16"),
    *("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0"),
    *("FLOAT6E2M3", "FLOAT6E3M2", "FLOAT4E2M1"),
    *("INT2", "INT4", "INT8", "INT16", "INT32", "INT64"),
    *("UINT2", "UINT4", "UINT8", "UINT16", "UINT32", "UINT64"),
    *("BOOL", "STRING", "COMPLEX64", "COMPLEX128"),
)
#: Public name -> the module it lives in.
_LAZY = {
    "Constant": "onnxsmith.passes.rules",
    "DType": "onnxsmith.types.dtypes",
    "Dim": "onnxsmith.types.value_types",
    "Model": "onnxsmith.graphs.model",
    "OnnxFunction": "onnxsmith.values",
    "Opset": "onnxsmith.opset.custom",
    "Rule": "onnxsmith.passes.rules",
    "Tensor": "onnxsmith.core.tensor",
    "Weights": "onnxsmith.graphs.weights",
    "compare": "onnxsmith.comparing",
    "compose": "onnxsmith.passes.surgery",
    "convert_version": "onnxsmith.passes.versions",
    "data_root": "onnxsmith.graphs.external_data",
    "decompile": "onnxsmith.decompiling",
    "decompile_to": "onnxsmith.decompiling",
    "diff": "onnxsmith.diffing",
    "either": "onnxsmith.passes.rules",
    "explain_match": "onnxsmith.passes.rules",
    "export_onnx_lib": "onnxsmith.migration",
    "graph": "onnxsmith.scripting.functions.decorators",
    "jit": "onnxsmith.scripting.functions.decorators",
    "load": "onnxsmith.graphs.model",
    "optimize": "onnxsmith.passes",
    "outline": "onnxsmith.passes.outlining.outlining",
    "proto2python": "onnxsmith.migration",
    "rebuild": "onnxsmith.decompiling.rebuilding",
    "rebuild_function": "onnxsmith.decompiling.rebuilding",
    "recompile": "onnxsmith.decompiling.recompiling",
    "rewrite": "onnxsmith.passes.rules",
    "script": "onnxsmith.scripting.functions.decorators",
    "source_root": "onnxsmith.claims",
    "static_range": "onnxsmith.scripting.staging.loops",
    "tensor": "onnxsmith.runtime.tensor",
    "trace": "onnxsmith.tracing.trace",
    **dict.fromkeys(_TYPE_NAMES, "onnxsmith.types.names"),
}
_SUBMODULES = (
    "errors",
    "evaluator",
    "grad",
    "onnx_opset",
    "onnx_types",
    "rewriter",
    "runtime",
    "sklearn",
    "torch",
    "training",
    "values",
)
_OPSET = re.compile(r"opset(?:(?P<version>\d+)|_(?P<domain>[a-z_]+?)(?P<domain_version>\d+))")

#: Submodules named as a package that users import: `from onnxsmith import *` must not hide it.
_NAMED_AS_OTHERS = ("sklearn", "torch")

__all__ = [*_LAZY, *(each for each in _SUBMODULES if each not in _NAMED_AS_OTHERS)]  # pyright: ignore[reportUnsupportedDunderAll]  # checkers read __init__.pyi

# Where operators run when no graph is being made, and models, and who converts a model that is called to the opset of
# the graph, and who watches functions that become bodies: what `core` and `graphs` may not know.
register_module("default target", "onnxsmith.runtime.target")
register_module("model runtime", "onnxsmith.runtime.models")
register_module("version converter", "onnxsmith.passes.versions.convert")
register_module("body watch", "onnxsmith.scripting.staging.body_watch")


_exported, _ = exports(__name__, _LAZY)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        value = importlib.import_module(f"onnxsmith.{name}")
    elif name == "ir":  # for code that comes from onnxscript, which has the same package under this name
        value = importlib.import_module("onnx_ir")
    elif _OPSET.fullmatch(name):
        value = _opset(name)
    else:
        return _exported(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # What this module imports for itself is nobody's business; an opset that is loaded is.
    loaded = [name for name in globals() if _OPSET.fullmatch(name)]
    return sorted(
        {*__all__, *_SUBMODULES, *loaded, "__version__", "__doc__", "__name__", "__file__", "__path__"}
    )


def _opset(name: str) -> Any:
    """The module of an opset: the generated one, or one made now for an opset newer than those."""
    try:
        return importlib.import_module(f"onnxsmith.{name}")
    except ModuleNotFoundError:
        module = importlib.import_module("onnxsmith.opset.module")
        return module.make_missing_opset(name)

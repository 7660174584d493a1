"""The opset version used where the user names none: the newest that the installed ONNX Runtime runs."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any


def is_runtime_installed() -> bool:
    """True if onnxruntime can be imported; it is not imported for it."""
    if "onnxruntime" in sys.modules:
        return sys.modules["onnxruntime"] is not None  # pyright: ignore[reportUnnecessaryComparison]  # None blocks an import
    return importlib.util.find_spec("onnxruntime") is not None


def default_opset_version() -> int:
    """The newest opset that the installed ONNX Runtime accepts; without it, the newest that onnx knows."""
    return _newest_opset(has_runtime=is_runtime_installed())


@functools.cache
def _newest_opset(*, has_runtime: bool) -> int:
    """The same with or without ONNX Runtime, which an import hook may hide for a time.

    ONNX Runtime has no call that tells, so a model of one `Identity` is tried, from the newest down.
    """
    from onnx import defs, helper  # heavy: on first use

    newest = defs.onnx_opset_version()
    if not has_runtime:
        return newest
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    value = [helper.make_tensor_value_info(name, 1, None) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", value[:1], value[1:])
    for version in range(newest, 6, -1):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
        try:
            runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception:  # ONNX Runtime's exceptions share no base but this
            continue
        return version
    return newest

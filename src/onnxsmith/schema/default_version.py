"""The opset version used where the user names none: the newest that the installed ONNX Runtime runs."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any


@functools.cache
def default_opset_version() -> int:
    """The newest opset that the installed ONNX Runtime accepts; without it, the newest that onnx knows.

    ONNX Runtime has no call that tells, so a model of one `Identity` is tried, from the newest down.
    """
    from onnx import defs, helper  # heavy: on first use

    newest = defs.onnx_opset_version()
    if importlib.util.find_spec("onnxruntime") is None:
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

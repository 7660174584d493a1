"""Run operators at once: kept sessions of ONNX Runtime, function bodies and the reference evaluator where it cannot."""

from typing import TYPE_CHECKING

from onnxsmith.registry import exports

if TYPE_CHECKING:
    from onnxsmith.runtime.engine import clear_cache as clear_cache
    from onnxsmith.runtime.model_session import load_session as load_session
    from onnxsmith.runtime.sessions import Session as Session
    from onnxsmith.runtime.settings import Settings as Settings
    from onnxsmith.runtime.settings import using as using

_LAZY = {
    "Session": "onnxsmith.runtime.sessions",
    "Settings": "onnxsmith.runtime.settings",
    "clear_cache": "onnxsmith.runtime.engine",
    "load_session": "onnxsmith.runtime.model_session",
    "using": "onnxsmith.runtime.settings",
}

__all__ = ["Session", "Settings", "clear_cache", "load_session", "using"]

__getattr__, __dir__ = exports(__name__, _LAZY)

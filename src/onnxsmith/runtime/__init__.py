"""Run operators at once: kept sessions of ONNX Runtime, function bodies and the reference evaluator where it cannot."""

from typing import TYPE_CHECKING

from onnxsmith.registry import exports

if TYPE_CHECKING:
    from onnxsmith.runtime.engine import clear_cache as clear_cache
    from onnxsmith.runtime.kernels_in_python import kernel as kernel
    from onnxsmith.runtime.model_session import load_session as load_session
    from onnxsmith.runtime.plug_ins import register_custom_ops as register_custom_ops
    from onnxsmith.runtime.plug_ins import register_provider as register_provider
    from onnxsmith.runtime.sessions import Session as Session
    from onnxsmith.runtime.settings import Settings as Settings
    from onnxsmith.runtime.settings import using as using

_LAZY = {
    "Session": "onnxsmith.runtime.sessions",
    "Settings": "onnxsmith.runtime.settings",
    "clear_cache": "onnxsmith.runtime.engine",
    "kernel": "onnxsmith.runtime.kernels_in_python",
    "load_session": "onnxsmith.runtime.model_session",
    "register_custom_ops": "onnxsmith.runtime.plug_ins",
    "register_provider": "onnxsmith.runtime.plug_ins",
    "using": "onnxsmith.runtime.settings",
}

__all__ = [
    "Session",
    "Settings",
    "clear_cache",
    "kernel",
    "load_session",
    "register_custom_ops",
    "register_provider",
    "using",
]

__getattr__, __dir__ = exports(__name__, _LAZY)

"""Run operators at once: kept sessions of ONNX Runtime, function bodies and the reference evaluator where it cannot."""

from onnxsmith.runtime.engine import clear_cache as clear_cache
from onnxsmith.runtime.model_session import load_session as load_session
from onnxsmith.runtime.settings import Settings as Settings
from onnxsmith.runtime.settings import using as using

__all__ = [
    "Settings",
    "clear_cache",
    "load_session",
    "using",
]


def __dir__() -> list[str]:
    return list(__all__)

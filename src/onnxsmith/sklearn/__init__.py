"""Pipelines of scikit-learn as ONNX models: `convert`. scikit-learn itself is imported when it is used."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from onnxsmith.errors import MissingDependencyError

if TYPE_CHECKING:
    from onnxsmith.sklearn.converting import ConvertedModel as ConvertedModel
    from onnxsmith.sklearn.converting import convert as convert
    from onnxsmith.sklearn.frames.predicting import signature as signature
    from onnxsmith.sklearn.frames.signature import Signature as Signature
    from onnxsmith.sklearn.restoring.from_model import from_onnx as from_onnx
    from onnxsmith.sklearn.restoring.wrapping import OnnxPredictor as OnnxPredictor
    from onnxsmith.sklearn.restoring.wrapping import OnnxTransformer as OnnxTransformer
    from onnxsmith.sklearn.verifying import ConversionReport as ConversionReport
    from onnxsmith.sklearn.verifying import Discrepancy as Discrepancy
    from onnxsmith.sklearn.verifying import discrepancies as discrepancies

_LAZY = {
    "ConversionReport": "onnxsmith.sklearn.verifying",
    "ConvertedModel": "onnxsmith.sklearn.converting",
    "Discrepancy": "onnxsmith.sklearn.verifying",
    "OnnxPredictor": "onnxsmith.sklearn.restoring.wrapping",
    "OnnxTransformer": "onnxsmith.sklearn.restoring.wrapping",
    "Signature": "onnxsmith.sklearn.frames.signature",
    "convert": "onnxsmith.sklearn.converting",
    "discrepancies": "onnxsmith.sklearn.verifying",
    "from_onnx": "onnxsmith.sklearn.restoring.from_model",
    "signature": "onnxsmith.sklearn.frames.predicting",
}
#: Those that read a model, and do without scikit-learn.
_WITHOUT = ("Signature", "signature")

__all__ = [
    "ConversionReport",
    "ConvertedModel",
    "Discrepancy",
    "OnnxPredictor",
    "OnnxTransformer",
    "Signature",
    "convert",
    "discrepancies",
    "from_onnx",
    "signature",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'onnxsmith.sklearn' has no attribute {name!r}")
    if name not in _WITHOUT and importlib.util.find_spec("sklearn") is None:
        raise MissingDependencyError(
            f"onnxsmith.sklearn.{name} needs scikit-learn, which is not installed",
            help="pip install onnxsmith[sklearn]",
        ).locate_at_caller()
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)

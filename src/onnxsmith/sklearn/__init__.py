"""Pipelines of scikit-learn as ONNX models: `convert`. scikit-learn itself is imported when it is used."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from onnxsmith.errors import MissingDependencyError
from onnxsmith.registry import exports

if TYPE_CHECKING:
    from onnxsmith.sklearn.converting import ConvertedModel as ConvertedModel
    from onnxsmith.sklearn.converting import convert as convert
    from onnxsmith.sklearn.frames.predicting import signature as signature
    from onnxsmith.sklearn.frames.signature import Signature as Signature
    from onnxsmith.sklearn.networks.estimators import NeuralNetClassifier as NeuralNetClassifier
    from onnxsmith.sklearn.networks.estimators import NeuralNetRegressor as NeuralNetRegressor
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
    "NeuralNetClassifier": "onnxsmith.sklearn.networks.estimators",
    "NeuralNetRegressor": "onnxsmith.sklearn.networks.estimators",
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
    "NeuralNetClassifier",
    "NeuralNetRegressor",
    "OnnxPredictor",
    "OnnxTransformer",
    "Signature",
    "convert",
    "discrepancies",
    "from_onnx",
    "signature",
]


def _check_installed(name: str) -> None:
    if name not in _WITHOUT and importlib.util.find_spec("sklearn") is None:
        raise MissingDependencyError(
            f"onnxsmith.sklearn.{name} needs scikit-learn, which is not installed",
            help="pip install onnxsmith[sklearn]",
        ).locate_at_caller()


__getattr__, __dir__ = exports(__name__, _LAZY, _check_installed)

"""Operators of ai.onnx.ml that onnx's reference evaluator gets wrong, written out correctly."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportIncompatibleMethodOverride=false
# onnx's reference evaluator has no types.

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np


@functools.cache
def estimator_operators() -> tuple[type[Any], ...]:
    """The classes to hand to the reference evaluator in place of its own."""
    regressors: Any = importlib.import_module("onnx.reference.ops.aionnxml.op_linear_regressor")

    class LinearRegressor(regressors.LinearRegressor):
        """Its own gives integers for integers, without what is behind the point."""

        op_domain = "ai.onnx.ml"

        def _run(self, x, **attributes) -> tuple[Any, ...]:
            (result,) = super()._run(x.astype(np.float64), **attributes)
            return (result.astype(np.float32),)

    classifiers: Any = importlib.import_module("onnx.reference.ops.aionnxml.op_svm_classifier")

    class SVMClassifier(classifiers.SVMClassifier):
        """Its own gives scores in the element type of the input; they are FLOAT, and have fractions."""

        op_domain = "ai.onnx.ml"

        def _run(self, x, **attributes) -> tuple[Any, ...]:
            given = x.astype(np.float64) if x.dtype.kind in "iu" else x
            label, scores = super()._run(given, **attributes)
            return label, scores.astype(np.float32)

    encoders: Any = importlib.import_module("onnx.reference.ops.aionnxml.op_label_encoder")

    class LabelEncoder(encoders.LabelEncoder):
        """Its own takes keys of another kind than the input's for keys that are not there."""

        op_domain = "ai.onnx.ml"

        def _run(self, x, **attributes) -> tuple[Any, ...]:
            for kind in ("keys_floats", "keys_int64s", "keys_strings", "keys_tensor"):
                keys = attributes.get(kind)
                if keys is not None and (np.asarray(keys).dtype.kind in "OUS") != (x.dtype.kind in "OUS"):
                    raise TypeError(f"{kind} are not of the input's element type")
            return super()._run(x, **attributes)

    return LinearRegressor, SVMClassifier, LabelEncoder

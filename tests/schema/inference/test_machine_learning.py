"""Classical models: shapes by rule where onnx infers nothing, by onnx for the rest."""

from __future__ import annotations

from typing import Any

import pytest

from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, MapType, SequenceType, TensorType
from tests.schema.inference.calls import FLOAT, INT64, T, call

N3 = ("N", 3)


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        ("Scaler", {"scale": (1.0,)}, [TensorType(FLOAT, N3)]),
        ("Normalizer", {}, [TensorType(FLOAT, N3)]),
        ("Imputer", {"imputed_value_floats": (0.0,)}, [TensorType(FLOAT, N3)]),
        ("Binarizer", {}, [TensorType(FLOAT, N3)]),
        ("LinearRegressor", {"coefficients": (1.0,) * 6, "targets": 2}, [TensorType(FLOAT, ("N", 2))]),
        ("SVMRegressor", {}, [TensorType(FLOAT, ("N", 1))]),
        ("TreeEnsembleRegressor", {"n_targets": 2}, [TensorType(FLOAT, ("N", 2))]),
        (
            "TreeEnsembleClassifier",
            {"classlabels_int64s": (0, 1)},
            [TensorType(INT64, ("N",)), TensorType(FLOAT, ("N", 2))],
        ),
        (
            "TreeEnsembleClassifier",
            {"classlabels_strings": ("a", "b", "c")},
            [TensorType(DType.STRING, ("N",)), TensorType(FLOAT, ("N", 3))],
        ),
        ("ZipMap", {"classlabels_int64s": (0, 1, 2)}, [SequenceType(MapType(INT64, TensorType(FLOAT, ())))]),
    ],
)
def test_outputs_of_classical_models(
    name: str, attributes: dict[str, Any], expected: list[AnyValueType]
) -> None:
    known = call(name, T(*N3), domain="ai.onnx.ml", version=3, outputs=len(expected), **attributes)
    assert [each.type for each in known] == expected

"""Labels as numbers, and back."""

from __future__ import annotations

from onnxsmith.numpy import Array
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted, Part, labels


@converts("sklearn.preprocessing.LabelEncoder", "inverse_transform")
def labels_of_numbers(estimator: Fitted, y: Array) -> Part:
    """The classes at places."""
    return labels(estimator.classes_, y.astype("int64"))

"""n-grams by their hash: the pieces are joined again, and the runtime hashes what comes out."""

from __future__ import annotations

from onnxsmith.core.tensor import Tensor
from onnxsmith.numpy import Array
from onnxsmith.numpy import abs as magnitude
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.string_operators import hashes
from onnxsmith.sklearn.text.analysis import Analysis
from onnxsmith.sklearn.values import array_of

_SMALLEST = -(2**31)


def hashed(analysis: Analysis, texts: Tensor, count: int) -> tuple[Array, Array]:
    """For each text the features of its n-grams, -1 in between, and 1 or -1 for each."""
    grams, is_there = analysis.grams(texts)
    code = array_of(hashes(grams)).astype("int64")
    special = (2**31 - 1 - (count - 1)) % count
    place = where(is_equal(code, _SMALLEST), special, magnitude(code) % count)
    return where(is_there, place, -1), where(is_there, where(code >= 0, 1, -1), 0)

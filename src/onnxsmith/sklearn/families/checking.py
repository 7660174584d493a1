"""The effect of scikit-learn's input validation on the element type of an estimator's input."""

from __future__ import annotations

from onnxsmith.numpy import Array, float64


def floats(x: Array) -> Array:
    """The result of `validate_data(dtype=FLOAT_DTYPES)`: floats stay as they are, and all else becomes float64."""
    return x if x.dtype.name in ("float32", "float64", "float16") else x.astype(float64)


def wide_floats(x: Array) -> Array:
    """The result of `validate_data(dtype=[np.float64, np.float32])`."""
    return x if x.dtype.name in ("float32", "float64") else x.astype(float64)

"""Numbers beside products of matrices keep their precision, also where a function ends with the product."""

from __future__ import annotations

import numpy as np

from onnxsmith import DOUBLE, script
from onnxsmith import opset21 as op


@script
def product(a: DOUBLE["N", 3], b: DOUBLE[3, 2]):
    return op.MatMul(a, b)


@script
def scaled(a: DOUBLE["N", 3], b: DOUBLE[3, 2]):
    return op.Mul(product(a, b), np.float64(1 / 3))


def test_a_number_beside_the_product_of_a_function_is_not_rounded() -> None:
    a, b = np.arange(6.0).reshape(2, 3) + 0.1, np.arange(6.0).reshape(3, 2) + 0.7
    np.testing.assert_allclose(scaled.to_model()(a, b), a @ b * (1 / 3), rtol=1e-15)

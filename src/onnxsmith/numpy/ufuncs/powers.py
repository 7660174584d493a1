"""Powers and roots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import elementary as real
from onnxsmith.algorithms import integers
from onnxsmith.algorithms.complex_numbers import elementary
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import dtype_of
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import Elements
from onnxsmith.numpy.requirements import require
from onnxsmith.numpy.ufunc import define, operator
from onnxsmith.numpy.ufuncs.precision import complex_in_double, in_double, in_single


@in_single
def _power(x: Tensor, exponent: Tensor) -> Tensor:
    if _is_two(exponent):
        return x * x  # as numpy does for x ** 2; ONNX Runtime's Pow takes thirty times as long
    if dtype_of(exponent).is_integer:
        said = "Integers to negative integer powers are not allowed."
        require(lambda: exponent >= 0, ValueError(said))
    return op.Pow(x, exponent) if dtype_of(x).is_float else integers.power(x, exponent)


def _is_two(exponent: Tensor) -> bool:
    """True if an exponent is known to be a single 2."""
    known = exponent.known.data
    return isinstance(known, np.ndarray) and known.shape == () and bool(known == 2)


def _check_exponent(loop: Sequence[NumpyDType], feeds: Sequence[Elements | None]) -> None:
    """Refuse negative exponents of integers, as numpy does, where they are known."""
    exponent = feeds[1]
    if loop[0].kind == "i" and exponent is not None and exponent.dtype.kind == "i" and (exponent < 0).any():
        raise AttributeValueError(
            "an integer to a negative power is no integer", help="use a float: x ** -1.0, or xp.float_power"
        )


power = define(("power", "pow"), _power, complex_in_double(elementary.power), check=_check_exponent)
float_power = define("float_power", operator("Pow"), complex_in_double(elementary.power))
sqrt = define("sqrt", in_single(operator("Sqrt")), complex_in_double(elementary.sqrt))
cbrt = define("cbrt", in_double(real.cbrt))

"""Whole numbers near a fraction; integers are whole."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.algorithms.values import dtype_of, like
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import RealLoop, define


def _rounded(name: str) -> RealLoop:
    def call(x: TensorValue) -> TensorValue:
        return getattr(op, name)(x) if dtype_of(x).is_float else op.Identity(x)

    return call


def towards_zero(x: TensorValue) -> TensorValue:
    """A number without its fraction; a zero has its sign."""
    return chosen(op.Less(x, like(0, x)), op.Ceil(x), op.Floor(x))


def _trunc(x: TensorValue) -> TensorValue:
    return towards_zero(x) if dtype_of(x).is_float else op.Identity(x)


def _rint_complex(z: Field) -> Field:
    return z.map(op.Round)


floor = define("floor", _rounded("Floor"))
ceil = define("ceil", _rounded("Ceil"))
trunc = define("trunc", _trunc)
rint = define("rint", _rounded("Round"), _rint_complex)

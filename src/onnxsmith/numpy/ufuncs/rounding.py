"""Whole numbers near a fraction; integers are whole."""

from __future__ import annotations

from onnxsmith.algorithms import elementary
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import dtype_of
from onnxsmith.numpy.ufunc import RealLoop, define


def _rounded(name: str) -> RealLoop:
    def call(x: Tensor) -> Tensor:
        return getattr(op, name)(x) if dtype_of(x).is_float else op.Identity(x)

    return call


def _trunc(x: Tensor) -> Tensor:
    return elementary.trunc(x) if dtype_of(x).is_float else op.Identity(x)


def _rint_complex(z: Field) -> Field:
    return z.map(op.Round)


floor = define("floor", _rounded("Floor"))
ceil = define("ceil", _rounded("Ceil"))
trunc = define("trunc", _trunc)
rint = define("rint", _rounded("Round"), _rint_complex)

"""Products of matrices and vectors, which stand in the last dimensions."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import converted
from onnxsmith.core.value import TensorValue
from onnxsmith.numpy.ufunc import ComplexLoop, RealLoop, define
from onnxsmith.types.dtypes import DType

_LAST = np.array([-1], np.int64)
_SECOND_LAST = np.array([-2], np.int64)


def _matmul(x: Field, y: Field) -> Field:
    return x @ y


def _vecdot(x: Field, y: Field) -> Field:
    return (x.conj() * y).map(lambda part: op.ReduceSum(part, _LAST, keepdims=0))


def _matvec(x: Field, y: Field) -> Field:
    made = x @ y.map(lambda part: op.Unsqueeze(part, _LAST))
    return made.map(lambda part: op.Squeeze(part, _LAST))


def _vecmat(x: Field, y: Field) -> Field:
    made = x.conj().map(lambda part: op.Unsqueeze(part, _SECOND_LAST)) @ y
    return made.map(lambda part: op.Squeeze(part, _SECOND_LAST))


def _of_real(loop: ComplexLoop) -> RealLoop:
    """The same of real tensors; sums of truth values are true where one of them is."""

    def call(x: TensorValue, y: TensorValue) -> TensorValue:
        is_bool = x.dtype is DType.BOOL
        if is_bool:
            x, y = converted(x, DType.INT32), converted(y, DType.INT32)
        made = loop(Field(x), Field(y))
        assert isinstance(made, Field)  # it gives one
        return op.Greater(made.re, np.int32(0)) if is_bool else made.re

    return call


matmul = define("matmul", _of_real(_matmul), _matmul)
vecdot = define("vecdot", _of_real(_vecdot), _vecdot)
matvec = define("matvec", _of_real(_matvec), _matvec)
vecmat = define("vecmat", _of_real(_vecmat), _vecmat)

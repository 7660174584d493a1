"""A float whose bits are read as a whole number and back still depends on what it was: never a gradient of zero."""

from __future__ import annotations

import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset26 as op
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.types.dtypes import DType


def _by_bits(x):
    bits = op.BitwiseAnd(op.BitCast(x, to=DType.INT32), 0x7FFFFFFF)
    return op.ReduceSum(op.BitCast(bits, to=DType.FLOAT) + x, keepdims=0)


def test_bits_that_become_a_float_again_are_refused():
    with pytest.raises(NotDifferentiableError, match="no gradient of BitCast"):
        trace(_by_bits, FLOAT["N"]).gradient(wrt=["x"])


def test_bits_that_only_choose_are_no_part_of_it():
    def chosen(x):
        is_negative = op.Less(op.BitCast(x, to=DType.INT32), 0)
        return op.ReduceSum(op.Where(is_negative, -x, x * 2.0), keepdims=0)

    gradient = trace(chosen, FLOAT["N"]).gradient(wrt=["x"])
    assert gradient([1.0, -1.0])[1].tolist() == [2.0, -1.0]

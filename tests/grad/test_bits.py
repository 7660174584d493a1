"""A float whose bits are read as a whole number and back still depends on what it was: never a gradient of zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, trace
from onnxsmith import opset26 as op
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.types.dtypes import DType


def test_bits_that_are_moved_are_refused():
    def moved(x):
        bits = op.Concat(op.BitCast(x, to=DType.INT32), op.BitCast(x, to=DType.INT32), axis=0)
        return op.ReduceSum(op.BitCast(bits, to=DType.FLOAT), keepdims=0)

    with pytest.raises(NotDifferentiableError, match="bits of numbers are moved"):
        trace(moved, FLOAT["N"]).gradient(wrt=["x"])


def test_a_sign_that_is_taken_from_the_bits():
    def size(x):
        bits = op.BitwiseAnd(op.BitCast(x, to=DType.INT32), 0x7FFFFFFF)
        return op.ReduceSum(op.BitCast(bits, to=DType.FLOAT) + x, keepdims=0)

    gradient = trace(size, FLOAT["N"]).gradient(wrt=["x"])
    assert gradient([1.0, -1.0])[1].tolist() == [2.0, 0.0]


def test_bits_that_only_choose_are_no_part_of_it():
    def chosen(x):
        is_negative = op.Less(op.BitCast(x, to=DType.INT32), 0)
        return op.ReduceSum(op.Where(is_negative, -x, x * 2.0), keepdims=0)

    gradient = trace(chosen, FLOAT["N"]).gradient(wrt=["x"])
    assert gradient([1.0, -1.0])[1].tolist() == [2.0, -1.0]


def test_a_copied_sign_goes_by_its_name():
    x, y = np.array([1.5, -2.0, 3.0, -4.0]), np.array([1.0, 1.0, -1.0, -1.0])
    a = torch.tensor(x, requires_grad=True)
    (torch.copysign(a, torch.tensor(y)) ** 2 * 0.5 + a).sum().backward()
    model: Any = xp.to_model(lambda x, y: np.sum(np.copysign(x, y) ** 2 * 0.5 + x), DOUBLE["N"], DOUBLE["N"])
    assert a.grad is not None
    np.testing.assert_allclose(model.gradient(wrt=["x"])(x, y)[1], a.grad.numpy())

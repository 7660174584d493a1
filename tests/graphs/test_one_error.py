"""A run that fails says what the same mistake says elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError, ShapeError

A, B = np.ones((2, 5), np.float32), np.ones((4, 3), np.float32)


def error_of(call) -> OnnxsmithError:
    with pytest.raises(OnnxsmithError) as caught:
        call()
    return caught.value


def test_a_model_a_jitted_script_and_an_eager_call_agree() -> None:
    @script
    def product(a: FLOAT[...], b: FLOAT[...]):
        return op.MatMul(a, b)

    model = trace(lambda a, b: op.MatMul(a, b), FLOAT["I", "J"], FLOAT["K", "L"])
    errors = [
        error_of(lambda: op.MatMul(A, B)),
        error_of(lambda: jit(product)(A, B)),
        error_of(lambda: model(A, B)),
    ]
    assert {type(each) for each in errors} == {ShapeError}
    assert all("the inner dimensions are 5 and 4" in each.message for each in errors)


def test_the_line_of_the_node_is_shown() -> None:
    model = trace(lambda a, b: op.MatMul(a, b), FLOAT["I", "J"], FLOAT["K", "L"])
    span = error_of(lambda: model(A, B)).span
    assert span is not None
    assert span.file == __file__


def test_a_branch_that_was_not_taken_is_not_blamed() -> None:
    @script
    def program(c: BOOL, a: FLOAT["I", "J"], b: FLOAT["K", "L"], i: FLOAT["N"]):
        if c:
            y = op.MatMul(a, b)
        else:
            y = op.Gather(a, op.Cast(i, to=7))
        return y

    error = error_of(lambda: program.to_model()(False, A, B, np.float32([99])))
    assert "Gather" in error.message
    assert "MatMul" not in error.message

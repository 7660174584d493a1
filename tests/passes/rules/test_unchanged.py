"""Replacements that change nothing, to the bit: a sign of zero is a change, and a NaN that stays is none."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, Rule, rewrite, trace
from onnxsmith import opset21 as op


def test_the_sign_of_a_zero_is_a_change_of_an_attribute() -> None:
    def pattern(x):
        return op.LeakyRelu(x, alpha=0.0)

    def replacement(x):
        return op.LeakyRelu(x, alpha=-0.0)

    made = rewrite(trace(lambda x: op.LeakyRelu(x, alpha=0.0), FLOAT["N"]), [Rule(pattern, replacement)])
    assert np.signbit(made.nodes[0].attributes["alpha"])
    (result,) = (np.asarray(each) for each in [made(np.array([-1.0], np.float32))])
    assert not np.signbit(result[0])  # -1 times -0


@pytest.mark.parametrize(("number", "other", "count"), [(0.0, -0.0, 1), (2.0, 2.0, 0), (np.nan, np.nan, 0)])
def test_constants_are_compared_to_the_bit(number: float, other: float, count: int) -> None:
    def pattern(x):
        return op.Add(x, number)

    def replacement(x):
        return op.Add(x, other)

    made = rewrite(trace(lambda x: op.Add(x, number), FLOAT["N"]), [Rule(pattern, replacement)])
    assert len(made.report.edits) == count

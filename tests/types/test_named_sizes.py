"""The same name is the same size: for models, and for scripts that are run eagerly or jitted."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelInputError, ShapeError


@script
def stacked(a: FLOAT["N"], b: FLOAT["N"]):
    return op.Concat(a, b, axis=0)


@script
def square(a: FLOAT["N", "N"]):
    return a + 1.0


MODEL = trace(lambda a, b: op.Concat(a, b, axis=0), FLOAT["N"], FLOAT["N"])
TWO, THREE = np.ones(2, np.float32), np.ones(3, np.float32)
WORDS = "dimension 'N' is 2 in 'a' and 3 in 'b', and the same name is the same size"


def test_a_model() -> None:
    assert MODEL(TWO, TWO).shape == (4,)
    with pytest.raises(ModelInputError, match=WORDS):
        MODEL(TWO, THREE)
    with pytest.raises(ModelInputError, match=WORDS):
        MODEL.run(b=THREE, a=TWO)


def test_a_script() -> None:
    assert stacked(TWO, TWO).shape == (4,)
    with pytest.raises(ShapeError, match=WORDS):
        stacked(TWO, THREE)


def test_a_jitted_script_the_first_time_and_later() -> None:
    with pytest.raises(ShapeError, match=WORDS):
        stacked.jit(TWO, THREE)
    assert stacked.jit(THREE, THREE).shape == (6,)
    assert stacked.jit(TWO, TWO).shape == (4,)
    with pytest.raises(ShapeError, match=WORDS):
        stacked.jit(TWO, THREE)


def test_one_input_alone() -> None:
    with pytest.raises(ShapeError, match="dimension 'N' is 2 in 'a' and 3 further on"):
        square(np.ones((2, 3), np.float32))

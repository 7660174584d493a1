"""Pad that wraps around, in opsets that have no such mode, gives what it gives in ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op

X = np.arange(8, dtype=np.float32).reshape(2, 4)
PADS = [[0, 1, 0, -1], [0, -2, 0, 2], [1, -1, 0, -1], [0, 2, 1, 1], [-1, 0, 0, 3], [0, -1, 0, 3]]


@pytest.mark.parametrize("version", [18, 11])
@pytest.mark.parametrize("pads", PADS)
def test_what_is_taken_away_is_gone_before_the_rest_goes_round(pads: list[int], version: int) -> None:
    known = trace(lambda x: op.Pad(x, pads, mode="wrap"), FLOAT["N", "M"])
    given = trace(lambda x, pads: op.Pad(x, pads, mode="wrap"), FLOAT["N", "M"], INT64[4])
    wanted = op.Pad(X, pads, mode="wrap")
    np.testing.assert_array_equal(known.convert_version(version)(X), wanted)
    np.testing.assert_array_equal(given.convert_version(version)(X, np.array(pads)), wanted)

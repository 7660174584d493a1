"""Elements that are written into arrays, of sizes that only the model knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE
from onnxsmith.errors import OnnxsmithError
from tests.numpy.every_argument import disagreements


def _placed(x: Any, mask: Any, values: Any) -> Any:
    made = np.zeros_like(x)
    np.place(made, mask, values)
    return made


def test_place_without_values_where_there_is_no_place() -> None:
    model = xp.to_model(_placed, DOUBLE["N"], BOOL["N"], DOUBLE["K"], verify=False)
    for size, count in ((5, 2), (5, 0), (0, 0), (4, 1)):
        x, mask = np.arange(size) * 1.0, np.arange(size) % 2 < (count > 0)
        values = np.arange(count) + 1.0
        np.testing.assert_array_equal(model(x, mask, values), _placed(x, mask, values))
    with pytest.raises(OnnxsmithError):
        model(np.ones(3), np.ones(3, bool), np.ones(0))


def test_all_kinds_of_arguments() -> None:
    assert disagreements("inserting", {"insert": 7}) == []

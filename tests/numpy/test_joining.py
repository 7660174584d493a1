"""Arrays that are joined, stacked, repeated and split, with all kinds of arguments."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import AttributeValueError
from tests.numpy.every_argument import disagreements


def test_all_kinds_of_arguments() -> None:
    assert disagreements("joining", {"repeat": 2}) == []


@pytest.mark.parametrize("sections", [0, -1, 10**12, 10**400])
def test_numbers_of_parts_that_are_none(sections: int) -> None:
    with pytest.raises(AttributeValueError, match="is split into 1 to 1048576 parts"):
        xp.array_split(np.ones(3), sections)


def test_a_dynamic_number_of_parts() -> None:
    with pytest.raises(AttributeValueError, match="how many parts an array is split into is dynamic"):
        xp.to_model(lambda x: np.array_split(x, len(x))[0], DOUBLE["N"])

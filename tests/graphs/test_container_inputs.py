"""Inputs that are optionals and sequences: every road takes the same for them, and refuses the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from onnxsmith import FLOAT, script, tensor
from onnxsmith import opset21 as op
from onnxsmith.errors import InputTypeError, ModelInputError, TensorIndexError


@script
def limited(x: FLOAT["N"], limit: FLOAT | None):
    if limit is None:
        return x
    return op.Min(x, limit)


@script
def shifted(x: FLOAT["N"], parts: Sequence[FLOAT]):
    return x + parts[0]


ROADS = ("eager", "jit", "model")


def by_road(function: Any, road: str) -> Any:
    return {"eager": function, "jit": function.jit, "model": function.to_model()}[road]


SCALARS: list[Any] = [1.5, np.float32(1.5), np.array(1.5, np.float32), tensor(1.5)]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("value", SCALARS, ids=lambda value: type(value).__name__)
def test_optionals_and_sequences_take_what_tensors_take(road: str, value: Any) -> None:
    x = np.float32([1, 2])
    assert_array_equal(np.asarray(by_road(limited, road)(x, value)), np.float32([1, 1.5]))
    assert_array_equal(np.asarray(by_road(shifted, road)(x, [value])), np.float32([2.5, 3.5]))


@pytest.mark.parametrize("road", ROADS)
def test_an_optional_may_be_absent(road: str) -> None:
    assert_array_equal(by_road(limited, road)(np.float32([1, 2]), None), np.float32([1, 2]))


@pytest.mark.parametrize("road", ROADS)
def test_what_is_no_sequence_is_refused(road: str) -> None:
    with pytest.raises((ModelInputError, InputTypeError), match=r"sequence of float32 .* a float"):
        by_road(shifted, road)(np.float32([1, 2]), 3.0)


@pytest.mark.parametrize("road", ["jit", "model"])
def test_a_wrong_index_of_an_empty_sequence_is_not_blamed_on_its_type(road: str) -> None:
    with pytest.raises(TensorIndexError, match="sequence index"):
        by_road(shifted, road)(np.float32([1, 2]), [])


@script
def longest(parts: Sequence[FLOAT["N"]]):
    best = parts[0]
    for part in parts:
        if len(part) > len(best):
            best = part
    return best


@script
def matching(x: FLOAT["N"], parts: Sequence[FLOAT["N"]]):
    joined = op.ConcatFromSequence(parts, axis=0, new_axis=1)
    return 1.0 if joined.shape[1] == len(x) else 0.0


@pytest.mark.parametrize("road", ROADS)
def test_elements_may_differ_in_a_size_that_has_a_name(road: str) -> None:
    parts = [np.float32([1]), np.float32([2, 3]), np.float32([4])]
    assert_array_equal(by_road(longest, road)(parts), np.float32([2, 3]))
    assert_array_equal(by_road(matching, road)(np.float32([1, 2, 3]), [np.float32([1, 2])]), np.float32(0))

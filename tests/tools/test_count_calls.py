"""The counter of entered functions: what counts as one, and that cached calls stay within their bars."""

from __future__ import annotations

import pytest

from onnxsmith.types.dtypes import DType
from tools import count_calls


def test_functions_of_ours_are_counted_each_time_and_others_are_not() -> None:
    found = count_calls.count(
        lambda: [DType.from_onnx_name("float"), DType.from_onnx_name("float"), sorted([1])]
    )
    assert [each for each in found.functions if "from_onnx_name" in each] == [
        "types/dtypes.py: DType.from_onnx_name",
        "types/dtypes.py: DType.from_onnx_name",
    ]
    assert "types/dtypes.py" in found.files


def test_the_count_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        count_calls.count(lambda: 1 // 0)
    assert count_calls.count(lambda: None).functions == ()


@pytest.mark.parametrize("name", count_calls.CACHED)
def test_a_cached_call_enters_few_functions(name: str) -> None:
    assert len(count_calls.cached(name).functions) <= count_calls.CACHED[name]

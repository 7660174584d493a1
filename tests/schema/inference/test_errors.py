"""Calls that cannot work, with the whole message: the operator, the inputs by their names, their shapes, and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema.inference import Known
from onnxsmith.types.dtypes import DType
from tests.schema.inference.calls import BOOL, INT64, C, S, T, call


class Operators(dict[str, Any]):
    """Names for the calls in the file: those of the table below, and any operator."""

    def __missing__(self, name: str) -> Callable[..., tuple[Known, ...]]:
        return partial(call, name)


NAMES = {
    "T": T,
    "C": C,
    "S": S,
    "BOOL": BOOL,
    "INT64": INT64,
    "DType": DType,
    "np": np,
    "MS": "com.microsoft",
}
LINES = [
    line
    for line in Path(__file__).with_name("wrong_calls.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(
    ("code", "expected"), list(zip(LINES[::2], LINES[1::2], strict=True)), ids=LINES[::2]
)
def test_a_call_that_cannot_work_is_refused(code: str, expected: str) -> None:
    with pytest.raises(OnnxsmithError) as caught:
        eval(code, {}, Operators(NAMES))
    error = caught.value
    where = "" if error.culprit is None else f" [{error.culprit[0]} {error.culprit[1]}]"
    assert f"    {type(error).__name__}{where}: {error.message}" == expected
    assert error.labels == ()


@pytest.mark.parametrize(
    ("name", "inputs", "options"),
    [
        ("Add", (T("N", 4), T("M", 4)), {}),
        ("Add", (T("N"), T(4)), {}),
        ("Add", (T(None), T(4)), {}),
        ("MatMul", (T(2, "K"), T(4, 3)), {}),
        ("MatMul", (T(2, "K"), T("L", 3)), {}),
        ("Concat", (T("N", 3), T("M", 3)), {"axis": 1}),
        ("Reshape", (T("N", 3), C([2, 6])), {}),
        ("Conv", (T(1, "C", 8, 8), T(4, 3, 3, 3)), {}),
        ("Gather", (T("N"), C(5)), {}),
        ("TopK", (T("N"), C([5])), {"outputs": 2}),
        ("Squeeze", (T("N"), C([0])), {}),
        ("Expand", (T("N"), C([4])), {}),
        ("Split", (T("N"), C([3, 3])), {"outputs": 2}),
        ("StringNormalizer", (T("N", "M", dtype=DType.STRING),), {}),
        ("ReduceSum", (T(), C([0])), {}),
        ("MaxPool", (T(1, 1, 2),), {"kernel_shape": (3,)}),
        ("Concat", (T(3, 6), T(0, 2)), {"axis": 0}),
    ],
)
def test_what_may_work_is_not_refused(
    name: str, inputs: tuple[Known | None, ...], options: dict[str, Any]
) -> None:
    call(name, *inputs, **options)

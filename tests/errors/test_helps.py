"""Helps that are followed literally: what they tell to write works, on arrays as on tensors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BFLOAT16, BOOL, DOUBLE, FLOAT, script, tensor
from onnxsmith import opset21 as op
from onnxsmith.errors import InvalidModelError, OnnxsmithError


@script
def doubled(x: FLOAT["N"]):  # type: ignore[no-untyped-def]
    return x + x


@script
def narrow(x: BFLOAT16["N"]):  # type: ignore[no-untyped-def]
    return op.Identity(x)


@script
def truths(x: BOOL["N"]):  # type: ignore[no-untyped-def]
    return op.Not(x)


#: A call with an array of another element type, whose help says how the array is converted.
CONVERTED: dict[str, tuple[Callable[[Any], object], Any]] = {
    "script": (doubled, np.arange(3)),
    "jit": (doubled.jit, np.arange(3)),
    "model": (doubled.to_model(), np.arange(3)),
    "bfloat16": (narrow, np.ones(3, np.float32)),
    "bool": (truths.to_model(), np.ones(3, np.float32)),
    "literal": (lambda x: op.Add(x, 2.5), np.arange(3)),
    "negative literal": (lambda x: op.Add(x, -1), np.arange(3, dtype=np.uint8)),
}


@pytest.mark.parametrize("case", sorted(CONVERTED))
def test_the_conversion_that_a_help_shows_works(case: str) -> None:
    call, array = CONVERTED[case]
    with pytest.raises(OnnxsmithError) as caught:
        call(array)
    shown = re.search(r"\.astype\((\S+)\)", str(caught.value.help))
    assert shown is not None
    call(array.astype(eval(shown[1], {"np": np, "ml_dtypes": ml_dtypes})))


def test_a_scalar_annotation_is_told_what_a_vector_is() -> None:
    def first(x: FLOAT):  # type: ignore[no-untyped-def]
        return x[0]

    def total(x: FLOAT):  # type: ignore[no-untyped-def]
        found = 0.0
        for each in x:
            found = found + each
        return found

    @script
    def plus(x: FLOAT):  # type: ignore[no-untyped-def]
        return x + 1.0

    calls: list[Callable[[], object]] = [
        lambda: script(first),
        lambda: script(total),
        lambda: plus(np.ones(2, np.float32)),
        lambda: xp.to_model(lambda x: x[0], DOUBLE),
    ]
    for call in calls:
        with pytest.raises(OnnxsmithError) as caught:
            call()
        assert "without brackets is a scalar" in str(caught.value.help)
    with pytest.raises(OnnxsmithError) as caught:
        _ = tensor(3.0)[0]
    assert caught.value.help is None


def test_an_input_without_rank_is_named() -> None:
    @script
    def loose(x):  # type: ignore[no-untyped-def]
        return x + 1.0

    with pytest.raises(InvalidModelError) as caught:
        loose.to_model(input_types={"x": FLOAT[...]}).check()
    assert str(caught.value.help).startswith("input 'x' has no rank")
    with pytest.raises(OnnxsmithError) as caught:
        loose.to_model()
    assert "input_types={'x': FLOAT['N']}" in str(caught.value.help)
    loose.to_model(input_types={"x": FLOAT["N"]}).check()

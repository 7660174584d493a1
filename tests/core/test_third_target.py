"""The two protocols of targets are all that programs need: a target that only counts agrees with every model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, script, trace
from onnxsmith import opset18 as op
from onnxsmith.core.recording import OpsetChoice
from onnxsmith.core.target import ACTIVE
from onnxsmith.scripting.functions.export import stage_model
from onnxsmith.scripting.functions.function import ScriptFunction
from tests.core.counting import Count, count_model
from tests.core.counting_target import CountingTarget
from tests.scripting.test_snippets import RUN, SNIPPETS, make, model_options

#: What `to_model` does with a finished graph: functions are dissolved, or put beside it uncalled.
_AFTERWARDS = {"inline": False, "functions": ()}


def counted(made: ScriptFunction, **options: Any) -> Count:
    """What staging a script as a model counts."""

    def scope(opset: OpsetChoice) -> CountingTarget:
        return CountingTarget.for_model(opset, is_exact=made.is_exact, is_lenient=made.is_lenient)

    return stage_model(made, scope, options).scope.counted()


@pytest.mark.parametrize("name", RUN)
def test_counts_what_the_model_has(name: str) -> None:
    function, snippet = SNIPPETS[name]
    made = make(function, snippet)
    for inputs, attributes in snippet.runs:
        options = {**model_options(made, snippet, inputs), "attributes": attributes, **_AFTERWARDS}
        assert counted(made, **options) == count_model(made.to_model(**options).proto)


WEIGHT = np.arange(1024, dtype=np.float32)


@script
def scaled(x: FLOAT["N"], factor: float = 2.0):
    return op.Mul(x, factor)


@script
def program(x: FLOAT[1024], n: INT64):
    for _ in range(n):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            x = scaled(x) - WEIGHT
        else:
            x = x + WEIGHT
    return x


def test_counts_by_hand() -> None:
    # The graph: Loop. Its body: ReduceSum, Greater, If, Identity of the condition. The branches: a call, Sub; Add.
    # The function: Constant, Mul. The weight is there once, with a zero and the condition that the loop starts from.
    assert counted(program) == Count(1 + 4 + 3 + 2, WEIGHT.nbytes + 4 + 1)
    assert counted(program) == count_model(program.to_model().proto)


def test_operators_are_called_on_it_without_a_front_end() -> None:
    target = CountingTarget.for_model(OpsetChoice(18))
    x = target.input("x", FLOAT["N"])
    token = ACTIVE.set(target)
    try:
        y = op.Relu(x[1:] * 2.0) + WEIGHT[:1]
    finally:
        ACTIVE.reset(token)
    model = trace(lambda x: op.Relu(x[1:] * 2.0) + WEIGHT[:1], FLOAT["N"])
    assert y.type == model.outputs[0].type
    assert target.counted() == count_model(model.proto)

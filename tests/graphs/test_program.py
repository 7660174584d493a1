"""What a program holds goes back to where it was when an attempt did not work out."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith import FLOAT, Weights, trace
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

LARGE = np.zeros(1000, np.float32)


def _state(program: Program) -> tuple[Any, ...]:
    return (
        [each.name for each in program.initializers],
        list(program.functions),
        dict(program._by_content),
        dict(program._by_identity),
        program.opsets.imports(),
        dict(program.names._taken),
        dict(program.node_names._taken),
    )


def _work(graph: GraphTarget, step: int) -> None:
    """Constants, calls and names, some of which were there before and some not."""
    x = graph.input(f"x{step}", TensorType(DType.FLOAT, ("N",)))
    op = graph.operators
    y = op.Add(x, graph.constant(np.float32([step])))
    y = op.Mul(y, graph.constant(LARGE if step % 2 else np.full(1000, step, np.float32)))
    graph.suggest_name(y, "y")


def test_attempts_inside_attempts_are_taken_back() -> None:
    program = Program("model", OpsetVersions(21))
    _work(GraphTarget(program), 0)
    outer, before_outer = program.checkpoint(), _state(program)
    _work(GraphTarget(program), 1)
    inner, before_inner = program.checkpoint(), _state(program)
    _work(GraphTarget(program), 2)
    inner()
    assert _state(program) == before_inner
    kept = program.checkpoint()
    assert callable(kept)  # an attempt that works out is never taken back
    _work(GraphTarget(program), 3)
    outer()
    assert _state(program) == before_outer


def test_a_weight_is_one_initializer_however_often_it_is_used() -> None:
    weights = Weights({"w": (FLOAT[2], [1.0, 2.0]), "v": (FLOAT[2], [1.0, 2.0])})
    model = trace(lambda x: (x * weights["w"] + weights["v"]) * weights["w"], FLOAT["N", 2])
    assert [each.name for each in model.proto.graph.initializer] == ["w", "v"]

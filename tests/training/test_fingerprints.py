"""Digests of fits: the same for the same model, and another for each change that computes something else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.training import fingerprints
from onnxsmith.training.schedules import Schedule, constant, cosine, exponential, plateau


def model(weight: float = 1.0, frozen: float = 2.0, *, is_tanh: bool = False, name: str = "x") -> Model:
    first, second = np.full((2, 3), weight, np.float32), np.full((3, 1), frozen, np.float32)

    def network(x: object) -> object:
        hidden = op.MatMul(x, first)
        return op.MatMul(op.Tanh(hidden) if is_tanh else op.Relu(hidden), second)

    return trace(network, FLOAT["N", 2], input_names=[name])


def of(given: Model) -> str:
    return fingerprints.of_model(given, [next(iter(given.ir.graph.initializers))])


def test_of_what_is_trained_the_name_counts_and_not_the_numbers() -> None:
    assert of(model()) == of(model(weight=5.0))


@pytest.mark.parametrize(
    "changed", [{"frozen": 3.0}, {"is_tanh": True}, {"name": "rows"}], ids=lambda each: next(iter(each))
)
def test_another_model(changed: dict[str, object]) -> None:
    assert of(model()) != of(model(**changed))  # type: ignore[arg-type]


def test_lines_and_files_do_not_count() -> None:
    first = np.full((2, 3), 1.0, np.float32)
    second = np.full((3, 1), 2.0, np.float32)
    assert of(model()) == of(trace(lambda x: op.MatMul(op.Relu(op.MatMul(x, first)), second), FLOAT["N", 2]))


def test_the_digest_is_the_same_in_another_process() -> None:
    code = "from tests.training.test_fingerprints import model, of; print(of(model()))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == of(model())


SCHEDULES: list[Schedule] = [
    constant(0.1),
    constant(0.1, warmup=10),
    exponential(0.1, 0.99),
    cosine(0.1),
    cosine(0.1, end=0.01),
    plateau(0.1),
    plateau(0.1, patience=3),
]


def test_schedules_differ_in_what_they_give() -> None:
    found = [fingerprints.of_schedules({"lr": each}) for each in SCHEDULES]
    assert len(set(found)) == len(SCHEDULES)
    assert found[3] == fingerprints.of_schedules({"lr": cosine(0.1)})


def test_data_differ_in_what_they_hold() -> None:
    small = np.arange(12, dtype=np.float32).reshape(4, 3)
    large = np.random.default_rng(0).normal(size=(2_000, 200))
    changed = small.copy()
    changed[3, 2] = 0.5
    given = [small, changed, small.astype(np.float64), small.reshape(3, 4), large, large[::-1], large + 1.0]
    found = [fingerprints.of_arrays([each]) for each in given]
    assert len(set(found)) == len(given)
    assert found[4] == fingerprints.of_arrays([large.copy()])

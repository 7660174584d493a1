"""ONNX's cases of `ai.onnx.preview.training`, nodes and models, run on ONNX Runtime after they are expanded."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any

import pytest

from onnxsmith.grad import expand_training
from onnxsmith.runtime import using
from tests.backend.node_cases import all_cases, as_value, check_equal

DOMAIN = "ai.onnx.preview.training"


@functools.cache
def training_cases() -> Mapping[str, Any]:
    """All cases, of nodes and of models, that hold a node of the domain."""
    from onnx.backend.test.case import model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = {**all_cases(), **{case.name: case for case in model.collect_testcases()}}
    return {
        name: case
        for name, case in cases.items()
        if case.model is not None and any(node.domain == DOMAIN for node in case.model.graph.node)
    }


def test_there_are_cases_of_each_operator() -> None:
    operators = {node.op_type for case in training_cases().values() for node in case.model.graph.node}
    assert {"Gradient", "Adam", "Adagrad", "Momentum"} <= operators
    assert len(training_cases()) >= 9


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_expanded_cases_give_their_data(runtime: str) -> None:
    for name, case in training_cases().items():
        made = expand_training(case.model)
        assert DOMAIN not in {node.domain for node in made.ir.graph}, name
        inputs, expected = case.data_sets[0]
        with using(runtime=runtime):
            found = made(*map(as_value, inputs))
        results = found if isinstance(found, tuple) else (found,)
        for actual, wanted in zip(results, expected, strict=True):
            check_equal(actual, as_value(wanted), case.rtol, case.atol)

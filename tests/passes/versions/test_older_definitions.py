"""A model of one node, by any definition that its operator has had, gives in the newest opset what it gave.

A fixed part of ONNX's node cases, retold for the other definitions of their operators.
"""

from __future__ import annotations

import warnings

import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import OnnxsmithError
from tests.backend.node_cases import NotEqual, check_equal
from tests.passes.versions.backend_cases import newest
from tests.passes.versions.older_definitions import OlderModel, older_models

SHARDS = 4
STRIDE = 8 * SHARDS
#: Definitions that engines read otherwise than they are written, or cases that are none of them.
OTHERWISE = {
    "AveragePool-1": "whether padding is counted was not said, and ONNX's own converter takes it for not counted",
    "Bernoulli-15": "random",
    "MaxUnpool-9": "ONNX Runtime reads indices for the shape that is asked for otherwise in its newer kernel",
    "OneHot-9": "a negative index gives off-values, and ONNX Runtime counts it from the end",
    "PRelu-1": "the case broadcasts, which there was not",
    "PRelu-6": "the case broadcasts, which there was not",
}


def disagreement(given: OlderModel) -> str | None:
    """What is wrong with the converted model; None where nothing is, or the model itself does not run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            onnx.checker.check_model(given.model)
            model = Model.from_proto(given.model)
            expected = model(*given.inputs)
        except (OnnxsmithError, onnx.checker.ValidationError):
            return None
        try:
            converted = model.convert_version(newest())
            onnx.checker.check_model(converted.proto)
            actual = converted(*given.inputs)
            pairs = (
                zip(actual, expected, strict=True) if isinstance(expected, tuple) else [(actual, expected)]
            )
            for one, other in pairs:
                check_equal(one, other, given.rtol, given.atol)
        except (OnnxsmithError, NotEqual, onnx.checker.ValidationError) as error:
            return f"{given.name}: {error}"
    return None


@pytest.mark.parametrize("shard", range(SHARDS))
def test_older_definitions_mean_the_same_in_the_newest_opset(shard: int) -> None:
    models = [
        each
        for each in older_models(shard, STRIDE)
        if not any(f"-{known}-" in each.name for known in OTHERWISE)
    ]
    assert len(models) > 50
    wrong = [found for each in models if (found := disagreement(each)) is not None]
    assert not wrong, "\n".join(wrong)

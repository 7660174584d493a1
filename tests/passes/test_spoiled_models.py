"""The law of spoiled models: passes and surgery work on them, or raise an error of ours, and come to an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, Rule, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import InvalidModelError

#: So many models, in so many processes: one that a model ends takes no others with it.
COUNT = 240
SHARDS = 4
#: In seconds, no process may take longer: one that does hangs.
PATIENCE = 300


@pytest.mark.parametrize("shard", range(SHARDS))
def test_spoiled_models(shard: int) -> None:
    size = COUNT // SHARDS
    words = [
        *(sys.executable, "-m", "tests.passes.spoiled_models"),
        *(str(shard * size), str((shard + 1) * size)),
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
    assert json.loads(done.stdout) == []


def without_a_definition() -> Model:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    proto.graph.node[0].input[0] = "nobody's"
    return Model.from_proto(proto)


def test_an_error_of_a_model_that_is_not_valid_says_so() -> None:
    with pytest.raises(InvalidModelError, match=r"the model is not valid: .*nobody's"):
        without_a_definition().convert_version(13)


def test_what_a_users_function_raises_is_not_blamed_on_the_model() -> None:
    proto = trace(lambda x: op.Relu(x) * np.float32([1, 2]), FLOAT["N", 2]).proto
    proto.graph.node[0].op_type = "Nope"  # not valid, and copied all the same
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(proto)

    def fail(*_: object) -> None:
        raise KeyError("mine")

    model = Model.from_proto(proto)
    with pytest.raises(KeyError, match="mine"):
        model.rename(fail)
    with pytest.raises(KeyError, match="mine"):
        model.replace_weights(fail)


def test_an_opset_that_is_out_of_all_proportion() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    rule = Rule(lambda x: op.Relu(x), lambda x: op.Max(x, 0.0))
    for version in (2**62, -(2**63), 0):
        proto.opset_import[0].version = version
        with pytest.raises(InvalidModelError):
            Model.from_proto(proto).check()
        assert Model.from_proto(proto).rewrite(rule) is not None


def test_a_function_that_reads_what_nobody_gives() -> None:
    """onnx's checker does not look into a function that nothing calls."""
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    function = onnx.helper.make_function(
        "local",
        "f",
        ["a"],
        ["r"],
        [onnx.helper.make_node("Add", ["a", "nobody's"], ["r"])],
        [onnx.helper.make_opsetid("", 21)],
    )
    proto.functions.append(function)
    proto.opset_import.add(domain="local", version=1)
    model = Model.from_proto(proto)
    with pytest.raises(InvalidModelError, match="nobody's"):
        model.convert_version(13)

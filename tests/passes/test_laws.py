"""What optimising promises of any model: it is valid, gives the same, and optimising it again changes nothing."""

from __future__ import annotations

import numpy as np
import onnx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onnxsmith import Model
from onnxsmith.passes import optimize
from tests.decompile.random_models import models
from tests.passes.loop_models import loop_feeds, loop_models
from tests.passes.surgery.runnable_models import feeds, runnable_models
from tests.passes.surgery.test_laws import run

LENIENT = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@settings(LENIENT, max_examples=60)
@given(runnable_models(has_default=True))
def test_the_same_results(proto: onnx.ModelProto) -> None:
    small = optimize(Model.from_proto(proto), opset="keep").proto
    onnx.checker.check_model(small)
    inputs = feeds(proto)
    wanted, found = run(proto, inputs), run(small, inputs)
    assert wanted.keys() == found.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5)


@settings(LENIENT, max_examples=30)
@given(runnable_models(has_default=True))
def test_once_is_enough(proto: onnx.ModelProto) -> None:
    small = optimize(Model.from_proto(proto))
    assert optimize(small).report.edits == ()


@settings(LENIENT, max_examples=60)
@given(models())
def test_hostile_models_stay_as_valid_as_they_were(proto: onnx.ModelProto) -> None:
    given = proto.SerializeToString(deterministic=True)
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    small = optimize(model).proto
    assert model.proto.SerializeToString(deterministic=True) == before
    assert proto.SerializeToString(deterministic=True) == given
    try:
        onnx.checker.check_model(model.proto)
    except onnx.checker.ValidationError:
        return
    onnx.checker.check_model(small)


@settings(LENIENT, max_examples=80)
@given(loop_models(), st.sampled_from([0, 1, 4]))
def test_loops_give_the_same(proto: onnx.ModelProto, unroll: int) -> None:
    inputs = loop_feeds()
    wanted = run(proto, inputs)
    small = optimize(Model.from_proto(proto), opset="keep", unroll=unroll)
    onnx.checker.check_model(small.proto, full_check=True)
    found = run(small.proto, inputs)
    np.testing.assert_allclose(found["result"], wanted["result"], rtol=1e-5, atol=1e-5)
    assert optimize(small, opset="keep", unroll=unroll).report.edits == ()

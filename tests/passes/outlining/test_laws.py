"""What outlining promises of any model: it is valid, gives the same, and inlined it is the model again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onnxsmith import Model, outline
from onnxsmith.graphs.node_counts import operator_counts
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.optimizing import inline_functions
from tests.decompile.random_models import models
from tests.passes.surgery.runnable_models import feeds, runnable_models
from tests.passes.surgery.test_laws import run

LENIENT = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
#: Names for the nodes of a model, one after the other: none, alike, numbered, inside each other, of any text.
NAMES = st.lists(
    st.sampled_from([None, None, "a", "a", "b", "a/b", "a/c", "a/b/d", "l.0", "l.1", "é", "0", "/", "def"]),
    min_size=1,
    max_size=12,
)


def named(names: list[str | None]) -> Callable[[ir.Node], str | None]:
    """A criterion that gives nodes these names in turn."""
    count = iter(range(10**9))
    return lambda node: names[next(count) % len(names)]


def flat(model: ir.Model) -> Counter[str]:
    """How many nodes of each operator a model has when all calls in it are dissolved; constants may be of any form."""
    copy = model.clone()
    edit = Editor(copy)
    assert inline_functions(edit)
    edit.sweep()
    copy.functions.clear()
    return Counter({name: count for name, count in operator_counts(copy).items() if name != "Constant"})


def check(proto: onnx.ModelProto, outlined: onnx.ModelProto) -> None:
    onnx.checker.check_model(outlined)
    inputs = feeds(proto)
    wanted, found = run(proto, inputs), run(outlined, inputs)
    assert wanted.keys() == found.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value)
    assert flat(ir.from_proto(outlined)) == flat(ir.from_proto(proto))


@settings(LENIENT, max_examples=80)
@given(runnable_models(has_default=True), NAMES)
def test_parts_of_any_kind(proto: onnx.ModelProto, names: list[str | None]) -> None:
    check(proto, outline(Model.from_proto(proto), by=named(names)).proto)


@settings(LENIENT, max_examples=40)
@given(
    runnable_models(),
    st.sampled_from(["repeats", "scopes"]),
    st.lists(st.integers(0, 3), min_size=1, max_size=9),
)
def test_parts_that_are_found(proto: onnx.ModelProto, by: str, modules: list[int]) -> None:
    for position, node in enumerate(proto.graph.node):
        number = modules[position % len(modules)]
        node.name = f"/net/layers.{number}/{'inner/' * (position % 2)}{node.op_type}_{position}"
    check(proto, outline(Model.from_proto(proto), by=by).proto)  # type: ignore[arg-type]


@settings(LENIENT, max_examples=60)
@given(models(), NAMES)
def test_hostile_models_stay_as_valid_as_they_were(proto: onnx.ModelProto, names: list[str | None]) -> None:
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    result = outline(model, by=named(names)).proto
    assert model.proto.SerializeToString(deterministic=True) == before
    try:
        onnx.checker.check_model(model.proto)
    except onnx.checker.ValidationError:
        return
    onnx.checker.check_model(result)

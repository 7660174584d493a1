"""What surgery promises of any model: parts joined again are the whole, and nothing changes but what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import onnxsmith
from onnxsmith import Model
from onnxsmith.errors import OnnxsmithError
from tests.decompile.random_models import models
from tests.passes.surgery.runnable_models import feeds, runnable_models

LENIENT = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
Arrays = dict[str, NDArray[Any]]


def run(proto: onnx.ModelProto, inputs: Arrays) -> Arrays:
    """By ONNX Runtime alone."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def assert_same(found: Arrays, wanted: Arrays) -> None:
    assert list(found) == list(wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


def made_values(proto: onnx.ModelProto) -> list[str]:
    """The values that nodes of the outermost graph make of something."""
    nodes = (node for node in proto.graph.node if node.op_type != "Constant")
    return [name for node in nodes for name in node.output]


def checked(model: Model) -> onnx.ModelProto:
    proto = model.proto
    onnx.checker.check_model(proto, full_check=True)
    return proto


@settings(LENIENT, max_examples=60)
@given(runnable_models(), st.data())
def test_pieces_chained_are_the_whole(proto: onnx.ModelProto, data: st.DataObject) -> None:
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    inputs = feeds(proto)
    wanted = run(proto, inputs)
    names = made_values(proto)
    at = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3))
    at.sort(key=names.index)
    try:
        pieces = model.split(at)
    except onnxsmith.errors.CutError:
        return  # nothing is left between two of the cuts
    assert len(pieces) == len(at) + 1
    handed: Arrays = dict(inputs)
    for piece in pieces:
        assert [port.name for port in piece.inputs] == list(handed)
        handed = run(checked(piece), handed)
    assert_same(handed, wanted)
    assert_same(run(checked(onnxsmith.compose(*pieces)), inputs), wanted)
    assert model.proto.SerializeToString(deterministic=True) == before


@settings(LENIENT, max_examples=60)
@given(runnable_models(), st.data())
def test_an_extracted_part_gives_what_the_whole_gives_there(
    proto: onnx.ModelProto, data: st.DataObject
) -> None:
    model = Model.from_proto(proto)
    inputs = feeds(proto)
    names = made_values(proto)
    everything = run(
        checked(model.with_outputs(*(each for each in names if each not in _outputs(proto)))), inputs
    )
    chosen = data.draw(st.sampled_from([each for each in names if everything[each].dtype == np.float32]))
    front = model.extract(outputs=chosen)
    needed = {port.name: inputs[port.name] for port in front.inputs}
    np.testing.assert_array_equal(run(checked(front), needed)[chosen], everything[chosen])
    # What is behind: the same results, from that value and whatever else they need.
    given = [chosen, *inputs]
    while True:
        try:
            back = model.extract(given)
            break
        except onnxsmith.errors.CutError as error:
            idle = [each for each in given if f"'{each}'" in error.message.partition(" (outputs")[0]]
            if "depends on none of the inputs" in error.message or not idle or idle == [chosen]:
                return
            given = [each for each in given if each not in idle]
    everything |= inputs
    found = run(checked(back), {name: everything[name] for name in given})
    assert_same(found, run(proto, inputs))


def _outputs(proto: onnx.ModelProto) -> list[str]:
    return [each.name for each in proto.graph.output]


@settings(LENIENT, max_examples=50)
@given(runnable_models())
def test_renaming_changes_names_alone(proto: onnx.ModelProto) -> None:
    model = Model.from_proto(proto)
    inputs = feeds(proto)
    renamed = model.rename(prefix="p/")
    found = run(checked(renamed), {f"p/{name}": each for name, each in inputs.items()})
    wanted = {f"p/{name}": each for name, each in run(proto, inputs).items()}
    assert_same(found, wanted)
    if not any(attribute.HasField("g") for node in proto.graph.node for attribute in node.attribute):
        # onnx's own does not rename what bodies read from around them.
        assert_same(
            found, run(onnx.compose.add_prefix(proto, "p/"), {f"p/{k}": v for k, v in inputs.items()})
        )
    back = renamed.rename(lambda name: name.removeprefix("p/"), nodes=lambda name: name.removeprefix("p/"))
    assert back.proto == model.proto


def _runs_for_rows(proto: onnx.ModelProto, rows: int) -> bool:
    """Whether the nodes run on another number of rows than the model declares."""
    bare = onnx.ModelProto()
    bare.CopyFrom(proto)
    del bare.graph.value_info[:]
    for port in (*bare.graph.input, *bare.graph.output):
        port.type.tensor_type.ClearField("shape")
    given = {name: np.resize(each, (rows, *each.shape[1:])) for name, each in feeds(proto).items()}
    try:
        run(bare, given)
    except Exception:  # the runtime has a class for each reason
        return False
    return True


@settings(LENIENT, max_examples=40)
@given(runnable_models(), st.sampled_from(["B", 2]))
def test_other_shapes_keep_the_results(proto: onnx.ModelProto, size: int | str) -> None:
    model = Model.from_proto(proto)
    inputs = feeds(proto)
    try:
        opened = model.with_shapes(dict.fromkeys(inputs, (size, 4)))
    except onnxsmith.errors.ShapeError:
        assert not _runs_for_rows(proto, 3), "it was refused, and runs"
        return
    assert opened.inputs[0].type.shape == (size, 4)
    assert_same(run(opened.proto, inputs), run(proto, inputs))
    assert opened.with_shapes(dict.fromkeys(inputs, (2, 4))).inputs == model.inputs


@settings(LENIENT, max_examples=40)
@given(runnable_models())
def test_a_bound_input_is_a_given_one(proto: onnx.ModelProto) -> None:
    model = Model.from_proto(proto)
    inputs = feeds(proto)
    bound = model.bind_inputs(x=inputs["x"])
    left = {name: each for name, each in inputs.items() if name != "x"}
    assert [port.name for port in bound.inputs] == list(left)
    assert_same(run(checked(bound), left), run(proto, inputs))


@settings(LENIENT, max_examples=30)
@given(runnable_models(), runnable_models())
def test_joining_is_running_one_after_the_other(first: onnx.ModelProto, second: onnx.ModelProto) -> None:
    one, other = Model.from_proto(first), Model.from_proto(second)
    inputs = feeds(first)
    between = run(first, inputs)
    # The second model's inputs that stay are the whole's, and have names of their own.
    other = other.rename(inputs={"*": "second_*"}, outputs={"*": "second_*"})
    joined = one.then(other, map={"result": "second_x"})
    more = {f"second_{name}": each for name, each in feeds(second).items() if name != "x"}
    wanted = run(second, {**feeds(second), "x": between["result"]})
    found = run(checked(joined), {**inputs, **more})
    kept = {name: each for name, each in between.items() if name != "result"}
    assert_same(found, {**kept, **{f"second_{name}": each for name, each in wanted.items()}})


@settings(LENIENT, max_examples=30)
@given(runnable_models(), runnable_models())
def test_joining_is_what_onnx_does(first: onnx.ModelProto, second: onnx.ModelProto) -> None:
    one, other = (Model.from_proto(each).rename(prefix=f"m{k}/") for k, each in enumerate((first, second)))
    if first.functions and second.functions:
        return  # onnx refuses a function of both
    merged = onnx.compose.merge_models(one.proto, other.proto, io_map=[("m0/result", "m1/x")])
    joined = one.then(other, map={"m0/result": "m1/x"})
    assert [port.name for port in joined.inputs] == [each.name for each in merged.graph.input]
    inputs = {each.name: np.ones((2, 4), np.float32) for each in merged.graph.input}
    assert_same(run(checked(joined), inputs), run(merged, inputs))


# -- models that need not run --------------------------------------------------------------------------------


def as_written(model: Model) -> onnx.ModelProto:
    """The model as onnx-ir writes it: a field that is there and empty is not there then."""
    return model.with_outputs().proto


@settings(LENIENT, max_examples=50)
@given(models())
def test_names_go_back(proto: onnx.ModelProto) -> None:
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    there = model.rename(prefix="p/")
    back = there.rename(lambda name: name.removeprefix("p/"), nodes=lambda name: name.removeprefix("p/"))
    assert model.proto.SerializeToString(deterministic=True) == before, "the model itself was changed"
    assert back.proto == as_written(model)


@settings(LENIENT, max_examples=50)
@given(models())
def test_the_whole_is_a_part(proto: onnx.ModelProto) -> None:
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    try:
        part = model.extract()
    except OnnxsmithError as error:
        pytest.fail(str(error))
    assert model.proto.SerializeToString(deterministic=True) == before
    assert part.outputs == model.outputs
    assert set(part.inputs) <= set(model.inputs)
    assert part.opset_imports == model.opset_imports
    assert part.proto.ir_version == proto.ir_version
    whole = as_written(model)
    assert list(part.proto.metadata_props) == list(whole.metadata_props)
    kept = {node.output[0]: node for node in part.proto.graph.node if node.output}
    for node in whole.graph.node:
        if node.output and node.output[0] in kept:
            assert kept[node.output[0]] == node


@settings(LENIENT, max_examples=50)
@given(models(), st.data())
def test_any_value_can_be_an_output(proto: onnx.ModelProto, data: st.DataObject) -> None:
    model = Model.from_proto(proto)
    before = model.proto.SerializeToString(deterministic=True)
    names = sorted({name for node in proto.graph.node for name in node.output if name} - set(_outputs(proto)))
    if not names:
        return
    chosen = data.draw(st.sampled_from(names))
    wider = model.with_outputs(chosen)
    assert [port.name for port in wider.outputs] == [*_outputs(proto), chosen]
    assert [port.name for port in model.extract(outputs=chosen).outputs] == [chosen]
    assert model.proto.SerializeToString(deterministic=True) == before

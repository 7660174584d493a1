"""Laws of differences: none between a model and itself, whatever it is called; a single edit is found, and named."""

from __future__ import annotations

import random

import onnx
import pytest

from onnxsmith import Model, diff
from onnxsmith.diffing import Difference
from tests.diffing import graphs, single_changes
from tests.profiling.programs import PROGRAMS

SEEDS = range(40)


def made(proto: onnx.ModelProto) -> Model:
    return Model.from_proto(proto)


def copy_of(proto: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    return copy


def nodes_in(found: Difference) -> set[tuple[str, str | None, str | None]]:
    return {(each.kind, each.before, each.after) for each in found.of("node")}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_model_does_not_differ_from_itself(seed: int) -> None:
    proto = graphs.random_model(seed)
    onnx.checker.check_model(proto)
    model = made(proto)
    for other in (model, made(copy_of(proto))):
        found = diff(model, other)
        assert not found, str(found)
        assert all(one == two for one, two in found.pairs.items())
        assert not diff(model, other, names=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_differ_from_itself(name: str) -> None:
    model = PROGRAMS[name]()[0]
    assert not diff(model, model)
    assert not diff(model, made(model.proto), names=True)
    assert not model.diff(PROGRAMS[name]()[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_names_are_no_difference_unless_asked_for(seed: int) -> None:
    proto = graphs.random_model(seed)
    other = graphs.renamed(proto, seed)
    found = diff(made(proto), made(other))
    assert not found, str(found)
    assert diff(made(proto), made(other), names=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_is_no_difference(seed: int) -> None:
    proto = graphs.random_model(seed)
    other, order = graphs.reordered(proto, seed)
    found = diff(made(proto), made(other))
    assert not found, str(found)
    strict = diff(made(proto), made(other), names=True)
    assert {two: one for one, two in strict.pairs.items() if one.isdigit()} == {
        str(new): str(old) for new, old in enumerate(order)
    } or not strict


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_another_operator_is_named(seed: int, is_renamed: bool) -> None:
    before = graphs.random_model(seed)
    after = copy_of(before)
    place = graphs.other_operator(after, random.Random(seed))
    if is_renamed:
        after = graphs.renamed(after, seed)
    found = diff(made(before), made(after))
    assert nodes_in(found) == {("changed", str(place), str(place))}, str(found)
    assert {each.thing for each in found.changes} == {"node"}
    (detail,) = found.changes[0].details
    assert detail == f"operator: {before.graph.node[place].op_type} -> {after.graph.node[place].op_type}"


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_another_attribute_is_named(seed: int, is_renamed: bool) -> None:
    before = graphs.random_model(seed)
    after = copy_of(before)
    place = graphs.other_attribute(after, random.Random(seed))
    if place is None:
        return
    if is_renamed:
        after = graphs.renamed(after, seed)
    found = diff(made(before), made(after))
    assert nodes_in(found) == {("changed", str(place), str(place))}, str(found)
    assert found.changes[0].details[0].startswith("axis: ")


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_another_weight_is_named_and_measured(seed: int, is_renamed: bool) -> None:
    before = graphs.random_model(seed)
    after = copy_of(before)
    name = graphs.other_weight(after, random.Random(seed))
    if name is None:
        return
    if is_renamed:
        after = graphs.renamed(after, seed)
    found = diff(made(before), made(after))
    (change,) = found.changes
    assert (change.thing, change.kind, change.before) == ("weight", "changed", name), str(found)
    assert change.magnitude is not None
    assert (change.magnitude.count, change.magnitude.size) == (1, 4)
    assert change.magnitude.largest == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_added_or_removed_node_is_named(seed: int, is_renamed: bool) -> None:
    before = graphs.random_model(seed)
    after = copy_of(before)
    place = graphs.inserted(after, random.Random(seed))
    if is_renamed:
        after = graphs.renamed(after, seed)
    found = diff(made(before), made(after))
    assert [(each.kind, each.after) for each in found.of("node", "added")] == [("added", str(place))], str(
        found
    )
    assert not found.of("node", "removed")
    readers = found.of("node", "changed")
    assert all(detail.startswith("input ") for each in readers for detail in each.details)
    back = diff(made(after), made(before))
    assert [each.before for each in back.of("node", "removed")] == [str(place)]


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_in_a_branch_is_named(seed: int, is_renamed: bool) -> None:
    before = graphs.random_model(seed)
    after = copy_of(before)
    address = graphs.inside(after, random.Random(seed))
    if address is None:
        return
    if is_renamed:
        after = graphs.renamed(after, seed)
    found = diff(made(before), made(after))
    assert nodes_in(found) == {("changed", address, address)}, str(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_node_is_paired_or_told_of(seed: int) -> None:
    one, other = made(graphs.random_model(seed)), made(graphs.random_model(seed + 1))
    found = diff(one, other)
    removed = {each.before for each in found.of("node", "removed")}
    added = {each.after for each in found.of("node", "added")}
    tops = [{each.address for each in side.nodes if each.address.isdigit()} for side in (one, other)]
    assert tops[0] == {each for each in (*found.pairs, *removed) if each is not None and each.isdigit()}
    assert tops[1] == {
        each for each in (*found.pairs.values(), *added) if each is not None and each.isdigit()
    }
    assert len(set(found.pairs.values())) == len(found.pairs)
    assert str(found)


def test_a_change_of_one_thing_at_any_depth_is_found() -> None:
    assert not single_changes.LAW.wrong(0, 30)


_LOOPS = """
<ir_version: 8, opset_import: ["" : 18]>
g (float x, int64 n) => (float y) {
    y = Loop (n, "", x) <body = outer (int64 i, bool go, float p) => (bool on, float q) {
        on = Identity (go)
        q = Loop (n, "", p) <body = inner (int64 j, bool going, float c) => (bool goes, float d) {
            goes = Identity (going)
            d = Add (c, p)
        }>
    }>
}
"""


def test_states_of_two_loops_are_told_apart() -> None:
    before = made(onnx.parser.parse_model(_LOOPS))
    found = diff(before, made(onnx.parser.parse_model(_LOOPS.replace("Add (c, p)", "Add (c, c)"))))
    assert [each.before for each in found.of("node")] == ["0.body.1.body.1"], str(found)


def test_numbers_drawn_by_two_nodes_are_told_apart() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 18]>
    g (float[3] x) => (float[3] y) {
        a = RandomUniformLike (x)
        b = RandomUniformLike (x)
        c = Add (a, b)
        y = Sub (c, a)
    }
    """
    before = made(onnx.parser.parse_model(text))
    assert not diff(before, made(onnx.parser.parse_model(text)))
    assert diff(before, made(onnx.parser.parse_model(text.replace("Sub (c, a)", "Sub (c, b)"))))

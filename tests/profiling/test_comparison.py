"""Kernels of two profiles that belong together."""

from __future__ import annotations

import onnx

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.profiling.comparison import paired, plain_operator
from tests.profiling.programs import PROGRAMS, convolution, floats


def bare(model: Model) -> Model:
    """Without places in the source."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    for node in proto.graph.node:
        del node.metadata_props[:]
    return Model.from_proto(proto)


def test_operators_of_the_runtime_are_those_of_the_model() -> None:
    names = ("Conv", "com.microsoft::FusedConv", "com.microsoft.nchwc::Conv")
    assert {plain_operator(each) for each in names} == {"Conv"}


def test_an_optimised_twin_is_paired_by_origin() -> None:
    """The normalisation is gone, and so is the convolution's own name: it is told with what reads it."""
    model, inputs = convolution()
    given = bare(model)
    twin = bare(model.optimize())
    assert len(twin.nodes) < len(given.nodes)
    before, after = given.profile(inputs, runs=1), twin.profile(inputs, runs=1)
    found = before.compare(after)
    assert found.by == "node"
    assert [row.ratio is None for row in found.rows] == [False]
    assert "Conv 'conv'" in found.rows[0].label


def test_what_is_gone_is_told_with_its_reader() -> None:
    one = bare(trace(lambda x: op.Tanh(op.Exp(op.Neg(x))), FLOAT["N"]))
    proto = onnx.ModelProto()
    proto.CopyFrom(one.proto)
    middle = proto.graph.node[1]
    proto.graph.node[2].input[0] = proto.graph.node[0].output[0]
    proto.graph.node.remove(middle)
    before, after = (each.profile([floats(4)], runs=1) for each in (one, Model.from_proto(proto)))
    groups = paired(before.kernels, after.kernels, "node")
    assert [[len(side) for side in group] for group in groups] == [[1, 1], [2, 1]]
    operators = [[each.operator for each in side] for group in groups for side in group]
    assert operators == [["Neg"], ["Neg"], ["Exp", "Tanh"], ["Tanh"]]
    back = paired(after.kernels, before.kernels, "node")
    assert sorted(len(side) for group in back for side in group) == [1, 1, 1, 2]


def test_every_kernel_is_in_one_group() -> None:
    for make in PROGRAMS.values():
        model, inputs = make()
        before = model.profile(inputs, runs=1, warm_up=0)
        after = model.optimize().profile(inputs, runs=1, warm_up=0)
        for by in ("line", "node", "operator", "call"):
            groups = paired(before.kernels, after.kernels, by)
            for side, profile in enumerate((before, after)):
                held = [id(each) for group in groups for each in group[side]]
                assert sorted(held) == sorted(map(id, profile.kernels))


def test_lines_that_are_fused_in_one_profile_are_told_together() -> None:
    model, inputs = convolution()
    before = model.profile(inputs, runs=1)
    after = model.optimize().profile(inputs, runs=1)
    found = before.compare(after)
    assert found.by == "line"
    assert all(row.ratio is not None for row in found.rows)

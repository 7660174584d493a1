"""ONNX's inference ends the process at some models: it is kept from those parts, and finds the rest."""

from __future__ import annotations

import multiprocessing

import onnx
from onnx import parser

from onnxsmith import Model
from onnxsmith.graphs.rewriting.inference_traps import infer, without_traps

_HEAD = '<ir_version: 10, opset_import: ["": 21]>'


def _model(inputs: str, nodes: str, weights: str = "") -> onnx.ModelProto:
    known = f"int64[1] zero = {{0}}, int64[1] two = {{2}}, int64[1] axis = {{2}}{weights}"
    return parser.parse_model(f"{_HEAD} g ({inputs}) => (float[a, b, c, d] y) <{known}> {{ {nodes} }}")


#: Models in which a size below zero gets to a Slice, whose inference would end the process.
_TRAPS = {
    "declared": ("float[1, 1, -1, 4] x", "y = Slice(x, zero, two, axis)", ""),
    "window": (
        "float[1, 1, 4, 4] x",
        "p = MaxPool <kernel_shape = [9, 9]> (x)  y = Slice(p, zero, two, axis)",
        "",
    ),
    "weights": (
        "float[1, 1, 4, 4] x",
        "p = Conv <kernel_shape = [9, 9]> (x, w)  y = Slice(p, zero, two, axis)",
        ", float[1, 1, 9, 9] w = {" + ", ".join(["0"] * 81) + "}",
    ),
    "pads": (
        "float[1, 1, 4, 4] x",
        "p = Pad(x, by)  y = Slice(p, zero, two, axis)",
        ", int64[8] by = {0, 0, -5, 0, 0, 0, -5, 0}",
    ),
    "behind another slice": (
        "float[1, 1, 12, 12] x",
        "p = MaxPool <kernel_shape = [2, 2]> (x)  s = Slice(p, zero, two, axis)"
        "  q = MaxPool <kernel_shape = [9, 1]> (s)  y = Slice(q, zero, two, axis)",
        "",
    ),
    "in a branch": (
        "float[1, 1, 4, 4] x, bool c",
        "p = MaxPool <kernel_shape = [9, 9]> (x)  y = If(c) <"
        " then_branch = t () => (float[a, b, c, d] r) { r = Slice(p, zero, two, axis) },"
        " else_branch = e () => (float[a, b, c, d] s) { s = Identity(p) } >",
        "",
    ),
}


def _work() -> None:
    for parts in _TRAPS.values():
        proto = _model(*parts)
        infer(without_traps(proto))
        infer(without_traps(proto), follows_sizes=True)
        model = Model.from_proto(proto)
        model.check()
        model.optimize()


def test_sizes_below_zero_do_not_end_the_process() -> None:
    process = multiprocessing.get_context("spawn").Process(target=_work)
    process.start()
    process.join()
    assert process.exitcode == 0


def test_slices_behind_windows_that_fit_are_inferred() -> None:
    nodes = (
        "p = MaxPool <kernel_shape = [2, 2]> (x)  s = Slice(p, zero, two, axis)"
        "  q = MaxPool <kernel_shape = [2, 1]> (s)  y = Slice(q, zero, two, axis)"
    )
    proto = _model("float[1, 1, 12, 12] x", nodes)
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    found = infer(proto)
    sizes = {
        each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        for each in (*found.graph.value_info, *found.graph.output)
    }
    assert sizes == {"p": [1, 1, 11, 11], "s": [1, 1, 2, 11], "q": [1, 1, 1, 11], "y": [1, 1, 1, 11]}
    assert list(found.graph.node) == list(proto.graph.node)
    assert [each.name for each in found.graph.input] == ["x"]

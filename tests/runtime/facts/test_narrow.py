"""Integers of four bits come out of casts and bodies as they are defined; other types are left to the runtime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith import opset25 as op25
from onnxsmith.runtime.facts import narrow
from onnxsmith.runtime.model_session import load_session
from tests.runtime.facts.probing import wrong_probes

X = np.float32([-1.5, 0.5, 1.5, 2.5, 7.0])


def in_if(elements: int) -> helper.ModelProto:
    """A model that chooses between two Identity nodes on tensors of an element type."""
    x, y = (helper.make_tensor_value_info(name, elements, ["N"]) for name in "xy")
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    branches = {
        name: helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], name, [], [_named(y, "z")])
        for name in ("then_branch", "else_branch")
    }
    node = helper.make_node("If", ["c"], ["y"], **branches)
    graph = helper.make_graph([node], "in_if", [condition, x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _named(info: helper.ValueInfoProto, name: str) -> helper.ValueInfoProto:
    copy = type(info)()
    copy.CopyFrom(info)
    copy.name = name
    return copy


@pytest.mark.parametrize("dtype", [TensorProto.INT4, TensorProto.UINT4])
def test_casts_cut_off(dtype: int) -> None:
    def cut(x):
        return op.Cast(op.Cast(x, to=dtype), to=TensorProto.INT32)

    expected = [-1 if dtype == TensorProto.INT4 else 15, 0, 1, 2, 7]
    assert cut(X).tolist() == expected
    assert trace(cut, FLOAT["N"])(X).tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "expected"), [(TensorProto.INT2, [-1, 0, 1, -2, -1]), (TensorProto.UINT2, [3, 0, 1, 2, 3])]
)
def test_casts_to_two_bits_cut_off(dtype: int, expected: list[int]) -> None:
    def cut(x):
        return op25.Cast(op25.Cast(x, to=dtype), to=TensorProto.INT32)

    assert cut(X).tolist() == expected
    assert trace(cut, FLOAT["N"])(X).tolist() == expected


@pytest.mark.parametrize("dtype", [TensorProto.INT4, TensorProto.INT2])
def test_casts_like_a_tensor_cut_off(dtype: int) -> None:
    def cut(x):
        like = op25.Cast(op25.Constant(value_int=0), to=dtype)
        return op25.Cast(op25.CastLike(x, like), to=TensorProto.INT32)

    assert cut(X[:3]).tolist() == [-1, 0, 1]
    assert trace(cut, FLOAT["N"])(X[:3]).tolist() == [-1, 0, 1]


@pytest.mark.parametrize("dtype", [TensorProto.STRING, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT8])
def test_bodies_that_give_whole_bytes_run_on_the_runtime(dtype: int) -> None:
    assert load_session(in_if(dtype)).source == "onnxruntime"


def test_bodies_that_give_less_do_not() -> None:
    model = in_if(TensorProto.UINT4)
    given = op.Cast(X, to=TensorProto.UINT4)
    assert load_session(model).source == "reference"
    assert Model.from_proto(model)(np.array(True), given).tolist() == given.tolist()


LOOP = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N] x, int64 n, bool go) => (float[N] last, int4[K, N] each)
    { last, each = Loop (n, go, x) <body = b (int64 i, bool on, float[N] now)
      => (bool on_out, float[N] next, int4[N] one)
      { on_out = Identity(on) next = Identity(now) one = Cast <to = 22> (now) }> }"""


def test_loops_that_collect_less_do_not_either() -> None:
    model = onnx.parser.parse_model(LOOP)
    assert load_session(model).source == "reference"
    assert (
        Model.from_proto(model)(X, np.array(2), np.array(True))[1].astype(int).tolist()
        == [[-1, 0, 1, 2, 7]] * 2
    )


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(narrow) == []

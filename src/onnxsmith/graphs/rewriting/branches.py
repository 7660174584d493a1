"""Control flow around nodes that are emitted: two ways to the same outputs, and a value that changes turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import onnx
from onnx import helper

from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.types.dtypes import DType

#: Emits nodes that define the outputs, under the names that they have inside the branch.
Way: TypeAlias = Callable[[Emitter, Mapping[str, str]], None]


def choose(emit: Emitter, condition: str, outputs: Sequence[str], yes: Way, no: Way) -> None:
    """Define outputs by `yes` where a condition holds, and by `no` where it does not.

    The branches say nothing about the types of what they make: inference finds them, and the two may differ in shape.
    """
    named = [each for each in outputs if each]
    emit.node(
        "If", [condition], named, then_branch=_branch(emit, named, yes), else_branch=_branch(emit, named, no)
    )


#: Emits nodes that make the next value; takes the names of the number of the turn, an INT64 scalar, and of the value.
Turn: TypeAlias = Callable[[Emitter, str, str], str]


def repeat(emit: Emitter, count: str, start: str, dtype: DType, turn: Turn) -> str:
    """The tensor after `count` turns; its shape may change in each. Needs opset 11."""
    inner, stem = emit.inner(), start
    number, condition, value = (emit.names.after(stem) for _ in range(3))
    result = turn(inner, number, value)
    goes_on = inner.op("Identity", condition)
    ports = [
        helper.make_tensor_value_info(number, onnx.TensorProto.INT64, []),
        helper.make_tensor_value_info(condition, onnx.TensorProto.BOOL, []),
        helper.make_tensor_value_info(value, int(dtype), None),
    ]
    results = [
        helper.make_tensor_value_info(goes_on, onnx.TensorProto.BOOL, []),
        helper.make_tensor_value_info(result, int(dtype), None),
    ]
    body = onnx.GraphProto(name="turn", node=inner.nodes, input=ports, output=results)
    return emit.op("Loop", count, "", start, body=body)


def at_run_only(emit: Emitter, value: str, dtype: DType) -> str:
    """The same value, which no runtime works out before a run: none of them runs loops then."""
    return repeat(
        emit, emit.constant(1), value, dtype, lambda inner, _, current: inner.op("Identity", current)
    )


def _branch(emit: Emitter, outputs: Sequence[str], way: Way) -> onnx.GraphProto:
    inner = emit.inner()
    names = {name: emit.names.after(name) for name in outputs}
    way(inner, names)
    graph = onnx.GraphProto(name="branch", node=inner.nodes)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names.values())
    return graph

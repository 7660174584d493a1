"""Optimising synthetic graphs of growing size, beside other optimisers: what a node costs, and whether that grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "optimize"
DESCRIPTION = (
    "optimising chains of no-ops, weights and arithmetic (--set largest=50000); CPU time for each node"
)

#: Nodes in a row of the graph: an Identity, an Add of a weight, two Transposes that cancel, a Relu.
_PERIOD = 5
#: Peers that take more than a millisecond for a node are not asked for the larger graphs.
_PEER_NODES = 1000


def run(context: Context) -> list[Row]:
    """Rows for each size, beside the peers at the smallest, and the growth from there to the largest."""
    largest = int(context.number("largest", 50_000))
    sizes = [size for size in (1000, 10_000, 50_000) if size <= largest]
    ours: dict[int, float] = {}
    rows: list[Row] = []
    for size in sizes:
        ours[size] = _ours(size)
        rows.append(Row(f"{size:,} nodes", ours[size], "us a node", bar=at_most(150.0)))
    rows.append(
        Row(
            f"{sizes[-1]:,} nodes",
            ours[sizes[-1]],
            "us a node",
            f"{sizes[0]:,} nodes",
            ours[sizes[0]],
            ratio_at_most(1.3),
        )
    )
    for peer, function, bar in (
        ("onnxscript", _onnxscript, ratio_at_most(1.0)),
        ("onnxslim", _onnxslim, ratio_at_most(1.0)),
        ("onnxsim", _onnxsim, None),
    ):
        figure = context.ask(
            peer, lambda function=function: _per_node(function, make_model(_PEER_NODES), _PEER_NODES)
        )
        rows.append(Row(f"{_PEER_NODES:,} nodes", ours[sizes[0]], "us a node", peer, figure, bar))
    return rows


def make_model(nodes: int) -> Any:
    """A chain in which three of five nodes are for nothing."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    made: list[Any] = []
    weights: list[Any] = []
    current = "x"
    for number in range(nodes):
        inputs, attributes = [current], {}
        operator = ("Identity", "Add", "Transpose", "Transpose", "Relu")[number % _PERIOD]
        if operator == "Add":
            weights.append(numpy_helper.from_array(np.arange(4, dtype=np.float32), f"w{number}"))
            inputs.append(f"w{number}")
        elif operator == "Transpose":
            attributes = {"perm": [1, 0]}
        current = f"v{number}"
        made.append(helper.make_node(operator, inputs, [current], name=f"n{number}", **attributes))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in ("x", current)]
    graph = helper.make_graph(made, "chain", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _ours(size: int) -> float:
    from onnxsmith import Model, optimize

    model = Model.from_proto(make_model(size))
    _ = model.ir

    def work(_: Any) -> None:
        assert optimize(model).report.nodes_after == 2 * size // _PERIOD

    return _per_node(work, None, size)


def _per_node(function: Callable[[Any], object], model: Any, nodes: int) -> float:
    rounds = 5 if nodes <= 1000 else 2
    seconds = time_in_turns({"work": lambda: function(model)}, rounds=rounds, warm_up_calls=1)
    return seconds["work"] / nodes * 1e6


def _onnxscript(proto: Any) -> object:
    import onnx_ir as ir
    from onnxscript import optimizer

    model = ir.serde.deserialize_model(proto)
    return optimizer.optimize(model)


def _onnxslim(proto: Any) -> object:
    import onnx
    import onnxslim

    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    return onnxslim.slim(copy)


def _onnxsim(proto: Any) -> object:
    import onnxsim

    return onnxsim.simplify(proto)

"""What it costs to build a graph by `trace` and serialise it, beside code that makes the same nodes by hand.

By hand means as `trace` does it: each value has its type, and each node says where in the source it was written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.contest import OURS, Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "trace"
DESCRIPTION = (
    "building a graph and serialising it, per operator; CPU time, garbage collected as a user runs it"
)

OPSET = 21
SIZES = (1_000, 10_000, 50_000)
_ROUNDS = 5
#: Each block of the graph is `x = Sub(Relu(Add(Mul(x, y), y)), y)`.
OPERATORS_PER_BLOCK = 4
# What "flat" allows: the noise of single long runs and the collector's share, which grows with all that is alive.
_FLAT = 1.5
BY_HAND = "onnx-ir by hand"


def run(context: Context) -> list[Row]:
    """Rows beside onnx-ir by hand for each size, for how the cost per operator grows, and beside other libraries."""
    rows: list[Row] = []
    for size in SIZES:
        for contestant in (with_onnxsmith, with_onnx_ir):
            _checker(size)(contestant(size))
        seconds = time_in_turns(
            {OURS: lambda size=size: with_onnxsmith(size), BY_HAND: lambda size=size: with_onnx_ir(size)},
            rounds=_ROUNDS,
            collect_garbage=True,
            warm_up_calls=1,
        )
        ours, by_hand = (seconds[each] * 1e6 / size for each in (OURS, BY_HAND))
        rows.append(
            Row(
                f"{size:,} operators", ours, "µs/op", BY_HAND, by_hand, ratio_at_most(1.0), "types and places"
            )
        )
    first, last = rows[0], rows[-1]
    rows.append(Row(last.name, last.ours, "µs/op", f"ours at {SIZES[0]:,}", first.ours, ratio_at_most(_FLAT)))
    size = SIZES[0]
    return rows + contest(
        context,
        f"{size:,} operators, not collected",
        lambda: with_onnxsmith(size),
        [
            Peer(
                "onnxscript", lambda: lambda: with_onnxscript(size), package="onnxscript", note="GraphBuilder"
            ),
            Peer("spox", lambda: lambda: with_spox(size), package="spox"),
        ],
        unit="µs/op",
        per_second=1e6 / size,
        check=_checker(size),
    )


def _checker(size: int) -> Callable[[object], None]:
    def check(serialised: object) -> None:
        import onnx

        assert isinstance(serialised, bytes)
        operators = [node.op_type for node in onnx.load_from_string(serialised).graph.node]
        # A builder may add constants of its own, but must not lose an operator.
        assert sum(name in ("Mul", "Add", "Relu", "Sub") for name in operators) == size

    return check


# ---- the contestants: each builds the graph of `size` operators and returns the serialised model ----


def with_onnxsmith(size: int) -> bytes:
    """By `onnxsmith.trace`."""
    from onnxsmith import FLOAT, trace
    from onnxsmith import opset21 as op

    def chain(x, y):
        for _ in range(size // OPERATORS_PER_BLOCK):
            x = op.Sub(op.Relu(op.Add(op.Mul(x, y), y)), y)
        return x

    return trace(chain, FLOAT["N", 8], FLOAT["N", 8]).proto.SerializeToString()


def with_onnx_ir(size: int) -> bytes:
    """By onnx-ir's own constructors, as a person writes them who wants types and places in the model."""
    import onnx_ir as ir

    kind, shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["N", 8])
    x = y_in = ir.Value(name="x", type=kind, shape=shape)
    y = ir.Value(name="y", type=kind, shape=shape)
    nodes: list[ir.Node] = []
    positions: list[tuple[int | None, int | None, int | None, int | None]] = []

    def add(op_type: str, *inputs: ir.Value) -> ir.Value:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        if not positions:
            positions.extend(frame.f_code.co_positions())
        line, end_line, column, end_column = positions[frame.f_lasti // 2]
        source = f"{frame.f_code.co_filename}:{line}:{column}-{end_line}:{end_column}"
        node = ir.Node("", op_type, inputs, metadata_props={"source": source})
        node.outputs[0].type, node.outputs[0].shape = kind, shape
        nodes.append(node)
        return node.outputs[0]

    for _ in range(size // OPERATORS_PER_BLOCK):
        x = add("Sub", add("Relu", add("Add", add("Mul", x, y), y)), y)
    graph = ir.Graph([y_in, y], [x], nodes=nodes, opset_imports={"": OPSET}, name="chain")
    return ir.to_proto(ir.Model(graph, ir_version=10)).SerializeToString()


def with_onnxscript(size: int) -> bytes:
    """By onnxscript's GraphBuilder."""
    import onnx_ir as ir
    from onnxscript import GraphBuilder

    graph = ir.Graph([], [], nodes=[], opset_imports={"": OPSET}, name="chain")
    builder = GraphBuilder(graph)
    x = builder.input("x", ir.DataType.FLOAT, ["N", 8])
    y = builder.input("y", ir.DataType.FLOAT, ["N", 8])
    op = builder.op
    for _ in range(size // OPERATORS_PER_BLOCK):
        x = op.Sub(op.Relu(op.Add(op.Mul(x, y), y)), y)
    builder.add_output(x, "z")
    return ir.to_proto(ir.Model(graph, ir_version=10)).SerializeToString()


def with_spox(size: int) -> bytes:
    """By spox."""
    import numpy as np
    import spox
    import spox.opset.ai.onnx.v21 as op

    kind = spox.Tensor(np.float32, ("N", 8))
    x = x_in = spox.argument(kind)
    y = spox.argument(kind)
    for _ in range(size // OPERATORS_PER_BLOCK):
        x = op.sub(op.relu(op.add(op.mul(x, y), y)), y)
    return spox.build({"x": x_in, "y": y}, {"z": x}).SerializeToString()

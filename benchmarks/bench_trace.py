"""What it costs to build a graph by `trace` and serialise it, beside code that makes the same nodes by hand."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_once

NAME = "trace"
DESCRIPTION = "building a graph and serialising it, per operator; CPU time"

OPSET = 21
SIZES = (1_000, 10_000, 50_000)
#: Each block of the graph is `x = Sub(Relu(Add(Mul(x, y), y)), y)`.
OPERATORS_PER_BLOCK = 4
# What "flat" allows: the noise of single long runs, not a trend. It is measured without the garbage collector, whose
# own share grows with everything that is alive; what a user sees with it is shown beside code by hand.
_FLAT = 1.25
_WHY_COLLECTED = "as a user runs it"


def run(context: Context) -> list[Row]:
    """Rows for 1,000 operators beside the peers, then for how the cost per operator grows."""
    size = SIZES[0]
    rows = contest(
        context,
        f"{size:,} operators",
        lambda: with_onnxsmith(size),
        [
            Peer("onnx-ir by hand", lambda: lambda: with_onnx_ir(size), bar=ratio_at_most(3.0)),
            Peer(
                "onnx-ir by hand, typed",
                lambda: lambda: with_onnx_ir(size, is_typed=True),
                note="sets the dtype and shape of every value, as trace does",
            ),
            Peer(
                "onnxscript", lambda: lambda: with_onnxscript(size), package="onnxscript", note="GraphBuilder"
            ),
            Peer("spox", lambda: lambda: with_spox(size), package="spox"),
        ],
        unit="µs/op",
        per_second=1e6 / size,
        check=_checker(size),
    )
    first = _per_operator(with_onnxsmith, SIZES[0], collect_garbage=False)
    for size in SIZES[1:]:
        name = f"{size:,} operators"
        ours = _per_operator(with_onnxsmith, size, collect_garbage=False)
        rows.append(Row(name, ours, "µs/op", f"ours at {SIZES[0]:,}", first, ratio_at_most(_FLAT)))
    for size in SIZES:
        name = f"{size:,} operators, garbage collected"
        ours = _per_operator(with_onnxsmith, size, collect_garbage=True)
        by_hand = _per_operator(with_onnx_ir, size, collect_garbage=True)
        rows.append(Row(name, ours, "µs/op", "onnx-ir by hand", by_hand, note=_WHY_COLLECTED))
    return rows


def _per_operator(build: Callable[[int], bytes], size: int, *, collect_garbage: bool) -> float:
    return time_once(lambda: build(size), collect_garbage=collect_garbage) * 1e6 / size


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


def with_onnx_ir(size: int, *, is_typed: bool = False) -> bytes:
    """By onnx-ir's own constructors, as a person writes them."""
    import onnx_ir as ir

    kind, shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["N", 8])
    x = y_in = ir.Value(name="x", type=kind, shape=shape)
    y = ir.Value(name="y", type=kind, shape=shape)
    nodes: list[ir.Node] = []

    def add(op_type: str, *inputs: ir.Value) -> ir.Value:
        node = ir.Node("", op_type, inputs)
        if is_typed:
            node.outputs[0].type, node.outputs[0].shape = kind, shape
        nodes.append(node)
        return node.outputs[0]

    for _ in range(size // OPERATORS_PER_BLOCK):
        x = add("Sub", add("Relu", add("Add", add("Mul", x, y), y)), y)
    x.type, x.shape = kind, shape
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

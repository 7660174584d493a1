"""What it costs to open a model with many integer divisions, each of which is met by other nodes.

The yardstick is a bare session of the model as it is. Both should grow with the number of divisions, and not faster.
"""

from __future__ import annotations

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "divisions"
DESCRIPTION = "opening a model of integer divisions by one number; CPU time"


def run(context: Context) -> list[Row]:
    """A row for each number of divisions."""
    import onnxruntime  # only here, as for any contestant

    from onnxsmith.runtime import load_session

    def bare(model: bytes) -> object:
        return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    rows: list[Row] = []
    for count in (1000, 4000):
        model = _chain(count)
        times = time_in_turns(
            {
                "ours": lambda model=model: load_session(model),
                "bare": lambda model=model: bare(model),
            },
            rounds=3,
            warm_up_calls=1,
        )
        rows.append(
            Row(
                f"{count:,} divisions",
                times["ours"] * 1e3,
                "ms",
                "bare InferenceSession",
                times["bare"] * 1e3,
                ratio_at_most(4),
            )
        )
    return rows


def _chain(count: int) -> bytes:
    """`a` divided by `b` again and again."""
    from onnx import TensorProto, helper

    names = ["a", *(f"v{k}" for k in range(count))]
    nodes = [helper.make_node("Div", [names[k], "b"], [names[k + 1]]) for k in range(count)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N"]) for name in "ab"]
    output = helper.make_tensor_value_info(names[-1], TensorProto.INT64, ["N"])
    graph = helper.make_graph(nodes, "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model.SerializeToString()

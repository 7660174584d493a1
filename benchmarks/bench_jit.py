"""What a call of a jitted script costs, beside the bare session of the same model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most
from onnxsmith import FLOAT, script
from onnxsmith import opset18 as op

NAME = "jit"
DESCRIPTION = "a call of a whole script as one session, on tiny inputs"


def run(context: Context) -> list[Row]:
    """One row: `f.jit(x)` beside `InferenceSession.run` of its model."""
    import onnxruntime

    @script
    def function(x: FLOAT["N"], y: FLOAT["N"]):
        return op.Relu(x * y + 1.0) - y

    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)

    def bare() -> Callable[[], object]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            function.to_model_proto().SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return lambda: session.run(None, {"x": x, "y": y})[0]

    function.jit(x, y)
    return contest(
        context,
        "four operators, 4 floats",
        lambda: function.jit(x, y),
        [Peer("bare session.run", bare, bar=ratio_at_most(1.3))],
        unit="µs",
        per_second=1e6,
    )

"""What a call of a jitted script costs, beside the bare session of the same model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most
from onnxsmith import FLOAT, INT64, OnnxFunction, script
from onnxsmith import opset18 as op

NAME = "jit"
DESCRIPTION = "a call of a whole script as one session, on tiny inputs; CPU time"


@script
def four(x: FLOAT["N"], y: FLOAT["N"]):
    return op.Relu(x * y + 1.0) - y


@script
def ten(x: FLOAT["N"], y: FLOAT["N"]):
    return op.Atan(op.Tanh(op.Neg(op.Exp(op.Sqrt(op.Abs((x + y) * y - y))) / y)))


@script
def ten_with_division(x: INT64["N"], y: INT64["N"]):
    return op.Abs(op.Neg(op.Div(op.Abs((x + y) * y - y) + x, y))) * x - y


def run(context: Context) -> list[Row]:
    """`f.jit(x)` beside `InferenceSession.run` of its model."""
    rows: list[Row] = []
    for what, function, dtype, bar in (
        ("four operators, 4 floats", four, np.float32, 0.9),
        ("ten operators, 4 floats", ten, np.float32, 0.9),
        # A bare session dies of the lowest integer divided by -1; ours has the nodes that keep it from that.
        ("ten operators with a division, 4 integers", ten_with_division, np.int64, 1.5),
    ):
        x = np.arange(1, 5).astype(dtype)
        jitted = function.jit
        jitted(x, x)
        rows += contest(
            context,
            what,
            lambda jitted=jitted, x=x: jitted(x, x),
            [
                Peer(
                    "bare session.run",
                    lambda function=function, x=x: _bare(function, x),
                    bar=ratio_at_most(bar),
                )
            ],
            unit="µs",
            per_second=1e6,
        )
    return rows


def _bare(function: OnnxFunction, x: npt.NDArray[np.generic]) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        function.to_model_proto().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"x": x, "y": x})[0]

"""What a call of a jitted script, of jitted numpy code or of a model costs, beside the bare session of its model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import onnx

import onnxsmith.numpy as xp
from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most
from onnxsmith import FLOAT, INT64, Model, OnnxFunction, script, trace
from onnxsmith import opset18 as op

NAME = "jit"
DESCRIPTION = "a call of a whole script or model as one session, on tiny inputs; CPU time"
#: The numbers of inputs of the models that are called.
INPUTS = (1, 15, 40)


@script
def four(x: FLOAT["N"], y: FLOAT["N"]):
    return op.Relu(x * y + 1.0) - y


@script
def ten(x: FLOAT["N"], y: FLOAT["N"]):
    return op.Atan(op.Tanh(op.Neg(op.Exp(op.Sqrt(op.Abs((x + y) * y - y))) / y)))


@script
def ten_with_division(x: INT64["N"], y: INT64["N"]):
    return op.Abs(op.Neg(op.Div(op.Abs((x + y) * y - y) + x, y))) * x - y


def numpys_ten(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.arctan(np.tanh(-(np.exp(np.sqrt(np.abs((x + y) * y - y))) / y)))


def run(context: Context) -> list[Row]:
    """`f.jit(x)`, `xp.jit(f)(x)` and `model(x)` beside `InferenceSession.run` of the model."""
    rows: list[Row] = []
    for what, function, dtype, bar in (
        ("four operators, 4 floats", four, np.float32, 0.9),
        ("ten operators, 4 floats", ten, np.float32, 1.0),
        # A bare session dies of the lowest integer divided by -1; ours has the nodes that keep it from that.
        ("ten operators with a division, 4 integers", ten_with_division, np.int64, 1.5),
    ):
        x = np.arange(1, 5).astype(dtype)
        rows += _beside_session(
            context, what, functools.partial(function.jit, x, x), _proto(function), {"x": x, "y": x}, bar
        )
    x = np.arange(1, 5).astype(np.float32)
    jitted, model = xp.jit(numpys_ten), ten.to_model()
    calls = (
        ("xp.jit, ten operators", functools.partial(jitted, x, x), 1.2),
        ("Model(...), ten operators", functools.partial(model, x, x), 1.15),
        ("Model.runner(), ten operators", functools.partial(model.runner(), [x, x]), 1.0),
    )
    for what, call, bar in calls:
        rows += _beside_session(context, what, call, _proto(ten), {"x": x, "y": x}, bar)
    for count in INPUTS:
        model = _model_of(count)
        feeds = {f"x{k}": x for k in range(count)}
        name = f"Model(...) of {count} input{'s' * (count != 1)}"
        by_position = functools.partial(model, *feeds.values())
        rows += _beside_session(context, f"{name}, by position", by_position, model.proto, feeds, 1.2)
        by_keyword = functools.partial(model, **feeds)
        rows += _beside_session(context, f"{name}, by keyword", by_keyword, model.proto, feeds, 1.2)
    return rows


def _model_of(count: int) -> Model:
    """The sum of some inputs."""
    names = [f"x{k}" for k in range(count)]
    return trace(lambda *x: op.Sum(*x), *[FLOAT["N"]] * count, input_names=names)


def _proto(function: OnnxFunction) -> onnx.ModelProto:
    return function.to_model_proto()


def _beside_session(
    context: Context,
    what: str,
    ours: Callable[[], object],
    proto: onnx.ModelProto,
    feeds: Mapping[str, npt.NDArray[np.generic]],
    bar: float,
) -> list[Row]:
    ours()
    peer = Peer("bare session.run", lambda: _bare(proto, feeds), bar=ratio_at_most(bar))
    return contest(context, what, ours, [peer], unit="µs", per_second=1e6, choose=min)


def _bare(proto: onnx.ModelProto, feeds: Mapping[str, npt.NDArray[np.generic]]) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given = dict(feeds)
    return lambda: session.run(None, given)[0]

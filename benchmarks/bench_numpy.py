"""What a function of `onnxsmith.numpy` costs on tiny arrays, where the call is everything and the arithmetic nothing.

The yardstick is a bare `InferenceSession.run` of the same node, on a session made before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most

NAME = "numpy"
DESCRIPTION = "functions of arrays of 4 float32, sessions cached; CPU time"

Array = npt.NDArray[np.float32]
#: A call in the words of numpy, on a namespace and two arrays.
Call = Callable[[Any, Any, Any], Any]

OPSET = 21
_X = np.array([0.5, 1.0, 1.5, 2.0], dtype=np.float32)
_Y = np.array([4.0, 3.0, 2.0, 1.0], dtype=np.float32)
#: What is called, the node that it comes to, and the constant that stands for its second operand.
CALLS: dict[str, tuple[Call, str, float | None]] = {
    "xp.add(x, y)": (lambda xp, x, y: xp.add(x, y), "Add", None),
    "x * 2.5": (lambda xp, x, y: x * 2.5, "Mul", 2.5),
    "xp.exp(x)": (lambda xp, x, y: xp.exp(x), "Exp", None),
    "xp.maximum(x, y)": (lambda xp, x, y: xp.maximum(x, y), "Max", None),
}


def run(context: Context) -> list[Row]:
    """Rows for each call."""
    rows: list[Row] = []
    for name, (call, node, constant) in CALLS.items():
        peers = [
            Peer("bare InferenceSession.run", lambda: _bare(node, constant), bar=ratio_at_most(1.5)),  # noqa: B023  # called before the loop goes on
            Peer("numpy", lambda: lambda: call(np, _X, _Y)),  # noqa: B023  # called before the loop goes on
            Peer("ndonnx", lambda: _ndonnx(call), package="ndonnx"),  # noqa: B023  # called before the loop goes on
        ]
        expected = call(np, _X, _Y)
        check = _checker(expected)
        rows += contest(context, name, _onnxsmith(call), peers, unit="µs", per_second=1e6, check=check)
    return rows


def _checker(expected: Array) -> Callable[[object], None]:
    def check(result: object) -> None:
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)

    return check


def _onnxsmith(call: Call) -> Callable[[], object]:
    import onnxsmith.numpy as xp

    x, y = xp.asarray(_X), xp.asarray(_Y)
    return lambda: call(xp, x, y)


def _bare(node: str, constant: float | None) -> Callable[[], object]:
    import onnxruntime  # a peer's own import is not ours to pay for

    inputs: dict[str, Array] = {"x": _X}
    if constant is not None:
        inputs["y"] = np.asarray(constant, np.float32)
    elif node != "Exp":
        inputs["y"] = _Y
    session = onnxruntime.InferenceSession(_model(node, inputs), providers=["CPUExecutionProvider"])

    def run_once() -> object:
        (result,) = session.run(None, inputs)
        return result

    return run_once


def _model(node: str, inputs: dict[str, Array]) -> bytes:
    from onnx import TensorProto, helper

    def described(name: str, rank: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank)

    graph = helper.make_graph(
        [helper.make_node(node, list(inputs), ["z"])],
        "graph",
        [described(name, each.ndim) for name, each in inputs.items()],
        [described("z", 1)],
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


def _ndonnx(call: Call) -> Callable[[], object]:
    import ndonnx

    x, y = ndonnx.asarray(_X), ndonnx.asarray(_Y)
    return lambda: call(ndonnx, x, y).unwrap_numpy()

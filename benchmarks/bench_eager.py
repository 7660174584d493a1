"""What an eager operator call costs on tiny inputs, where the call is everything and the arithmetic nothing.

The yardstick is a bare `InferenceSession.run` on a session made before, which is what a user without any library
would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most, times_better
from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op

NAME = "eager"
DESCRIPTION = "eager operator calls on 4 float32, sessions cached; CPU time"

Array = npt.NDArray[np.float32]
#: Applies an operator, named as ONNX names it, to one or two tensors of its library.
Apply = Callable[..., object]

OPSET = 21
#: A chain of ten: the name, and whether it takes the first input again as its second operand. Only operators that
#: every contestant has as one operation.
CHAIN = (
    ("Add", True),
    ("Mul", True),
    ("Sub", True),
    ("Abs", False),
    ("Sqrt", False),
    ("Exp", False),
    ("Div", True),
    ("Neg", False),
    ("Tanh", False),
    ("Atan", False),
)
_START = np.array([0.5, 1.0, 1.5, 2.0], dtype=np.float32)
_BINARY = frozenset(name for name, is_binary in CHAIN if is_binary)
#: So many that the call of the script itself does not count.
_INSIDE = 100


@script
def added(x: FLOAT["N"], y: FLOAT["N"]):
    for _ in range(_INSIDE):
        x = op.Add(x, y)
    return x


@script
def added_by_sign(x: FLOAT["N"], y: FLOAT["N"]):
    for _ in range(_INSIDE):
        x = x + y
    return x


def run(context: Context) -> list[Row]:
    """Rows for one operator, for the chain, and for operators inside a script that runs eagerly."""
    rows: list[Row] = []
    for name, chain in (("op.Add", CHAIN[:1]), ("a chain of ten operators", CHAIN)):
        ours = _onnxsmith(chain)
        rows += contest(
            context,
            name,
            ours,
            _peers(chain),
            unit="µs",
            per_second=1e6,
            check=_checker(_expected(chain)),
            choose=min,
        )
    for name, function in (("op.Add inside a script", added), ("x + y inside a script", added_by_sign)):
        rows += contest(
            context,
            name,
            lambda function=function: function(_START, _START),
            [Peer("op.Add by itself", lambda: _by_itself, bar=ratio_at_most(1.5))],
            unit="µs",
            per_second=1e6 / _INSIDE,
            choose=min,
        )
    return rows


def _by_itself() -> object:
    value = _START
    for _ in range(_INSIDE):
        value = op.Add(value, _START)
    return value


def _peers(chain: tuple[tuple[str, bool], ...]) -> list[Peer]:
    return [
        Peer("bare InferenceSession.run", lambda: _bare(chain), bar=ratio_at_most(0.85)),
        Peer("onnxscript", lambda: _onnxscript(chain), package="onnxscript", bar=times_better(25)),
        Peer("ndonnx", lambda: _ndonnx(chain), package="ndonnx"),
        Peer("spox", lambda: _spox(chain), package="spox", note="value propagation"),
    ]


def _expected(chain: tuple[tuple[str, bool], ...]) -> Array:
    """The chain's result, by onnx's reference evaluator."""
    import onnx.reference  # only here: none of the contestants may have to pay for it

    value: Any = _START
    for name, is_binary in chain:
        evaluator = onnx.reference.ReferenceEvaluator(_one_operator_model(name))
        (value,) = evaluator.run(None, {"a": value, "b": _START} if is_binary else {"a": value})
    return value


def _checker(expected: Array) -> Callable[[object], None]:
    def check(result: object) -> None:
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-4)

    return check


# ---- the contestants: each returns a function that runs the chain and returns a numpy array ----


def _onnxsmith(chain: tuple[tuple[str, bool], ...]) -> Callable[[], object]:
    steps = [(getattr(op, name), is_binary) for name, is_binary in chain]
    return _runner(steps, _START)


def _bare(chain: tuple[tuple[str, bool], ...]) -> Callable[[], object]:
    import onnxruntime

    sessions = [
        onnxruntime.InferenceSession(_one_operator_model(name), providers=["CPUExecutionProvider"])
        for name, _ in chain
    ]
    steps = [(session.run, is_binary) for session, (_, is_binary) in zip(sessions, chain, strict=True)]

    def run_chain() -> object:
        value = _START
        for session_run, is_binary in steps:
            (value,) = session_run(None, {"a": value, "b": _START} if is_binary else {"a": value})
        return value

    return run_chain


def _onnxscript(chain: tuple[tuple[str, bool], ...]) -> Callable[[], object]:
    from onnxscript import opset21 as op
    from onnxscript.tensor import Tensor

    steps = [(getattr(op, name), is_binary) for name, is_binary in chain]
    run_chain = _runner(steps, Tensor(_START))
    return lambda: run_chain().value


def _spox(chain: tuple[tuple[str, bool], ...]) -> Callable[[], object]:
    import spox._future
    import spox.opset.ai.onnx.v21 as op

    steps = [(getattr(op, name.lower()), is_binary) for name, is_binary in chain]
    run_chain = _runner(steps, op.const(_START))
    backend = spox._future.ValuePropBackend.REFERENCE

    def run_with_its_default_backend() -> object:
        # spox has no eager mode; it evaluates constants while it builds. Its default backend is set because
        # importing ndonnx changes it for the whole process.
        with spox._future.value_prop_backend(backend):
            return run_chain()._get_value()

    return run_with_its_default_backend


def _ndonnx(chain: tuple[tuple[str, bool], ...]) -> Callable[[], object]:
    import ndonnx

    functions = {
        "Add": ndonnx.add,
        "Mul": ndonnx.multiply,
        "Sub": ndonnx.subtract,
        "Abs": ndonnx.abs,
        "Sqrt": ndonnx.sqrt,
        "Exp": ndonnx.exp,
        "Div": ndonnx.divide,
        "Neg": ndonnx.negative,
        "Tanh": ndonnx.tanh,
        "Atan": ndonnx.atan,
    }
    steps = [(functions[name], is_binary) for name, is_binary in chain]
    run_chain = _runner(steps, ndonnx.asarray(_START))
    return lambda: run_chain().unwrap_numpy()


def _runner(steps: list[tuple[Apply, bool]], start: object) -> Callable[[], Any]:
    def run_chain() -> Any:
        value = start
        for apply, is_binary in steps:
            value = apply(value, start) if is_binary else apply(value)
        return value

    return run_chain


def _one_operator_model(name: str) -> bytes:
    """A model of one operator on float32 of any shape of rank 1."""
    from onnx import TensorProto, helper

    inputs = ["a", "b"] if name in _BINARY else ["a"]
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [None]) for each in [*inputs, "y"]]
    graph = helper.make_graph([helper.make_node(name, inputs, ["y"])], name, values[:-1], values[-1:])
    # IR version 10 came with opset 21; the newest may be unknown to the installed runtime.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    return model.SerializeToString()

"""Run a model in a fresh process that imports only onnxruntime and numpy: what the runtime itself does with it.

For probes of the runtime's mistakes, which may end the process, and for models made for the runtime, which must do
without us. Run as a script it is that process; `run` is for everybody else.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

MEMORY = 6 << 30


@dataclass(frozen=True)
class BareOutcome:
    """What came of it: values by output, or the words of an error, the name of a signal, nothing when time was over."""

    kind: Literal["results", "error", "died", "timed out"]
    results: Mapping[str, Any]
    text: str = ""


def run(
    model: bytes, inputs: Mapping[str, Any], *, timeout: float = 30.0, optimized: bool = True, runs: int = 1
) -> BareOutcome:
    """Run a serialized model on arrays (and lists of arrays) by name, in a process of its own.

    With several `runs` the results are those of the last one, in the same session.
    """
    question = pickle.dumps((model, dict(inputs), optimized, runs))
    command = [sys.executable, "-W", "ignore", __file__]
    try:
        done = subprocess.run(command, input=question, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return BareOutcome("timed out", {}, f"over {timeout:g} s")
    if done.returncode < 0:
        return BareOutcome("died", {}, signal.Signals(-done.returncode).name)
    if done.returncode > 0:
        return BareOutcome("died", {}, done.stderr.decode(errors="replace")[-2000:])
    kind, results, text = pickle.loads(done.stdout)
    return BareOutcome(kind, results, text)


def _child() -> None:
    """Answer one question: read from standard input, written to standard output."""
    import resource

    # Here, and not at the top, because asking must not import the runtime.
    import onnxruntime

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    model, inputs, optimized, runs = pickle.load(sys.stdin.buffer)
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        values: Sequence[Any] = ()
        for _ in range(runs):
            values = session.run(None, inputs)
        names = [each.name for each in session.get_outputs()]
        answer: tuple[str, dict[str, Any], str] = ("results", dict(zip(names, values, strict=True)), "")
    except Exception as error:  # the runtime's exceptions have no common base
        answer = ("error", {}, f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(pickle.dumps(answer))


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, element for element."""
    first, second = np.asarray(one), np.asarray(other)
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


if __name__ == "__main__":
    _child()

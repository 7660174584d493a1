"""Run models in a process that imports only onnxruntime and numpy: what the runtime itself does with them.

For probes of the runtime's mistakes, which may end the process, and for models made for the runtime, which must do
without us. Run as a script it is that process; `run` and `BareProcess` are for everybody else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

if (
    __name__ == "__main__"
):  # the folder of a script comes first on its path: this file must be found by its name
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.laws.messages import LATE, Child, answer_stream, questions, send

MEMORY = 6 << 30
#: More than this is not sent: copies of it would be past the memory.
MOST_BYTES = 256 << 20
#: Importing the runtime takes its time on a busy machine.
START_SECONDS = 60.0

#: Arrays, and lists of arrays for sequences.
Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class BareOutcome:
    """What came of it: values by output; or the words of an error, the name of a signal, how long it was waited.

    "large" is what ran, and gave more than is sent.
    """

    kind: Literal["results", "large", "error", "died", "timed out"]
    results: Values = field(default_factory=dict)
    text: str = ""


def run(
    model: bytes, inputs: Values, *, timeout: float = 30.0, optimized: bool = True, runs: int = 1
) -> BareOutcome:
    """Run a serialized model on values by name, in a fresh process.

    With several `runs` the results are those of the last one, in the same session.
    """
    process = BareProcess()
    try:
        return process.ask(model, inputs, timeout=timeout, optimized=optimized, runs=runs)
    finally:
        process.close()


class BareProcess:
    """One such process for many models; it is started when it is needed, and again after its end."""

    def __init__(self) -> None:
        self._child: Child | None = None

    def ask(
        self, model: bytes, inputs: Values, *, timeout: float = 30.0, optimized: bool = True, runs: int = 1
    ) -> BareOutcome:
        """Make a session of a model and run it."""
        if self._child is None:
            self._child = Child([sys.executable, "-W", "ignore", os.path.abspath(__file__)])
            self._child.receive(START_SECONDS)
        self._child.send((model, dict(inputs), optimized, runs))
        answer = self._child.receive(timeout)
        if isinstance(answer, tuple):
            kind, results, text = answer
            return BareOutcome(kind, results, text)
        child, self._child = self._child, None
        end = child.end(kill=answer == LATE)
        if answer == LATE:
            return BareOutcome("timed out", text=f"over {timeout:g} s")
        return BareOutcome("died", text=end)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.end(kill=True)
            self._child = None


def _answer(model: bytes, inputs: Values, optimized: bool, runs: int) -> tuple[str, Values, str]:
    import onnxruntime  # here, because who asks need not have it loaded

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        values: Sequence[Any] = ()
        for _ in range(runs):
            values = session.run(None, inputs)
        names = [each.name for each in session.get_outputs()]
        if sum(getattr(each, "nbytes", 0) for each in values) > MOST_BYTES:
            return "large", {}, ""
        return "results", dict(zip(names, values, strict=True)), ""
    except Exception as error:  # the runtime's exceptions have no common base
        return "error", {}, f"{type(error).__name__}: {error}"


def _serve() -> None:
    """Answer questions from standard input on standard output."""
    import resource  # not on every system that only asks

    import numpy as np  # noqa: F401  # loaded before time is measured
    import onnxruntime

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    onnxruntime.set_default_logger_severity(4)
    answers = answer_stream()
    send(answers, "ready")
    for question in questions():
        assert isinstance(question, tuple)
        send(answers, _answer(*question))


if __name__ == "__main__":
    _serve()

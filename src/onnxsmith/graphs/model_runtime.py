"""The runtime of whole models, as a model sees it. Runs nothing: the runtime, which stands above, registers itself.

Calling operators is another matter (`core.target`): a model goes to the runtime as a whole, past any target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from onnxsmith.errors import NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.isolation import Isolation
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.registry import load_module
from onnxsmith.source import Span

#: Where a node of the model was written, by its name; None when that is not known.
FindNode: TypeAlias = Callable[[str], Span | None]
#: What is wrong with the model whatever runs it, on these inputs or (None) on any, after a runtime refused it in these
#: words; None if nothing is seen.
Objection: TypeAlias = Callable[[str, Sequence[RunValue] | None], OnnxsmithError | None]


#: Runs a model on several inputs, one after the other: the outputs of each run, or the error that it would raise.
RunEach: TypeAlias = Callable[[Sequence[Sequence[RunValue]]], "list[list[RunValue] | OnnxsmithError]"]
#: The error to raise for one of a run that failed on these inputs, or for a model that nothing runs.
Explain: TypeAlias = Callable[[OperatorFailedError | NotRunnableError, Sequence[RunValue]], OnnxsmithError]


class ModelRuntime(Protocol):
    """Runs models on inputs in the order of the model's own, and gives all outputs.

    Raises NotRunnableError for a model that nothing here can run, and for a run that failed what `explain` makes of an
    OperatorFailedError; `find_node` lets both say where.
    """

    def load(
        self, model: SessionModel, find_node: FindNode | None, objection: Objection | None, explain: Explain
    ) -> Run:
        """A function that runs the model, in this process; `objection` is asked before another engine is."""
        ...

    def isolated(
        self, model: SessionModel, names: Sequence[str], limits: Isolation, find_node: FindNode | None
    ) -> AbstractContextManager[RunEach]:
        """Runs in a child process, on inputs of these names."""
        ...

    def staying_with(
        self, inputs: Sequence[RunValue], device: str | None
    ) -> AbstractContextManager[object] | None:
        """A block whose runs are where the inputs are, or on the device that is named; None for this context's choice.

        Raises DeviceError for inputs on several devices.
        """
        ...

    def arrays_behind(self, values: Sequence[Any]) -> list[Any] | None:
        """The arrays of tensors and of other libraries' arrays, where they lie; None if any value is something else."""
        ...

    def as_tensors(self, outputs: Sequence[RunValue]) -> list[Any]:
        """The outputs of a run as tensors, where they are tensors."""
        ...

    def faults(self, model: SessionModel) -> list[str]:
        """Reasons why the installed runtime, without this package, gets a model wrong, each with its node."""
        ...


_registered: ModelRuntime | None = None


def register_model_runtime(runtime: ModelRuntime) -> None:
    """Say what runs models."""
    global _registered  # set once, by the package itself
    _registered = runtime


def model_runtime() -> ModelRuntime:
    """The runtime of models; its module is imported on first use."""
    if _registered is None:
        load_module("model runtime")
    assert _registered is not None, "the module of the model runtime registers it"
    return _registered

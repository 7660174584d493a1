"""The runtime that models find when they run: sessions in this process, or in a child with limits. Registers itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from onnxsmith.graphs.isolation import Isolation
from onnxsmith.graphs.model_runtime import Explain, FindNode, Objection, RunEach, register_model_runtime
from onnxsmith.graphs.run_values import Run
from onnxsmith.graphs.session_model import SessionModel
from onnxsmith.runtime.isolated import isolated_session
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.plain_files import faults


class Sessions:
    """Loads and runs models on the engines of this package."""

    def load(
        self, model: SessionModel, find_node: FindNode | None, objection: Objection | None, explain: Explain
    ) -> Run:
        return load_session(model, find_node=find_node, objection=objection, explain=explain).run

    def isolated(
        self, model: SessionModel, names: Sequence[str], limits: Isolation, find_node: FindNode | None
    ) -> AbstractContextManager[RunEach]:
        return isolated_session(model, names, limits, find_node)

    def faults(self, model: SessionModel) -> list[str]:
        return faults(model)


register_model_runtime(Sessions())

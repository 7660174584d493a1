"""The execution provider that each node of a model goes to, and the copies of values between devices.

ONNX Runtime decides it when a session is made; nothing is run here.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import onnx

from onnxsmith.errors import MissingDependencyError
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.rewriting.scopes import all_nodes
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.fallback_forms import open_as_it_can, opener
from onnxsmith.runtime.providers import CPU
from onnxsmith.runtime.settings import Settings

#: The nodes that ONNX Runtime adds to copy values between devices.
COPIES = frozenset({"MemcpyFromHost", "MemcpyToHost"})
_RECORDED = "session.record_ep_graph_assignment_info"


@dataclass(frozen=True, slots=True)
class AssignedNodes:
    """The nodes of a model as ONNX Runtime runs it, by the provider that runs them."""

    #: Provider -> operator -> how many.
    operators: Mapping[str, Mapping[str, int]]
    #: How often a value is copied between devices in each run.
    copies: int

    @property
    def on_cpu(self) -> Mapping[str, int]:
        """Those that the CPU runs, by operator."""
        return self.operators.get(CPU, {})


def assigned_nodes(model: SessionModel, settings: Settings) -> AssignedNodes:
    """The provider of each node under these settings; raises what ONNX Runtime raises where it cannot run the model."""
    with tempfile.TemporaryDirectory(prefix="onnxsmith-nodes-") as folder:
        path = os.path.join(folder, "graph.onnx")
        told = ((_RECORDED, "1"), ("optimized_model_filepath", path))
        recorded = replace(settings, session_options=(*settings.session_options, *told))
        session = cast(Any, open_as_it_can(model, opener(recorded)).session)
        if not hasattr(session, "get_provider_graph_assignment_info"):
            raise MissingDependencyError(
                f"{onnxruntime_api.title()} does not say which provider runs a node",
                help="pip install --upgrade onnxruntime",
            )
        operators: dict[str, Counter[str]] = {}
        for part in session.get_provider_graph_assignment_info():
            names = [str(each.op_type) for each in part.get_nodes()]
            operators.setdefault(str(part.ep_name), Counter()).update(
                each for each in names if each not in COPIES
            )
        with open(path, "rb") as file:
            graph = onnx.ModelProto.FromString(file.read()).graph
    copies = sum(node.op_type in COPIES for node in all_nodes(graph.node))
    return AssignedNodes(operators, copies)

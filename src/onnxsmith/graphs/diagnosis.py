"""Why a model cannot run, in the words that the same mistake has elsewhere.

Asked after a runtime refused it, or failed on its inputs: binding and inference go through the model, on the very
inputs, and find what they find when the call is made eagerly or traced. What they find counts where it blames the
operator that the runtime named, or where the runtime named none; else the runtime's word stands.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.errors import NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.errors.kinds import of_its_kind
from onnxsmith.graphs.graph_inference import infer_model, sizes_of
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.isolation import Isolation
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model_runtime import Explain, FindNode, Objection, RunEach, model_runtime
from onnxsmith.graphs.origins import origin_of
from onnxsmith.graphs.raising_nodes import RAISED
from onnxsmith.graphs.rewriting.scopes import all_graphs, required_inputs
from onnxsmith.schema.foreign_arrays import array_on_device
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Span
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.value_types import AnyValueType, OptionalType

#: Contents larger than this say nothing about shapes.
_LARGEST_CONTENT = 1024
#: What a body does to what is carried shows in one of its nodes.
_WITH_BODIES = frozenset({"Loop", "Scan"})
_WORD = re.compile(r"\w+")


class Explanations(NamedTuple):
    """The knowledge that a model has of its failures: where a node was written, objections, the error of a run."""

    find_node: FindNode | None
    objection: Objection | None
    explain: Explain

    @contextlib.contextmanager
    def isolated_runs(
        self, model: SessionModel, names: Sequence[str], limits: Isolation
    ) -> Generator[RunEach]:
        """Runs of the model in a child process, within limits and in one session; `names` are those of its inputs."""
        with model_runtime().isolated(model, names, limits, self.find_node) as run_each:
            yield lambda many: [
                self.explain(each, feeds)
                if isinstance(each, OperatorFailedError | NotRunnableError)
                else each
                for each, feeds in zip(run_each(many), many, strict=True)
            ]


def no_explanations() -> Explanations:
    """Those of a model whose nodes nothing here looks at."""

    def explain(error: OperatorFailedError | NotRunnableError, feeds: Sequence[Any]) -> OnnxsmithError:
        return error

    return Explanations(None, None, explain)


def explanations_of(model: Callable[[], ir.Model], called: str) -> Explanations:
    """The explanations of a model, which is asked for when something fails; `called` names its file."""

    def find_node(name: str) -> Span | None:
        return origin_of(model(), called, name)

    def object_to(refusal: str, feeds: Sequence[Any] | None) -> OnnxsmithError | None:
        return objection(model(), refusal, feeds)

    def explain(error: OperatorFailedError | NotRunnableError, feeds: Sequence[Any]) -> OnnxsmithError:
        return diagnosed(model(), error, feeds)

    return Explanations(find_node, object_to, explain)


def diagnosed(
    model: ir.Model, failure: OperatorFailedError | NotRunnableError, feeds: Sequence[Any]
) -> OnnxsmithError:
    """The error to raise for a run that failed."""
    if failure.node is not None and failure.node[1].startswith(RAISED):
        return failure  # it fails on purpose, and says why
    certain, doubts = _objections(model, _known_inputs(model, feeds))
    for found in doubts if certain is None else [certain, *doubts]:
        if _is_about(found, failure, model):
            found.labels = found.labels or failure.labels
            return found
    return of_its_kind(failure) if isinstance(failure, OperatorFailedError) else failure


def objection(model: ir.Model, refusal: str, feeds: Sequence[Any] | None) -> OnnxsmithError | None:
    """The error in a model on these inputs, or on any inputs; None when nothing is seen.

    What stands in a body may never be run; it counts where a runtime's refusal names the operator.
    """
    if feeds is None:
        inputs = [Known(type_from_ir(each.type, each.shape)) for each in required_inputs(model.graph)]
    else:
        inputs = _known_inputs(model, feeds)
    certain, doubts = _objections(model, inputs)
    if certain is not None:
        return certain
    words = set(_WORD.findall(refusal))
    return next((each for each in doubts if each.node is not None and each.node[0] in words), None)


def _objections(
    model: ir.Model, inputs: Sequence[Known]
) -> tuple[OnnxsmithError | None, list[OnnxsmithError]]:
    """The objections of inference to the model: those that are certain, and those that only matter if a body is run."""
    doubts: list[OnnxsmithError] = []
    try:
        infer_model(model, inputs, sizes_of(model, [each.type for each in inputs]), doubts)
    except OnnxsmithError as found:
        return found, doubts
    except Exception:  # inference is not at fault that the run failed, whatever it stumbles over
        return None, []
    return None, doubts


def _is_about(found: OnnxsmithError, failure: OnnxsmithError, model: ir.Model) -> bool:
    """True if inference and the runtime can mean the same node."""
    if failure.node is None or found.node is None:
        return True
    operator = failure.node[0]
    if found.node[0] == operator or found.node[0] in _WITH_BODIES:
        return True
    # A node that the model does not have stands for one of its own, in other words.
    return all(node.op_type != operator for graph in all_graphs(model) for node in graph)


def _known_inputs(model: ir.Model, feeds: Sequence[Any]) -> list[Known]:
    declared = (type_from_ir(each.type, each.shape) for each in required_inputs(model.graph))
    return [_known(value, kind) for value, kind in zip(feeds, declared, strict=False)]


def _known(value: Any, declared: AnyValueType) -> Known:
    """The facts of an input; of one that is absent or an empty list, those that the model declares."""
    if value is None or (value.__class__ is list and len(value) == 0):
        return Known(declared)
    there = array_on_device(value)
    if isinstance(declared, OptionalType):
        kind: AnyValueType = declared
    else:
        kind = type_of_example(value) if there is None else there.type
    is_small = isinstance(value, np.ndarray) and cast("np.ndarray[Any, Any]", value).size <= _LARGEST_CONTENT
    return Known(kind, cast("np.ndarray[Any, Any]", value) if is_small else None)

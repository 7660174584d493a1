"""`model.for_runtime()`: the model that ONNX Runtime is really given, to be shipped to where nothing of ours is.

The facts about the installed ONNX Runtime are met in it, and operators that it lacks are told otherwise. The weights
are the model's own.
"""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.errors import MissingDependencyError, NotRunnableError, OnnxsmithError, boundary
from onnxsmith.graphs import files
from onnxsmith.graphs.diagnosis import objection
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.rewriting.rewrite import Edit
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.failure import plain_reason
from onnxsmith.runtime.retelling import open_as_it_can
from onnxsmith.runtime.settings import Settings


class RuntimeModel(Model):
    """A model for one runtime: runs there as the one that it was made of is defined.

    `changes` says what was changed and why, a change for each node and fact; it is empty for a model that ONNX Runtime
    gets right as it is.
    """

    def __init__(self, model: ir.Model, changes: tuple[Edit, ...], runtime: str) -> None:
        super().__init__(model)
        self.changes = changes
        #: The runtime that it was made for, and its version.
        self.runtime = runtime

    @property
    def report(self) -> str:
        """What was changed, one line each, to be read."""
        if not self.changes:
            return f"{self.runtime}: nothing to change"
        lines = [f"{self.runtime}: {len(self.changes)} changes"]
        for each in self.changes:
            place = "/".join((*each.path, each.node or each.operator))
            lines.append(f"  {each.operator} '{place}': {each.reason}")
        return "\n".join(lines)


@boundary
def for_runtime(model: Model) -> RuntimeModel:
    """The model as the installed ONNX Runtime gets it right, with a report of what was changed.

    Save it to run it where only ONNX Runtime is installed. The model itself stays as it is.

    >>> from onnxsmith import INT64, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Div(a, b), INT64["N"], INT64["N"])
    >>> shipped = model.for_runtime()
    >>> [change.operator for change in shipped.changes]
    ['Div']
    >>> print(shipped.report)  # doctest: +ELLIPSIS
    ONNX Runtime ...: 1 changes
      Div 'div': the lowest integer divided by -1 ends the process; it wraps around, as in numpy
    """
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "for_runtime needs ONNX Runtime", help='install it: pip install "onnxsmith[ort]"'
        )
    given = model.handed_over()

    def check(refusal: str) -> None:
        found = objection(model.ir, refusal, None)
        if found is not None:
            raise found

    try:
        opened = open_as_it_can(given, Settings(), check)
    except OnnxsmithError:
        raise
    except Exception as error:  # ONNX Runtime's own classes, one for each reason
        raise NotRunnableError(f"ONNX Runtime cannot run this model: {plain_reason(error)}") from error
    version = ".".join(map(str, onnxruntime_api.version()))
    result = files.from_proto(opened.model.proto, "the model for ONNX Runtime")
    own = model.ir.graph.initializers
    for name, value in result.graph.initializers.items():
        if name in own and name in given.weights:
            value.const_value = own[name].const_value
    return RuntimeModel(result, opened.edits, f"ONNX Runtime {version}")

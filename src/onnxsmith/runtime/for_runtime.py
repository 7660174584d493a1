"""`model.for_runtime()`: the model that ONNX Runtime is really given, to be shipped to where nothing of ours is.

The facts about the installed ONNX Runtime are met in it, and operators that it lacks are told otherwise. The weights
are the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx
import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import MissingDependencyError, NotRunnableError, OnnxsmithError
from onnxsmith.graphs import files
from onnxsmith.graphs.diagnosis import objection
from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.ir_types import ir_dtype
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.origins import hand_down_origins
from onnxsmith.graphs.report import PassedModel, Report
from onnxsmith.graphs.version_converter import version_converter
from onnxsmith.runtime import kernel_table, onnxruntime_api
from onnxsmith.runtime.adapting import Checks, Refused, adapt
from onnxsmith.runtime.failure import plain_reason
from onnxsmith.runtime.fallback_forms import open_as_it_can, opener
from onnxsmith.runtime.model_session import refuse_newer_opsets
from onnxsmith.runtime.opening import weight_reader
from onnxsmith.runtime.settings import Settings
from onnxsmith.runtime.widening import widened
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.types.dtypes import DType

#: Names of nodes come from strangers, and may be as long as they please.
_LONGEST_PLACE = 200


@dataclass(slots=True, repr=False)
class RuntimeReport(Report):
    """The changes for a runtime; as text, a line with the reason for each change."""

    #: The runtime that it was made for, and its version.
    runtime: str = ""

    def __str__(self) -> str:
        count = len(self.edits) + len(self.notes)
        if not count:
            return f"{self.runtime}: nothing to change"
        lines = [f"{self.runtime}: {count} change{'s' * (count != 1)}", *(f"  {each}" for each in self.notes)]
        for each in self.edits:
            place = clipped(each.before[0].called, _LONGEST_PLACE)
            lines.append(f"  {each.operator} '{place}': {each.reason}")
        return printable("\n".join(lines))


class RuntimeModel(PassedModel):
    """A model for one runtime: runs there as the one that it was made of is defined.

    `report.edits` say what was changed and why, `report.notes` which opset became another. There are none for a model
    that ONNX Runtime gets right as it is.
    """

    report: RuntimeReport


@model_boundary
def for_runtime(model: ModelLike) -> RuntimeModel:
    """The model as the installed ONNX Runtime gets it right, with a report of what was changed.

    Save it to run it where only ONNX Runtime is installed. The model itself stays as it is. What has no kernel is
    computed in a wider element type; where none is exact, in one that costs precision, and the report says so.
    What it put into a model before is left alone: metadata of those nodes say so.

    >>> from onnxsmith import INT64, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Div(a, b), INT64["N"], INT64["N"])
    >>> shipped = model.for_runtime()
    >>> [edit.operator for edit in shipped.report.edits]
    ['Div']
    >>> print(shipped.report)  # doctest: +ELLIPSIS
    ONNX Runtime ...: 1 change
      Div 'div': the lowest integer divided by -1 ends the process; it wraps around, as in numpy
    """
    model = model_of(model, "for_runtime")
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "for_runtime needs ONNX Runtime", help='install it: pip install "onnxsmith[ort]"'
        )
    given = model.handed_over()
    refuse_newer_opsets(given.proto)

    def check(refusal: Exception) -> None:
        found = objection(model.ir, str(refusal), None)
        if found is not None:
            raise found

    open_kept = opener(Settings(), is_kept=True)
    try:
        try:
            opened = open_as_it_can(given, open_kept, check, lossy=True)
        except Refused:
            # A later opset may have operators that the fact can be met with.
            later = _in_default_opset(model)
            if later is None:
                raise
            opened = open_as_it_can(later.handed_over(), open_kept, lossy=True)
    except OnnxsmithError:
        raise
    except Exception as error:  # ONNX Runtime's own classes, one for each reason
        raise NotRunnableError(f"ONNX Runtime cannot run this model: {plain_reason(error)}") from error
    report = RuntimeReport.of(model.ir)
    report.runtime = onnxruntime_api.title()
    result = _read(opened.model.proto, model)
    report.close(result, opened.edits)
    report.notes += _changed_opsets(model, result, report.runtime)
    return RuntimeModel(result, report)


def _in_default_opset(model: Model) -> Model | None:
    """The model in the newest opset that the runtime loads, if that is a later one, and the model can be converted."""
    newest = default_opset_version()
    if model.opset_imports.get("", newest) >= newest:
        return None
    try:
        return Model(version_converter()(model.ir, {"": newest}))
    except OnnxsmithError:
        return None


def _changed_opsets(model: Model, result: ir.Model, runtime: str) -> list[str]:
    """A line for each opset that has another version than the model's, with the reason."""
    newest = default_opset_version()
    lines: list[str] = []
    for domain, before in model.opset_imports.items():
        after = result.opset_imports.get(domain, before)
        if after != before:
            is_new = not domain and before > newest
            reason = f"{runtime} loads opsets up to {newest}" if is_new else "what is changed needs it"
            lines.append(f"opset {before}{f' of {domain}' * bool(domain)} became {after}: {reason}")
    return lines


def adapted(model: Model, *, checks: bool) -> tuple[ir.Model, tuple[Edit, ...]]:
    """The model that `for_runtime` makes, and its changes, without a session: nothing has to be installed for it.

    The very model where there is nothing to change. Opsets and definitions stay: what is new to ONNX Runtime it will
    refuse. `checks` says whether inputs that end the process are looked for. It is for models of our own making: the
    shapes that they declare are believed. Raises Refused where a fact cannot be met.
    """
    given = model.handed_over()
    wide = widened(given.proto, lossy=True)
    version = onnxruntime_api.version() if onnxruntime_api.is_available() else kernel_table.RUNTIME_VERSION
    where: Checks = "in the graph" if checks else "nowhere"
    result = adapt(
        wide.model, version, weight_reader(given), checks=where, is_kept=True, believes_shapes=True
    )
    edits = wide.edits + result.edits
    return (_read(result.model, model), edits) if edits else (model.ir, ())


def _read(proto: onnx.ModelProto, model: Model) -> ir.Model:
    """The graph that a proto has, with everything that is not told to a runtime as the model has it."""
    result = files.from_proto(proto, "the model for ONNX Runtime")
    own = model.ir
    for name, value in result.graph.initializers.items():
        if name in own.graph.initializers:
            value.const_value = own.graph.initializers[name].const_value
    result.producer_version = own.producer_version
    result.model_version = own.model_version
    result.doc_string = own.doc_string
    result.graph.doc_string = own.graph.doc_string
    hand_down_origins(result, own)
    cast_constants(result, own)
    return result


# -- cast constants --------------------------------------------------------------------------------------------
# Casts of single numbers that a rewrite put in, done at once: the model then holds the number in the other type.


#: The first IR version in which an initializer need not be an input.
_OLDEST_IR_VERSION = 4


def cast_constants(model: ir.Model, given: ir.Model) -> None:
    """Replace the casts of single constants that a model has and the one that it was made of does not.

    Larger constants stay as they are: they may be weights, which are not copied, and are known by their names.
    """
    if model.ir_version < _OLDEST_IR_VERSION:
        return
    graph = model.graph
    before = {each.name for node in given.graph for each in node.outputs}
    replaceable = {each.name for each in graph.inputs}
    sources: dict[str, ir.Value] = {}
    for node in list(graph):
        result = node.outputs[0]
        source = node.inputs[0] if node.op_type == "Cast" and not node.domain else None
        if source is None or result.name in before or source.name in replaceable:
            continue
        if (
            source.name not in graph.initializers
            or source.const_value is None
            or source.const_value.size != 1
        ):
            continue
        dtype = DType(node.attributes["to"].as_int())
        array = source.const_value.numpy().astype(dtype.numpy)
        tensor = ir.tensor(array, dtype=ir_dtype(dtype), name=result.name)
        value = ir.Value(
            name=result.name, type=ir.TensorType(tensor.dtype), shape=source.shape, const_value=tensor
        )
        ir.convenience.replace_all_uses_with(result, value)
        graph.remove(node, safe=True)
        graph.register_initializer(value)
        sources[source.name or ""] = source
    outputs = {each.name for each in graph.outputs}
    for name, source in sources.items():
        if not source.uses() and name not in outputs:
            del graph.initializers[name]

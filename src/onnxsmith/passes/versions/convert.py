"""`convert_version(model, 21)`: the model in another version of an opset, or the nodes for which there is none."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Literal, TypeAlias

import onnx_ir as ir

from onnxsmith.errors import AttributeTypeError, AttributeValueError, VersionConversionError
from onnxsmith.graphs.ir_version import settle_ir_version
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.opsets import OPSET_REMEDY, newer_opset
from onnxsmith.graphs.report import PassedModel, Report, with_report
from onnxsmith.graphs.soundness import refuse_endless_calls
from onnxsmith.graphs.version_converter import register_version_converter
from onnxsmith.passes.edits import EditLog
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.verifying import GivenInputs, check_inputs, runtime_limit, verify_passes
from onnxsmith.passes.versions.found_types import ConversionTypes
from onnxsmith.passes.versions.refusals import conversion_error
from onnxsmith.passes.versions.walk import Conversion
from onnxsmith.schema import registry
from onnxsmith.schema.registry import default_opset_version

#: A version as it is asked for: "newest" is the last that the installed onnx has, "runtime" the last that the
#: installed ONNX Runtime loads.
GivenVersion: TypeAlias = int | Literal["newest", "runtime"]


@model_boundary
def convert_version(
    model: ModelLike,
    version: GivenVersion | Mapping[str, GivenVersion],
    *,
    verify: bool | GivenInputs = False,
) -> PassedModel:
    """The model in another version of the standard opset, or of the domains that a mapping names.

    "newest" is the last version that the installed onnx has, "runtime" the last that the installed ONNX Runtime loads.
    The result gives what the model gave. The model itself stays as it is, and the weights are shared; `report` says
    what was changed, and whether the installed ONNX Runtime is too old for it.
    Where there is no way to say the same, the error names the nodes: nothing is converted by halves.
    `verify` True runs both on inputs that are made up, or on those that it is given;
    VerificationError then names the change that made a difference.

    >>> from onnxsmith import FLOAT, opset11, trace
    >>> model = trace(lambda x: opset11.Squeeze(x, axes=[0]), FLOAT[1, "N"])
    >>> newer = model.convert_version(21)
    >>> newer
    Model(x: FLOAT[1, 'N']) -> squeeze: FLOAT['N'], 1 node, opset 21
    >>> print(*newer.report.edits)
    axes as input: Squeeze 'squeeze' -> Squeeze 'squeeze'
    """
    model = model_of(model, "convert_version")
    targets = _targets(version)
    check_inputs(model, verify)
    result = _converted(model, targets)
    verify_passes(
        model,
        result,
        verify,
        None,
        "converted",
        "that is a mistake of ours, please report it; convert_version without verify gives it as it is",
    )
    # An older one is no news for ONNX Runtime.
    if verify is False and result.report.opset_after > result.report.opset_before:
        limit = runtime_limit(result)
        if limit is not None:
            result.report.notes.append(limit)
    return result


def _converted(model: Model, targets: Mapping[str, int]) -> PassedModel:
    log = EditLog()
    held = read(model)
    given = held.ir
    refuse_endless_calls(given)
    changed = converted(given, targets, log)
    report = Report.of(given)
    report.close(changed, log.finished())
    return with_report(finished(ModelContent(changed, held.special)), report, model)


def converted(model: ir.Model, targets: Mapping[str, int], log: EditLog | None = None) -> ir.Model:
    """A copy of a model in other versions, which shares the weights. Raises VersionConversionError."""
    imports = (each for one in (model, *model.functions.values()) for each in one.opset_imports.items())
    newer = newer_opset(imports)
    if newer is not None:
        raise VersionConversionError(f"the model cannot be converted: {newer}", help=OPSET_REMEDY)
    result = model.clone()
    for each in (result, *result.functions.values()):
        _call_standard_domain_by_one_name(each.opset_imports)
    wanted = {domain: each for domain, each in targets.items() if _is_imported(result, domain)}
    conversion = Conversion(result, wanted, log)
    if not conversion.is_done():
        before = {value for value in result.graph.initializers.values() if not value.uses()}
        types = ConversionTypes(result)
        conversion.known_numbers = types.numbers
        conversion.run()
        if conversion.refused:
            raise conversion_error(conversion.refused)
        types.take_away()
        _leave_out_unread(result, before)
    for each in (result, *conversion.converted_functions()):
        for domain, version in wanted.items():
            if domain in each.opset_imports:
                each.opset_imports[domain] = version
    settle_ir_version(result, model)
    return result


def _call_standard_domain_by_one_name(imports: dict[str, int]) -> None:
    """`ai.onnx` is another name of the domain of no name, which is what nodes are of."""
    version = imports.pop("ai.onnx", None)
    if version is not None:
        imports.setdefault("", version)


def _is_imported(model: ir.Model, domain: str) -> bool:
    return domain in model.opset_imports or any(
        domain in each.opset_imports for each in model.functions.values()
    )


def _leave_out_unread(model: ir.Model, unread_before: set[ir.Value]) -> None:
    """Take away the initializers that only attributes were made of, and nothing reads any more."""
    graph = model.graph
    for name, value in list(graph.initializers.items()):
        if not (value.uses() or value in unread_before or value.is_graph_input() or value.is_graph_output()):
            del graph.initializers[name]


def _targets(version: GivenVersion | Mapping[str, GivenVersion]) -> dict[str, int]:
    given = version if isinstance(version, Mapping) else {"": version}
    targets: dict[str, int] = {}
    for domain, each in given.items():
        domain = "" if domain == "ai.onnx" else domain
        if not registry.is_known_domain(domain):
            raise AttributeValueError(
                f"nothing is known of the domain '{domain}', so nothing of it can be converted",
                culprit="version",
            )
        newest = registry.latest_version(domain)
        number = newest if isinstance(each, str) and each == "newest" else _number(domain, each)
        if not 1 <= number <= newest:
            called = f"opset {number} of {domain}" if domain else f"opset {number}"
            raise AttributeValueError(
                f"{called} is not there: the installed onnx has versions 1 to {newest}", culprit="version"
            )
        targets[domain] = number
    return targets


def _number(domain: str, given: object) -> int:
    """A version that is given as a number, or as that of the installed ONNX Runtime."""
    is_runtime = isinstance(given, str) and given == "runtime"
    if is_runtime and not domain:
        return default_opset_version()
    if is_runtime:
        raise AttributeValueError(
            f"which version of {domain} the installed ONNX Runtime loads is not known",
            help='"runtime" is for the standard domain; name a version here, or "newest"',
            culprit="version",
        )
    try:
        return operator.index(given)  # pyright: ignore[reportArgumentType]  # users may give anything
    except TypeError:
        raise AttributeTypeError(
            f'a version of an opset is an int, "newest" or "runtime", and this is {given!r}',
            culprit="version",
        ) from None


register_version_converter(converted)

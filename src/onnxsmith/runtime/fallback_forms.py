"""Fallback forms of a model that ONNX Runtime refuses: an older opset, wider element types, inlined function bodies.

A form means the same, unless less precision is asked for. The facts about the runtime are corrected in every form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from typing import Any, TypeAlias

import onnx

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.rewrite import Rewritten, rewrite
from onnxsmith.graphs.rewriting.scopes import all_nodes, operators_of, standard_version
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime import onnxruntime_api, versions
from onnxsmith.runtime.adapting import Refused, guarded
from onnxsmith.runtime.facts.fact import CPU
from onnxsmith.runtime.failure import missing_definition, missing_kernel, newest_opset
from onnxsmith.runtime.function_body import inlined_model
from onnxsmith.runtime.later_definitions import in_later_definitions
from onnxsmith.runtime.opening import Opened, known_provider, open_session
from onnxsmith.runtime.settings import Settings, usable_cores
from onnxsmith.runtime.widening import widened
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, parameter_at
from onnxsmith.schema.equivalent_versions import ANY_TYPE, Use, range_of_meaning

#: Makes a session of a model; raises Refused, or what ONNX Runtime raises.
Opener: TypeAlias = Callable[[SessionModel], Opened]


def opener(
    settings: Settings,
    *,
    threads: int | None = None,
    is_kept: bool = False,
    profiling: onnxruntime_api.Profiling | None = None,
) -> Opener:
    """How whole models are opened; `is_kept` says that the model is what is wanted, for a file."""
    threads = threads or threads_for(settings)
    return lambda model: open_session(
        in_definitions_for(model, settings),
        settings,
        threads=threads,
        optimize=settings.optimize,
        is_kept=is_kept,
        profiling=profiling,
    )


def in_definitions_for(model: SessionModel, settings: Settings) -> SessionModel:
    """The model in the earliest opset that means the same, for providers other than the CPU's.

    These get kernels for new definitions late. In ONNX Runtime 1.31 CUDA's MaxPool is of opset 12. One of opset 22 runs
    on the CPU, with copies there and back that take half of the time of a ResNet-50.
    """
    if known_provider(settings) == CPU:
        return model
    earlier = in_earliest_definitions(model.proto)
    return model if earlier is None else replace(model, proto=earlier)


def open_as_it_can(
    model: SessionModel,
    opened: Opener,
    check: Callable[[Exception], None] | None = None,
    *,
    lossy: bool = False,
) -> Opened:
    """A session of the model, or of the first other form that ONNX Runtime takes; raises what it says of the model.

    `check` is given what ONNX Runtime says of the model as it is, before other forms, which may hide a mistake in it.
    Other forms mean the same; with `lossy`, one that computes in less precision is taken where no other is.
    """
    try:
        return opened(model)
    except Refused as error:
        refused, refusal = True, error
    except Exception as error:
        refused, refusal = False, error
    if check is not None:
        check(refusal)
    if refused:  # other forms would end in the same kernels
        raise refusal
    for is_lossy in (False, True) if lossy else (False,):
        for form in _retellings_with_and_without_functions(model.proto, refusal, lossy=is_lossy):
            try:
                result = opened(replace(model, proto=form.given))
                return replace(result, edits=form.edits + result.edits)
            except Exception as error:
                form.refused(error)
    raise refusal


def threads_for(settings: Settings) -> int:
    """How many threads a session of a whole model gets."""
    return settings.intra_op_threads or usable_cores()


class _Retelling:
    """One way to tell the model, and what was said about it."""

    def __init__(self, given: onnx.ModelProto, edits: tuple[Edit, ...] = ()) -> None:
        self.given = given
        self.edits = edits
        self.error: Exception | None = None

    def refused(self, error: Exception) -> None:
        self.error = error


def _retellings_with_and_without_functions(
    proto: onnx.ModelProto, refusal: Exception, *, lossy: bool
) -> Iterator[_Retelling]:
    """The same model told otherwise; last with the nodes of its functions in their place, where more can be told."""
    yield from _retellings(proto, refusal, lossy=lossy)
    flat = without_functions(proto)
    if flat is not None:
        yield (attempt := _Retelling(flat))
        yield from _retellings(flat, attempt.error or refusal, lossy=lossy)


def _retellings(proto: onnx.ModelProto, refusal: Exception, *, lossy: bool) -> Iterator[_Retelling]:
    """The same model told otherwise, for a runtime that refused it: first as little as possible, then more."""
    later = in_later_definitions(proto)
    if later is not None:
        yield _Retelling(later)
        proto = later
    newest = newest_opset(refusal)
    lower = _with_lower_versions(proto)
    if lower is not None:
        yield (attempt := _Retelling(lower))
        newest = newest or newest_opset(attempt.error)
        # Any other error is about the lower versions, and says nothing of the model as it is.
        if attempt.error is not None and missing_kernel(attempt.error) is not None:
            refusal = attempt.error
    version = missing_definition(refusal)
    if version is not None and newest is None:
        earlier = _with_other_definitions(proto, version - 1, set())
        if earlier is not None and not operators_on_other_types(earlier):
            yield _Retelling(earlier)
    # Types are widened once the runtime has refused the model, and then for all nodes: to look at the types beforehand
    # would cost every model that needs nothing. What is refused for another reason may still be refused for this one,
    # where a fact about an operator without a kernel was met in vain.
    wide: Rewritten | None = None
    lacking: set[str] = set()
    for _ in range(_MOST_REPLACED):
        missing = missing_kernel(refusal)
        if wide is None and (missing is not None or newest is None):
            wide = widened(proto, lossy=lossy)
            if not wide.edits:
                if missing is None:
                    return
                lacking.add(missing)
        elif missing is not None:
            if missing in lacking:
                return
            lacking.add(missing)
        elif newest is None:
            return
        form = _told(Rewritten(proto) if wide is None else wide, newest, lacking, lossy=lossy)
        if form is None or operators_on_other_types(form.model):
            return
        yield (attempt := _Retelling(form.model, form.edits))
        if attempt.error is None or missing_kernel(attempt.error) is None:
            return
        refusal = attempt.error


def _told(start: Rewritten, newest: int | None, lacking: set[str], *, lossy: bool) -> Rewritten | None:
    """A model in operators that the runtime has, in types that those have kernels for."""
    content = _with_other_definitions(start.model, newest, lacking)
    if content is None or (newest is None and not lacking):
        return None if content is None else Rewritten(content, start.edits)
    # What stands in function bodies may lack kernels, too, and older definitions.
    inner = widened(content, lossy=lossy)
    return Rewritten(inner.model, start.edits + inner.edits)


#: How many operators without a kernel are replaced by their function bodies before giving up.
_MOST_REPLACED = 8


def _with_lower_versions(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The same model under the lowest versions that mean the same; None when they are the lowest."""
    proto = copied(model)
    versions.lower_opsets(proto)
    _lower_ir_version(proto)
    return None if _stamps(proto) == _stamps(model) else proto


def _with_other_definitions(
    model: onnx.ModelProto, newest: int | None, lacking: set[str]
) -> onnx.ModelProto | None:
    """The same model in operators that the runtime has; None when it cannot be told so."""
    try:
        other = fallback_form(model, newest, lacking)
    except Exception:  # onnx's inliner throws on what it does not expect
        return None
    if other is not None:
        _lower_ir_version(other)
    return other


def _lower_ir_version(model: onnx.ModelProto) -> None:
    # The IR version is the writer's, too, and refused when it is newer than the runtime.
    model.ir_version = min(model.ir_version, max(versions.lowest_ir_version(model), _OLDEST_KEPT_IR_VERSION))


_OLDEST_KEPT_IR_VERSION = 10


def _stamps(model: onnx.ModelProto) -> list[int]:
    return [model.ir_version, *(entry.version for entry in model.opset_import)]


# -- older opsets ----------------------------------------------------------------------------------------------
# A model in another form for a runtime that stops at an earlier opset.
#
# Its operators get definitions that mean the same, and those without one are replaced by their function bodies; where
# neither is there, the model has no such form. Which opset a runtime stops at is told by whoever asks.


def fallback_form(
    model: onnx.ModelProto, newest: int | None, lacking: Set[str] = frozenset()
) -> onnx.ModelProto | None:
    """The model with no opset version of the standard domain past `newest`; None when it cannot be told so.

    `lacking` are operators that the runtime has no kernel for; they are replaced by their function bodies, too.
    """
    replaced = lacking | (set[str]() if newest is None else _missing(model, newest))
    if replaced:
        model = inlined_model(guarded(model, onnxruntime_api.version(), replaced), replaced)
    else:
        copy = copied(model)
        model = copy
    if newest is None:
        return model
    if _missing(model, newest):
        return None
    _lower_imports(model, newest)
    return model


def _lower_imports(model: onnx.ModelProto, newest: int) -> None:
    for imports, _ in _scopes(model):
        for entry in imports:
            if entry.domain in ("", "ai.onnx") and entry.version > newest:
                entry.version = newest


#: No model is taken to an opset before this one: all providers have kernels of it, and the facts know its operators.
_EARLIEST = 17


def in_earliest_definitions(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model in the earliest opset in which all of its operators mean the same; None if that is its own."""
    local = {(function.domain, function.name) for function in model.functions}
    lowest, highest = _EARLIEST, 1
    for imports, nodes in _scopes(model):
        version = standard_version(imports, 1)
        highest = max(highest, version)
        for node in nodes:
            if node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in local:
                continue
            op = registry.find("", node.op_type, version)
            if op is None:
                return None
            lowest = max(lowest, range_of_meaning(op, (_use_of(node, op),))[0])
    if lowest >= highest:
        return None
    earlier = copied(model)
    _lower_imports(earlier, lowest)
    _lower_ir_version(earlier)
    return None if operators_on_other_types(earlier) else earlier


def _use_of(node: onnx.NodeProto, op: OperatorDef) -> Use:
    # A flag that is written out as its default means what it means without.
    plain = {
        each.name for each in node.attribute if each.type == onnx.AttributeProto.INT
    } & op.attributes.keys()
    plain = {
        each.name
        for each in node.attribute
        if each.name in plain and op.attributes[each.name].default == each.i
    }
    return Use(
        tuple(ANY_TYPE if name else None for name in node.input),
        tuple(ANY_TYPE if name else None for name in node.output),
        frozenset(each.name for each in node.attribute) - plain,
        frozenset(
            f"{each.name}={each.s.decode(errors='replace')}"
            for each in node.attribute
            if each.type == onnx.AttributeProto.STRING
        ),
    )


def _missing(model: onnx.ModelProto, newest: int) -> set[str]:
    """The operators for which no version up to `newest` means the same."""
    local = {(function.domain, function.name) for function in model.functions}
    missing: set[str] = set()
    for imports, nodes in _scopes(model):
        version = standard_version(imports, 1)
        if version <= newest:
            continue
        for node in nodes:
            if node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in local:
                continue
            op = registry.find("", node.op_type, version)
            if op is None or earliest_same(op, {attribute.name for attribute in node.attribute}) > newest:
                missing.add(node.op_type)
    return missing


def _scopes(
    model: onnx.ModelProto,
) -> Iterator[tuple[Iterable[onnx.OperatorSetIdProto], Iterable[onnx.NodeProto]]]:
    """The graph and each function, with the opsets they import and all their nodes."""
    yield model.opset_import, all_nodes(model.graph.node)
    for function in model.functions:
        yield function.opset_import, all_nodes(function.node)


def operators_on_other_types(model: onnx.ModelProto) -> set[str]:
    """The standard operators that are used on element types which their definitions do not allow.

    An earlier definition often allows fewer. A runtime refuses such a node; but a fact that is met in its place would
    be met in vain, or in the wrong type.
    """
    found: set[str] = set()

    def look(site: Site) -> list[tuple[str, str]]:
        op = registry.find("", site.node.op_type, site.version)
        for position in range(len(site.node.input) if op is not None and op.inputs else 0):
            dtype = site.dtype(position)
            parameter = None if op is None else parameter_at(op.inputs, position)
            if dtype is None or parameter is None or not parameter.types:
                continue
            if f"tensor({dtype.onnx_name})" not in parameter.types:
                found.add(site.node.op_type)
        return []

    rewrite(model, {operator: look for operator in operators_of(model) if not operator[0]})
    return found


# -- equivalents -----------------------------------------------------------------------------------------------
# Earlier definitions of an operator that mean the same.
#
# A new version of an operator often only allows more element types. A runtime that has not caught up with it still
# has the earlier one, which gives the same result on the element types it knew. Which runtime lacks what is not known
# here.


def earliest_same(op: OperatorDef, attribute_names: Set[str]) -> int:
    """The earliest version whose definition says the same as `op`, but for the element types it allows.

    On types that it does not allow, a runtime refuses it, so that nothing wrong comes of it.
    """
    since = op.since_version
    for version in reversed(
        [each for each in registry.versions(op.domain, op.name) if each < op.since_version]
    ):
        earlier = registry.find(op.domain, op.name, version)
        if earlier is None:
            break
        added = _ONLY_ADD.get((op.name, op.since_version, version))
        if not _says_the_same(op, earlier) and (added is None or added in attribute_names):
            break
        op, since = earlier, version
    return since


@functools.lru_cache(maxsize=1024)
def _says_the_same(later: OperatorDef, earlier: OperatorDef) -> bool:
    """True if two definitions differ in nothing but the element types they allow."""
    return _without_types(later) == _without_types(earlier)


def _without_types(op: OperatorDef) -> tuple[Any, ...]:
    return (
        " ".join(op.doc.split()),
        [(each.name, each.type_name, each.option, each.is_homogeneous) for each in op.inputs],
        [(each.name, each.type_name, each.option) for each in op.outputs],
        {name: (each.type, each.is_required, each.default) for name, each in op.attributes.items()},
    )


#: Definitions that only add an attribute whose default is the former meaning.
_ONLY_ADD: dict[tuple[str, int, int], str] = {
    ("Range", 27, 11): "stash_type",
    ("SpaceToDepth", 28, 13): "mode",
}

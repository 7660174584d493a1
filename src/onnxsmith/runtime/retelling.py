"""A model told otherwise, for an ONNX Runtime that refuses it: other versions, wider types, function bodies.

What is told means the same, unless less precision is asked for. The facts about the runtime are met in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import onnx

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.rewrite import Rewritten
from onnxsmith.graphs.session_model import SessionModel
from onnxsmith.runtime import onnxruntime_api, versions
from onnxsmith.runtime.adapting import Refused
from onnxsmith.runtime.failure import missing_definition, missing_kernel, newest_opset
from onnxsmith.runtime.later_definitions import in_later_definitions
from onnxsmith.runtime.older_opsets import operators_on_other_types, retold
from onnxsmith.runtime.opening import Opened, open_session
from onnxsmith.runtime.settings import Settings, usable_cores
from onnxsmith.runtime.widening import widened

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
        model, settings, threads=threads, optimize=settings.optimize, is_kept=is_kept, profiling=profiling
    )


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
    proto = onnx.ModelProto()
    proto.CopyFrom(model)
    versions.lower_opsets(proto)
    _lower_ir_version(proto)
    return None if _stamps(proto) == _stamps(model) else proto


def _with_other_definitions(
    model: onnx.ModelProto, newest: int | None, lacking: set[str]
) -> onnx.ModelProto | None:
    """The same model in operators that the runtime has; None when it cannot be told so."""
    try:
        other = retold(model, newest, lacking)
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

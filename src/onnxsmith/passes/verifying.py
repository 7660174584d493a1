"""Runs a model as it was and as passes made it, on the same inputs, and compares what comes out.

Inputs are given, or those to try. Another process runs both, so that no model ends this one. Where the model cannot
run as it was, nothing is verified, and the verdict says why.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from onnxsmith.diagnostics import clipped, described_type
from onnxsmith.errors import (
    AttributeTypeError,
    ModelInputError,
    OnnxsmithError,
    RunTimeoutError,
    VerificationError,
)
from onnxsmith.graphs.agreement import CONVERTED, compare
from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.isolation import Isolation
from onnxsmith.graphs.model import Model, bound
from onnxsmith.graphs.report import PassedModel
from onnxsmith.graphs.rewriting.scopes import nodes_of
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.graphs.trial_inputs import Trial, Values, compared_constants, further_trials, trials
from onnxsmith.passes.edits import CONVERSION, noted
from onnxsmith.passes.surgery.adding_outputs import with_outputs
from onnxsmith.passes.surgery.holding import read, values_by_name
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.settings import using
from onnxsmith.schema.registry import default_opset_version

#: Inputs by name, or in order.
GivenInputs: TypeAlias = Mapping[str, NDArray[np.generic]] | Sequence[NDArray[np.generic]]

_LONGEST_REASON = 300
#: A model that runs longer is not verified: it may have no end.
_MOST_SECONDS = 300.0
#: The same on inputs that nobody gave, for a model with a loop: its condition may never come true on them.
_MOST_SECONDS_OF_LOOPS = 20.0
#: A model that was made of one that ended in time may take so many times as long; more is a difference, too.
_SLOWER = 10
#: A model that takes longer is run on the first inputs alone.
_MOST_SECONDS_FOR_MORE = 1.0
#: The numbers that models are compared on, besides ordinary ones.
_ALLOWED = (Values.SMALL, Values.EDGES, Values.HUGE, Values.NOT_FINITE)

#: Inputs by name, and the outputs of a model for them.
_Run: TypeAlias = tuple[Mapping[str, RunValue], list[RunValue]]
#: Runs a model on several inputs by name.
_RunEach: TypeAlias = Callable[[Sequence[Mapping[str, RunValue]]], "list[list[RunValue] | OnnxsmithError]"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a comparison of two models."""

    #: None where it could not be found out.
    is_equal: bool | None
    text: str


def check_inputs(model: Model, given: bool | GivenInputs) -> None:
    """Refuse what is neither yes, no, nor inputs of the model."""
    if isinstance(given, bool):
        return
    told = cast(object, given)  # users may give anything
    names = [port.name for port in model.inputs]
    if isinstance(given, Mapping):
        optional = {port.name for port in model.optional_inputs}
        missing = [each for each in names if each not in given]
        unknown = [str(each) for each in given if each not in names and each not in optional]
        if missing or unknown:
            raise ModelInputError(
                f"verify has no value for the input '{missing[0]}'"
                if missing
                else f"verify has a value for '{unknown[0]}', and the model no such input",
                help=f"its inputs are {', '.join(names)}" if names else "it has no inputs",
            )
    elif not (isinstance(told, Sequence) and not isinstance(told, str | bytes)):
        raise AttributeTypeError(
            f"verify is True, False, or inputs by name or in order, not {described_type(type(told))}",
            help='verify={"x": array}, or verify=[array]',
            culprit="verify",
        )
    elif len(given) != len(names):
        raise ModelInputError(f"verify has {len(given)} values, and the model {len(names)} inputs")
    try:
        bound(model, given)
    except OnnxsmithError as error:  # else nothing would be verified
        error.message = f"verify has inputs that the model does not take: {error.message}"
        raise


def verdict_on(before: Model, after: Model, given: GivenInputs | None = None) -> Verdict:
    """Run both and compare."""
    drawn = next((node for node in nodes_of(read(before).ir) if is_random(node)), None)
    if drawn is not None:
        return Verdict(None, f"not verified: {drawn.op_type} '{drawn.name}' gives other numbers in every run")
    runs = _runs(before, given)
    if isinstance(runs, str):
        return Verdict(None, f"not verified: the model cannot run as it was: {runs}")
    runs, note = runs
    with _opened(after, runs[0][0], _SLOWER * _most_seconds(before, given)) as run_each:
        every = run_each([inputs for inputs, _ in runs])
    for (inputs, wanted), found in zip(runs, every, strict=True):
        if isinstance(found, OnnxsmithError):
            reason = clipped(found.message, _LONGEST_REASON)
            if inputs is runs[0][0] or not _has_no_elements(inputs):
                return Verdict(False, f"it cannot run any more: {reason}")
            note += f"; without elements it cannot run any more: {reason}"  # some kernels refuse that
            continue
        difference = _difference(before, wanted, found)
        if difference is not None:
            return Verdict(False, difference)
    arrays = {name: each for name, each in runs[0][0].items() if isinstance(each, np.ndarray)}
    shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in arrays.items())
    told = f"equal results for {shapes}" if shapes else "equal results"
    return Verdict(True, _verified(after, told) + note)


def _has_no_elements(inputs: Mapping[str, RunValue]) -> bool:
    return any(isinstance(each, np.ndarray) and not each.size for each in inputs.values())


def _most_seconds(model: Model, given: GivenInputs | None) -> float:
    may_not_end = given is None and any(node.op_type == "Loop" for node in nodes_of(read(model).ir))
    return _MOST_SECONDS_OF_LOOPS if may_not_end else _MOST_SECONDS


def _runs(model: Model, given: GivenInputs | None) -> tuple[list[_Run], str] | str:
    """Inputs, those that are given or else some to try, with the results of the model, and what to say of others.

    In words why there are none.
    """
    reason = "there are no inputs to try it with"
    by_name = None if given is None else _by_name(model, given)
    with _opened(model, by_name or {}, _most_seconds(model, given)) as run_each:
        for trial in trials(model.inputs) if by_name is None else [Trial(by_name)]:
            begun = time.perf_counter()
            (first,) = run_each([trial.inputs])
            if isinstance(first, OnnxsmithError):
                reason = clipped(first.message, _LONGEST_REASON)
                if isinstance(first, RunTimeoutError):
                    break  # the next inputs may take as long
                continue
            found: list[_Run] = [(trial.inputs, first)]
            if by_name is None and _is_quick(run_each, trial.inputs, begun):
                thresholds = compared_constants(nodes_of(read(model).ir))
                for each in further_trials(model.inputs, trial, _ALLOWED, thresholds):
                    (result,) = run_each([each])
                    if isinstance(result, RunTimeoutError):
                        return found, "; not on others that were made up, of which some run for too long"
                    if not isinstance(result, OnnxsmithError):  # it does not run on all that can be tried
                        found.append((each, result))
            return found, ""
    return reason


def _is_quick(run_each: _RunEach, inputs: Mapping[str, RunValue], begun: float) -> bool:
    """True if a run, which began then, takes little time; one that had to start a process is done again."""
    if time.perf_counter() - begun > _MOST_SECONDS_FOR_MORE:
        begun = time.perf_counter()
        run_each([inputs])
    return time.perf_counter() - begun <= _MOST_SECONDS_FOR_MORE


@contextlib.contextmanager
def _opened(model: Model, inputs: Mapping[str, RunValue], seconds: float) -> Generator[_RunEach]:
    """A session of a model in another process, for inputs of these names: a runtime that dies of it dies there."""

    def fed(given: Mapping[str, RunValue]) -> list[RunValue] | OnnxsmithError:
        try:
            return bound(model, given)[1]
        except OnnxsmithError as error:
            return error

    try:
        asked = bound(model, inputs)[0] if inputs else model
    except OnnxsmithError:
        asked = model  # and the run says what is wrong
    # In another process there are no kernels in Python; passes are judged by what functions say.
    names, limits = [port.name for port in asked.inputs], Isolation(timeout=seconds)
    with (
        using(kernels=False),
        asked.explanations.isolated_runs(asked.handed_over(), names, limits) as run_each,
    ):

        def run(many: Sequence[Mapping[str, RunValue]]) -> list[list[RunValue] | OnnxsmithError]:
            feeds = [fed(each) for each in many]
            right = [each for each in feeds if not isinstance(each, OnnxsmithError)]
            results = iter(run_each(right) if right else [])
            return [each if isinstance(each, OnnxsmithError) else next(results) for each in feeds]

        yield run


def _by_name(model: Model, given: GivenInputs) -> Mapping[str, RunValue]:
    names = [port.name for port in model.inputs]
    return dict(given) if isinstance(given, Mapping) else dict(zip(names, given, strict=True))


def _verified(after: Model, told: str) -> str:
    """That the results are equal, and by what it was found where ONNX Runtime cannot load the model as it is."""
    limit = runtime_limit(after)
    if limit is None:
        return f"verified: {told}"
    is_retold = load_session(after.handed_over()).source == "onnxruntime"
    by = (
        f"ONNX Runtime on the same model in opset {default_opset_version()}"
        if is_retold
        else "the reference evaluator"
    )
    return f"verified by {by}: {told}; {limit}"


def runtime_limit(model: Model) -> str | None:
    """That a model is of a later opset than the installed ONNX Runtime loads; None where it is not."""
    last = default_opset_version()
    return (
        f"the installed ONNX Runtime loads up to opset {last}"
        if model.opset_imports.get("", 0) > last
        else None
    )


def verify_passes(
    model: Model,
    result: PassedModel,
    verify: bool | GivenInputs,
    again: Callable[[int], PassedModel] | None,
    called: str,
    remedy: str,
) -> None:
    """Note in its report whether a model that passes have made gives what it gave. Raises VerificationError.

    `verify` False leaves it out, True makes inputs up.
    `again` makes the model with the first so many of the changes: the error names the first that is one too many.
    It is None for a conversion, which is all or nothing: the error names the first node that gives something else.
    """
    if verify is False:
        return
    given = None if verify is True else verify
    found = verdict_on(model, result, given)
    result.report.verification = found.text
    if found.is_equal is not False:
        return
    count = len(result.report.edits)
    last, count = (result, count) if again is None else _with_fewest_changes(model, result, given, again)
    culprit = _culprit(model, last, count, given)
    raise VerificationError(f"the {called} model is not the same: {found.text}{culprit}", help=remedy)


def _with_fewest_changes(
    model: Model, result: PassedModel, given: GivenInputs | None, again: Callable[[int], PassedModel]
) -> tuple[PassedModel, int]:
    """The model with the changes up to the first that makes a difference, and how many were asked for."""
    fewest, most, last = 0, len(result.report.edits), result
    while most - fewest > 1:
        middle = (fewest + most) // 2
        tried = again(middle)
        if verdict_on(model, tried, given).is_equal is False:
            most, last = middle, tried
        else:
            fewest = middle
    return last, most


def _culprit(model: Model, last: PassedModel, count: int, given: GivenInputs | None) -> str:
    """The change that made the difference, for the end of a message."""
    edits = last.report.edits
    converted = [each for each in edits if each.pass_name == CONVERSION]
    if count > len(converted):
        return _told(len(edits), edits[-1])
    # A conversion comes first, and whole: the difference is there without any change after it.
    node = _first_apart(model, last, given)
    if node is None:
        return ""
    for position, edit in enumerate(converted):
        if any(_concerns(each, node) for each in edit.before):
            return _told(position + 1, edit)
    return f"; it begins at {noted(node)}, which was left as it is"


def _told(position: int, edit: Edit) -> str:
    return f"; it is the change {position}, of the pass {edit.pass_name}, by the rule '{edit.rule}': {edit.change}"


def _concerns(note: NodeNote, node: ir.Node) -> bool:
    """True if a note is that of a node, or of one in the graphs and functions that it stands for."""
    if note.path:
        return note.path[0] in (node.name, node.op_type)
    return not {*note.outputs}.isdisjoint(each.name for each in node.outputs)


def _first_apart(before: Model, after: Model, given: GivenInputs | None) -> ir.Node | None:
    """The first node of the main graph that gives something else; None where that cannot be found out."""
    nodes = list(read(before).ir.graph)
    kept = values_by_name(read(after).ir.graph)
    own = {port.name for port in before.outputs}
    made = dict.fromkeys(each.name for node in nodes for each in node.outputs if each.name in kept)
    names = [name for name in made if name and name not in own]
    try:
        one, other = (with_outputs(each, names) if names else each for each in (before, after))
        runs = _runs(one, given)
        for inputs, wanted in [] if isinstance(runs, str) else runs[0]:
            apart = _names_apart(one, other, inputs, wanted)
            if apart:
                return next(
                    (node for node in nodes if any(each.name in apart for each in node.outputs)), None
                )
    except OnnxsmithError:  # with so many outputs a model may not run, though it does without
        return None
    return None


def _names_apart(
    one: Model, other: Model, inputs: Mapping[str, RunValue], wanted: Sequence[RunValue]
) -> set[str]:
    with _opened(other, inputs, _SLOWER * _MOST_SECONDS) as run_each:
        (found,) = run_each([inputs])
    if isinstance(found, OnnxsmithError):
        raise found
    results = zip(one.outputs, wanted, found, strict=True)
    return {port.name for port, left, right in results if compare(left, right, CONVERTED) is not None}


def _difference(model: Model, wanted: Sequence[RunValue], found: Sequence[RunValue]) -> str | None:
    """In which output the results differ, and by how much; None where they are equal."""
    for port, left, right in zip(model.outputs, wanted, found, strict=True):
        told = compare(left, right, CONVERTED)
        if told is not None:
            return f"output '{port.name}' differs: {told}"
    return None

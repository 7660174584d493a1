"""`compare(a, b, inputs)`: run two models on the same inputs, and name the first node where they part."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Literal, TypeAlias, cast

import numpy as np

from onnxsmith.comparing.reproducing import write_reproduction
from onnxsmith.comparing.result import Comparison, compared
from onnxsmith.comparing.search import MOVERS, Parting, Search, Searching
from onnxsmith.comparing.sides import Side
from onnxsmith.context import collection_paused
from onnxsmith.diagnostics import clipped, described_type
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    ModelInputError,
    OnnxsmithError,
)
from onnxsmith.graphs import agreement
from onnxsmith.graphs.agreement import EXACT, Difference, Tolerance
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.model_inputs import check_names, described_inputs, feed
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.graphs.trial_inputs import trials
from onnxsmith.observing import DEFAULT_MEMORY, Engine, ModelInputs, Step, inputs_by_name, memory_budget
from onnxsmith.runtime.kernels_in_python import has_bodies_of_kernels
from onnxsmith.runtime.settings import Provider
from onnxsmith.scripting.functions.function import ScriptFunction

#: Other ways to run the first model: onnx's reference evaluator, and ONNX Runtime without its own optimisations.
Way: TypeAlias = Literal["reference", "unoptimized", "bodies"]

_WAYS: dict[str, Engine] = {"reference": "reference", "unoptimized": "unoptimized", "bodies": "bodies"}
_LONGEST_REASON = 300
#: So often turns of a loop that part are cut into smaller parts.
_MOST_LOOKS = 5
_LONGEST_SHOWN = 80
_LEAVES_WEIGHTS = MOVERS | {"Add", "Sub"}


@model_boundary
def compare(
    model: ModelLike | ScriptFunction,
    other: ModelLike | ScriptFunction | Way,
    inputs: ModelInputs | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    providers: Provider | Sequence[Provider] | None = None,
    memory: int | str = DEFAULT_MEMORY,
    reproduce: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Comparison:
    """Run two models on the same inputs, and name the first node where they part.

    `other` is a second model: a copy with a fault, or an optimised, renamed, converted or exported twin. Or it is
    another way to run the first one: "reference" is onnx's reference evaluator, "unoptimized" ONNX Runtime without its
    optimisations, "bodies" runs the bodies of functions instead of their kernels in Python. A script is run as Python
    runs it, operator after operator. `providers` are execution providers for the second run. Inputs that are not given
    are made up.

    Values of both runs are matched by how they are made, by their numbers, and by names. A node is blamed only if it
    gives something else on the same values: rounding that has grown over many nodes is no fault. Without `rtol` and
    `atol`, how far results may be apart follows from the element type and from what the node makes of rounding. NaN
    equals NaN, infinities equal themselves, and of whole numbers only `atol` counts.

    No more than about `memory` bytes of values are held at a time ("500 MB"); the rest is computed again. `reproduce`
    names a folder for the node as a model of its own with its inputs and both results; one that holds something is
    refused unless `overwrite` is True.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, compare, opset21 as op, trace
    >>> good = trace(lambda a: op.Exp(op.Relu(a)) * 2.0, FLOAT["N"])
    >>> bad = trace(lambda a: op.Exp(op.Abs(a)) * 2.0, FLOAT["N"])
    >>> found = compare(good, bad, {"a": np.float32([-1, 1])})
    >>> found.node.node.op_type, found.other.node.op_type
    ('Relu', 'Abs')
    >>> bool(compare(good, good.optimize()))
    True
    """
    tolerance = _tolerance(_number(rtol, "rtol"), _number(atol, "atol"))
    folder = _folder(reproduce)
    first, engine = _run_as(model, None)
    second, other_engine = _run_as(other, first)
    given, sides = _sides((first, engine), (second, other_engine), inputs, providers, memory_budget(memory))
    found = _searched(sides, tolerance)
    for _ in range(_MOST_LOOKS):
        steps = (None, None) if found.parting is None else (found.parting.left_step, found.parting.right_step)
        if steps[0] is None or steps[1] is None or steps[0].until is None or steps[1].until is None:
            break
        sides = sides[0].closer(steps[0]), sides[1].closer(steps[1])
        found = _searched(sides, tolerance)
    notes = (*found.notes, *_notes(sides))
    shown = ", ".join(f"{name} {_size(each)}" for name, each in given.items())
    parting = found.parting
    if folder is not None and found.outputs and (parting is None or parting.local is None):
        notes = (*notes, "nothing was written: no node was found that gives another tensor")
    if parting is None:
        return Comparison(found.matched, found.differing, outputs=found.outputs, inputs=shown, notes=notes)
    result = Comparison(
        matched=found.matched,
        differing=found.differing,
        node=compared(parting.left_step),
        other=compared(parting.right_step),
        region=tuple(each for step in parting.left_region if (each := compared(step))),
        other_region=tuple(each for step in parting.right_region if (each := compared(step))),
        difference=parting.difference,
        weights=_weights(sides, parting, tolerance),
        value=_name_of(sides, parting),
        explains=parting.explains,
        is_weight=parting.is_weight,
        held=_held(sides, parting),
        outputs=found.outputs,
        inputs=shown,
        notes=notes,
    )
    if folder is not None and parting.local is not None:
        written = write_reproduction(folder, *sides, parting, parting.local, result, overwrite=overwrite)
        return replace(result, written=written)
    return result


def _size(value: RunValue) -> str:
    """How large an input is, as an error or a result shows it."""
    if isinstance(value, list | dict):
        return f"of {len(value)} element{'s' * (len(value) != 1)}"
    return "absent" if value is None else str(list(np.shape(value)))


def _searched(sides: tuple[Side, Side], tolerance: Tolerance) -> Search:
    for side in sides:
        side.look()
    with collection_paused():
        searching = Searching(*sides, tolerance)
    return searching.run()


def _run_as(given: ModelLike | ScriptFunction, first: Model | None) -> tuple[Model, Engine]:
    """A model, and how it is run: a script's own run calls operator after operator."""
    if isinstance(given, ScriptFunction):
        return given.to_model(), "single"
    if isinstance(given, str) and given in _WAYS and first is not None:
        if given == "bodies" and not has_bodies_of_kernels(first.proto):
            raise AttributeValueError(
                "'bodies' is for a model with functions that have kernels in Python, and this one has none",
                help="onnxsmith.runtime.kernel(script) registers a kernel",
                culprit=1,
            )
        return first, _WAYS[given]
    culprit = 0 if first is None else 1
    if isinstance(given, str) and not Path(given).suffix and not Path(given).exists():
        ways = "" if first is None else ", 'reference', 'unoptimized' or 'bodies'"
        raise AttributeValueError(
            f"compare takes a model, its file, a script{ways}, not {given!r}", culprit=culprit
        )
    return model_of(given, "compare", culprit), "default"


def _tolerance(rtol: float | None, atol: float | None) -> Tolerance:
    """The tolerance that the user gives, of each number by its own size; rounding where none is given."""
    return EXACT if rtol is None and atol is None else Tolerance(rtol or 0.0, 0.0, atol or 0.0)


def _number(value: float | None, name: str) -> float | None:
    told = cast(object, value)  # users may give anything
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, Real) or not 0 <= float(told) < float("inf"):
        raise AttributeValueError(
            f"{name} is a number that is not negative, not {clipped(repr(told), _LONGEST_SHOWN)}",
            culprit=name,
        )
    return float(told)


def _folder(reproduce: str | os.PathLike[str] | None) -> Path | None:
    told = cast(object, reproduce)  # users may give anything
    if told is None:
        return None
    if not isinstance(told, str | os.PathLike):
        raise AttributeTypeError(
            f"reproduce is the path of a folder, not {described_type(type(told))}", culprit="reproduce"
        )
    if not told:
        raise AttributeValueError("'' cannot be the path of a folder", culprit="reproduce")
    return path_of(cast(object, told))


def _sides(
    first: tuple[Model, Engine],
    second: tuple[Model, Engine],
    inputs: ModelInputs | None,
    providers: Provider | Sequence[Provider] | None,
    memory: int,
) -> tuple[Mapping[str, RunValue], tuple[Side, Side]]:
    """Both runs on the inputs, or on the first made-up ones that the first model takes."""
    model = first[0]
    tried: Iterable[Mapping[str, RunValue]]
    known: Mapping[str, RunValue] = {} if inputs is None else _checked(model, inputs)
    is_made_up = any(port.name not in known for port in model.inputs)
    tried = (each.inputs for each in trials(model.inputs, known)) if is_made_up else [known]
    reason: OnnxsmithError | None = None
    for given in tried:
        renamed = _taken(second[0], _for_second(model, second[0], given), "the second model")
        try:
            if is_made_up or inputs is None:
                model.run(dict(given)) if given else model()
        except OnnxsmithError as error:
            reason = error
            continue
        left = Side(model, given, engine=first[1], memory=memory)
        return given, (left, Side(second[0], renamed, engine=second[1], providers=providers, memory=memory))
    said = "" if reason is None else f": {clipped(reason.message, _LONGEST_REASON)}"
    raise ModelInputError(
        f"no inputs could be made up that the model runs on{said}",
        help="give inputs: compare(a, b, {'x': array})",
    )


def _checked(model: Model, inputs: ModelInputs) -> Mapping[str, RunValue]:
    """Given inputs by name, as the model takes them; refuses what it does not take."""
    told = cast(object, inputs)  # users may give anything
    if not isinstance(told, Mapping | Sequence) or isinstance(told, str | bytes):
        raise ModelInputError(
            f"inputs are given by name or in order, not as {described_type(type(told))}",
            help="give inputs: compare(a, b, {'x': array})",
            culprit=2,
        )
    if isinstance(inputs, Mapping):
        known = {port.name for port in (*model.inputs, *model.optional_inputs)}
        unknown = [name for name in inputs if name not in known]
        if unknown:
            raise ModelInputError(
                f"the model has no input '{clipped(str(unknown[0]), _LONGEST_SHOWN)}'",
                help=described_inputs(model.inputs, model.optional_inputs),
                culprit=2,
            )
        return _taken(model, inputs, "the first model")  # the rest is made up
    return _taken(model, inputs_by_name(model, inputs), "the first model")


def _taken(model: Model, given: Mapping[str, RunValue], which: str) -> Mapping[str, RunValue]:
    """Inputs as arrays, refused where a call of the model would."""
    ports = {port.name: port for port in (*model.inputs, *model.optional_inputs)}
    names = list(given)
    try:
        feeds = [feed(ports[name], given[name]) for name in names]
        check_names([ports[name] for name in names], feeds, {}, names)
    except OnnxsmithError as error:
        error.message = f"{which} does not take these inputs: {error.message}"
        error.culprit = ("input", 2)
        raise
    return dict(zip(names, feeds, strict=True))


def _for_second(model: Model, second: Model, given: Mapping[str, RunValue]) -> Mapping[str, RunValue]:
    """The inputs by the names that the second model has for them."""
    ours = [port.name for port in model.inputs]
    theirs = [port.name for port in second.inputs]
    known = {port.name for port in (*second.inputs, *second.optional_inputs)}
    if set(ours) == set(theirs) or (known.issuperset(given) and given.keys() >= set(theirs)):
        _check_all_are_taken(given, known)
        return given
    if len(ours) != len(theirs):
        raise ModelInputError(
            f"the models take other inputs: {', '.join(ours) or 'none'}, and {', '.join(theirs) or 'none'}",
            help="compare models with as many inputs",
        )
    renamed = {theirs[ours.index(name)]: value for name, value in given.items() if name in ours}
    others = {name: value for name, value in given.items() if name not in ours}
    _check_all_are_taken(others, known)
    return {**renamed, **others}


def _check_all_are_taken(given: Mapping[str, RunValue], known: Container[str]) -> None:
    """Refuse an input that the second model holds as a weight, or does not have: it would not be compared with."""
    missing = next((name for name in given if name not in known), None)
    if missing is not None:
        raise ModelInputError(
            f"the second model has no input '{clipped(missing, _LONGEST_SHOWN)}', which the first one takes",
            help="leave it out: the first model has a value for it",
            culprit=2,
        )


def _name_of(sides: tuple[Side, Side], parting: Parting) -> str:
    """The name of the value that the runs part at, in the first model that computes it."""
    if parting.left_step is not None and parting.left_step in sides[0].line.ways:
        return parting.left_step.node.ir.outputs[0].name or ""
    for side, value in zip(sides, (parting.left, parting.right), strict=True):
        step = side.by_value.get(value)
        outputs = () if step is None else step.node.ir.outputs
        position = 0 if step is None else list(step.run.outputs).index(value)
        if position < len(outputs):
            return outputs[position].name or ""
    return next(filter(None, _held(sides, parting)), "")


def _held(sides: tuple[Side, Side], parting: Parting) -> tuple[str, str]:
    """The names in each model of the value that the runs part at, where it is a weight that it holds."""
    names = (side.line.weight_names for side in sides)
    first, second = (
        each.get(value, "") for each, value in zip(names, (parting.left, parting.right), strict=True)
    )
    return first, second


def _weights(sides: tuple[Side, Side], parting: Parting, tolerance: Tolerance) -> dict[str, Difference]:
    """The weights that both nodes take in the same place, and that differ, by their names in the first model.

    Or the one that a model holds and the other computes.
    """
    held = next(filter(None, _held(sides, parting)), None)
    if held is not None:
        return {held: parting.difference}
    one, two = parting.left_step, parting.right_step
    if one is None or two is None or one.run.op_type != two.run.op_type:
        return {}
    if _changing(parting.left_region) != _changing(parting.right_region):
        return {}  # a fold has put into the weight of one what a node after it does in the other
    found: dict[str, Difference] = {}
    for taken, left, right in zip(one.node.ir.inputs, one.run.inputs, two.run.inputs, strict=False):
        if taken is None or left is None or right is None:
            continue
        mine, theirs = sides[0].line.actual(left), sides[1].line.actual(right)
        if mine in sides[0].line.constants and theirs in sides[1].line.constants:
            told = agreement.compare(sides[0].array(mine), sides[1].array(theirs), tolerance)
            if told is not None:
                found[taken.name or ""] = told
    return found


def _changing(region: Sequence[Step]) -> Counter[str]:
    """The operators of a region but those that a weight stands beside as it is: sums, and what only moves data."""
    return Counter(each.run.op_type for each in region if each.run.op_type not in _LEAVES_WEIGHTS)


def _notes(sides: tuple[Side, Side]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for side in sides:
        found.update(side.line.notes)
        for step in side.line.steps:
            if side.line.whole.get(step.run):
                why = side.line.whole[step.run]
                found[f"node {step.node.address} ({step.node.operator}) was compared as a whole: {why}"] = (
                    None
                )
    return tuple(found)

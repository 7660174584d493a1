"""`observe`: values inside a model, streamed to a function, batch by batch; `model.intermediate` is made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.diagnostics import clipped, described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, ModelInputError, OnnxsmithError, UnknownNameError
from onnxsmith.graphs.model import Model, ModelLike, bound, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.inspection import Node, Nodes, nodes_of, weights_of
from onnxsmith.observing.flattening import Made
from onnxsmith.observing.runs import DEFAULT_MEMORY, ObservedRun, memory_budget

#: Inputs of a model, by name or in order.
ModelInputs: TypeAlias = Mapping[str, RunValue] | Sequence[RunValue]

_LONGEST_NAME = 80
_MOST_CANDIDATES = 5000


class Observation(NamedTuple):
    """A value inside a run, as `observe` hands it over.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.observing import observe
    >>> seen = []
    >>> observe(trace(lambda a: op.Relu(a), FLOAT["N"]), [[np.float32([-1, 1])]], seen.append)
    >>> seen[0].node.op_type, seen[0].name, seen[0].value
    ('Relu', 'relu', array([0., 1.], dtype=float32))
    """

    #: Which batch it is of, from 0.
    batch: int
    #: What the model calls it, and the node that gives it.
    name: str
    node: Node
    value: RunValue
    #: The iterations of the loops around it and the calls of functions around it, outermost first.
    turns: tuple[int, ...]
    calls: tuple[str, ...]


#: Which values are observed: those of some names, or those that a function of a node and a name says.
Wanted: TypeAlias = Collection[str] | Callable[[Node, str], bool]


@model_boundary
def observe(
    model: ModelLike,
    batches: Iterable[ModelInputs],
    take: Callable[[Observation], object],
    wanted: Wanted | None = None,
    *,
    memory: int | str = DEFAULT_MEMORY,
    is_nested: bool = True,
) -> None:
    """Run a model on one batch after the other, and call `take` with each value inside it that is wanted.

    `wanted` has the names of values, or is a function of a node and a name that says which; without it, all are. They
    come in the order in which nodes make them. Values in bodies and functions are given once for each iteration and
    call, unless `is_nested` is False. Of a loop with very many iterations, the first are observed. No more than about
    `memory` bytes of values ("500 MB") are held at a time, and of an iterator of batches no more than one. Raises what
    the run and `take` raise.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.observing import observe
    >>> model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> batches = ([np.float32([k, -k])] for k in range(2))
    >>> observe(model, batches, lambda seen: print(seen.batch, seen.name, seen.value), ["relu"])
    0 relu [0. 0.]
    1 relu [1. 0.]
    """
    model = model_of(model, "observe")
    chosen, budget = _chosen(model, wanted), memory_budget(memory)
    for number, inputs in enumerate(_checked_batches(batches)):
        asked, feeds = bound(model, inputs_by_name(model, inputs, culprit=1))
        given = dict(zip([port.name for port in asked.inputs], feeds, strict=True))
        try:
            _observe(model, given, number, take, chosen, budget, is_nested)
        except OnnxsmithError:
            asked.run(given)  # says where, as it has all its origins
            raise


def _observe(
    model: Model,
    given: Mapping[str, RunValue],
    number: int,
    take: Callable[[Observation], object],
    wanted: Callable[[Node, str], bool],
    memory: int,
    is_nested: bool,
) -> None:
    run = ObservedRun(model, given, memory=memory, is_nested=is_nested)
    seen: dict[ir.Value, list[tuple[str, Made]]] = {}
    for made in run.line.made:
        for output, value in zip(made.node.ir.outputs, made.outputs, strict=True):
            name = output.name
            if value is None or not name:
                continue
            if wanted(made.node, name):
                seen.setdefault(run.line.actual(value), []).append((name, made))
    for makers in seen.values():  # a loop gives what a node of its body made before
        makers.sort(key=lambda each: -len(each[1].turns) - len(each[1].calls))

    def pass_on(value: ir.Value, held: RunValue) -> None:
        for name, made in seen[value]:
            take(Observation(number, name, made.node, held, made.turns, made.calls))

    last = len(run.order)  # inputs and constants are in no order
    run.stream(sorted(seen, key=lambda value: run.order.get(value, last)), pass_on)


def _chosen(model: Model, wanted: Wanted | None) -> Callable[[Node, str], bool]:
    if wanted is None:
        return lambda node, name: True
    if callable(wanted):
        return wanted
    names = frozenset(_checked_names(wanted, culprit=3))
    known = {value.name for node in nodes_of(model) for value in node.ir.outputs if value.name}
    for name in sorted(names - known):
        raise UnknownNameError(
            f"no node gives a value '{clipped(name, _LONGEST_NAME)}'",
            help=did_you_mean(name, list(known)[:_MOST_CANDIDATES]),
            culprit=3,
        )
    return lambda node, name: name in names


def _checked_batches(batches: Iterable[ModelInputs]) -> Iterable[ModelInputs]:
    told = cast(object, batches)  # users may give anything
    if isinstance(told, Mapping | str | bytes | np.ndarray) or not isinstance(told, Iterable):
        kind = cast(type, type(told))  # pyright: ignore[reportUnknownArgumentType]  # of whatever elements
        raise AttributeTypeError(
            f"batches are the inputs of one run after the other, not {described_type(kind)}",
            help='for a single run: observe(model, [{"x": array}], take)',
            culprit=1,
        )
    return batches


@model_boundary
def intermediate(model: ModelLike, inputs: ModelInputs, names: str | Iterable[str]) -> dict[str, RunValue]:
    """Run the model as far as needed, and give values inside it by name.

    `inputs` are by name or in order. The names are those of values of the outermost graph. A value inside the body of
    an `If`, `Loop` or `Scan` is made as often as the body runs, and one inside a function at every call: those have no
    one value, and are refused.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> model.intermediate([np.float32([-1, 1])], ["relu"])
    {'relu': array([0., 1.], dtype=float32)}
    """
    model = model_of(model, "intermediate")
    wanted = list(dict.fromkeys(_checked_names(names)))
    given = inputs_by_name(model, inputs)
    nodes = nodes_of(model)
    weights = weights_of(model)
    found: dict[str, RunValue] = {}
    computed = {value.name for node in nodes.graph.ir for value in node.outputs if value.name}
    for name in wanted:
        if name in given:
            found[name] = given[name]
        elif name in computed:
            continue
        elif name in weights:
            found[name] = weights[name]
        else:
            raise _unknown(nodes, name, computed)
    missing = {name for name in wanted if name not in found}
    if missing:
        observe(model, [given], lambda seen: found.update({seen.name: seen.value}), missing, is_nested=False)
    return {name: found[name] for name in wanted}


def _checked_names(names: object, culprit: int = 1) -> list[str]:
    given: object = names
    if isinstance(names, str):
        return [names]
    if isinstance(names, Iterable):
        held = list(cast("Iterable[object]", names))
        if all(isinstance(each, str) for each in held):
            return cast("list[str]", held)
        given = next(each for each in held if not isinstance(each, str))
    raise AttributeTypeError(
        f"names are names of values, not {described_type(type(given))}",
        help='a list of them: ["relu", "add"]',
        culprit=culprit,
    )


def inputs_by_name(model: Model, inputs: ModelInputs, culprit: int = 0) -> dict[str, RunValue]:
    """Inputs that are given by name or in order, by name; refuses what does not fit the model."""
    names = [port.name for port in model.inputs]
    if isinstance(inputs, Mapping):
        optional = {port.name for port in model.optional_inputs}
        unknown = [name for name in inputs if name not in names and name not in optional]
        missing = [name for name in names if name not in inputs]
        if unknown or missing:
            raise ModelInputError(
                f"there is no value for the input '{missing[0]}'"
                if missing
                else f"the model has no input '{unknown[0]}'",
                help=f"its inputs are {', '.join(names)}" if names else "it has no inputs",
                culprit=culprit,
            )
        return dict(inputs)
    if not isinstance(inputs, Sequence) or isinstance(inputs, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(
            f"inputs are arrays by name or in order, not {described_type(type(inputs))}",
            help='{"x": array}, or [array]',
            culprit=culprit,
        )
    if len(inputs) != len(names):
        raise ModelInputError(
            f"the model has {len(names)} input{'s' * (len(names) != 1)}, and was given {len(inputs)}",
            help="give the inputs as a list, or by name as a mapping",
            culprit=culprit,
        )
    return dict(zip(names, inputs, strict=True))


def _unknown(nodes: Nodes, name: str, computed: Iterable[str]) -> UnknownNameError:
    shown = clipped(name, _LONGEST_NAME)
    inside = next((each for each in nodes if any(value.name == name for value in each.ir.outputs)), None)
    if inside is None:
        node = nodes[name] if name in nodes and len(nodes.where(name=name)) == 1 else None
        gives = "" if node is None else ", ".join(f"'{each.name}'" for each in node.outputs)
        return UnknownNameError(
            f"the model has no value '{shown}'",
            help=did_you_mean(name, list(computed)[:_MOST_CANDIDATES])
            if node is None
            else f"the node of that name gives {gives}",
            culprit=1,
        )
    if inside.graph.kind == "function":
        reason, advice = (
            "at every call of the function",
            (
                "ask for the outputs of the nodes that call it, or take every call: onnxsmith.observing.observe"
            ),
        )
    else:
        reason, advice = (
            "each time that the body runs",
            (
                "ask for the outputs of the node around it, or take every iteration: onnxsmith.observing.observe"
            ),
        )
    return UnknownNameError(
        f"'{shown}' is made by node {inside.address}, {reason}: it has no one value", help=advice, culprit=1
    )

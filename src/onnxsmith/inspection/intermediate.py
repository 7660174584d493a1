"""`model.intermediate(inputs, names)`: what a model computes on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from onnxsmith.diagnostics import clipped, described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, ModelInputError, UnknownNameError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.inspection.nodes import Nodes, nodes_of
from onnxsmith.inspection.weights import weights_of
from onnxsmith.passes import extract

#: Inputs of a model, by name or in order.
ModelInputs: TypeAlias = Mapping[str, RunValue] | Sequence[RunValue]

_LONGEST_NAME = 80
_MOST_CANDIDATES = 5000


@model_boundary
def intermediate(model: Model, inputs: ModelInputs, names: str | Iterable[str]) -> dict[str, RunValue]:
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
    missing = [name for name in wanted if name not in found]
    if missing:
        part = extract(model, outputs=missing)
        taken = {port.name for port in (*part.inputs, *part.optional_inputs)}
        feeds = {name: value for name, value in given.items() if name in taken}
        result = part.run(feeds) if feeds else part()
        results = cast("tuple[RunValue, ...]", result) if len(missing) > 1 else (result,)
        found.update(zip(missing, results, strict=True))
    return {name: found[name] for name in wanted}


def _checked_names(names: object) -> list[str]:
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
        help='model.intermediate(inputs, ["relu", "add"])',
        culprit=("input", 1),
    )


def inputs_by_name(model: Model, inputs: ModelInputs) -> dict[str, RunValue]:
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
                culprit=("input", 0),
            )
        return dict(inputs)
    if not isinstance(inputs, Sequence) or isinstance(inputs, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(
            f"inputs are arrays by name or in order, not {described_type(type(inputs))}",
            help='{"x": array}, or [array]',
            culprit=("input", 0),
        )
    if len(inputs) != len(names):
        raise ModelInputError(
            f"the model has {len(names)} input{'s' * (len(names) != 1)}, and was given {len(inputs)}",
            help="give the inputs as a list, or by name as a mapping",
            culprit=("input", 0),
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
            culprit=("input", 1),
        )
    if inside.graph.kind == "function":
        reason, advice = "at every call of the function", "ask for the outputs of the nodes that call it"
    else:
        reason, advice = "each time that the body runs", "ask for the outputs of the node around it"
    return UnknownNameError(
        f"'{shown}' is made by node {inside.address}, {reason}: it has no one value",
        help=advice,
        culprit=("input", 1),
    )

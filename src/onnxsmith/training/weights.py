"""Choice of the weights that are trained: those that a user names, those that the model names, or all of them."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.core.value import Array
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import UnknownNameError
from onnxsmith.errors.arguments import read_names
from onnxsmith.errors.user_warnings import tell
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.graphs.trained_parameters import PARAMETERS_KEY
from onnxsmith.source import caller_span

_MOST_SHOWN = 8


def trained_weights(model: ir.Model, patterns: Given, freeze: Given = None) -> list[str]:
    """The weights that are trained: those of patterns, or of the model's own list, but for those that are frozen."""
    graph = model.graph
    if patterns is None:
        names = _parameters(model) or _matching(graph, None)
    else:
        names = _matching(graph, read_names(patterns, "weights", "weights=['head.*']"))
    if freeze is None:
        return names
    frozen = set(_matching(graph, read_names(freeze, "freeze", "freeze=['body.*']")))
    left = [each for each in names if each not in frozen]
    if not left:
        raise UnknownNameError(
            f"all weights are frozen: {_listed(names)}", help="freeze names those that stay as they are"
        )
    return left


def _parameters(model: ir.Model) -> list[str]:
    """The initializers that the model says are to be trained, or else those that are weights of what it was made of."""
    graph = model.graph
    named = trained_parameters.read(model.metadata_props)
    if named is not None:
        return _named_parameters(graph, named)
    return [
        name
        for name, value in graph.initializers.items()
        if WEIGHT_KEY in value.meta
        and value.const_value is not None
        and value.const_value.dtype.is_floating_point()
    ]


def _named_parameters(graph: ir.Graph, names: Sequence[str]) -> list[str]:
    """The names that a model's metadata has; it is an error where the model has changed since."""
    for name in names:
        value = graph.initializers.get(name)
        tensor = None if value is None else value.const_value
        if tensor is None or not tensor.dtype.is_floating_point():
            raise UnknownNameError(
                f"{name!r} is to be trained, as the model's metadata says ({PARAMETERS_KEY}), and the model has "
                "no such weight of floating-point numbers",
                help="make the step of the model as it was exported, before optimising folds weights; "
                "or name the weights: training_step(…, weights=[…])",
            )
    if not names:
        raise UnknownNameError(
            f"the model has no weight that is to be trained, as its metadata says ({PARAMETERS_KEY})",
            help="parameters that do not ask for gradients stay as they are; name some: training_step(…, weights=[…])",
        )
    return list(names)


def _matching(graph: ir.Graph, patterns: Sequence[str] | None) -> list[str]:
    """The initializers that are meant: floating-point, and for a pattern no single numbers. None is for all."""
    found: dict[str, None] = {}
    for pattern in ["*"] if patterns is None else patterns:
        if pattern in graph.initializers:
            found[pattern] = None
            continue
        matching = [
            name
            for name, value in graph.initializers.items()
            if fnmatch.fnmatchcase(name, pattern)
            and value.const_value is not None
            and value.const_value.dtype.is_floating_point()
            and len(value.const_value.shape)
        ]
        if not matching:
            which = "weights" if patterns is None else f"weight {pattern!r}"
            raise UnknownNameError(
                f"the model has no {which} of floating-point numbers",
                help=did_you_mean(pattern, list(graph.initializers))
                or f"its weights are {_listed(graph.initializers)}",
            )
        found.update(dict.fromkeys(matching))
    return list(found)


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_MOST_SHOWN])
    return f"{shown} and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else shown or "none"


def kept_state(model: Model, state: Mapping[str, str | None]) -> dict[str, str]:
    """The state that a step hands on; what the model would write to and does not give is told."""
    lost = [name for name, output in state.items() if output is None]
    if lost:
        tell(
            f"training writes to {', '.join(lost)}, and the model does not give the new values: after training they "
            "are what they were; export the module with keep_mutations=True",
            caller_span(),
        )
    held, given = model.ir.graph.initializers, {each.name for each in model.outputs}
    taken = {each.name for each in model.inputs}
    # What is written to and never read is in no graph.
    return {
        name: output
        for name, output in state.items()
        if output is not None and output in given and (name in held or name not in taken)
    }


def with_inputs(model: Model, names: Sequence[str], state: Mapping[str, str]) -> Model:
    """The model with weights and state as its last inputs; of state that it only writes to, the type of the output."""
    changed = model.ir.clone()
    graph = changed.graph
    written = {each.name: each for each in graph.outputs}
    for name in names:
        if name not in graph.initializers:
            after = written[state[name]]
            graph.inputs.append(ir.Value(name=name, shape=after.shape, type=after.type))
            continue
        value = graph.initializers.pop(name)
        tensor = value.const_value
        assert tensor is not None  # it was chosen for what it holds
        value.const_value = None
        value.dtype = tensor.dtype
        value.shape = ir.Shape(dimensions_of(tensor))
        if value in graph.inputs:
            graph.inputs.remove(value)
        graph.inputs.append(value)
    return Model(changed)


def weight_array(model: Model, name: str) -> Array | None:
    """A copy of a weight; None where the model has none of that name."""
    value = model.ir.graph.initializers.get(name)
    return None if value is None or value.const_value is None else value.const_value.numpy().copy()

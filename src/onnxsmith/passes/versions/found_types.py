"""The types of all values while a model is converted: those of functions by what they are called with.

What is found is for the conversion to decide by, and is taken away again: a model declares no more than before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping

import numpy as np
import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import State, Walk, text_attributes
from onnxsmith.graphs.ir_types import type_from_ir, type_to_ir
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.typing_values import DeclaredTypes, Typed
from onnxsmith.passes.values import Array, dimensions
from onnxsmith.schema.definition import OperatorDef, parameter_at
from onnxsmith.schema.equivalent_versions import Use
from onnxsmith.schema.inference.broadcasting import Different, merge_types
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.types.value_types import AnyValueType

#: More than a shape or axes have.
_MOST_NUMBERS = 64


class ConversionTypes:
    """The types that were found, and what the values said before."""

    def __init__(self, model: ir.Model) -> None:
        self._declared = DeclaredTypes(model)
        self._declared.fill()
        #: What is no node's: the inputs of functions and bodies.
        self._inputs: dict[ir.Value, tuple[ir.TypeProtocol | None, ir.Shape | None]] = {}
        #: Small ints that are worked out of shapes and constants, whatever the model is run on.
        self.numbers: dict[ir.Value, Known] = {}
        for values in _walked(model, self.numbers):
            for value, kind in values.items():
                self._give(value, kind)

    def _give(self, value: ir.Value, kind: AnyValueType) -> None:
        if value.type is not None and value.shape is not None:
            return
        found, shape = type_to_ir(kind)
        if found is None:
            return
        if value.producer() is None:
            self._inputs.setdefault(value, (value.type, value.shape))
        value.type = value.type or found
        value.shape = value.shape or shape

    def take_away(self) -> None:
        """Let the model declare what it declared before, and no more."""
        for value, (kind, shape) in self._inputs.items():
            value.type, value.shape = kind, shape
        self._declared.restore()


def _walked(model: ir.Model, numbers: dict[ir.Value, Known]) -> Iterable[Mapping[ir.Value, AnyValueType]]:
    """The types of the values of the main graph, and of functions as far as all their calls agree."""
    state = State([])
    state.inside = []
    names = {
        each for value in model.graph.inputs for each in dimensions(value) or () if isinstance(each, str)
    }
    walk = Walk(model.functions, model.opset_imports, {name: name for name in names}, {}, state)
    for value in model.graph.inputs:
        walk.known[value] = walk.completed(NOTHING, value)
    with contextlib.suppress(
        OnnxsmithError
    ):  # what cannot work is the model's own mistake, and stays as it is
        walk.graph(model.graph)
    if not any(each.is_graph_input() for each in model.graph.initializers.values()):
        note_numbers(walk.known, numbers)  # else a call may give other weights, and other numbers
    yield {value: known.type for value, known in walk.known.items()}
    yield _agreed(state.inside)


def _agreed(calls: Iterable[Mapping[ir.Value, Known]]) -> dict[ir.Value, AnyValueType]:
    found: dict[ir.Value, AnyValueType] = {}
    for each in calls:
        for value, known in each.items():
            before = found.get(value)
            try:
                found[value] = known.type if before is None else merge_types(before, known.type)
            except Different:
                found[value] = NOTHING.type
    return found


def note_numbers(known: Mapping[ir.Value, Known], numbers: dict[ir.Value, Known]) -> None:
    """Keep what inference knows of the content of small values."""
    for value, each in known.items():
        data = each.data
        if data is not None and not (isinstance(data, np.ndarray) and data.size > _MOST_NUMBERS):
            numbers[value] = each


def content_of(known: Known) -> Array | None:
    """The ints that a value is known to be, all of them."""
    found = known.array()
    return found if found is not None and found.dtype.kind in "iu" else None


def infer_numbers(
    model: Typed, made: Iterable[ir.Node], version: int, numbers: dict[ir.Value, Known]
) -> None:
    """Work out the small ints that new nodes give."""
    for node in made:
        walk = Walk(model.functions, {"": version, node.domain: version}, {}, {}, State([]))
        for value in node.inputs:
            tensor = model.tensor(value)
            if value is None:
                continue
            if tensor is not None:
                walk.known[value] = Weight(value.name or "", tensor).known
            elif value in numbers:
                walk.known[value] = numbers[value]
        with contextlib.suppress(OnnxsmithError):
            walk.node(node)
        note_numbers({value: walk.known[value] for value in node.outputs if value in walk.known}, numbers)


def infer_inside(model: Typed, made: Iterable[ir.Node], version: int) -> None:
    """Give the values of the graphs inside new nodes the types that inference finds."""
    for node in made:
        if not has_graphs(node):
            continue
        walk = Walk(model.functions, {"": version, node.domain: version}, {}, {}, State([]))
        with contextlib.suppress(OnnxsmithError):
            walk.node(node)
        for value, known in walk.known.items():
            kind, shape = type_to_ir(known.type)
            value.type = value.type or kind
            value.shape = value.shape or shape


def use_of(node: ir.Node, op: OperatorDef, without: Iterable[str] = ()) -> Use:
    """How a node uses its operator, but for some attributes.

    A type that is not known is that of another input or output with the same type variable.
    """
    names = {
        value: type_from_ir(value.type, value.shape).onnx_name
        for value in (*node.inputs, *node.outputs)
        if value is not None
    }
    chosen: dict[str, str] = {}
    for values, formal in ((node.inputs, op.inputs), (node.outputs, op.outputs)):
        for position, value in enumerate(values):
            parameter = parameter_at(formal, position)
            if value is not None and names[value] and parameter is not None and parameter.is_homogeneous:
                chosen.setdefault(parameter.type_name, names[value])

    def name_of(value: ir.Value | None, position: int, formal: tuple[object, ...]) -> str | None:
        if value is None:
            return None
        parameter = parameter_at(op.inputs if formal is op.inputs else op.outputs, position)
        if names[value] or parameter is None:
            return names[value]
        if len(parameter.types) == 1:
            return next(iter(parameter.types))
        return chosen.get(parameter.type_name, "") if parameter.is_homogeneous else ""

    return Use(
        tuple(name_of(value, position, op.inputs) for position, value in enumerate(node.inputs)),
        tuple(
            name_of(value, position, op.outputs) if value.name else None
            for position, value in enumerate(node.outputs)
        ),
        frozenset(node.attributes) - {*without},
        text_attributes(node),
    )

"""`expand_training`: models with `Gradient`, `Adam`, `Adagrad` and `Momentum` nodes, as models that any runtime runs.

The model is recorded again, and what stands in the place of those nodes is what they compute. Training information
that a file has beside its graph is made a model by `training_info`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import onnx
import onnx_ir as ir

from onnxsmith.context import collection_paused, setting
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import (
    AttributeValueError,
    NotDifferentiableError,
    UnknownNameError,
    boundary,
)
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.frames import Frame
from onnxsmith.grad.models import OLDEST_OPSET, in_new_opset
from onnxsmith.grad.operators import op
from onnxsmith.grad.replaying import Replay
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Step, is_real, tensor_of
from onnxsmith.grad.target import new_target, record_of
from onnxsmith.graphs.attributes import content_of_attribute
from onnxsmith.graphs.given_models import read_given
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.model import Model, ModelLike, model_of, recorded_model
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import values_read
from onnxsmith.passes import tidy
from onnxsmith.schema import registry

#: The domain of the operators.
TRAINING = "ai.onnx.preview.training"


@boundary
def expand_training(model: ModelLike, *, stage: int = 0) -> Model:
    """The model with the nodes of `ai.onnx.preview.training` as what they compute.

    Those are `Gradient`, `Adam`, `Adagrad` and `Momentum`. A `Gradient` of several numbers is that of their sum.

    A ModelProto with training information gives one step of training. Its inputs are those of the graph and of the
    algorithm, then the values that a step updates, with their first values as defaults. Its outputs are theirs, then
    `NAME_next` for all that is updated. `stage` says which entry of the information is meant.

    >>> from onnxsmith.grad import expand_training
    >>> import onnx.parser
    >>> given = onnx.parser.parse_model('''
    ... <ir_version: 8, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>
    ... graph (float[N] x) => (float[N] slope) {
    ...     y = Mul (x, x)
    ...     slope = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x)
    ... }''')
    >>> import numpy as np
    >>> expand_training(given)(np.float32([1, 2]))
    array([2., 4.], dtype=float32)
    """
    given = in_new_opset(_model(model, stage))
    with collection_paused():
        while True:
            rounds = _Expansion(given)
            made = rounds.run()
            given = Model(made)
            if not rounds.is_left:
                break
        tidy(made)
    return Model(made)


def _model(model: ModelLike, stage: int) -> Model:
    read = None if isinstance(model, Model) else read_given(model)
    if read is None:
        return model_of(model, "expand_training")
    return Model.from_proto(combined(read.proto, stage))


class _Expansion:
    """One round: all nodes are replaced but those that differentiate what is to be replaced itself."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._target = new_target(model.opset_imports.get("", OLDEST_OPSET))
        self._replay = _ExpandingReplay(model.ir)

    @property
    def is_left(self) -> bool:
        """True if another round is needed."""
        return bool(self._replay.left)

    def run(self) -> ir.Model:
        """The model that comes out."""
        with setting(ACTIVE, self._target):
            record = self._recorded()
        made = recorded_model(record).ir
        given = self._model.ir.graph
        for name in [each.name or "" for each in given.inputs if each.name in given.initializers]:
            if name in made.graph.initializers:
                made.graph.inputs.append(made.graph.initializers[name])
        return made

    def _recorded(self) -> ModelRecord:
        target, replay, given = self._target, self._replay, self._model.ir
        graph, frame = given.graph, Frame(is_named=True)
        for value in graph.inputs:
            if value.name not in graph.initializers:
                frame.values[value] = target.input(value.name or "", type_from_ir(value.type, value.shape))
        for value in graph.initializers.values():
            if value.const_value is not None:
                frame.values[value] = replay.weight(value, value.const_value)
        target.program.names.reserve(value.name for node in graph for value in node.outputs if value.name)
        target.program.node_names.reserve(node.name for node in graph if node.name)
        results = target.outputs_of(replay.graph(graph, frame))
        return record_of(target, target.finish(results, graph.name or "model"), given)


class _ExpandingReplay(Replay):
    """Records nodes of the domain as what they compute."""

    def __init__(self, model: ir.Model) -> None:
        super().__init__(model)
        #: The nodes that are left for another round.
        self.left: list[ir.Node] = []

    def node(self, node: ir.Node, frame: Frame) -> None:
        """Record a node."""
        if node.domain == TRAINING and node.op_type in OPTIMIZERS:
            self._optimize(node, frame)
        elif node.domain == TRAINING and node.op_type == "Gradient":
            self._differentiate(node, frame)
        else:
            super().node(node, frame)

    def _optimize(self, node: ir.Node, frame: Frame) -> None:
        self.target.origin.set(node, is_backward=self.is_backward)
        inputs = tuple(tensor_of(self.of(each, frame)) for each in node.inputs if each is not None)
        given = {name: content_of_attribute(each) for name, each in node.attributes.items()}
        definition = registry.find(TRAINING, node.op_type, 1)
        assert definition is not None  # ONNX has them in its first version
        step = Step(node, definition, inputs, (), given, (False,) * len(inputs))
        self._named(node, optimized(step), -1, frame)

    def _differentiate(self, node: ir.Node, frame: Frame) -> None:
        """Record the nodes between what a `Gradient` names, on its inputs, and the way back over them."""
        xs, zs = _names(node, "xs"), _names(node, "zs")
        ends = [_found(node, name) for name in (*xs, *zs)]
        (y,) = (_found(node, name) for name in _names(node, "y"))
        between = _between(node, y, ends)
        if any(each.domain == TRAINING and each.op_type == "Gradient" for each in between):
            self.left.append(node)
            super().node(node, frame)
            return
        self.target.origin.set(node, is_backward=True)
        inner = Frame(around=frame, attributes=frame.attributes, called=frame.called or node)
        given = [self.of(each, frame) for each in node.inputs if each is not None]
        if len(given) != len(ends):
            raise UnknownNameError(
                f"node '{node.name}' (Gradient) names {len(ends)} values in xs and zs, and has {len(given)} inputs"
            )
        for name, value in zip(xs, given, strict=False):
            if not is_real(value):
                raise NotDifferentiableError(
                    f"'{name}' is {value.known.type.described}, and whole numbers have no gradient"
                )
        # One value that is given twice is two variables.
        sources = [op.Identity(each) for each in given[: len(xs)]]
        inner.values.update(zip(ends, [*sources, *given[len(xs) :]], strict=True))
        replay = self.inside(sources, is_backward=True)
        for each in between:
            replay.node(each, inner)
        result = replay.of(y, inner)
        reverse = Reverse(self.target, replay.steps, f"'{y.name}'")
        reverse.seed(result, filled_like(tensor_of(result), 1.0))
        reverse.run()
        self.target.origin.set(node, is_backward=True)
        found = [(each, reverse.of(each)) for each in sources]
        cotangents = [filled_like(each, 0.0) if g is None else g for each, g in found]
        # A cotangent that is a value of the model already keeps the name that it has.
        self._named(node, tuple(op.Identity(each) for each in cotangents), -1, frame)


def _names(node: ir.Node, attribute: str) -> list[str]:
    """The names that an attribute of a `Gradient` holds."""
    found = node.attributes.get(attribute)
    if found is None:
        return []
    return [found.as_string()] if found.type == ir.AttributeType.STRING else list(found.as_strings())


def _found(node: ir.Node, name: str) -> ir.Value:
    """The value of that name, in the graph of the node. Raises UnknownNameError."""
    graph = node.graph
    assert graph is not None  # the model is whole
    made = [each for maker in graph for each in maker.outputs]
    values = [*graph.inputs, *graph.initializers.values(), *made]
    by_name = {each.name: each for each in values if each.name}
    if name not in by_name:
        raise UnknownNameError(
            f"node '{node.name}' (Gradient) names a value '{name}', which its graph has not",
            help=did_you_mean(name, by_name),
        )
    return by_name[name]


def _between(node: ir.Node, y: ir.Value, ends: Sequence[ir.Value]) -> list[ir.Node]:
    """The nodes of the graph that make `y` of what `ends` hold, in order."""
    needed: set[ir.Node] = set()
    open_values, seen = [y], set(ends)
    while open_values:
        value = open_values.pop()
        maker = value.producer()
        if value in seen or maker is None or maker in needed:
            continue
        needed.add(maker)
        open_values += values_read(maker)
    assert node.graph is not None  # the model is whole
    return [each for each in node.graph if each in needed]


# -- preview optimizers ----------------------------------------------------------------------------------------
# The optimisers of `ai.onnx.preview.training`, as ONNX describes them: `Adagrad`, `Adam`, `Momentum`.


#: Given the call, the rate and the count of updates, a weight, its gradient and what is kept: the next ones.
Update: TypeAlias = "Callable[[Step, Tensor, Tensor, Sequence[Tensor]], list[Tensor]]"


def optimized(step: Step) -> tuple[Tensor, ...]:
    """The outputs of a node: all weights, then all of each thing that is kept."""
    update, kinds = OPTIMIZERS[step.name]
    rate, count = step.input(0), step.input(1)
    given = [step.input(k) for k in range(2, len(step.inputs))]
    total = len(given) // kinds
    made: list[list[Tensor]] = []
    for k in range(total):
        own = given[k::total]
        made.append(update(step, op.Cast(rate, to=own[0].dtype), count, own))
    return tuple(each[place] for place in range(kinds - 1) for each in made)


def _regularised(step: Step, x: Tensor, g: Tensor) -> Tensor:
    coefficient = step.number("norm_coefficient")
    return g + x * coefficient if coefficient else g


def _adagrad(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, h = own
    decay = step.number("decay_factor")
    if decay:
        rate = rate / (op.Cast(count, to=x.dtype) * decay + 1.0)
    g = _regularised(step, x, g)
    squares = h + g * g
    return [x - rate * g / (op.Sqrt(squares) + step.number("epsilon")), squares]


def _adam(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, v, h = own
    alpha, beta = step.number("alpha"), step.number("beta")
    g = _regularised(step, x, g)
    mean = v * alpha + g * (1.0 - alpha)
    square = h * beta + g * g * (1.0 - beta)
    turns = op.Cast(count, to=x.dtype)
    first = 1.0 - op.Pow(op.Cast(alpha, to=x.dtype), turns)
    second = 1.0 - op.Pow(op.Cast(beta, to=x.dtype), turns)
    # The first update, number 0, has no correction: there it would divide zero by zero.
    length = op.Where(op.Greater(count, 0), rate * op.Sqrt(second) / first, rate)
    moved = x - length * (mean / (op.Sqrt(square) + step.number("epsilon")))
    after = step.number("norm_coefficient_post")
    return [moved * (1.0 - after) if after else moved, mean, square]


def _momentum(step: Step, rate: Tensor, count: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    x, g, v = own
    alpha, beta = step.number("alpha"), step.number("beta")
    g = _regularised(step, x, g)
    weight = op.Where(op.Greater(count, 0), op.Cast(beta, to=x.dtype), op.Cast(1.0, to=x.dtype))
    velocity = v * alpha + g * weight
    moved = g + velocity * alpha if step.text("mode") == "nesterov" else velocity
    return [x - rate * moved, velocity]


#: What an operator does, and how many tensors it takes for each weight.
OPTIMIZERS: dict[str, tuple[Update, int]] = {
    "Adagrad": (_adagrad, 3),
    "Adam": (_adam, 4),
    "Momentum": (_momentum, 3),
}


# -- training info ---------------------------------------------------------------------------------------------
# Training information of a file, as a model: the graph and the algorithm in one, and what is updated as outputs.
#
# Works on the ModelProto, as the information stands beside the graph. Its nodes are `preview`'s.


def combined(model: onnx.ModelProto, stage: int) -> onnx.ModelProto:
    """One step of training as a model; the model itself where it has no training information."""
    if not model.training_info:
        return model
    if not 0 <= stage < len(model.training_info):
        raise AttributeValueError(
            f"the model has {len(model.training_info)} stages of training, and no stage {stage}",
            culprit="stage",
        )
    info = model.training_info[stage]
    made = copied(model)
    del made.training_info[:]
    graph, algorithm = made.graph, info.algorithm
    outputs = [*model.graph.output, *algorithm.output]
    graph.node.extend(algorithm.node)
    graph.input.extend(algorithm.input)
    graph.initializer.extend(algorithm.initializer)
    graph.sparse_initializer.extend(algorithm.sparse_initializer)
    graph.value_info.extend(algorithm.value_info)
    del graph.output[:]
    bound = {entry.key: entry.value for entry in info.update_binding}
    graph.output.extend(each for each in outputs if each.name not in bound.values())
    _bind(graph, bound, outputs)
    return made


def _bind(graph: onnx.GraphProto, bound: dict[str, str], outputs: list[onnx.ValueInfoProto]) -> None:
    """Make what is updated an input with its value as the default, and what it becomes an output."""
    held = {each.name: each for each in graph.initializer}
    taken = {each.name for each in graph.input}
    types = {each.name: each.type for each in outputs}
    for name, value in bound.items():
        if name not in held:
            raise UnknownNameError(
                f"the training information updates '{name}', which is no initializer",
                help=did_you_mean(name, held),
            )
        tensor = held[name]
        kind = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        if name not in taken:
            graph.input.append(onnx.helper.make_value_info(name, kind))
        graph.node.add(op_type="Identity", input=[value], output=[f"{name}_next"])
        graph.output.append(onnx.helper.make_value_info(f"{name}_next", types.get(value, kind)))

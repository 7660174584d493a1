"""`gradient`: the model of a gradient, and the one way in which all doors make it."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    LossError,
    NotDifferentiableError,
    UnknownNameError,
    UnreachedError,
)
from onnxsmith.errors.arguments import check_flags, read_names
from onnxsmith.errors.user_warnings import tell
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.containers import zeros_like
from onnxsmith.grad.frames import Frame
from onnxsmith.grad.operators import op
from onnxsmith.grad.paths import ancestors, cut_at, described, span_of
from onnxsmith.grad.replaying import Replay
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Step, is_real, shape_of, tensor_of
from onnxsmith.grad.target import GradientTarget, new_target, record_of
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.model import Model, ModelLike, model_of, recorded_model
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.notes import GRADIENT_KEY, notes_of
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.graphs.value import made_value
from onnxsmith.passes import convert_version, tidy
from onnxsmith.source import caller_span
from onnxsmith.types.value_types import TensorType

#: The oldest opset that rules are written in; older models are converted.
OLDEST_OPSET = 18


@model_boundary
def gradient(
    model: ModelLike, *, wrt: str | Sequence[str], of: str | None = None, keep_nested_loops: bool = False
) -> Model:
    """The model of a gradient: it has the inputs and outputs of `model`, and an output `NAME_grad` for each `wrt`.

    `of` is the loss, a value of the outermost graph with one element; by default the only output. `wrt` are names of
    inputs and weights, or patterns such as `"*.weight"`. All of it is standard ONNX, in the opset of the model or in
    18 where that is older. A loop inside a loop is computed again on the way back; with `keep_nested_loops` its turns
    are kept on the way forward: more memory, less time.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.grad import gradient
    >>> model = trace(lambda x, w: op.ReduceSum((x @ w) ** 2.0, keepdims=0), FLOAT["N", 2], FLOAT[2])
    >>> step = gradient(model, wrt=["w"])
    >>> step
    Model(x: FLOAT['N', 2], w: FLOAT[2]) -> reduce_sum: FLOAT, w_grad: FLOAT[2], 10 nodes, opset 21
    >>> step(np.float32([[1, 2]]), np.float32([3, 4]))
    (array(121., dtype=float32), array([22., 44.], dtype=float32))
    """
    model = model_of(model, "gradient")
    check_flags(keep_nested_loops=keep_nested_loops)
    loss = _loss_name(model, of)
    given = in_new_opset(model)
    names, is_pattern = _chosen(given.ir.graph, wrt)
    made = differentiated(given, [loss], names, skips=is_pattern, keeps_nested=keep_nested_loops)
    made.tell_of_skipped()
    return made.model


def _loss_name(model: Model, of: str | None) -> str:
    outputs = [each.name for each in model.outputs]
    if of is None:
        if len(outputs) == 1:
            return outputs[0]
        raise LossError(
            f"the model has {len(outputs)} outputs, and nothing says which is the loss",
            help=f"of={_likely_loss(model)!r}" if outputs else None,
        )
    if not isinstance(of, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise AttributeTypeError(f"of is the name of a value, not {described_type(type(of))}")
    return of


def _likely_loss(model: Model) -> str:
    """The output that is most likely meant: the first that is a number."""
    numbers = [each for each in model.outputs if isinstance(each.type, TensorType) and each.type.shape == ()]
    return (numbers or model.outputs)[0].name


def forward_model(model: Model, outputs: Sequence[str], wrt: Sequence[str]) -> Model:
    """The model of the Jacobian times a vector: the gradient of the gradient, which is linear in its cotangents.

    A rule for the way back so gives the way forth, and there is no second table.
    """
    cotangents = [f"{each}_cotangent" for each in outputs]
    back = differentiated(model, outputs, wrt, fills=True, cotangents=cotangents, is_tidied=False).model
    ports = [each.name for each in back.outputs]
    gradients = ports[len(outputs) :]
    tangents = [f"{each}_tangent" for each in wrt]
    forth = differentiated(
        back,
        gradients,
        cotangents,
        fills=True,
        cotangents=tangents,
        late=[(name, ports[k]) for k, name in enumerate(cotangents)],
        kept=len(outputs),
    )
    return forth.model


def in_new_opset(model: Model) -> Model:
    """The model in an opset that rules are written in."""
    imports = model.opset_imports
    version = imports.get("", imports.get("ai.onnx", OLDEST_OPSET))
    return model if version >= OLDEST_OPSET else convert_version(model, OLDEST_OPSET)


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse an argument that is meant twice."""
    for position, name in enumerate(names):
        if name in names[:position]:
            raise AttributeValueError(f"wrt names '{name}' twice", culprit="wrt")


def _chosen(graph: ir.Graph, wrt: str | Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """The names that are meant, in the model's order for a pattern; and those that only a pattern names."""
    given = read_names(wrt, "wrt", "gradient(model, wrt=['w'])")
    refuse_twice(given)
    kinds = {
        value.name: type_from_ir(value.type, value.shape)
        for value in (*graph.inputs, *graph.initializers.values())
        if value.name
    }
    chosen: dict[str, bool] = {}
    for each in given:
        if each in kinds:
            chosen[each] = False
            continue
        found = [name for name in kinds if fnmatch.fnmatchcase(name, each) and _has_derivatives(graph, name)]
        if not found:
            raise UnknownNameError(
                f"the model has no input and no weight of numbers {each!r}",
                help=did_you_mean(each, kinds) or "inputs and initializers of the outermost graph are meant",
            )
        for name in found:
            chosen.setdefault(name, True)
    return list(chosen), frozenset(name for name, by_pattern in chosen.items() if by_pattern)


def _has_derivatives(graph: ir.Graph, name: str) -> bool:
    value = graph.initializers.get(name) or next(each for each in graph.inputs if each.name == name)
    kind = value.const_value.dtype if value.const_value is not None else value.dtype
    return kind is None or kind.is_floating_point()


# -- what all doors use --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Differentiated:
    """The model of a gradient, and what its outputs behind those of the given model are the cotangents of."""

    model: Model
    names: tuple[str, ...]
    #: Why the others have none, a sentence each.
    skipped: tuple[str, ...] = ()

    def tell_of_skipped(self) -> None:
        """Warn of each value that the model has no gradient for."""
        for text in self.skipped:
            tell(f"{text}: the model has no gradient for it", caller_span())


def differentiated(
    model: Model,
    of: Sequence[str],
    wrt: Sequence[str],
    *,
    skips: frozenset[str] = frozenset(),
    cotangents: Sequence[str] | None = None,
    fills: bool = False,
    late: Sequence[tuple[str, str]] = (),
    kept: int | None = None,
    is_tidied: bool = True,
    keeps_nested: bool = False,
) -> Differentiated:
    """The model with the cotangents of `wrt` as further outputs.

    `of` has the cotangent 1, or those that inputs named `cotangents` give. What is not reached and is in `skips` is
    left out; with `fills` it has zeros; else it is an error. `late` are inputs, and each is one
    everywhere, in the shape of the value beside it. `kept` is how many outputs of the model stay, all for None.
    `keeps_nested` says that loops inside loops keep their turns on the way forward.
    """
    with collection_paused():
        graph = model.ir.graph
        target = new_target(model.opset_imports.get("", OLDEST_OPSET))
        token = ACTIVE.set(target)
        try:
            recorder = _Recorder(model, target, keeps_nested=keeps_nested)
            record, names = recorder.run(of, wrt, skips, cotangents, fills=fills, late=dict(late), kept=kept)
        finally:
            ACTIVE.reset(token)
        made = recorded_model(record).ir
        for name in [each.name or "" for each in graph.inputs if each.name in graph.initializers]:
            if name in made.graph.initializers:
                made.graph.inputs.append(made.graph.initializers[name])
        if is_tidied:
            tidy(made)
        for name, output in zip(reversed(names), reversed(made.graph.outputs), strict=False):
            notes_of(output)[GRADIENT_KEY] = name
    return Differentiated(Model(made), tuple(names), tuple(recorder.skipped))


class _Recorder:
    """Records a model and its gradient in a target."""

    def __init__(self, model: Model, target: GradientTarget, *, keeps_nested: bool) -> None:
        self._model = model
        self._graph = model.ir.graph
        self._target = target
        self._replay = Replay(model.ir, keeps_nested=keeps_nested)
        self._frame = Frame(is_named=True)
        self.skipped: list[str] = []

    def run(
        self,
        of: Sequence[str],
        wrt: Sequence[str],
        skips: frozenset[str],
        cotangents: Sequence[str] | None,
        *,
        fills: bool,
        late: dict[str, str],
        kept: int | None,
    ) -> tuple[ModelRecord, list[str]]:
        """The model that is made, and the names whose cotangents it gives."""
        target, replay, frame = self._target, self._replay, self._frame
        sources = self._sources(wrt, late)
        target.program.names.reserve(
            value.name for node in self._graph for value in node.outputs if value.name
        )
        target.program.node_names.reserve(node.name for node in self._graph if node.name)
        outputs = replay.graph(self._graph, frame)[:kept]
        # What nothing reads is not made on the way.
        made = {
            name: frame.values.get(self._named(name)) if value is None else value
            for name, value in sources.items()
        }
        losses = [self._value(name) for name in of]
        reverse = Reverse(target, replay.steps, f"'{of[0]}'" if len(of) == 1 else "the results")
        target.origin.set(None, is_backward=True)
        for position, (name, loss) in enumerate(zip(of, losses, strict=True)):
            self._check_loss(name, loss, is_weighted=cotangents is not None)
            if cotangents is None:
                reverse.seed(loss, filled_like(tensor_of(loss), 1.0))
            else:
                reverse.seed(loss, target.input(cotangents[position], loss.known.type))
        reverse.run()
        target.origin.set(None, is_backward=True)
        found: dict[str, Value] = {}
        for name, value in made.items():
            if value is None:
                found[name] = zeros_like(self._value(late[name]))
                continue
            cotangent = self._found(name, value, reverse, losses, skips, fills=fills)
            if cotangent is not None:
                found[name] = cotangent
        results = target.outputs_of([*outputs, *found.values()])
        for value, result in zip(self._graph.outputs, results[: len(outputs)], strict=False):
            self._call_as(value.name, result)
        for name, result in zip(found, results[len(outputs) :], strict=True):
            record = made_value(result).record
            target.program.names.release(record.name)
            record.name = target.program.names.unique(f"{name}_grad")
        return self._finished(results), list(found)

    def _call_as(self, name: str | None, output: Value) -> None:
        """Give an output the name that it has in the model: what a function gives has that of its body."""
        record, names = made_value(output).record, self._target.program.names
        if name and record.name != name:
            names.release(record.name)
            names.release(name)
            record.name = names.unique(name)

    def _sources(self, wrt: Sequence[str], late: dict[str, str]) -> dict[str, Value | None]:
        """The values that the gradient is taken with respect to; None for those that are made on the way."""
        target, replay, frame, graph = self._target, self._replay, self._frame, self._graph
        for value in graph.inputs:
            if value.name not in graph.initializers and value.name not in late:
                frame.values[value] = target.input(value.name or "", type_from_ir(value.type, value.shape))
        for value in graph.initializers.values():
            if value.const_value is not None:
                frame.values[value] = replay.weight(value, value.const_value)
        sources: dict[str, Value | None] = {}
        for name in wrt:
            value = self._named(name)
            if name in late:
                replay.late[value] = self._ones_like(late[name])
                sources[name] = None
                continue
            source = sources[name] = frame.values[value]
            if not is_real(source):
                kind = source.known.type
                raise NotDifferentiableError(
                    f"'{name}' is {kind.described}, and whole numbers have no gradient",
                    help="ask for the gradient with respect to floating-point inputs and weights",
                )
            replay.active.add(made_value(source).record)
        return sources

    def _ones_like(self, name: str) -> Callable[[], Value]:
        # A graph has each constant once: the cotangents of two numbers would be one value, with one gradient.
        return lambda: op.Identity(filled_like(tensor_of(self._value(name)), 1.0))

    def _named(self, name: str) -> ir.Value:
        found = self._graph.initializers.get(name)
        return found or next(each for each in self._graph.inputs if each.name == name)

    def _value(self, name: str) -> Value:
        """A value of the outermost graph by its name."""
        for value, made in self._frame.values.items():
            if value.name == name:
                return made
        names = [each.name for each in self._frame.values if each.name]
        raise UnknownNameError(
            f"the model has no value '{name}'",
            help=did_you_mean(name, names) or "of is the name of an output",
        )

    def _check_loss(self, name: str, loss: Value, *, is_weighted: bool) -> None:
        kind = loss.known.type
        if not is_real(loss):
            raise NotDifferentiableError(
                f"the loss '{name}' is {kind.described}, and whole numbers have no gradient",
                help="give a loss of floating-point numbers",
            )
        shape = shape_of(loss)
        if not is_weighted and (shape is None or any(each != 1 for each in shape)):
            raise LossError(
                f"the loss '{name}' is {kind.described}, and a gradient is that of one number",
                help="sum it up, or take its mean; vjp gives each element a weight",
            )

    def _found(
        self,
        name: str,
        value: Value,
        reverse: Reverse,
        losses: Sequence[Value],
        skips: frozenset[str],
        *,
        fills: bool,
    ) -> Value | None:
        found = reverse.of(value)
        if found is not None:
            return found
        if made_value(value).record in ancestors(losses, self._replay.steps):
            return zeros_like(value)
        cut = self._cut(value, losses)
        text = f"the loss does not depend on '{name}'"
        if cut is not None:
            text = f"the loss depends on '{name}' by whole numbers or truth values only, made by {described(cut[0])}"
        if fills:  # the gradient of a constant, as the second one of what is linear
            tell(f"{text}: its gradient is 0", caller_span())
            return zeros_like(value)
        if name in skips:
            self.skipped.append(text)
            return None
        if cut is None:
            raise UnreachedError(text, help="leave it out of wrt")
        error = NotDifferentiableError(
            f"{text}\nthe path from the loss: {cut[1]}",
            help=f"compute it in floating point, or leave '{name}' out",
        )
        raise error.locate(span_of(cut[0].node))

    def _cut(self, value: Value, losses: Sequence[Value]) -> tuple[Step, str] | None:
        made = {made_value(each).record for each in losses}
        for given, each in self._frame.values.items():
            if made_value(each).record in made:
                found = cut_at(value, self._replay.steps, given)
                if found is not None:
                    return found
        return None

    def _finished(self, results: Sequence[Value]) -> ModelRecord:
        target, given = self._target, self._model.ir
        graph = target.finish(results, given.graph.name or "gradient")
        return record_of(target, graph, given)

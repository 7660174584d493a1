"""Recurrent layers: RNN, GRU and LSTM as what they compute, a `Scan` over time for each direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.values import size_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.rules import recurrent_tapes as tapes
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.through import defined

#: A function of one number.
Activation: TypeAlias = "Callable[[Tensor], Tensor]"
#: What a turn makes of the states before it and the input's part of the gates.
Cell: TypeAlias = "Callable[[Sequence[Tensor], Tensor], list[Tensor]]"


#: The functions that a layer may name, of a number, alpha and beta; any other is `Softplus`.
_ACTIVATIONS: dict[str, Callable[[Tensor, float, float], Tensor]] = {
    "sigmoid": lambda x, alpha, beta: op.Sigmoid(x),
    "tanh": lambda x, alpha, beta: op.Tanh(x),
    "relu": lambda x, alpha, beta: op.Relu(x),
    "affine": lambda x, alpha, beta: x * alpha + beta,
    "leakyrelu": lambda x, alpha, beta: op.LeakyRelu(x, alpha=alpha),
    "thresholdedrelu": lambda x, alpha, beta: op.ThresholdedRelu(x, alpha=alpha),
    "scaledtanh": lambda x, alpha, beta: op.Tanh(x * beta) * alpha,
    "hardsigmoid": lambda x, alpha, beta: op.HardSigmoid(x, alpha=alpha, beta=beta),
    "elu": lambda x, alpha, beta: op.Elu(x, alpha=alpha),
    "softsign": lambda x, alpha, beta: op.Softsign(x),
    "softplus": lambda x, alpha, beta: op.Softplus(x),
}
#: Alpha and beta of the functions that have one, where the layer does not say it.
_ALPHAS = {
    "affine": 1.0, "leakyrelu": 0.01, "thresholdedrelu": 1.0, "scaledtanh": 1.0, "hardsigmoid": 0.2, "elu": 1.0
}  # fmt: skip
_BETAS = {"affine": 0.0, "scaledtanh": 1.0, "hardsigmoid": 0.5}


def _activation(name: str, alphas: list[float], betas: list[float]) -> Activation:
    """The function that a layer names; names are compared without case.

    The lists have values for those functions that take one, in their order.
    """
    called = name.lower()
    alpha, beta = (
        given.pop(0) if given and called in table else table.get(called, 0.0)
        for given, table in ((alphas, _ALPHAS), (betas, _BETAS))
    )
    function = _ACTIVATIONS.get(called, _ACTIVATIONS["softplus"])
    return lambda x: function(x, alpha, beta)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The common parts of the three kinds of layers."""

    step: Step
    x: Tensor
    weight: Tensor
    recurrence: Tensor
    bias: Tensor | None
    lengths: Tensor | None
    #: For each direction the functions of its gates.
    activations: tuple[tuple[Activation, ...], ...]
    is_batch_first: bool

    def direction(self, tensor: Tensor, k: int) -> Tensor:
        """The part of one direction: weights have it as their first dimension."""
        return op.Squeeze(op.Slice(tensor, [k], [k + 1], [0]), [0])

    def biases(self, k: int) -> tuple[Tensor | None, Tensor | None]:
        """Those of the input and of the recurrence."""
        if self.bias is None:
            return None, None
        both = several(op.Split(self.direction(self.bias, k), axis=0, num_outputs=2, outputs=2))
        return both[0], both[1]

    def initial(self, given: Tensor | None, k: int) -> Tensor:
        """A state to begin with, of zeros where it is not given."""
        if given is not None:
            states = op.Transpose(given, perm=[1, 0, 2]) if self.is_batch_first else given
            return self.direction(states, k)
        hidden = op.Shape(self.recurrence, start=2)
        zero = np.zeros(1, self.x.dtype.numpy if self.x.dtype is not None else np.float32)
        return op.Expand(zero, op.Concat(op.Shape(self.x, start=1, end=2), hidden, axis=0))

    def clipped(self, gate: Tensor) -> Tensor:
        """The clipped input of an activation."""
        bound = self.step.attribute("clip")
        return gate if bound is None else op.Clip(gate, -self.step.number("clip"), self.step.number("clip"))

    def over_time(self, k: int, states: Sequence[Tensor], parts: Tensor, cell: Cell) -> tuple[Tensor, ...]:
        """The last states, and the first of them at each time; `parts` is the input's part of the gates."""
        is_reverse = int(self.step.text("direction", "forward") == "reverse" or k == 1)
        length, count = op.Shape(parts, start=0, end=1), len(states)
        times = op.Range(np.int64(0), op.Squeeze(length, [0]), np.int64(1))
        lengths = None if self.lengths is None else op.Unsqueeze(op.Cast(self.lengths, to=7), [1])

        def turn(*given: Tensor) -> list[Tensor]:
            before, part, time = given[:count], given[count], given[count + 1]
            after = cell(before, part)
            if lengths is None:
                return [*after, after[0]]
            is_running = op.Less(time, lengths)
            kept = [op.Where(is_running, new, old) for new, old in zip(after, before, strict=True)]
            return [*kept, op.Where(is_running, after[0], 0.0)]

        return several(
            op.Scan(
                *states,
                parts,
                times,
                body=turn,
                num_scan_inputs=2,
                scan_input_directions=[is_reverse, is_reverse],
                scan_output_directions=[is_reverse],
                outputs=count + 1,
            )
        )

    def results(self, found: Sequence[tuple[Tensor, ...]]) -> list[Tensor]:
        """All times of all directions, and the last states."""
        batch_first = self.is_batch_first
        rows = op.Concat(*(op.Unsqueeze(each[-1], [1]) for each in found), axis=1)
        outputs = [op.Transpose(rows, perm=[2, 0, 1, 3]) if batch_first else rows]
        for state in range(len(found[0]) - 1):
            last = op.Concat(*(op.Unsqueeze(each[state], [0]) for each in found), axis=0)
            outputs.append(op.Transpose(last, perm=[1, 0, 2]) if batch_first else last)
        return outputs


def _layer(step: Step, inputs: Sequence[Tensor | None], defaults: Sequence[str]) -> _Layer:
    x, weight, recurrence = (cast(Tensor, each) for each in inputs[:3])
    is_batch_first = bool(step.integer("layout"))
    directions = 2 if step.text("direction", "forward") == "bidirectional" else 1
    named = cast("Sequence[str | bytes] | None", step.attributes.get("activations"))
    names = list(defaults) * directions if named is None else [_text(each) for each in named]
    alphas, betas = (
        [*cast("Sequence[float]", step.attributes.get(each) or ())]
        for each in ("activation_alpha", "activation_beta")
    )
    functions = [_activation(name, alphas, betas) for name in names]
    count = len(defaults)
    return _Layer(
        step,
        op.Transpose(x, perm=[1, 0, 2]) if is_batch_first else x,
        weight,
        recurrence,
        inputs[3],
        inputs[4],
        tuple(tuple(functions[k * count : (k + 1) * count]) for k in range(directions)),
        is_batch_first,
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else x + bias


def _turned(matrix: Tensor) -> Tensor:
    return op.Transpose(matrix, perm=[1, 0])


def _of_directions(
    layer: _Layer, initial: Sequence[Tensor | None], make: Callable[[int, Tensor, Tensor | None], Cell]
) -> list[Tensor]:
    """The layer over time, in each direction; `make` gives the cell of a direction, its recurrence and bias."""
    found: list[tuple[Tensor, ...]] = []
    for k in range(len(layer.activations)):
        weight, recurrence = (_turned(layer.direction(each, k)) for each in (layer.weight, layer.recurrence))
        of_input, of_state = layer.biases(k)
        cell = make(k, recurrence, of_state)
        states = [layer.initial(each, k) for each in initial]
        found.append(layer.over_time(k, states, _plus(layer.x @ weight, of_input), cell))
    return layer.results(found)


# -- the usual form of a layer -------------------------------------------------------------------------------------


def _is_usual(step: Step, defaults: Sequence[str]) -> bool:
    """True if a layer has neither lengths, clipping nor peepholes, and a tape knows its activations."""
    has_more = step.has(4) or step.has(7) or step.attribute("clip") is not None
    if has_more or step.integer("input_forget"):
        return False
    if step.name == "GRU" and not step.integer("linear_before_reset"):
        return False
    names = _activations(step, defaults)
    if step.name == "RNN":
        return len(set(names)) == 1 and names[0] in ("tanh", "relu")
    return names == [each.lower() for each in defaults] * (len(names) // len(defaults))


def _activations(step: Step, defaults: Sequence[str]) -> list[str]:
    """Their names, for each direction."""
    named = cast("Sequence[str | bytes] | None", step.attributes.get("activations"))
    return [*map(str.lower, defaults)] if named is None else [_text(each).lower() for each in named]


def _keeping(defaults: Sequence[str]) -> Callable[[Step], tuple[Value, ...] | None]:
    """Records layers in their usual form so that they keep their gates."""

    def record(step: Step) -> tuple[Value, ...] | None:
        hidden = size_of(step.input(2), 2)
        if not _is_usual(step, defaults) or not isinstance(hidden, int):
            return None
        present = [step.optional(k) for k in range(8)]
        layer = _layer(step, present, defaults)
        initial = present[5:7] if step.name == "LSTM" else present[5:6]
        directions: list[tapes.Direction] = []
        for k in range(len(layer.activations)):
            weight, recurrence = (layer.direction(each, k) for each in (layer.weight, layer.recurrence))
            states = tuple(layer.initial(each, k) for each in initial)
            is_reverse = int(step.text("direction", "forward") == "reverse" or k == 1)
            directions.append(
                tapes.Direction(layer.x, weight, recurrence, layer.biases(k), states, is_reverse, hidden)
            )
        ways = [_FORWARDS[step.name](at, step) for at in directions]
        step.kept = tapes.Tape(tuple(directions), tuple(ways))
        return tuple(layer.results([(*way.last, way.rows) for way in ways]))

    return record


def _function_of(step: Step) -> str:
    return _activations(step, ["Tanh"])[0]


_FORWARDS: dict[str, Callable[[tapes.Direction, Step], tapes.Way]] = {
    "LSTM": lambda at, step: tapes.lstm(at),
    "GRU": lambda at, step: tapes.gru(at),
    "RNN": lambda at, step: tapes.rnn(at, _function_of(step)),
}
_BACKWARDS: dict[str, Callable[[tapes.Direction, tapes.Way, tapes.Seeds, Step], tapes.Slopes]] = {
    "LSTM": lambda at, way, seeds, step: tapes.lstm_back(at, way, seeds),
    "GRU": lambda at, way, seeds, step: tapes.gru_back(at, way, seeds),
    "RNN": lambda at, way, seeds, step: tapes.rnn_back(at, way, seeds, _function_of(step)),
}


def _over_tape(step: Step, gs: Sequence[Value | None]) -> Cotangents:
    """The way back of a layer that has kept its gates."""
    tape, back = step.kept, _BACKWARDS[step.name]
    assert isinstance(tape, tapes.Tape)  # who records layers keeps it
    return tapes.cotangents(step, tape, gs, lambda at, way, seeds: back(at, way, seeds, step))


# -- layers as what they compute -----------------------------------------------------------------------------------

_OF_RNN, _OF_GRU, _OF_LSTM = ["Tanh"], ["Sigmoid", "Tanh"], ["Sigmoid", "Tanh", "Tanh"]


@defined("RNN", kept=_keeping(_OF_RNN), way_back=_over_tape)
def plain(step: Step, *inputs: Tensor | None) -> Sequence[Tensor]:
    layer = _layer(step, inputs, _OF_RNN)

    def make(k: int, recurrence: Tensor, of_state: Tensor | None) -> Cell:
        (f,) = layer.activations[k]
        return lambda before, part: [f(layer.clipped(part + _plus(before[0] @ recurrence, of_state)))]

    return _of_directions(layer, inputs[5:6], make)


@defined("GRU", kept=_keeping(_OF_GRU), way_back=_over_tape)
def gated(step: Step, *inputs: Tensor | None) -> Sequence[Tensor]:
    layer = _layer(step, inputs, _OF_GRU)

    def make(k: int, recurrence: Tensor, of_state: Tensor | None) -> Cell:
        f, g = layer.activations[k]
        thirds = several(op.Split(recurrence, axis=1, num_outputs=3, outputs=3))
        shifts: tuple[Tensor | None, ...] = (None,) * 3
        if of_state is not None:
            shifts = several(op.Split(of_state, axis=0, num_outputs=3, outputs=3))

        def cell(before: Sequence[Tensor], part: Tensor) -> list[Tensor]:
            h = before[0]
            z_part, r_part, h_part = several(op.Split(part, axis=1, num_outputs=3, outputs=3))
            z = f(layer.clipped(z_part + _plus(h @ thirds[0], shifts[0])))
            r = f(layer.clipped(r_part + _plus(h @ thirds[1], shifts[1])))
            if step.integer("linear_before_reset"):
                inner = h_part + r * _plus(h @ thirds[2], shifts[2])
            else:
                inner = h_part + _plus((r * h) @ thirds[2], shifts[2])
            return [(1.0 - z) * g(layer.clipped(inner)) + z * h]

        return cell

    return _of_directions(layer, inputs[5:6], make)


@defined("LSTM", kept=_keeping(_OF_LSTM), way_back=_over_tape)
def with_memory(step: Step, *inputs: Tensor | None) -> Sequence[Tensor]:
    layer = _layer(step, inputs, _OF_LSTM)

    def make(k: int, recurrence: Tensor, of_state: Tensor | None) -> Cell:
        f, g, h = layer.activations[k]
        peepholes: tuple[Tensor | None, ...] = (None,) * 3
        given = inputs[7]
        if given is not None:
            peepholes = several(op.Split(layer.direction(given, k), axis=0, num_outputs=3, outputs=3))

        def seen(gate: Tensor, of: Tensor, hole: Tensor | None) -> Tensor:
            return layer.clipped(gate if hole is None else gate + hole * of)

        def cell(before: Sequence[Tensor], part: Tensor) -> list[Tensor]:
            state, memory = before
            gates = part + _plus(state @ recurrence, of_state)
            i_part, o_part, f_part, c_part = several(op.Split(gates, axis=1, num_outputs=4, outputs=4))
            i = f(seen(i_part, memory, peepholes[0]))
            forget = 1.0 - i if step.integer("input_forget") else f(seen(f_part, memory, peepholes[2]))
            after = forget * memory + i * g(layer.clipped(c_part))
            o = f(seen(o_part, after, peepholes[1]))
            return [o * h(after), after]

        return cell

    return _of_directions(layer, inputs[5:7], make)

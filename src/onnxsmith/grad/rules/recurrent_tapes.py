"""Recurrent layers in their usual form: a `Scan` keeps their gates on the way forward, and one goes back over them.

The way back is linear in the cotangents of the states, so that its factors are made for all times at once, and an
iteration has one product. Gradients of weights are one product over all times, behind the loop. Layers with clipping,
peepholes, lengths or other activations are no such layers: `recurrent` goes back through what they compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.containers import or_zeros
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.steps import Cotangents, Step, shape_of

#: Where an operator has its inputs for the first values of its states.
_FIRST_STATE = 5


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a layer: its weights by gates, and the first values of its states (batch, hidden)."""

    x: Tensor
    weight: Tensor
    recurrence: Tensor
    biases: tuple[Tensor | None, Tensor | None]
    states: tuple[Tensor, ...]
    is_reverse: int
    hidden: int

    def entering(self, bias: Tensor | None) -> Tensor:
        """The input's part of all gates, at all times."""
        made = self.x @ op.Transpose(self.weight, perm=[1, 0])
        return made if bias is None else made + bias

    def forwards(
        self, states: Sequence[Tensor], rows: Sequence[Tensor], body: Callable[..., list[Tensor]], kept: int
    ) -> tuple[Tensor, ...]:
        """The last states, and what each iteration keeps."""
        return self._scan(states, rows, body, kept, self.is_reverse)

    def backwards(
        self, states: Sequence[Tensor], rows: Sequence[Tensor], body: Callable[..., list[Tensor]], kept: int
    ) -> tuple[Tensor, ...]:
        """The same over the times in the other order."""
        return self._scan(states, rows, body, kept, 1 - self.is_reverse)

    def _scan(
        self,
        states: Sequence[Tensor],
        rows: Sequence[Tensor],
        body: Callable[..., list[Tensor]],
        kept: int,
        is_reverse: int,
    ) -> tuple[Tensor, ...]:
        return several(
            op.Scan(
                *states,
                *rows,
                body=body,
                num_scan_inputs=len(rows),
                scan_input_directions=[is_reverse] * len(rows),
                scan_output_directions=[is_reverse] * kept,
                outputs=len(states) + kept,
            )
        )

    def before(self, rows: Tensor) -> Tensor:
        """The state that each time begins with, for the state behind each time."""
        first = op.Unsqueeze(self.states[0], [0])
        if self.is_reverse:
            return op.Concat(op.Slice(rows, [1], [np.iinfo(np.int64).max], [0]), first, axis=0)
        return op.Concat(first, op.Slice(rows, [0], [-1], [0]), axis=0)


@dataclass(frozen=True, slots=True)
class Way:
    """Results of a direction: its outputs (time, batch, hidden), last states, and what the way back reads."""

    rows: Tensor
    last: tuple[Tensor, ...]
    kept: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Slopes:
    """The cotangents of the gates, as the input and as the state enter them (time, batch, gates); of first states."""

    of_input: Tensor
    of_state: Tensor
    first: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Tape:
    """The directions of a layer, and what each has kept."""

    directions: tuple[Direction, ...]
    ways: tuple[Way, ...]


#: The cotangent of a direction's outputs, None where it is zero, and those of its last states.
Seeds = tuple["Tensor | None", tuple[Tensor, ...]]


def _thirds(x: Tensor) -> tuple[Tensor, ...]:
    return several(op.Split(x, axis=-1, num_outputs=3, outputs=3))


def _cut(x: Tensor, *sizes: int) -> tuple[Tensor, ...]:
    """Parts of the last dimension."""
    return several(op.Split(x, np.array(sizes), axis=-1, outputs=len(sizes)))


# -- LSTM: gates in the order input, output, forget, cell ----------------------------------------------------------


def lstm(at: Direction) -> Way:
    """Keep the gates, and the parts of the cell."""
    one, two = at.biases
    parts = at.entering(None if one is None or two is None else one + two)
    recurrence = op.Transpose(at.recurrence, perm=[1, 0])

    def body(h: Tensor, c: Tensor, part: Tensor) -> list[Tensor]:
        closed, new = _cut(op.Gemm(h, recurrence, part), 3 * at.hidden, at.hidden)
        closed, new = op.Sigmoid(closed), op.Tanh(new)
        enter, leave, forget = _thirds(closed)
        remembered = forget * c
        c = remembered + enter * new
        seen = op.Tanh(c)
        return [leave * seen, c, closed, new, remembered, seen]

    h, c, closed, new, remembered, seen = at.forwards(at.states, [parts], body, 4)
    _, leave, _ = _thirds(closed)
    return Way(leave * seen, (h, c), (closed, new, remembered, seen))


def lstm_back(at: Direction, way: Way, seeds: Seeds) -> Slopes:
    """The cotangents of the gates are those of state and cell times factors."""
    closed, new, remembered, seen = way.kept
    enter, leave, forget = _thirds(closed)
    entered = enter * new
    opened = op.Concat(entered, way.rows, remembered, axis=-1)
    factors = op.Concat(opened - opened * closed, enter - entered * new, axis=-1)
    of_seen = leave - way.rows * seen
    g, last = seeds
    rows = [factors, of_seen, forget, *([] if g is None else [g])]

    def body(dh: Tensor, dc: Tensor, factor: Tensor, slope: Tensor, kept: Tensor, *g: Tensor) -> list[Tensor]:
        dh = dh + g[0] if g else dh
        dc = dc + dh * slope
        gates = op.Concat(dc, dh, dc, dc, axis=-1) * factor
        return [op.Gemm(gates, at.recurrence), dc * kept, gates]

    *first, gates = at.backwards(last, rows, body, 1)
    return Slopes(gates, gates, tuple(first))


# -- GRU: gates in the order update, reset, new; the reset is of the product ---------------------------------------


def gru(at: Direction) -> Way:
    """Keep the gates, the state's part of the new state, the new state, and how far the state before is from it."""
    one, two = at.biases
    closing, creating = _cut(at.entering(one), 2 * at.hidden, at.hidden)
    recurrence = op.Transpose(at.recurrence, perm=[1, 0])
    shift = () if two is None else (two,)

    def body(h: Tensor, close: Tensor, create: Tensor) -> list[Tensor]:
        of_state, inner = _cut(op.Gemm(h, recurrence, *shift), 2 * at.hidden, at.hidden)
        closed = op.Sigmoid(close + of_state)
        update, reset = _cut(closed, at.hidden, at.hidden)
        new = op.Tanh(create + reset * inner)
        apart = h - new
        return [new + update * apart, closed, inner, new, apart]

    h, closed, inner, new, apart = at.forwards(at.states, [closing, creating], body, 4)
    update, _ = _cut(closed, at.hidden, at.hidden)
    return Way(new + update * apart, (h,), (closed, inner, new, apart))


def gru_back(at: Direction, way: Way, seeds: Seeds) -> Slopes:
    """The cotangents of the gates are that of the state times factors."""
    closed, inner, new, apart = way.kept
    update, reset = _cut(closed, at.hidden, at.hidden)
    of_new = (1.0 - update) * (1.0 - new * new)
    of_closed = op.Concat(apart, of_new * inner, axis=-1) * (closed - closed * closed)
    factors = op.Concat(of_closed, of_new * reset, axis=-1)
    g, last = seeds
    rows = [factors, update, *([] if g is None else [g])]

    def body(dh: Tensor, factor: Tensor, kept: Tensor, *g: Tensor) -> list[Tensor]:
        dh = dh + g[0] if g else dh
        gates = op.Concat(dh, dh, dh, axis=-1) * factor
        return [op.Gemm(gates, at.recurrence, dh * kept), gates, dh]

    first, gates, states = at.backwards(last, rows, body, 2)
    closing, _ = _cut(gates, 2 * at.hidden, at.hidden)
    return Slopes(op.Concat(closing, states * of_new, axis=-1), gates, (first,))


# -- RNN: of one function ------------------------------------------------------------------------------------------


def rnn(at: Direction, function: str) -> Way:
    """Keep the states, by which the slope of the function is known."""
    one, two = at.biases
    parts = at.entering(None if one is None or two is None else one + two)
    recurrence = op.Transpose(at.recurrence, perm=[1, 0])

    def body(h: Tensor, part: Tensor) -> list[Tensor]:
        made = op.Gemm(h, recurrence, part)
        h = op.Relu(made) if function == "relu" else op.Tanh(made)
        return [h, h]

    h, rows = at.forwards(at.states, [parts], body, 1)
    return Way(rows, (h,), ())


def rnn_back(at: Direction, way: Way, seeds: Seeds, function: str) -> Slopes:
    """The cotangent of the sums is that of the state times the slope."""
    is_cut = function == "relu"
    slope = op.CastLike(way.rows > 0.0, way.rows) if is_cut else 1.0 - way.rows * way.rows
    g, last = seeds

    def body(dh: Tensor, factor: Tensor, *g: Tensor) -> list[Tensor]:
        made = (dh + g[0] if g else dh) * factor
        return [op.Gemm(made, at.recurrence), made]

    first, gates = at.backwards(last, [slope, *([] if g is None else [g])], body, 1)
    return Slopes(gates, gates, (first,))


# -- a layer -------------------------------------------------------------------------------------------------------


def cotangents(
    step: Step, tape: Tape, gs: Sequence[Value | None], back: Callable[[Direction, Way, Seeds], Slopes]
) -> Cotangents:
    """Those of a layer's inputs, for those of its outputs."""
    is_batch_first = bool(step.integer("layout"))
    given = [cast("Tensor | None", each) for each in gs]
    rows, *lasts = [*given, *[None] * (len(tape.ways[0].last) + 1 - len(given))]
    if is_batch_first:
        rows = None if rows is None else op.Transpose(rows, perm=[1, 2, 0, 3])
        lasts = [None if each is None else op.Transpose(each, perm=[1, 0, 2]) for each in lasts]
    made: list[Slopes] = []
    for k, (at, way) in enumerate(zip(tape.directions, tape.ways, strict=True)):
        seeds = tuple(
            cast(Tensor, or_zeros(None if each is None else _one_of(each, k, 0), like))
            for each, like in zip(lasts, way.last, strict=True)
        )
        made.append(back(at, way, (None if rows is None else _one_of(rows, k, 1), seeds)))
    pairs = list(zip(tape.directions, tape.ways, made, strict=True))

    def of_x() -> Tensor:
        parts = [slopes.of_input @ at.weight for at, _, slopes in pairs]
        whole = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return op.Transpose(whole, perm=[1, 0, 2]) if is_batch_first else whole

    def of_bias() -> Tensor:
        return _stacked(
            [
                op.Concat(*(op.ReduceSum(each, np.array([0, 1]), keepdims=0) for each in both), axis=0)
                for both in ((slopes.of_input, slopes.of_state) for _, _, slopes in pairs)
            ]
        )

    def of_first(state: int) -> Tensor:
        whole = _stacked([slopes.first[state] for _, _, slopes in pairs])
        return op.Transpose(whole, perm=[1, 0, 2]) if is_batch_first else whole

    found: list[object] = [
        of_x,
        lambda: _stacked([_product(slopes.of_input, at.x) for at, _, slopes in pairs]),
        lambda: _stacked([_product(slopes.of_state, at.before(way.rows)) for at, way, slopes in pairs]),
        of_bias,
        None,
        lambda: of_first(0),
        *([lambda: of_first(1)] if len(tape.ways[0].last) > 1 else []),
    ]
    return cast(Cotangents, found[: len(step.inputs)])


def _one_of(x: Tensor, k: int, axis: int) -> Tensor:
    """One direction of a tensor that has both."""
    return op.Squeeze(op.Slice(x, [k], [k + 1], [axis]), [axis])


def _stacked(parts: Sequence[Tensor]) -> Tensor:
    """A first dimension for directions."""
    each = [op.Unsqueeze(part, [0]) for part in parts]
    return each[0] if len(each) == 1 else op.Concat(*each, axis=0)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """The sum over all times and examples of the products of two vectors."""
    return op.Gemm(_in_rows(left), _in_rows(right), transA=1)


def _in_rows(x: Tensor) -> Tensor:
    shape = shape_of(x)
    width = None if shape is None else shape[-1]
    if isinstance(width, int):
        return op.Reshape(x, np.array([-1, width]))
    return op.Reshape(x, op.Concat(np.array([-1]), op.Shape(x, start=-1), axis=0))

"""Recurrent layers (LSTM, GRU, RNN) as ONNX's, over a time that may be dynamic; single cells; packed sequences.

Gates stand in the order of PyTorch: input, forget, cell, output; reset, update, new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from onnxsmith.algorithms.dropout import dropped
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted, numbers_until, reshape, size_of, sizes_of
from onnxsmith.types.dtypes import DType

#: A recurrent layer, and what an RNN puts its sums through.
Kind: TypeAlias = Literal["LSTM", "GRU", "RNN", "RNN_RELU"]
#: Where ONNX's gates stand among those given.
_GATES: dict[Kind, tuple[int, ...]] = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,), "RNN_RELU": (0,)}


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers one upon the other, each in one direction or both.

    Each direction of each layer has weights of the input and of the state, the biases of both if there are some, and
    the weights of the projection if there is one. A projection makes the state that an LSTM passes on smaller.
    """

    kind: Kind
    weights: Sequence[Tensor]
    count: int
    has_biases: bool = True
    is_bidirectional: bool = False
    dropout: float = 0.0

    @property
    def directions(self) -> int:
        """1 or 2."""
        return 2 if self.is_bidirectional else 1

    @property
    def has_projection(self) -> bool:
        """True if there is one weight more for each direction of each layer."""
        plain = 4 if self.has_biases else 2
        return len(self.weights) == self.count * self.directions * (plain + 1)

    def run(self, x: Tensor, states: Sequence[Tensor], lengths: Tensor | None = None) -> list[Tensor]:
        """The output (time, batch, feature) and the last states of all layers."""
        finals: list[list[Tensor]] = []
        for layer in range(self.count):
            if layer and self.dropout:
                x = dropped(x, self.dropout)[0]
            x, *last = self._layer(x, layer, [self._part(each, layer) for each in states], lengths)
            finals.append(last)
        joined = [
            op.Concat(*each, axis=0) if self.count > 1 else each[0] for each in zip(*finals, strict=True)
        ]
        return [x, *joined]

    def _part(self, state: Tensor, layer: int) -> Tensor:
        """The states of one layer, for each direction."""
        if self.count == 1:
            return state
        return op.Slice(state, [layer * self.directions], [(layer + 1) * self.directions], [0])

    def _layer(self, x: Tensor, layer: int, states: Sequence[Tensor], lengths: Tensor | None) -> list[Tensor]:
        first = layer * self.directions
        each = len(self.weights) // (self.count * self.directions)
        rows = [self.weights[(first + k) * each : (first + k + 1) * each] for k in range(self.directions)]
        if self.has_projection:
            assert lengths is None, "ONNX's LSTM has no projection, and a loop no lengths"
            return self._projected(x, rows, states)
        inputs, hidden = (self._joined([[row[k]] for row in rows]) for k in (0, 1))
        bias = self._joined([row[2:4] for row in rows]) if self.has_biases else None
        width = size_of(rows[0][1], 1)
        attributes: dict[str, Any] = {"hidden_size": width} if isinstance(width, int) else {}
        if self.directions == 2:
            attributes["direction"] = "bidirectional"
        if self.kind == "GRU":
            attributes["linear_before_reset"] = 1
        if self.kind == "RNN_RELU":
            attributes["activations"] = ["Relu"] * self.directions
        operator = {"LSTM": op.LSTM, "GRU": op.GRU}.get(self.kind, op.RNN)
        output, *last = several(
            operator, x, inputs, hidden, bias, lengths, *states, outputs=1 + len(states), **attributes
        )
        # (time, direction, batch, feature) to (time, batch, directions' features)
        if self.directions == 1:
            return [op.Squeeze(output, [1]), *last]
        output = op.Transpose(output, perm=[0, 2, 1, 3])
        sizes = [*sizes_of(x)[:2], self.directions * width]
        return [reshape(output, sizes), *last]

    def _projected(
        self, x: Tensor, rows: Sequence[Sequence[Tensor]], states: Sequence[Tensor]
    ) -> list[Tensor]:
        """A layer step by step: ONNX's LSTM has no projection of the state."""
        outputs: list[Tensor] = []
        hiddens: list[Tensor] = []
        cells: list[Tensor] = []
        for k, row in enumerate(rows):
            weights = [op.Transpose(each, perm=[1, 0]) for each in (row[0], row[1], row[-1])]
            entering = op.MatMul(x, weights[0])
            if self.has_biases:
                entering = entering + (row[2] + row[3])
            start = [op.Gather(each, np.int64(k), axis=0) for each in states]
            bodies: dict[str, Any] = {"body": _projected_step(weights[1], weights[2])}
            hidden, cell, output = several(
                op.Scan,
                *start,
                entering,
                num_scan_inputs=1,
                scan_input_directions=[k],
                scan_output_directions=[k],
                outputs=3,
                **bodies,
            )
            outputs.append(output)
            hiddens.append(op.Unsqueeze(hidden, [0]))
            cells.append(op.Unsqueeze(cell, [0]))
        if self.directions == 1:
            return [outputs[0], hiddens[0], cells[0]]
        return [op.Concat(*outputs, axis=-1), op.Concat(*hiddens, axis=0), op.Concat(*cells, axis=0)]

    def _joined(self, parts: Sequence[Sequence[Tensor]]) -> Tensor:
        """Weights of each direction, with the gates in ONNX's order; biases are pairs, one behind the other."""
        reordered: list[Tensor] = []
        for part in parts:
            pieces = [self._reordered(each) for each in part]
            whole = pieces[0] if len(pieces) == 1 else op.Concat(*pieces, axis=0)
            reordered.append(op.Unsqueeze(whole, [0]))
        return reordered[0] if len(reordered) == 1 else op.Concat(*reordered, axis=0)

    def _reordered(self, weight: Tensor) -> Tensor:
        order = _GATES[self.kind]
        if len(order) == 1:
            return weight
        gates = several(op.Split, weight, axis=0, num_outputs=len(order), outputs=len(order))
        return op.Concat(*(gates[k] for k in order), axis=0)


def _projected_step(recurrence: Tensor, projection: Tensor) -> Callable[..., tuple[Tensor, ...]]:
    """One step of an LSTM whose state is projected, given what the input has for all gates."""

    def step(hidden: Tensor, cell: Tensor, entering: Tensor) -> tuple[Tensor, ...]:
        gates = entering + op.MatMul(hidden, recurrence)
        result, cell = _through_gates(gates, cell)
        hidden = op.MatMul(result, projection)
        return hidden, cell, hidden

    return step


# -- packed sequences ------------------------------------------------------------------------------------


def unpacked(data: Tensor, batch_sizes: Tensor) -> tuple[Tensor, Tensor]:
    """(time, batch, …), and which of its places hold an element. Sequences are sorted, the longest first."""
    batch = op.Gather(batch_sizes, np.int64(0), axis=0)
    columns = numbers_until(batch)
    is_there = op.Unsqueeze(columns, [0]) < op.Unsqueeze(batch_sizes, [1])
    starts = op.Unsqueeze(op.CumSum(batch_sizes, np.int64(0), exclusive=1), [1])
    places = op.Where(is_there, starts + op.Unsqueeze(columns, [0]), 0)
    return op.Gather(data, places, axis=0), is_there


def packed(x: Tensor, is_there: Tensor) -> Tensor:
    """The elements that are there, one time step after the other."""
    return op.GatherND(x, op.Transpose(op.NonZero(is_there), perm=[1, 0]))


def pack_padded(x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sequences (time, batch, …) of lengths that are sorted, packed; and how many there are at each time."""
    lengths = converted(lengths, DType.INT64)
    longest = op.ReduceMax(lengths, np.array([0]), keepdims=0)
    steps = numbers_until(longest)
    is_there = op.Unsqueeze(steps, [1]) < op.Unsqueeze(lengths, [0])
    batch_sizes = op.ReduceSum(converted(is_there, DType.INT64), np.array([1]), keepdims=0)
    return packed(x, is_there), batch_sizes


# -- cells -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CellWeights:
    """Weights of the input and of the state, and their biases."""

    inputs: Tensor
    hidden: Tensor
    input_bias: Tensor | None = None
    hidden_bias: Tensor | None = None

    def gates(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The parts of the input and of the state in all gates."""
        return _gates(x, self.inputs, self.input_bias), _gates(state, self.hidden, self.hidden_bias)


def _gates(value: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    part = op.MatMul(value, op.Transpose(weight, perm=[1, 0]))
    return part if bias is None else part + bias


def lstm_cell(x: Tensor, hidden: Tensor, cell: Tensor, weights: CellWeights) -> tuple[Tensor, Tensor]:
    """The new state of an LSTM and its new cell."""
    return _through_gates(op.Add(*weights.gates(x, hidden)), cell)


def _through_gates(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    enter, forget, new, leave = several(op.Split, gates, axis=-1, num_outputs=4, outputs=4)
    cell = op.Sigmoid(forget) * cell + op.Sigmoid(enter) * op.Tanh(new)
    return op.Sigmoid(leave) * op.Tanh(cell), cell


def gru_cell(x: Tensor, hidden: Tensor, weights: CellWeights) -> Tensor:
    """The new state of a GRU."""
    mine, theirs = (
        several(op.Split, each, axis=-1, num_outputs=3, outputs=3) for each in weights.gates(x, hidden)
    )
    reset, update = (op.Sigmoid(mine[k] + theirs[k]) for k in (0, 1))
    new = op.Tanh(mine[2] + reset * theirs[2])
    return new + update * (hidden - new)


def rnn_cell(x: Tensor, hidden: Tensor, weights: CellWeights, *, has_relu: bool = False) -> Tensor:
    """The new state of a plain recurrent layer."""
    total = op.Add(*weights.gates(x, hidden))
    return op.Relu(total) if has_relu else op.Tanh(total)

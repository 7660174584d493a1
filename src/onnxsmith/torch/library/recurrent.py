"""Recurrent layers (LSTM, GRU, RNN) as ONNX's, over a time that may be dynamic, and sequences that are packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import Numeric, Size, dtype_of, int64s, rank_of, reshape
from onnxsmith.core.operator_protocols import AnyOperator
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dropout import dropped
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import as_size, cast
from onnxsmith.types.dtypes import DType

#: Where ONNX's gates stand among torch's: torch has input, forget, cell, output, and reset, update, new.
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


class Layers:
    """What the layers of one call have in common."""

    def __init__(
        self,
        call: Call,
        params: Sequence[TensorValue],
        has_biases: bool,
        layers: int,
        dropout: float,
        bidirectional: bool,
    ) -> None:
        self.call = call
        self.name = "LSTM" if "lstm" in call.overload else "GRU" if "gru" in call.overload else "RNN"
        self.has_biases, self.layers, self.dropout = has_biases, layers, dropout
        self.directions = 2 if bidirectional else 1
        self.each = 4 if has_biases else 2
        #: Whether the state that an LSTM passes on is made smaller by one weight more: `proj_size`.
        self.has_projection = len(params) == layers * self.directions * (self.each + 1)
        self.each += self.has_projection
        self.params = params

    def run(
        self, x: TensorValue, states: Sequence[TensorValue], lengths: TensorValue | None
    ) -> list[TensorValue]:
        """The output (time, batch, feature) and the last states of all layers."""
        finals: list[list[TensorValue]] = []
        for layer in range(self.layers):
            if layer and self.dropout:
                x = dropped(self.call, x, self.dropout)[0]
            x, *last = self._layer(x, layer, [self._part(each, layer) for each in states], lengths)
            finals.append(last)
        joined = [
            op.Concat(*each, axis=0) if self.layers > 1 else each[0] for each in zip(*finals, strict=True)
        ]
        return [x, *joined]

    def _part(self, state: TensorValue, layer: int) -> TensorValue:
        """The states of one layer, for each direction."""
        if self.layers == 1:
            return state
        return op.Slice(state, [layer * self.directions], [(layer + 1) * self.directions], [0])

    def _layer(
        self, x: TensorValue, layer: int, states: Sequence[TensorValue], lengths: TensorValue | None
    ) -> list[TensorValue]:
        first = layer * self.directions
        rows = [
            self.params[(first + k) * self.each : (first + k + 1) * self.each] for k in range(self.directions)
        ]
        if self.has_projection:
            return self._projected(x, rows, states, lengths)
        inputs, hidden = (self._joined([[row[k]] for row in rows]) for k in (0, 1))
        bias = self._joined([row[2:4] for row in rows]) if self.has_biases else None
        width = self.call.size(rows[0][1], 1)
        operator: AnyOperator = getattr(op, self.name)
        output, *finals = several(
            operator,
            *(x, inputs, hidden, bias, lengths, *states),
            outputs=1 + len(states),
            **self._attributes(width),
        )
        # (time, direction, batch, feature) to (time, batch, directions' features)
        if self.directions == 1:
            return [op.Squeeze(output, [1]), *finals]
        output = op.Transpose(output, perm=[0, 2, 1, 3])
        sizes = [*self.call.shape_of(x)[:2], self.directions * width]
        return [reshape(output, sizes), *finals]

    def _attributes(self, width: Size) -> dict[str, Any]:
        """What ONNX's operator is told besides its inputs."""
        attributes: dict[str, Any] = {"hidden_size": width} if isinstance(width, int) else {}
        if self.directions == 2:
            attributes["direction"] = "bidirectional"
        if self.name == "GRU":
            attributes["linear_before_reset"] = 1
        if "rnn_relu" in self.call.overload:
            attributes["activations"] = ["Relu"] * self.directions
        return attributes

    def _projected(
        self,
        x: TensorValue,
        rows: Sequence[Sequence[TensorValue]],
        states: Sequence[TensorValue],
        lengths: TensorValue | None,
    ) -> list[TensorValue]:
        """A layer step by step: ONNX's LSTM has no projection of the state."""
        if lengths is not None:
            raise self.call.refuse(
                "a packed sequence in an LSTM with proj_size, which ONNX's LSTM does not have"
            )
        outputs: list[TensorValue] = []
        hiddens: list[TensorValue] = []
        cells: list[TensorValue] = []
        for k, row in enumerate(rows):
            weights = [op.Transpose(each, perm=[1, 0]) for each in (row[0], row[1], row[-1])]
            entering = op.MatMul(x, weights[0])
            if self.has_biases:
                entering = op.Add(entering, op.Add(row[2], row[3]))
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

    def _joined(self, parts: Sequence[Sequence[TensorValue]]) -> TensorValue:
        """Weights of each direction, with the gates in ONNX's order; biases are two, one behind the other."""
        reordered: list[TensorValue] = []
        for part in parts:
            pieces = [self._reordered(each) for each in part]
            whole = pieces[0] if len(pieces) == 1 else op.Concat(*pieces, axis=0)
            reordered.append(op.Unsqueeze(whole, [0]))
        return reordered[0] if len(reordered) == 1 else op.Concat(*reordered, axis=0)

    def _reordered(self, weight: TensorValue) -> TensorValue:
        order = _GATES[self.name]
        if len(order) == 1:
            return weight
        gates = several(op.Split, weight, axis=0, num_outputs=len(order), outputs=len(order))
        return op.Concat(*(gates[k] for k in order), axis=0)


def _projected_step(
    recurrence: TensorValue, projection: TensorValue
) -> Callable[[TensorValue, TensorValue, TensorValue], tuple[TensorValue, ...]]:
    """One step of an LSTM whose state is projected, given what the input has for all gates."""

    def step(hidden: TensorValue, cell: TensorValue, entering: TensorValue) -> tuple[TensorValue, ...]:
        gates = op.Add(entering, op.MatMul(hidden, recurrence))
        result, cell = _through_gates(gates, cell)
        hidden = op.MatMul(result, projection)
        return hidden, cell, hidden

    return step


@translates("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
def recurrent(
    call: Call,
    x: TensorValue,
    hx: TensorValue | Sequence[TensorValue],
    params: Sequence[TensorValue],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Translated:
    layers = Layers(call, params, has_biases, num_layers, dropout if train else 0, bidirectional)
    x = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    output, *finals = layers.run(x, _as_list(hx), None)
    return [op.Transpose(output, perm=[1, 0, 2]) if batch_first else output, *finals]


@translates("aten.lstm.data", "aten.gru.data", "aten.rnn_tanh.data", "aten.rnn_relu.data")
def packed_recurrent(
    call: Call,
    data: TensorValue,
    batch_sizes: TensorValue,
    hx: TensorValue | Sequence[TensorValue],
    params: Sequence[TensorValue],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> Translated:
    """Packed sequences, unpacked for ONNX with their lengths, and packed again."""
    layers = Layers(call, params, has_biases, num_layers, dropout if train else 0, bidirectional)
    batch_sizes = cast(batch_sizes, DType.INT64)
    padded, is_there = _unpacked(data, batch_sizes)
    lengths = op.ReduceSum(cast(is_there, DType.INT32), np.array([0]), keepdims=0)
    output, *finals = layers.run(padded, _as_list(hx), lengths)
    return [_packed(output, is_there), *finals]


def _unpacked(data: TensorValue, batch_sizes: TensorValue) -> tuple[TensorValue, TensorValue]:
    """(time, batch, …), and which of its places hold an element. Sequences are sorted, the longest first."""
    batch = op.Gather(batch_sizes, np.int64(0), axis=0)
    columns = op.Range(np.int64(0), batch, np.int64(1))
    is_there = op.Less(op.Unsqueeze(columns, [0]), op.Unsqueeze(batch_sizes, [1]))
    starts = op.Unsqueeze(op.CumSum(batch_sizes, np.int64(0), exclusive=1), [1])
    places = op.Where(is_there, op.Add(starts, op.Unsqueeze(columns, [0])), np.int64(0))
    return op.Gather(data, places, axis=0), is_there


def _packed(x: TensorValue, is_there: TensorValue) -> TensorValue:
    """The elements that are there, one time step after the other."""
    return op.GatherND(x, op.Transpose(op.NonZero(is_there), perm=[1, 0]))


@translates("aten._pack_padded_sequence.default")
def pack_padded_sequence(call: Call, x: TensorValue, lengths: TensorValue, batch_first: bool) -> Translated:
    x = op.Transpose(x, perm=[1, 0, *range(2, rank_of(x))]) if batch_first else x
    lengths = cast(lengths, DType.INT64)
    longest = op.ReduceMax(lengths, np.array([0]), keepdims=0)
    steps = op.Range(np.int64(0), longest, np.int64(1))
    is_there = op.Less(op.Unsqueeze(steps, [1]), op.Unsqueeze(lengths, [0]))
    batch_sizes = op.ReduceSum(cast(is_there, DType.INT64), np.array([1]), keepdims=0)
    return [_packed(x, is_there), batch_sizes]


@translates("aten._pad_packed_sequence.default")
def pad_packed_sequence(
    call: Call,
    data: TensorValue,
    batch_sizes: TensorValue,
    batch_first: bool,
    padding_value: Numeric,
    total_length: Size,
) -> Translated:
    batch_sizes = cast(batch_sizes, DType.INT64)
    padded, is_there = _unpacked(data, batch_sizes)
    lengths = op.ReduceSum(cast(is_there, DType.INT64), np.array([0]), keepdims=0)
    behind = rank_of(data) - 1
    mask = op.Unsqueeze(is_there, np.arange(2, 2 + behind)) if behind else is_there
    padded = op.Where(mask, padded, cast(padding_value, dtype_of(data)))
    if not isinstance(total_length, int) or total_length > 0:
        steps = op.Squeeze(op.Shape(batch_sizes), [0])
        more = as_size(op.Sub(cast(total_length, DType.INT64), steps))
        pads = int64s([*[0] * (2 + behind), more, *[0] * (1 + behind)])
        padded = op.Pad(padded, pads, cast(padding_value, dtype_of(data)))
    return [op.Transpose(padded, perm=[1, 0, *range(2, 2 + behind)]) if batch_first else padded, lengths]


def _gates(
    x: TensorValue,
    hx: TensorValue,
    w_ih: TensorValue,
    w_hh: TensorValue,
    b_ih: TensorValue | None,
    b_hh: TensorValue | None,
) -> tuple[TensorValue, TensorValue]:
    """What the input and the state give to all gates."""
    parts: list[TensorValue] = []
    for value, weight, bias in ((x, w_ih, b_ih), (hx, w_hh, b_hh)):
        part = op.MatMul(value, op.Transpose(weight, perm=[1, 0]))
        parts.append(part if bias is None else op.Add(part, bias))
    return parts[0], parts[1]


@translates("aten.lstm_cell.default")
def lstm_cell(
    call: Call,
    x: TensorValue,
    hx: Sequence[TensorValue],
    w_ih: TensorValue,
    w_hh: TensorValue,
    b_ih: TensorValue | None = None,
    b_hh: TensorValue | None = None,
) -> Translated:
    gates = op.Add(*_gates(x, hx[0], w_ih, w_hh, b_ih, b_hh))
    return _through_gates(gates, hx[1])


def _through_gates(gates: TensorValue, cell: TensorValue) -> list[TensorValue]:
    """The new state of an LSTM and its new cell."""
    enter, forget, new, leave = several(op.Split, gates, axis=-1, num_outputs=4, outputs=4)
    cell = op.Add(op.Mul(op.Sigmoid(forget), cell), op.Mul(op.Sigmoid(enter), op.Tanh(new)))
    return [op.Mul(op.Sigmoid(leave), op.Tanh(cell)), cell]


@translates("aten.gru_cell.default")
def gru_cell(
    call: Call,
    x: TensorValue,
    hx: TensorValue,
    w_ih: TensorValue,
    w_hh: TensorValue,
    b_ih: TensorValue | None = None,
    b_hh: TensorValue | None = None,
) -> Translated:
    mine, theirs = (
        several(op.Split, each, axis=-1, num_outputs=3, outputs=3)
        for each in _gates(x, hx, w_ih, w_hh, b_ih, b_hh)
    )
    reset, update = (op.Sigmoid(op.Add(mine[k], theirs[k])) for k in (0, 1))
    new = op.Tanh(op.Add(mine[2], op.Mul(reset, theirs[2])))
    return op.Add(new, op.Mul(update, op.Sub(hx, new)))


@translates("aten.rnn_tanh_cell.default", "aten.rnn_relu_cell.default")
def rnn_cell(
    call: Call,
    x: TensorValue,
    hx: TensorValue,
    w_ih: TensorValue,
    w_hh: TensorValue,
    b_ih: TensorValue | None = None,
    b_hh: TensorValue | None = None,
) -> Translated:
    total = op.Add(*_gates(x, hx, w_ih, w_hh, b_ih, b_hh))
    return op.Relu(total) if "relu" in call.overload else op.Tanh(total)


def _as_list(value: TensorValue | Sequence[TensorValue]) -> list[TensorValue]:
    return [value] if isinstance(value, TensorValue) else list(value)

"""Recurrent layers (LSTM, GRU, RNN), cells, and sequences that are packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from onnxsmith.algorithms import recurrent
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.recurrent import CellWeights, Kind, Layers
from onnxsmith.algorithms.values import Numeric, Size, as_size, cast, converted, dtype_of, int64s, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType

#: A state, or that of an LSTM and its cell.
States: TypeAlias = Tensor | Sequence[Tensor]


def _kind(call: Call) -> Kind:
    if "lstm" in call.overload:
        return "LSTM"
    if "gru" in call.overload:
        return "GRU"
    return "RNN_RELU" if "rnn_relu" in call.overload else "RNN"


def _as_list(states: States) -> list[Tensor]:
    return [states] if isinstance(states, Tensor) else list(states)


@translates("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
def layers(
    call: Call,
    x: Tensor,
    hx: States,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Translated:
    made = Layers(_kind(call), params, num_layers, has_biases, bidirectional, dropout if train else 0)
    x = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    output, *finals = made.run(x, _as_list(hx))
    return [op.Transpose(output, perm=[1, 0, 2]) if batch_first else output, *finals]


@translates("aten.lstm.data", "aten.gru.data", "aten.rnn_tanh.data", "aten.rnn_relu.data")
def packed_layers(
    call: Call,
    data: Tensor,
    batch_sizes: Tensor,
    hx: States,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> Translated:
    """Packed sequences, unpacked for ONNX with their lengths, and packed again."""
    made = Layers(_kind(call), params, num_layers, has_biases, bidirectional, dropout if train else 0)
    if made.has_projection:
        raise call.refuse("a packed sequence in an LSTM with proj_size, which ONNX's LSTM does not have")
    padded, is_there = recurrent.unpacked(data, converted(batch_sizes, DType.INT64))
    lengths = op.ReduceSum(converted(is_there, DType.INT32), np.array([0]), keepdims=0)
    output, *finals = made.run(padded, _as_list(hx), lengths)
    return [recurrent.packed(output, is_there), *finals]


@translates("aten._pack_padded_sequence.default")
def pack_padded_sequence(call: Call, x: Tensor, lengths: Tensor, batch_first: bool) -> Translated:
    x = op.Transpose(x, perm=[1, 0, *range(2, rank_of(x))]) if batch_first else x
    return list(recurrent.pack_padded(x, lengths))


@translates("aten._pad_packed_sequence.default")
def pad_packed_sequence(
    call: Call,
    data: Tensor,
    batch_sizes: Tensor,
    batch_first: bool,
    padding_value: Numeric,
    total_length: Size,
) -> Translated:
    batch_sizes = converted(batch_sizes, DType.INT64)
    padded, is_there = recurrent.unpacked(data, batch_sizes)
    lengths = op.ReduceSum(converted(is_there, DType.INT64), np.array([0]), keepdims=0)
    behind = rank_of(data) - 1
    mask = op.Unsqueeze(is_there, np.arange(2, 2 + behind)) if behind else is_there
    padding = cast(padding_value, dtype_of(data))
    padded = op.Where(mask, padded, padding)
    if not isinstance(total_length, int) or total_length > 0:
        steps = op.Squeeze(op.Shape(batch_sizes), [0])
        more = as_size(op.Sub(cast(total_length, DType.INT64), steps))
        pads = int64s([0] * (2 + behind) + [more] + [0] * (1 + behind))
        padded = op.Pad(padded, pads, padding)
    return [op.Transpose(padded, perm=[1, 0, *range(2, 2 + behind)]) if batch_first else padded, lengths]


@translates("aten.lstm_cell.default")
def lstm_cell(
    call: Call,
    x: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Translated:
    return list(recurrent.lstm_cell(x, hx[0], hx[1], CellWeights(w_ih, w_hh, b_ih, b_hh)))


@translates("aten.gru_cell.default")
def gru_cell(
    call: Call,
    x: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Translated:
    return recurrent.gru_cell(x, hx, CellWeights(w_ih, w_hh, b_ih, b_hh))


@translates("aten.rnn_tanh_cell.default", "aten.rnn_relu_cell.default")
def rnn_cell(
    call: Call,
    x: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Translated:
    weights = CellWeights(w_ih, w_hh, b_ih, b_hh)
    return recurrent.rnn_cell(x, hx, weights, has_relu="relu" in call.overload)

"""Recurrent layers and cells against torch: kinds, layers, directions, biases, projections, packed sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import recurrent
from onnxsmith.algorithms.recurrent import CellWeights, Layers
from onnxsmith.algorithms.values import constant
from tests.algorithms.running import computed

MODULES: dict[Any, Any] = {
    "LSTM": torch.nn.LSTM,
    "GRU": torch.nn.GRU,
    "RNN": torch.nn.RNN,
    "RNN_RELU": lambda *args, **options: torch.nn.RNN(*args, **options, nonlinearity="relu"),
}


def _flat(states: Any) -> list[torch.Tensor]:
    return list(states) if isinstance(states, tuple) else [states]


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("is_bidirectional", [False, True])
@pytest.mark.parametrize("has_biases", [False, True])
def test_layers(kind: Any, count: int, is_bidirectional: bool, has_biases: bool):
    torch.manual_seed(0)
    module = MODULES[kind](3, 4, count, bias=has_biases, bidirectional=is_bidirectional)
    _compare(kind, module, count, is_bidirectional, has_biases)


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # torch takes another implementation
@pytest.mark.parametrize("is_bidirectional", [False, True])
def test_projections(is_bidirectional: bool):
    torch.manual_seed(1)
    module = torch.nn.LSTM(3, 4, 2, bidirectional=is_bidirectional, proj_size=2)
    _compare("LSTM", module, 2, is_bidirectional, True)


def _compare(kind: Any, module: Any, count: int, is_bidirectional: bool, has_biases: bool) -> None:
    x = torch.randn(5, 2, 3)
    output, states = module(x)
    start = [torch.zeros_like(each) for each in _flat(states)]
    weights = [each.detach().numpy() for each in module._flat_weights]

    def run(x: Any, *states: Any) -> Any:
        # ONNX Runtime wants to know how wide the state is.
        made = Layers(kind, [constant(each) for each in weights], count, has_biases, is_bidirectional)
        return tuple(made.run(x, states))

    found = computed(run, x.numpy(), *(each.numpy() for each in start), tolerance=1e-5)
    for mine, theirs in zip(found, [output, *_flat(states)], strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_cells(name: str):
    torch.manual_seed(2)
    module = getattr(torch.nn, f"{name}Cell")(3, 4)
    x, hidden, cell = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)
    weights = [module.weight_ih, module.weight_hh, module.bias_ih, module.bias_hh]

    def run(x: Any, hidden: Any, cell: Any, *given: Any) -> Any:
        if name == "LSTM":
            return recurrent.lstm_cell(x, hidden, cell, CellWeights(*given))
        function = recurrent.gru_cell if name == "GRU" else recurrent.rnn_cell
        return function(x, hidden, CellWeights(*given)), cell

    given = [each.detach().numpy() for each in (x, hidden, cell, *weights)]
    found = computed(run, *given, tolerance=1e-6)
    wanted = module(x, (hidden, cell)) if name == "LSTM" else (module(x, hidden), cell)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), 1e-5, 1e-6)


def test_packed_sequences():
    x, lengths = torch.randn(5, 3, 2), torch.tensor([5, 3, 1])
    wanted = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
    data, batch_sizes = computed(recurrent.pack_padded, x.numpy(), lengths.numpy())
    np.testing.assert_array_equal(data, wanted.data.numpy())
    np.testing.assert_array_equal(batch_sizes, wanted.batch_sizes.numpy())
    padded, is_there = computed(recurrent.unpacked, data, batch_sizes)
    np.testing.assert_array_equal(is_there, np.arange(5)[:, None] < lengths.numpy())
    np.testing.assert_array_equal(padded[is_there], x.numpy()[is_there])
    np.testing.assert_array_equal(computed(recurrent.packed, padded, is_there)[0], data)

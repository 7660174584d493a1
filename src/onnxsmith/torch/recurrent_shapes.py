# pyright: basic
"""Shapes of recurrent layers while torch.export traces them: without a step for each moment of time.

torch finds the shape of an LSTM's result by running all its steps on fake tensors. That takes long, and fixes the
number of steps, which could have stayed open. The shapes follow from those of the arguments alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

_aten = torch.ops.aten
_OPERATORS = (_aten.lstm.input, _aten.gru.input, _aten.rnn_tanh.input, _aten.rnn_relu.input)


@contextlib.contextmanager
def recurrent_shapes() -> Iterator[None]:
    """For as long as it lasts, recurrent layers on fake tensors give results of the right shapes at once."""
    before = [(each, dict(each.py_kernels)) for each in _OPERATORS]
    try:
        for each, kernels in before:
            for key, kernel in kernels.items():
                each.py_kernels[key] = _shaped(kernel)
            each._dispatch_cache.clear()
        yield
    finally:
        for each, kernels in before:
            each.py_kernels.clear()
            each.py_kernels.update(kernels)
            each._dispatch_cache.clear()


def _shaped(kernel: Any) -> Callable[..., Any]:
    if not callable(kernel):
        return kernel

    def run(x: Any, states: Any, parameters: Any, has_biases: Any, *rest: Any, **named: Any) -> Any:
        if not isinstance(x, FakeTensor) or torch.is_grad_enabled():
            return kernel(x, states, parameters, has_biases, *rest, **named)
        _, _, _, is_bidirectional = (*rest, *named.values())[:4]
        given = list(states) if isinstance(states, list | tuple) else [states]
        width = given[0].shape[-1] * (2 if is_bidirectional else 1)
        output = x.new_empty([*x.shape[:-1], width])
        return (output, *[each.new_empty(each.shape) for each in given])

    return run

# pyright: basic
"""Recurrent layers whose time stays open while torch.export traces them.

torch finds the shape of what they give by running them step by step, which fixes the number of steps. The shape
follows from the arguments alone, so while a module is traced it is said directly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._C import DispatchKey
from torch._subclasses.fake_tensor import FakeTensor

_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_KEYS = (DispatchKey.CompositeImplicitAutograd, DispatchKey.Autograd)


@contextlib.contextmanager
def open_time() -> Iterator[None]:
    """Have torch take the shapes of recurrent layers from their arguments."""
    held: list[tuple[Any, Any, Any]] = []
    try:
        for name in _LAYERS:
            overload = getattr(torch.ops.aten, name).input
            for key in _KEYS:
                kernel = overload.py_kernels.get(key)
                if kernel is not None:
                    held.append((overload, key, kernel))
                    _set(overload, key, _shaped(kernel))
        yield
    finally:
        for overload, key, kernel in held:
            _set(overload, key, kernel)


def _set(overload: Any, key: Any, kernel: Any) -> None:
    overload.py_kernels[key] = kernel
    overload._dispatch_cache.clear()


def _shaped(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a layer, which only says shapes when it is given a tensor without elements."""

    def run(x: Any, hx: Any, *args: Any) -> Any:
        if not isinstance(x, FakeTensor):
            return kernel(x, hx, *args)
        states = list(hx) if isinstance(hx, list | tuple) else [hx]
        is_bidirectional = args[5]
        width = states[0].shape[-1] * (2 if is_bidirectional else 1)
        output = x.new_empty((*x.shape[:-1], width))
        return (output, *(each.new_empty(each.shape) for each in states))

    return run

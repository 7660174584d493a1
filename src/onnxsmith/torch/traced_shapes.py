"""Shapes that torch.export finds wrongly while it traces a module: of recurrent layers, and of `unique`.

torch finds the shape of what a recurrent layer gives by running it step by step, which fixes the number of steps. The
shape follows from the arguments alone, so while a module is traced it is said directly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, cast

import torch
from torch._C import DispatchKey
from torch._ops import OpOverload
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_KEYS = (DispatchKey.CompositeImplicitAutograd, DispatchKey.Autograd)
#: What torch runs for an operator under one of its keys.
_Kernel: TypeAlias = Callable[..., Any]
#: What a recurrent layer takes besides its input and states: weights, and how it runs.
_KernelArgument: TypeAlias = Sequence[torch.Tensor] | torch.Tensor | bool | int | float


@contextlib.contextmanager
def open_time() -> Generator[None]:
    """Have torch take the shapes of recurrent layers from their arguments."""
    held: list[tuple[OpOverload[..., Any], DispatchKey, _Kernel]] = []
    try:
        for name in _LAYERS:
            overload: OpOverload[..., Any] = getattr(torch.ops.aten, name).input
            for key in _KEYS:
                kernel: _Kernel | None = overload.py_kernels.get(key)
                if kernel is not None:
                    held.append((overload, key, kernel))
                    _set(overload, key, _shaped(kernel))
        yield
    finally:
        for overload, key, kernel in held:
            _set(overload, key, kernel)


def _set(overload: OpOverload[..., Any], key: DispatchKey, kernel: _Kernel) -> None:
    overload.py_kernels[key] = kernel
    overload._dispatch_cache.clear()  # pyright: ignore[reportPrivateUsage]  # what it found for the key before


def _shaped(kernel: _Kernel) -> _Kernel:
    """The kernel of a layer, which only says shapes when it is given a tensor without elements."""

    def run(
        x: torch.Tensor, hx: torch.Tensor | Sequence[torch.Tensor], *args: _KernelArgument
    ) -> tuple[torch.Tensor, ...]:
        if not isinstance(x, FakeTensor):
            return kernel(x, hx, *args)
        states = [hx] if isinstance(hx, torch.Tensor) else list(hx)
        is_bidirectional = args[5]
        width = states[0].shape[-1] * (2 if is_bidirectional else 1)
        output = x.new_empty((*x.shape[:-1], width))
        return (output, *(each.new_empty(each.shape) for each in states))

    return run


# -- shapes of unique ------------------------------------------------------------------------------------

# torch's own shapes are right for a dimension that is counted from the front, and have too many dimensions
# for -1, on which all that follows is then built.

#: What gives the shapes of the results of `unique`.
_UniqueKernel: TypeAlias = Callable[..., "tuple[torch.Tensor, ...]"]

#: The operators, and the place of `dim` among their arguments after the tensor.
_OPERATORS = {torch.ops.aten.unique_consecutive.default: 2, torch.ops.aten.unique_dim.default: 0}


@contextlib.contextmanager
def right_unique_shapes() -> Generator[None]:
    """Have torch work out these shapes for dimensions that are counted from the front."""
    table = cast("dict[OpOverload[..., Any], _UniqueKernel]", fake_impls.op_implementations_dict)  # pyright: ignore[reportUnknownMemberType]
    held = {each: table[each] for each in _OPERATORS if each in table}
    try:
        for each, kernel in held.items():
            table[each] = _from_the_front(kernel, _OPERATORS[each])
        yield
    finally:
        table.update(held)


def _from_the_front(kernel: _UniqueKernel, place: int) -> _UniqueKernel:
    def run(
        mode: FakeTensorMode,
        operator: OpOverload[..., Any],
        x: torch.Tensor,
        *args: int | None,
        **kwargs: int | None,
    ) -> tuple[torch.Tensor, ...]:
        given = list(args)
        if len(given) > place:
            given[place] = _counted(given[place], x)
        elif "dim" in kwargs:
            kwargs["dim"] = _counted(kwargs["dim"], x)
        return kernel(mode, operator, x, *given, **kwargs)

    return run


def _counted(dim: int | None, x: torch.Tensor) -> int | None:
    return dim + x.dim() if dim is not None and dim < 0 else dim

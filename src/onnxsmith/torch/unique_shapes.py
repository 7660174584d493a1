"""The right shapes of what `unique` gives along a dimension, while torch.export traces a module.

torch's own shapes are right for a dimension that is counted from the front, and have too many dimensions for -1, on
which all that follows is then built.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, cast

import torch
from torch._ops import OpOverload
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode

#: What gives the shapes of an operator's results.
_Kernel: TypeAlias = Callable[..., "tuple[torch.Tensor, ...]"]

#: The operators, and the place of `dim` among their arguments after the tensor.
_OPERATORS = {torch.ops.aten.unique_consecutive.default: 2, torch.ops.aten.unique_dim.default: 0}


@contextlib.contextmanager
def right_unique_shapes() -> Generator[None]:
    """Have torch work out these shapes for dimensions that are counted from the front."""
    table = cast("dict[OpOverload[..., Any], _Kernel]", fake_impls.op_implementations_dict)  # pyright: ignore[reportUnknownMemberType]
    held = {each: table[each] for each in _OPERATORS if each in table}
    try:
        for each, kernel in held.items():
            table[each] = _from_the_front(kernel, _OPERATORS[each])
        yield
    finally:
        table.update(held)


def _from_the_front(kernel: _Kernel, place: int) -> _Kernel:
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

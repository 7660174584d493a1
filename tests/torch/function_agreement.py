"""Whether a model of a function of tensors computes what torch does; complex tensors are pairs at its boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

import onnxsmith


class Function(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def as_real(value: torch.Tensor) -> torch.Tensor:
    """A complex tensor with a last dimension of 2."""
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def agree(
    function: Callable[..., Any],
    *args: torch.Tensor,
    others: Any = (),
    tolerance: float = 1e-4,
    dims: Any = None,
    **options: Any,
) -> onnxsmith.Model:
    """Export a function, run it on the example and on others, and compare with torch.

    `dims` gives for each argument the numbers of its dynamic dimensions.
    """
    if dims is not None:
        shapes = tuple(dict.fromkeys(each, torch.export.Dim.AUTO) for each in dims)
        options["dynamic_shapes"] = (shapes,)
    model = onnxsmith.torch.export(Function(function), args, **options)
    for given in (args, *others):
        wanted = [as_real(each) for each in pytree.tree_leaves(function(*given))]
        got = model(*[as_real(each).numpy() for each in given])
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            torch.testing.assert_close(
                torch.from_numpy(mine.copy()), theirs, rtol=tolerance, atol=tolerance, equal_nan=True
            )
    return model

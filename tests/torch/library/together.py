"""Many functions as one model: one export takes about as long for thirty functions as for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import onnxsmith


class Together(torch.nn.Module):
    """The results of all functions."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, *args: Any) -> Any:
        return [function(*args) for function in self.functions.values()]


def agree(
    functions: Mapping[str, Callable[..., Any]], *args: torch.Tensor, other: tuple[torch.Tensor, ...] = ()
) -> None:
    """The model gives what torch gives, in value, shape and element type; for another size, too, where one is given."""
    options: dict[str, Any] = {}
    if other:
        sizes = [
            {axis: torch.export.Dim.AUTO for axis in range(one.dim()) if one.shape[axis] != two.shape[axis]}
            for one, two in zip(args, other, strict=True)
        ]
        options["dynamic_shapes"] = (tuple(sizes),)
    model = onnxsmith.torch.export(Together(functions), args, **options)
    for given in (args, other) if other else (args,):
        got = iter(model(*[each.numpy() for each in given]))
        for name, function in functions.items():
            for wanted in pytree.tree_leaves(function(*given)):
                found = torch.from_numpy(next(got).copy())
                torch.testing.assert_close(
                    found,
                    wanted,
                    rtol=1e-4,
                    atol=1e-5,
                    equal_nan=True,
                    msg=lambda text, name=name: f"{name}: {text}",
                )
        assert next(got, None) is None


class _Weighted(torch.nn.Module):
    """The sum of functions, each of a weight of its own."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], point: torch.Tensor) -> None:
        super().__init__()
        self.functions = functions
        self.weights = torch.nn.ParameterList([point.clone() for _ in functions])

    def forward(self, x: torch.Tensor) -> Any:
        pairs = zip(self.functions.values(), self.weights, strict=True)
        return torch.stack([function(weight + x).sum() for function, weight in pairs]).sum()


def slopes_agree(functions: Mapping[str, Callable[..., Any]], point: torch.Tensor) -> None:
    """The gradient of each function at a point is that of torch, from one export of all."""
    net, x = _Weighted(functions, point).train(), torch.zeros_like(point)
    net(x).backward()
    found = onnxsmith.torch.export(net, (x,)).gradient(wrt=[f"weights.{k}" for k in range(len(functions))])
    for name, weight, slope in zip(functions, net.weights, found(x.numpy())[1:], strict=True):
        assert weight.grad is not None
        np.testing.assert_allclose(slope, weight.grad.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)

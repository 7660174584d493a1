"""Many functions as one model: one export takes about as long for thirty functions as for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """The sum of functions, each of weights of its own, times a number."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], points: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.functions = functions
        self.weights = torch.nn.ModuleList(
            torch.nn.ParameterList([each.clone() for each in points]) for _ in functions
        )

    def forward(self, factor: torch.Tensor) -> Any:
        pairs = zip(self.functions.values(), self.weights, strict=True)
        return torch.stack([(function(*weights) * factor).sum() for function, weights in pairs]).sum()


def slopes_agree(
    functions: Mapping[str, Callable[..., Any]], *points: torch.Tensor, factors: Sequence[float] = (1.0,)
) -> None:
    """The gradients of each function at points are those of torch, from one export of all."""
    net = _Weighted(functions, points).train()
    names = [name for name, _ in net.named_parameters()]
    given = [torch.tensor(each, dtype=points[0].dtype) for each in factors]
    slopes = onnxsmith.torch.export(net, (given[0],)).gradient(wrt=names)
    for factor in given:
        net.zero_grad()
        net(factor).backward()
        found = iter(slopes(factor.numpy())[1:])
        for name, weights in zip(functions, net.weights, strict=True):
            for place, weight in enumerate(weights):
                wanted = torch.zeros_like(weight) if weight.grad is None else weight.grad
                text = f"{name}, weight {place}, times {factor}"
                np.testing.assert_allclose(next(found), wanted.numpy(), rtol=1e-5, atol=1e-6, err_msg=text)

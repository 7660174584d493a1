"""Parts of drawn modules in training whose gradients end, or change, where torch's own operators decide it.

`training_gradients` draws them. Each goes from the weight that it has, and rows, to rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

import torch
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F

from tests.torch.autograd_functions import Doubled, Exponential, Reversed


class State(Protocol):
    """The buffers that a part may write to."""

    average: torch.Tensor


#: Parts that remember calls or fix random numbers, which no model can say.
NO_MODEL = ("counted", "kept_in_an_attribute", "drawn_by_python", "drawn_with_a_seed")
MORE_PARTS: dict[str, Callable[[State, torch.Tensor, torch.Tensor], torch.Tensor]] = {}


def _part(
    function: Callable[[State, torch.Tensor, torch.Tensor], torch.Tensor],
) -> Callable[[State, torch.Tensor, torch.Tensor], torch.Tensor]:
    MORE_PARTS[function.__name__] = function
    return function


# -- several results while autograd is off -------------------------------------------------------------------


@_part
def extreme_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        top = (x * w).max(1, keepdim=True).values
    return x * w - top * w


@_part
def sorted_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        values, order = (x * w).sort(1)
        best = (x + w).topk(2).values.sum(1, keepdim=True)
    return values * w + x.gather(1, order) + best * x


@_part
def deviation_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        variance, mean = torch.var_mean(x * w, 0)
    return (x * w - mean) / (1 + variance)


@_part
def halves_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        left, right = (x * w).chunk(2, 1)
        inner = left.tanh() * right
    return x * w + torch.cat([left, inner], 1) * w


@_part
def normalised_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = F.batch_norm(x * w, net.average * 1, w.abs() + 1, w, None, True)
    return y * w + x


@_part
def branch_without_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = torch.cond(x.sum() > 0, lambda a, b: a * b, lambda a, b: a - b, (x, w))
    return y * w + x


# -- statistics ----------------------------------------------------------------------------------------------


@_part
def running_statistics(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    mean, variance = w.new_zeros(w.shape), w.new_ones(w.shape)
    y = F.batch_norm(x * w, mean, variance, None, None, True, 0.5)
    return y + mean * w + x * variance


@_part
def statistics_read_and_used(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    F.batch_norm(x * w, net.average, w.new_ones(w.shape), None, None, True, 0.5)
    return x * w - net.average.clone() * x


# -- writes without a gradient -------------------------------------------------------------------------------


@_part
def buffer_data_written(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    net.average.data.copy_((x * w).mean(0))
    return net.average.clone() * w * x


@_part
def buffer_data_added_to(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    net.average.data.mul_(0.9).add_((x * w).mean(0))
    return net.average.clone() * w * x


@_part
def detached_buffer_written(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    net.average.detach().copy_((x * w).mean(0))
    return net.average.clone() * w * x


@_part
def part_of_data_written(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    net.average.data[:2] = (x * w).mean(0)[:2]
    return net.average.clone() * w * x


@_part
def element_of_buffer_written(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        net.average[1] = x.mean()  # which nothing reads here
    return x * w


@_part
def buffer_written_twice(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    kept = w.new_zeros(w.shape)
    kept.copy_((x * w).mean(0))
    with torch.no_grad():
        kept.mul_(3.0)
    return kept * x


# -- functions in branches and loops -------------------------------------------------------------------------


@_part
def function_in_branch(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.cond(
        x.sum() > 0, lambda a, b: Exponential.apply(a * b), lambda a, b: Doubled.apply(a * b), (x, w)
    )


@_part
def function_in_map(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return map_rows(lambda row, b: Doubled.apply(row * b), x, w)


@_part
def function_in_scan(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    def step(carry: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        carry = Doubled.apply(carry * 0.5 + row * w)
        return carry, carry.clone()

    return scan(step, x[0] * 0, x)[1]


@_part
def function_behind_scan(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Reversed.apply(_running(w, x), 0.5)


@_part
def hook_behind_scan(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = _running(w, x)
    y.register_hook(lambda g: g * 3)
    return y if y.requires_grad else y * 2


def _running(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    def step(carry: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        carry = carry * 0.5 + row * w
        return carry, carry.sin()

    return scan(step, x[0] * 0, x)[1]


# -- gradients inside ----------------------------------------------------------------------------------------


@_part
def constant_gradient(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    (g,) = torch.autograd.grad((w.sin() * x).sum(), w)
    return x * g * w


@_part
def gradient_through_scan(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    (g,) = torch.autograd.grad((_running(w, x) * w).sum(), w, create_graph=True)
    return x * g


@_part
def forward_derivative(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    found = torch.func.jvp(lambda a: a.softmax(1) * a, (x,), (w.expand_as(x),))
    return found[0] + found[1]


@_part
def gradient_through_hook(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    y.register_hook(lambda g: g * 3)
    (g,) = torch.autograd.grad((y**3).sum(), w, create_graph=True)
    return x * g.tanh() + y


# -- hooks that read what is known later ---------------------------------------------------------------------


@_part
def hook_of_later_number(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    factor = 1.0
    y.register_hook(lambda g: g * factor)
    factor = 5.0
    return y


@_part
def hook_of_later_tensor(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    seen: list[torch.Tensor] = []
    y.register_hook(lambda g: g * seen[0] * seen[1])
    z = y * 2
    seen += [z.detach(), x.sum() + 1]
    return z + y


@_part
def hooks_with_state(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    seen: list[torch.Tensor] = []
    y.register_hook(seen.append)
    z = y * 2
    z.register_hook(lambda g: g * (1 + len(seen)))
    return z + y


@_part
def hook_that_writes(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w

    def double(g: torch.Tensor) -> None:
        g.mul_(2)

    y.register_hook(double)
    return y * y


# -- state that no model has ---------------------------------------------------------------------------------


@_part
def counted(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    held = vars(net)
    held["calls"] = held.get("calls", 0) + 1
    return x * w / held["calls"]


@_part
def kept_in_an_attribute(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    held = vars(net)
    held["seen"] = x.detach().mean(0) + held.get("seen", 0.0)
    return x * w - held["seen"]


@_part
def cached(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    held = vars(net)
    if "steps" not in held:
        held["steps"] = torch.arange(x.shape[1])
    return x * w + held["steps"]


@_part
def drawn_by_python(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * w * random.random()


@_part
def drawn_with_a_seed(net: State, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * w + torch.rand(x.shape[1], generator=torch.Generator().manual_seed(3))

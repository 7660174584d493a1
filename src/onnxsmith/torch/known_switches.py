"""Modules of torch that decide by their own buffers, or compute with numbers from them, in a form that can be traced.

A module for fake quantisation reads from buffers whether it observes and whether it quantises. While it is traced,
these are numbers. Batch normalisation with a cumulative average (`momentum=None`) computes with the count of batches
as a number; here it computes with the tensor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, cast

import torch
from torch.ao.quantization.fake_quantize import (
    FakeQuantize,
    FakeQuantizeBase,
    FusedMovingAvgObsFakeQuantize,
)
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm  # pyright: ignore[reportPrivateUsage]  # the base of all

from onnxsmith.errors import ExportError

#: Raises where a batch has one value for each channel; torch's stubs have no such name.
_verify_batch_size: Callable[[torch.Size], None] = getattr(functional, "_verify_batch_size")  # noqa: B009
_SWITCHES = ("observer_enabled", "fake_quant_enabled")
_LIBRARY: Any = torch.library.Library("onnxsmith_norm", "FRAGMENT")
_LIBRARY.define(
    "batch_norm(Tensor x, Tensor? weight, Tensor? bias, Tensor mean, Tensor variance, Tensor momentum, float eps) "
    "-> (Tensor, Tensor, Tensor)"
)


def _batch_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    variance: torch.Tensor,
    momentum: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    axes = [0, *range(2, x.dim())]
    result = torch.batch_norm(x, weight, bias, None, None, True, 0.0, eps, False)
    now = x.mean(axes), x.var(axes)
    after = [old + (new - old) * momentum for old, new in zip((mean, variance), now, strict=True)]
    return result, after[0], after[1]


_LIBRARY.impl("batch_norm", _batch_norm, "CompositeExplicitAutograd")
_WITH_MOMENTUM: Any = torch.ops.onnxsmith_norm.batch_norm.default


@contextlib.contextmanager
def known_switches(module: torch.nn.Module) -> Generator[None]:
    """Have such modules traced in that form."""
    with contextlib.ExitStack() as stack:
        for each in module.modules():
            if isinstance(each, FakeQuantizeBase):
                for name in _SWITCHES:
                    stack.enter_context(_as_numbers(each, name))
                if isinstance(each, FusedMovingAvgObsFakeQuantize):
                    stack.enter_context(_unfused(each))
            elif isinstance(each, _BatchNorm) and each.momentum is None and each.track_running_stats:
                stack.enter_context(_cumulative(each))
        yield


@contextlib.contextmanager
def _as_numbers(module: torch.nn.Module, name: str) -> Generator[None]:
    held: Any = module._buffers.pop(name, None)  # pyright: ignore[reportPrivateUsage]  # setting it would check its kind
    if held is None:
        yield
        return
    vars(module)[name] = tuple(held.tolist())
    try:
        yield
    finally:
        del vars(module)[name]
        module._buffers[name] = held  # pyright: ignore[reportPrivateUsage]


@contextlib.contextmanager
def _unfused(module: Any) -> Generator[None]:
    """Quantising by the scale that was observed, by the operators that do nothing else."""

    def forward(X: torch.Tensor) -> torch.Tensor:  # torch's name
        if module.observer_enabled[0] == 1:
            raise ExportError(
                f"{type(module).__name__} observes its input, and changes its scale in a way that no model has",
                help="module.apply(torch.ao.quantization.disable_observer) before the export keeps the scales that it "
                "has; torch.ao.quantization.convert makes a quantised module, once training is done",
            )
        return cast("Any", FakeQuantize).forward(module, X)  # torch does not annotate it

    module.forward = forward
    try:
        yield
    finally:
        del module.forward


@contextlib.contextmanager
def _cumulative(module: Any) -> Generator[None]:
    """In training, by the mean of all batches so far."""
    inner = module.forward

    def forward(input: torch.Tensor) -> torch.Tensor:  # torch's name, which dynamic shapes go by
        if not module.training:
            return inner(input)
        module._check_input_dim(input)
        _verify_batch_size(input.size())
        module.num_batches_tracked.add_(1)
        momentum = 1.0 / module.num_batches_tracked.to(module.running_mean.dtype)
        result, mean, variance = _WITH_MOMENTUM(
            input, module.weight, module.bias, module.running_mean, module.running_var, momentum, module.eps
        )
        module.running_mean.copy_(mean)
        module.running_var.copy_(variance)
        return result

    module.forward = forward
    try:
        yield
    finally:
        del module.forward

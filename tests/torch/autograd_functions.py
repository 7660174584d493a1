"""Functions of torch.autograd with formulas of their own, in every form that torch has for one."""

from __future__ import annotations

from typing import Any

import torch


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        return -ctx.factor * g, None


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.tanh().exp()
        ctx.save_for_backward(y, x)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        y, x = ctx.saved_tensors
        return g * y * x.cos()


class Several(torch.autograd.Function):
    """Two inputs, two results, and a context that is set up by itself."""

    @staticmethod
    def forward(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * w, (x - w).abs()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor, h: torch.Tensor) -> Any:
        x, w = ctx.saved_tensors
        return (g * w + 2 * h if ctx.needs_input_grad[0] else None), (g * x - h)


class Signed(torch.autograd.Function):
    """A result without a gradient, one that is left out, and a gradient that is broadcast."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, flag: bool) -> Any:
        ctx.set_materialize_grads(False)
        sign = x.sign()
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(sign)
        ctx.flag = flag
        return x + w, sign

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor | None, _: Any) -> Any:
        if g is None:
            return None, None, None
        (sign,) = ctx.saved_tensors
        return g * sign, (g.sum(0) if ctx.flag else None), None


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return (x * 4).round() / 4

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g.clamp(-0.5, 0.5)


class Nested(torch.autograd.Function):
    """A backward formula that calls another function."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return Reversed.apply(g, 2.0) * Exponential.apply(x)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        return g * 2

"""Operators of torch that note in a traced program what autograd would do: they compute nothing.

While a module is traced for training, the backward formula of a `torch.autograd.Function` and the hooks of tensors are
traced as well, on stand-ins for the cotangents. What is traced between a `cotangent` and the `with_gradient` of the
same number is the backward formula.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx.node import has_side_effect  # pyright: ignore[reportUnknownVariableType]

#: What an operator gives: a tensor, several, or nothing.
_Results: TypeAlias = "torch.Tensor | list[torch.Tensor] | None"
_LIBRARY: Any = torch.library.Library("onnxsmith_grad", "DEF")
#: The value itself, as a constant for all gradients.
_LIBRARY.define("stop(Tensor x) -> Tensor")
#: The cotangent of a result, by the number of its formula and the position of the result.
_LIBRARY.define("cotangent(Tensor of, int number, int position) -> Tensor")
#: Results whose gradient with respect to the arguments is a formula of their cotangents.
_LIBRARY.define(
    "with_gradient(Tensor[] results, Tensor[] arguments, Tensor?[] gradients, int number) -> Tensor[]"
)
#: A hook: what becomes of the whole cotangent of a tensor.
_LIBRARY.define("hook(Tensor x, Tensor gradient, int number) -> ()")
#: From here on gradients go to a leaf, or go no longer.
_LIBRARY.define("require(Tensor x, bool is_required) -> ()")


def _copy(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def _zeros(of: torch.Tensor, number: int, position: int) -> torch.Tensor:
    return torch.zeros_like(of)


def _copies(
    results: Sequence[torch.Tensor],
    arguments: Sequence[torch.Tensor],
    gradients: Sequence[torch.Tensor | None],
    number: int,
) -> list[torch.Tensor]:
    return [each.clone() for each in results]


def _nothing(x: torch.Tensor, *_: torch.Tensor | int) -> None:
    return None


_LIBRARY.impl("stop", _copy, "CompositeExplicitAutograd")
_LIBRARY.impl("cotangent", _zeros, "CompositeExplicitAutograd")
_LIBRARY.impl("with_gradient", _copies, "CompositeExplicitAutograd")
for _name in ("hook", "require"):
    _LIBRARY.impl(_name, _nothing, "CompositeExplicitAutograd")

_BELOW_AUTOGRAD: Any = getattr(importlib.import_module("torch._C"), "_AutoDispatchBelowAutograd")  # noqa: B009
STOP: Any = torch.ops.onnxsmith_grad.stop.default
COTANGENT: Any = torch.ops.onnxsmith_grad.cotangent.default
WITH_GRADIENT: Any = torch.ops.onnxsmith_grad.with_gradient.default
HOOK: Any = torch.ops.onnxsmith_grad.hook.default
REQUIRE: Any = torch.ops.onnxsmith_grad.require.default


def _without_gradient(operator: Callable[..., _Results]) -> Callable[..., _Results]:
    """The kernel for autograd of an operator whose result has no gradient."""

    def run(*args: torch.Tensor | int | bool) -> _Results:
        with _BELOW_AUTOGRAD():
            return operator(*args)

    return run


_LIBRARY.impl("stop", _without_gradient(STOP), "Autograd")
_LIBRARY.impl("cotangent", _without_gradient(COTANGENT), "Autograd")
for _name, _operator in (("hook", HOOK), ("require", REQUIRE)):
    _LIBRARY.impl(_name, _without_gradient(_operator), "Autograd")
    # These have no result that anything could read, and are needed all the same.
    has_side_effect(_operator)

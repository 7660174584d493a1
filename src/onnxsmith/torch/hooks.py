"""Hooks of tensors, modules and nodes of autograd, as the code of a module that is traced for training sees them.

Traces the hooks of modules. Those of tensors are handles here, which `recording_gradients` traces.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import torch

from onnxsmith.torch.formula_context import refused
from onnxsmith.torch.gradient_operators import HOOK
from onnxsmith.torch.library.kinds import ModuleArgument
from onnxsmith.torch.origins import is_torch_file


class Numbering(Protocol):
    """Gives stand-ins for the cotangents of tensors, each under a number of its own."""

    def cotangents(
        self, tensors: Sequence[ModuleArgument]
    ) -> tuple[int, tuple[torch.Tensor | None, ...]]: ...


class Handle:
    """The handle of a hook, by which it can be removed."""

    def __init__(self, x: torch.Tensor, hook: Callable[[torch.Tensor], Any], hooks: list[Handle]) -> None:
        self.x, self.hook, self._hooks = x, hook, hooks

    def remove(self) -> None:
        if self in self._hooks:
            self._hooks.remove(self)

    def order(self) -> float:
        """The position in the backward pass, which ends with the leaves."""
        node: Any = self.x.grad_fn
        return math.inf if node is None else -node._sequence_nr()


class AutogradNode:
    """A node of autograd, as the code of a module sees it: all but its hooks, which a model has no place for."""

    def __init__(self, node: torch.autograd.graph.Node) -> None:
        self._node = node

    def __getattr__(self, name: str) -> object:
        if name in ("register_hook", "register_prehook"):
            raise refused(
                "a hook of a node of autograd", "register the hook at the tensor: y.register_hook(...)"
            )
        return getattr(self._node, name)


class ModuleHooks:
    """The backward hooks of one call of a module: a copy of its inputs and outputs has them as hooks of tensors."""

    def __init__(
        self,
        recorder: Numbering,
        module: torch.nn.Module,
        hooks: Sequence[Callable[..., ModuleArgument]],
        before: Sequence[Callable[..., ModuleArgument]],
    ) -> None:
        self._recorder, self._module, self._hooks, self._before = recorder, module, hooks, before
        self._inputs: list[ModuleArgument] = []

    def setup_input_hook(self, args: Sequence[ModuleArgument]) -> tuple[ModuleArgument, ...]:
        self._inputs = [_named(each) for each in args]
        return tuple(self._inputs)

    def setup_output_hook(self, result: ModuleArgument) -> ModuleArgument:
        results = [_named(each) for each in many(result)]
        after = self._through(results, self._before)
        for hook in self._hooks:
            numbers, given = self._stand_ins(self._inputs)
            found = hook(self._module, given, after)
            self._note(self._inputs, numbers, found)
        return like(result, results)

    def _through(
        self, results: list[ModuleArgument], hooks: Sequence[Callable[..., ModuleArgument]]
    ) -> tuple[torch.Tensor | None, ...]:
        numbers, given = self._stand_ins(results)
        for hook in hooks:
            found = hook(self._module, given)
            if found is not None:
                self._note(results, numbers, found)
                numbers, given = self._stand_ins(results)
        return given

    def _stand_ins(
        self, tensors: Sequence[ModuleArgument]
    ) -> tuple[list[int], tuple[torch.Tensor | None, ...]]:
        made = [self._recorder.cotangents([each]) for each in tensors]
        return [number for number, _ in made], tuple(each[0] for _, each in made)

    def _note(self, tensors: Sequence[ModuleArgument], numbers: Sequence[int], found: ModuleArgument) -> None:
        if found is None:
            return
        for each, number, gradient in zip(tensors, numbers, many(found), strict=False):
            if isinstance(each, torch.Tensor) and each.requires_grad and gradient is not None:
                HOOK(each, gradient, number)


def is_called_by_user() -> bool:
    """True if the code that made a call on a tensor is not torch's; modes between the two do not count."""
    frame = inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and frame.f_code.co_name == "__torch_function__":
        frame = frame.f_back
    return frame is not None and not is_torch_file(frame.f_code.co_filename)


def many(value: ModuleArgument) -> list[Any]:
    """Results in a list, of one too."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else [value]


def like(value: ModuleArgument, parts: Sequence[ModuleArgument]) -> ModuleArgument:
    """Other results in the container that results had."""
    if isinstance(value, tuple):
        return tuple(parts)
    return list(parts) if isinstance(value, list) else parts[0]


def _named(value: ModuleArgument) -> ModuleArgument:
    """A tensor under a name of its own: a hook of a module's input is not one of the tensor that is given."""
    return value.view_as(value) if isinstance(value, torch.Tensor) and value.requires_grad else value

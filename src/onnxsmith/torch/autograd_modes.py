"""Modes of autograd that torch.export does not record, or records in part, while a module is traced for training.

Knows nothing of formulas and hooks of tensors, which `recording_gradients` traces.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Generator, Iterable
from typing import Any

import torch
from torch._export.passes import replace_set_grad_with_hop_pass as torch_regions

from onnxsmith.errors import ExportError
from onnxsmith.torch.formula_context import refused
from onnxsmith.torch.library.kinds import ModuleArgument
from onnxsmith.torch.origins import span_of

_INFERENCE: Any = torch.inference_mode
_AUTOGRAD: Any = torch.autograd
_REGIONS: Any = torch_regions
_SET_ENABLED: Any = getattr(importlib.import_module("torch._C"), "_set_grad_enabled")  # noqa: B009


@contextlib.contextmanager
def refusing_lost_regions() -> Generator[None]:
    """Refuse a region without autograd that holds a branch or a loop: torch.export drops such a region.

    torch knows a region by its first node, which must be the change of the mode; the graphs of branches stand before.
    """
    held = _REGIONS.nodes_first

    def first(
        nodes: Iterable[torch.fx.Node], condition: Callable[[torch.fx.Node], bool] | None = None
    ) -> torch.fx.Node | None:
        found: torch.fx.Node | None = held(nodes, condition)
        if found is not None and found.op == "get_attr":
            calls = [each for each in nodes if each.op == "call_function"]
            if calls and calls[0].target is _SET_ENABLED and calls[0].args[0] is False:
                error = ExportError(
                    "the gradient of a model cannot have a branch or a loop under torch.no_grad",
                    help="detach its operands or its results instead: torch.cond(...).detach()",
                )
                spans = [span for span in map(span_of, calls) if span is not None]
                # torch writes the code around a branch itself; other nodes of the region have lines of the user.
                raise error.locate(next((span for span in spans if not span.file.startswith("<")), None))
        return found

    _REGIONS.nodes_first = first
    try:
        yield
    finally:
        _REGIONS.nodes_first = held


@contextlib.contextmanager
def refusing_backward() -> Generator[None]:
    """Refuse `backward` in forward, which adds to the gradients of all leaves."""
    held = _AUTOGRAD.backward

    def backward(*_: ModuleArgument, **__: ModuleArgument) -> None:
        raise refused(
            "a call of backward in forward, which adds to the gradients of leaves",
            "use torch.autograd.grad, which returns the gradients",
        )

    _AUTOGRAD.backward = backward
    try:
        yield
    finally:
        _AUTOGRAD.backward = held


@contextlib.contextmanager
def without_inference_mode(*, is_strict: bool = False) -> Generator[None]:
    """Have `torch.inference_mode`, which torch.export does not record, be `torch.no_grad`; with `strict` refuse it."""
    held = _INFERENCE.__enter__, _INFERENCE.__exit__
    entered: list[Any] = []

    def enter(mode: Any) -> None:
        if is_strict and mode.mode:
            raise refused(
                "torch.inference_mode with strict=True", "use torch.no_grad, or leave out strict=True"
            )
        entered.append(torch.set_grad_enabled(torch.is_grad_enabled() and not mode.mode))
        entered[-1].__enter__()

    def leave(_: Any, *error: Any) -> None:
        entered.pop().__exit__(*error)

    _INFERENCE.__enter__, _INFERENCE.__exit__ = enter, leave
    try:
        yield
    finally:
        _INFERENCE.__enter__, _INFERENCE.__exit__ = held


def refusing_saved_hooks(held: Callable[..., ModuleArgument]) -> Callable[..., ModuleArgument]:
    """Refuse hooks for saved tensors, but those of torch, which give back what they were given."""

    def enter(hooks: torch.autograd.graph.saved_tensors_hooks) -> ModuleArgument:
        if str(type(hooks).__module__).startswith("torch.") and type(hooks).__name__ != "saved_tensors_hooks":
            return held(hooks)
        raise refused(
            "hooks that change what is saved for the backward pass",
            "leave saved_tensors_hooks out of forward",
        )

    return enter

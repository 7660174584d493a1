"""Modes of autograd that torch.export does not record, or records in part, while a module is traced for training.

Knows nothing of formulas and hooks of tensors, which `recording_gradients` traces.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NoReturn

import torch
from torch._export.passes import replace_set_grad_with_hop_pass as torch_regions
from torch._ops import HigherOrderOperator
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError
from onnxsmith.torch.formula_context import refused, user_line
from onnxsmith.torch.library.kinds import ModuleArgument, Named, Positional
from onnxsmith.torch.origins import span_of

_INFERENCE: Any = torch.inference_mode
_AUTOGRAD: Any = torch.autograd
_REGIONS: Any = torch_regions
_BINDINGS: Any = importlib.import_module("torch._C")
_SET_ENABLED: Any = getattr(_BINDINGS, "_set_grad_enabled")  # noqa: B009
_FUNCTORCH: Any = getattr(_BINDINGS, "_functorch")  # noqa: B009  # private to torch
_FORWARD: Any = torch.autograd.forward_ad


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


class LoopHistory(TorchFunctionMode):
    """Gives the results of branches and loops a gradient where an operand has one: torch.export forgets it for `scan`.

    Formulas and hooks behind a loop are for tensors that need a gradient, and a module may ask which do.
    """

    def __torch_function__(
        self,
        func: Callable[..., ModuleArgument],
        types: Sequence[type],
        args: Positional = (),
        kwargs: Named | None = None,
    ) -> object:
        made = func(*args, **(kwargs or {}))
        if not isinstance(func, HigherOrderOperator) or not torch.is_grad_enabled():
            return made
        given = [each for each in pytree.tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        if not any(each.requires_grad for each in given):
            return made

        def noted(result: torch.Tensor) -> torch.Tensor:
            is_noted = result.requires_grad or not (result.is_floating_point() or result.is_complex())
            return result if is_noted else _Untraced.noted(result, given)

        return pytree.tree_map_only(torch.Tensor, noted, made)


class _Untraced(torch.autograd.Function):
    """The history of a result whose gradient the model has, and torch's program has not."""

    @classmethod
    def noted(cls, result: torch.Tensor, operands: Sequence[torch.Tensor]) -> torch.Tensor:
        # `apply` may be that of a recorder, which would trace a formula.
        plain: Any = super(torch.autograd.Function, cls)
        return plain.apply(result, *operands)

    @staticmethod
    def forward(ctx: Any, result: torch.Tensor, *operands: torch.Tensor) -> torch.Tensor:
        return result.clone()

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> NoReturn:
        raise ExportError(
            "torch.export cannot trace a derivative through a loop",
            help="export the value alone, and take its gradient from the model: "
            'model.gradient(of="energy", wrt=["positions"])',
        ).locate(user_line())


@contextlib.contextmanager
def left_transforms() -> Generator[None]:
    """Leave what is entered of `torch.func.vmap` and the like, also where torch raises inside and does not do so.

    Otherwise `torch.randn`, `torch.func.jvp`, hooks of saved tensors and others would fail in the process from then on.
    """
    depth: int = _FUNCTORCH.get_dynamic_layer_stack_depth()
    level: int = _FORWARD._current_level
    hooks: Any = _BINDINGS._autograd
    refusal: str | None = hooks._saved_tensors_hooks_get_disabled_error_message()
    try:
        yield
    finally:
        if depth < _FUNCTORCH.get_dynamic_layer_stack_depth():
            _FUNCTORCH.pop_dynamic_layer_stack_and_undo_to_depth(depth)
        if level < 0:
            _leave_dual_level()
        if refusal is None:
            hooks._saved_tensors_hooks_enable()
        else:
            hooks._saved_tensors_hooks_disable(refusal)


def _leave_dual_level() -> None:
    """Leave the level of forward derivatives, of which there is one at most. torch does not tell if it is entered."""
    try:
        level: int = _BINDINGS._enter_dual_level()
    except RuntimeError:
        level = 0
    _BINDINGS._exit_dual_level(level=level)
    _FORWARD._current_level = -1

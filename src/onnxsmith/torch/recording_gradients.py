"""Traces what a module says about its own gradient, while torch.export traces the module.

torch.export keeps what is computed forward: it drops the `backward` of a `torch.autograd.Function`, the formulas of
custom operators and the hooks of tensors and modules. Here each is traced on stand-ins for the cotangents, into the
same program (`gradient_operators`). What a program cannot hold is refused at the line that says it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeAlias, cast

import torch
from torch.nn.modules import module as torch_modules
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils.checkpoint import CheckpointFunction
from torch.utils.hooks import RemovableHandle

from onnxsmith.errors import ExportError
from onnxsmith.torch.autograd_modes import (
    refusing_backward,
    refusing_saved_hooks,
    without_inference_mode,
)
from onnxsmith.torch.formula_context import Context, refused, shaped_like
from onnxsmith.torch.gradient_operators import COTANGENT, HOOK, REQUIRE, WITH_GRADIENT
from onnxsmith.torch.hooks import AutogradNode, Handle, ModuleHooks, is_called_by_user, like, many
from onnxsmith.torch.library.kinds import ModuleArgument, Named, Positional
from onnxsmith.torch.operator_formulas import (
    Operator,
    OperatorFormula,
    by_tensor,
    formulas_behind,
    is_custom,
    needed_by,
    registered,
)

_Class: TypeAlias = "type[torch.autograd.Function]"
_RANDOM: Any = torch.random
#: What is replaced while a module is traced.
_FUNCTION: Any = torch.autograd.Function
_MODULES: Any = torch_modules
_SAVING: Any = torch.autograd.graph.saved_tensors_hooks
#: Why a hook that runs after all gradients of a leaf are added up is refused, and what helps.
_AFTER = (
    "a hook that runs after gradients are added up and does more than change `grad`",
    "change what the training step gives",
)


@contextlib.contextmanager
def recording(module: torch.nn.Module) -> Generator[None]:
    """Trace backward formulas and hooks along with what is traced here, with autograd switched on."""
    _check_hooks(module)
    recorder = _Recorder()
    held, held_hooks, held_saving = _FUNCTION.__dict__["apply"], _MODULES.BackwardHook, _SAVING.__enter__

    def apply(cls: _Class, *args: ModuleArgument, **kwargs: ModuleArgument) -> ModuleArgument:
        return recorder.applied(cls, held.__func__, args, kwargs)

    try:
        _FUNCTION.apply = classmethod(apply)
        _MODULES.BackwardHook = recorder.module_hooks
        _SAVING.__enter__ = refusing_saved_hooks(held_saving)
        with (
            without_inference_mode(),
            refusing_backward(),
            torch.enable_grad(),
            _TensorCalls(recorder),
            _hooks_of_parameters(module, recorder),
        ):
            yield
    finally:
        _FUNCTION.apply, _MODULES.BackwardHook, _SAVING.__enter__ = held, held_hooks, held_saving


@contextlib.contextmanager
def unchanged_buffers(module: torch.nn.Module) -> Generator[None]:
    """Give the buffers of a module what they held before, whatever runs in this block."""
    before = {name: each.detach().clone() for name, each in module.named_buffers()}
    try:
        yield
    finally:
        with torch.no_grad():
            for name, each in module.named_buffers():
                each.copy_(before[name])


def check_strict(module: torch.nn.Module, args: Positional, kwargs: Named) -> None:
    """Refuse a module with formulas or hooks that Dynamo would drop: the module runs once, and is left as it was.

    `torch.export` with `strict=True` reads the module's bytecode, and calls nothing that is replaced here.
    """
    _check_hooks(module)
    watcher = _Watcher()
    held, held_saving = _FUNCTION.__dict__["apply"], _SAVING.__enter__

    def apply(cls: _Class, *given: ModuleArgument, **named: ModuleArgument) -> ModuleArgument:
        return watcher.applied(cls, held.__func__, given, named)

    try:
        _FUNCTION.apply, _SAVING.__enter__ = classmethod(apply), refusing_saved_hooks(held_saving)
        with (
            unchanged_buffers(module),
            _RANDOM.fork_rng(devices=[]),
            without_inference_mode(is_strict=True),
            torch.enable_grad(),
            _TensorCalls(watcher),
        ):
            module(*args, **kwargs)
    except ExportError:
        raise
    except Exception as error:  # torch.export meets any other, too, and says more
        if watcher.refusal is not None:
            raise watcher.refusal from error
    finally:
        _FUNCTION.apply, _SAVING.__enter__ = held, held_saving
    kinds = ("_backward_hooks", "_post_accumulate_grad_hooks")
    owners = (*module.modules(), *module.parameters())
    if any(getattr(each, kind, None) for each in owners for kind in kinds):
        raise refused("hooks with strict=True", "leave out strict=True")


class _Recorder:
    """Numbers the formulas of one trace, and traces each."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._is_in_operator = False
        self._hooks: list[Handle] = []

    # -- torch.autograd.Function -----------------------------------------------------------------------

    def applied(
        self, cls: _Class, apply: Callable[..., ModuleArgument], args: Positional, kwargs: Named
    ) -> ModuleArgument:
        """The result of a function with a formula for its gradient."""
        function: Any = cls
        if cls is CheckpointFunction:  # the function to run, a setting, and its arguments
            return cast(Any, args[0])(*args[2:])
        needed = [isinstance(each, torch.Tensor) and each.requires_grad for each in args]
        is_plain = self._is_in_operator or not torch.is_grad_enabled()
        if _is_torchs(cls) or is_plain or kwargs or not any(needed):
            return apply(cls, *args, **kwargs)
        context = Context(tuple(needed))
        plain = [each.detach() if isinstance(each, torch.Tensor) else each for each in args]
        if function.setup_context is _FUNCTION.setup_context:
            made: ModuleArgument = function.forward(context, *plain)
        else:
            made = function.forward(*plain)
            function.setup_context(context, tuple(plain), made)
        backward = function.backward if function.backward is not _FUNCTION.backward else function.vjp

        def gradients(cotangents: Sequence[torch.Tensor | None]) -> list[tuple[Any, Any]]:
            return list(zip(args, many(backward(context, *cotangents)), strict=False))

        return like(made, self._marked(many(made), context, gradients))

    def _marked(
        self,
        results: list[Any],
        context: Context,
        backward: Callable[[Sequence[torch.Tensor | None]], Sequence[tuple[Any, Any]]],
    ) -> list[Any]:
        """Results with a formula, which gives pairs of an argument and its gradient for their cotangents."""
        number = next(self._numbers)
        places = [k for k, each in enumerate(results) if context.has_gradient(each)]
        if not places:
            return results
        cotangents = [
            COTANGENT(each, number, places.index(k))
            if k in places
            else torch.zeros_like(each)
            if isinstance(each, torch.Tensor) and context.fills
            else None
            for k, each in enumerate(results)
        ]
        pairs = backward(cotangents)
        wanted = [(x, g) for x, g in pairs if isinstance(x, torch.Tensor) and x.requires_grad]
        marked = WITH_GRADIENT(
            [results[k] for k in places],
            [x for x, _ in wanted],
            [None if g is None else shaped_like(g, x) for x, g in wanted],
            number,
        )
        for k, each in zip(places, marked, strict=True):
            results[k] = each
        return results

    # -- custom operators ------------------------------------------------------------------------------

    def called(self, operator: Operator, args: Positional, kwargs: Named) -> ModuleArgument:
        """The result of a custom operator, with the formula that is registered for its gradient."""
        made, formula = self._found(operator, args, kwargs)
        if (
            formula is None or formula.backward is None
        ):  # torch has no gradient; that of the translation is one
            return made
        inputs, named = formula.bound(args, kwargs)
        context = Context(tuple([needed_by(each) for each in inputs]))
        plain = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, inputs)
        formula.prepare(context, plain, named, made)
        backward = formula.backward
        flat, form = pytree.tree_flatten(made if isinstance(made, tuple) else (made,))

        def gradients(cotangents: Sequence[torch.Tensor | None]) -> list[tuple[Any, Any]]:
            given = pytree.tree_unflatten(list(cotangents), form)
            return by_tensor(inputs, backward(context, *given))

        results = pytree.tree_unflatten(self._marked(flat, context, gradients), form)
        return results if isinstance(made, tuple) else results[0]

    def _found(
        self, operator: Operator, args: Positional, kwargs: Named
    ) -> tuple[ModuleArgument, OperatorFormula | None]:
        """The result of an operator, and its formula if it has one."""
        before, self._is_in_operator = self._is_in_operator, True
        try:
            made = operator(*args, **kwargs)
        finally:
            self._is_in_operator = before
        classes = formulas_behind(made, (args, kwargs))
        if not classes:
            return made, None
        formula = registered(classes[0])
        if len(classes) > 1 or formula is None or not formula.is_of(operator):
            raise refused(
                f"the operator {operator}, in which autograd goes through {classes[0].__name__}",
                "give the operator a formula with torch.library.register_autograd",
            )
        return made, formula

    # -- hooks -----------------------------------------------------------------------------------------

    def hooked(self, x: torch.Tensor, hook: Callable[[torch.Tensor], torch.Tensor | None]) -> Handle:
        """Have the whole cotangent of a tensor go through a function, which `run_hooks` traces."""
        if not x.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if getattr(hook, "__module__", "") == torch.autograd.graph.__name__:
            raise refused("a hook of several tensors", "register a hook at each tensor")
        handle = Handle(x, hook, self._hooks)
        self._hooks.append(handle)
        return handle

    def run_hooks(self) -> None:
        """Trace all hooks, which read what is known when forward ends, in the order of the backward pass."""
        for each in sorted(self._hooks, key=Handle.order):
            number = next(self._numbers)
            given = COTANGENT(each.x, number, 0)
            version = given._version
            gradient = each.hook(given)
            if gradient is None and given._version != version:
                gradient = given
            if gradient is not None:
                HOOK(each.x, gradient, number)

    def differentiated(
        self, grad: Callable[..., tuple[Any, ...]], args: Positional, kwargs: Named
    ) -> tuple[Any, ...]:
        """The gradients that a module computes itself; without `create_graph` they are constants."""
        with contextlib.ExitStack() as stack:
            for each in self._hooks:
                real: RemovableHandle = cast(Any, each.x).register_hook(each.hook)
                stack.callback(real.remove)
            found = grad(*args, **kwargs)
        return tuple(
            [
                each.detach() if isinstance(each, torch.Tensor) and not each.requires_grad else each
                for each in found
            ]
        )

    def hooked_after(self, parameter: torch.Tensor, copy: torch.Tensor, hook: Callable[[Any], None]) -> None:
        """Have the sum of all gradients of a parameter go through what a hook makes of the `grad` of a copy."""
        number = next(self._numbers)
        given = COTANGENT(parameter, number, 0)
        stand_in = copy.detach()
        stand_in.grad = gradient = given.clone()
        versions = stand_in._version, gradient._version
        try:
            hook(stand_in)
        except Exception as error:  # of the user's code, which may know the parameter itself alone
            raise refused(*_AFTER) from error
        if stand_in.grad is None or stand_in._version != versions[0]:  # a step of an optimiser, say
            raise refused(*_AFTER)
        if stand_in.grad is not gradient or gradient._version != versions[1]:
            HOOK(parameter, stand_in.grad, number)

    def required(self, leaf: torch.Tensor, is_required: bool) -> None:
        """From here on gradients go to a leaf, or go no longer."""
        REQUIRE(leaf, is_required)

    def constant(self, x: torch.Tensor) -> torch.Tensor:
        """The data of a tensor, of which torch would not see where it comes from."""
        return x.detach()

    def module_hooks(
        self,
        module: torch.nn.Module,
        hooks: Sequence[Callable[..., Any]],
        before: Sequence[Callable[..., Any]],
    ) -> ModuleHooks:
        """In the place of torch's `BackwardHook`."""
        return ModuleHooks(self, module, hooks, before)

    def cotangents(self, tensors: Sequence[ModuleArgument]) -> tuple[int, tuple[torch.Tensor | None, ...]]:
        """A new number, and a stand-in for the cotangent of each tensor that has one."""
        number = next(self._numbers)
        return number, tuple(
            [
                COTANGENT(each, number, k) if isinstance(each, torch.Tensor) and each.requires_grad else None
                for k, each in enumerate(tensors)
            ]
        )


class _Watcher(_Recorder):
    """Refuses what it would trace."""

    refusal: ExportError | None = None

    def applied(
        self, cls: _Class, apply: Callable[..., ModuleArgument], args: Positional, kwargs: Named
    ) -> ModuleArgument:
        if not _is_torchs(cls):
            # Dynamo, which runs a branch, raises an error of its own in the place of this one.
            self.refusal = refused("a torch.autograd.Function with strict=True", "leave out strict=True")
            raise self.refusal
        return apply(cls, *args, **kwargs)

    def called(self, operator: Operator, args: Positional, kwargs: Named) -> ModuleArgument:
        made, formula = self._found(operator, args, kwargs)
        if formula is not None and formula.backward is not None:
            raise refused(f"the registered formula of {operator} with strict=True", "leave out strict=True")
        return made

    def hooked(self, x: torch.Tensor, hook: Callable[[torch.Tensor], torch.Tensor | None]) -> Handle:
        raise refused("hooks with strict=True", "leave out strict=True")

    def required(self, leaf: torch.Tensor, is_required: bool) -> None:
        raise refused("a leaf that is frozen in forward with strict=True", "leave out strict=True")

    def constant(self, x: torch.Tensor) -> torch.Tensor:
        raise refused("the data of a tensor with strict=True", "use x.detach(), or leave out strict=True")


def _is_torchs(cls: _Class) -> bool:
    """True if a function is torch's own, and not what Dynamo makes of one in a branch or the body of a loop."""
    is_stand_in = cls.__qualname__.startswith("AutogradFunctionApply.")
    return str(cls.__module__).partition(".")[0] == "torch" and not is_stand_in


# -- calls on tensors ----------------------------------------------------------------------------------------

_TENSOR: Any = torch.Tensor
_GET_DATA, _SET_DATA = _TENSOR.data.__get__, _TENSOR.data.__set__
_GET_NODE = _TENSOR.grad_fn.__get__
_SET_REQUIRED = _TENSOR.requires_grad.__set__


class _TensorCalls(TorchFunctionMode):
    """Sees methods of tensors that torch.export does not record."""

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self,
        func: Callable[..., ModuleArgument],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        if is_custom(func):
            return self._recorder.called(cast("Operator", func), args, kwargs)
        if func is _TENSOR.register_hook:
            return self._recorder.hooked(*args, **kwargs)
        if func is torch.autograd.grad:
            return self._recorder.differentiated(cast(Any, func), args, kwargs)
        if func == _GET_NODE and is_called_by_user():
            node = cast("torch.autograd.graph.Node | None", func(*args, **kwargs))
            return None if node is None else AutogradNode(node)
        if func == _GET_DATA:
            return self._recorder.constant(args[0])
        if func == _SET_DATA:
            raise refused("a tensor whose data is replaced", "compute a new tensor: w = w.detach() * 2, say")
        if func == _SET_REQUIRED or func is _TENSOR.requires_grad_:
            is_required = bool(args[1] if len(args) > 1 else kwargs.get("requires_grad", True))
            leaf = cast("Sequence[torch.Tensor]", args)[0]
            if leaf.is_leaf and leaf.requires_grad is not is_required:
                self._recorder.required(leaf, is_required)
        if func is _TENSOR.register_post_accumulate_grad_hook:
            raise refused(*_AFTER)
        return func(*args, **kwargs)


def _check_hooks(module: torch.nn.Module) -> None:
    """Refuse hooks that a model has no place for."""
    modules = cast("Iterator[tuple[str, Any]]", module.named_modules())
    for name, each in modules:
        if each._backward_hooks and each._is_full_backward_hook is False:
            raise ExportError(
                f"the module {name or type(each).__name__!r} has a backward hook of the kind that torch has deprecated",
                help="register_full_backward_hook is its successor",
            )


@contextlib.contextmanager
def _hooks_of_parameters(module: torch.nn.Module, recorder: _Recorder) -> Generator[None]:
    """Trace the hooks that parameters have where the forward of the module begins, and those after sums at its end."""
    hooked = _hooks(module, "_backward_hooks")
    hooked_after = _hooks(module, "_post_accumulate_grad_hooks")

    copies: dict[str, torch.Tensor] = {}

    def before(_: torch.nn.Module, args: Positional) -> None:
        for name, hook in hooked:
            recorder.hooked(module.get_parameter(name), hook)
        for name in dict(hooked_after):
            copies[name] = module.get_parameter(name).detach().clone()

    def after(_: torch.nn.Module, args: Positional, result: ModuleArgument) -> None:
        recorder.run_hooks()
        for name, hook in hooked_after:
            recorder.hooked_after(module.get_parameter(name), copies[name], hook)

    with contextlib.ExitStack() as stack:
        stack.callback(module.register_forward_pre_hook(before).remove)
        stack.callback(module.register_forward_hook(after).remove)
        yield


def _hooks(module: torch.nn.Module, kind: str) -> list[tuple[str, Callable[..., Any]]]:
    """The hooks of one kind that parameters have, each with the name of its parameter."""
    given: list[tuple[str, Any]] = [
        (name, getattr(each, kind, None)) for name, each in module.named_parameters()
    ]
    return [(name, hook) for name, hooks in given if hooks for hook in hooks.values()]

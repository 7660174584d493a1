"""Finds the formula that the user has registered for the gradient of a custom operator of torch.

`torch.library.register_autograd` makes a class of it, like a `torch.autograd.Function`, which autograd keeps with the
results of a call. Knows nothing of how a formula is traced.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.utils import _pytree as pytree

from onnxsmith.torch.library.kinds import ModuleArgument, Named, Positional

#: An operator as a module calls it.
Operator: TypeAlias = "OpOverload[..., Any] | OpOverloadPacket[..., Any]"
#: Whether an argument needs a gradient, or each tensor of a list.
Needed: TypeAlias = "bool | list[bool]"
#: Operators of torch itself, and the marks of `gradient_operators`.
_NOT_CUSTOM = frozenset(["aten", "prim", "prims", "onnxsmith_grad"])


def is_custom(function: object) -> bool:
    """True if a function is an operator that torch does not bring along."""
    if isinstance(function, OpOverload):
        return function.namespace not in _NOT_CUSTOM
    if isinstance(function, OpOverloadPacket):
        return str(cast("Any", function)._qualified_op_name).partition("::")[0] not in _NOT_CUSTOM
    return False


def formulas_behind(results: ModuleArgument, arguments: ModuleArgument) -> list[type]:
    """The classes with formulas that autograd goes through from the results of a call to its arguments."""
    seen = {each.grad_fn for each in _tensors(arguments)}
    waiting: list[Any] = [each.grad_fn for each in _tensors(results)]
    found: dict[type, None] = {}
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        made_by: type | None = getattr(node, "_forward_cls", None)
        if made_by is not None:
            found[made_by] = None
        waiting += [each for each, _ in node.next_functions]
    return list(found)


@dataclass(frozen=True, slots=True)
class OperatorFormula:
    """The formula of an operator; `backward` is None where the user has registered none."""

    operator: OpOverload[..., Any]
    backward: Callable[..., Any] | None
    setup_context: Callable[..., None] | None

    def is_of(self, called: Operator) -> bool:
        """True if it is that of an operator which was called, and not of another one inside."""
        return self.operator is called or cast("Any", self.operator).overloadpacket is called

    def bound(self, args: Positional, kwargs: Named) -> tuple[list[Any], dict[str, Any]]:
        """All arguments of a call, by position and by name, with those that were left out."""
        schema: Any = self.operator._schema  # pyright: ignore[reportPrivateUsage]  # it has no other name
        positional = [each for each in schema.arguments if not each.kwarg_only]
        given = {**dict(zip([each.name for each in positional], args, strict=False)), **kwargs}
        values = {each.name: given.get(each.name, each.default_value) for each in schema.arguments}
        return [values.pop(each.name) for each in positional], values

    def prepare(
        self, context: object, inputs: Sequence[Any], named: Mapping[str, Any], output: ModuleArgument
    ) -> None:
        """Have the context hold what the backward formula needs."""
        if self.setup_context is None:
            return
        more = {"keyword_only_inputs": named} if named else {}
        self.setup_context(ctx=context, inputs=tuple(inputs), output=output, **more)


def registered(made_by: type) -> OperatorFormula | None:
    """The formula that a class was made of; None if it was not made by `register_autograd`."""
    function: Any = getattr(made_by, "forward", None)
    while inspect.isfunction(function):
        # torch keeps the formula nowhere else for an operator that is defined by its schema.
        around = inspect.getclosurevars(function).nonlocals
        if "info" in around and isinstance(around.get("op"), OpOverload):
            info = around["info"]
            return OperatorFormula(around["op"], info._backward_fn, info._setup_context_fn)
        function = around.get("orig_forward")  # of an operator that takes or gives lists of tensors
    return None


def needed_by(argument: ModuleArgument) -> Needed:
    """True if an argument needs a gradient; a list of it for a list, as a context has it."""
    if is_tensor_list(argument):
        return [each.requires_grad for each in cast("list[torch.Tensor]", argument)]
    return isinstance(argument, torch.Tensor) and argument.requires_grad


def is_tensor_list(argument: ModuleArgument) -> bool:
    """True for a list of tensors, whose gradient is a list too."""
    return isinstance(argument, list) and all(
        isinstance(each, torch.Tensor) for each in cast("list[object]", argument)
    )


def by_tensor(inputs: Sequence[Any], gradients: ModuleArgument) -> list[tuple[Any, Any]]:
    """Each input, or each tensor of a list, with what a formula gives for it."""
    given: list[Any] = list(cast("Sequence[Any]", gradients)) if isinstance(gradients, tuple) else [gradients]
    pairs: list[tuple[Any, Any]] = []
    for k, each in enumerate(inputs):
        gradient = given[k] if k < len(given) else None
        if is_tensor_list(each):
            pairs += zip(each, gradient if gradient is not None else [None] * len(each), strict=True)
        else:
            pairs.append((each, gradient))
    return pairs


def _tensors(value: ModuleArgument) -> list[torch.Tensor]:
    return [each for each in pytree.tree_leaves(value) if isinstance(each, torch.Tensor)]

"""torch's own decomposition of one call, traced on the fake tensors it had; for operators without a translation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
from torch._decomp import decomposition_table  # pyright: ignore[reportUnknownVariableType]
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from onnxsmith.torch.library.kinds import SYMBOLIC_NUMBERS, Fake, SymbolicNumber
from onnxsmith.torch.mutation import writes_to_views
from onnxsmith.torch.symbols import environment_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: What decides the trace (the operator and all that is known of its arguments) -> the graph.
Decompositions: TypeAlias = "dict[Hashable, torch.fx.GraphModule | None]"
_TABLE = cast("dict[OpOverload[..., Any], Callable[..., Any]]", decomposition_table)


def decomposed(
    target: OpOverload[..., Any], args: Sequence[Fake], kwargs: Mapping[str, Fake], cache: Decompositions
) -> torch.fx.GraphModule | None:
    """A graph for one call, whose inputs are the arguments that `is_input` names, or None.

    `args` and `kwargs` hold fake tensors and symbolic numbers where the call has values.
    """
    flat, spec = tree_flatten((args, kwargs))
    key = (target, spec, tuple(_key(each) for each in flat))
    try:
        hash(key)
    except TypeError:
        key = None
    if key is not None and key in cache:
        return cache[key]
    graph = _trace(target, flat, spec)
    if key is not None:
        cache[key] = graph
    return graph


def is_input(value: Fake) -> TypeIs[torch.Tensor | SymbolicNumber]:
    """True if a flat argument is an input of the traced graph; all else is baked in."""
    return isinstance(value, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool)


def _key(value: Fake) -> Hashable:
    if isinstance(value, torch.Tensor):
        return (
            value.dtype,
            tuple(str(each) for each in value.shape),
            tuple(str(each) for each in value.stride()),
        )
    return str(value) if is_input(value) else (type(value), value)


def _function(target: OpOverload[..., Any]) -> Callable[..., Any] | None:
    """The function to trace: a decomposition that torch has, or the operator itself where it is composite."""
    found = _TABLE.get(target)
    if found is None and target._can_decompose():  # pyright: ignore[reportPrivateUsage]
        return target.decompose
    return found


def has_decomposition(target: OpOverload[..., Any]) -> bool:
    """True if torch can say what an operator computes in terms of others."""
    return _function(target) is not None


def _for_all_sizes(inputs: Sequence[Fake]) -> contextlib.AbstractContextManager[None]:
    """Forbids a trace to ask about sizes what is not true of all of them: it would hold for the example only."""
    environments = [each.fake_mode.shape_env for each in inputs if isinstance(each, FakeTensor)]
    environments += [environment_of(each) for each in inputs if isinstance(each, SYMBOLIC_NUMBERS)]
    for each in environments:
        # Not every version of torch has it.
        forbid: Callable[[], contextlib.AbstractContextManager[None]] | None = getattr(
            each, "error_on_new_guards", None
        )
        if forbid is not None:
            return forbid()
    return contextlib.nullcontext()


def _trace(target: OpOverload[..., Any], flat: Sequence[Fake], spec: TreeSpec) -> torch.fx.GraphModule | None:
    function = _function(target)
    if function is None:
        return None
    positions = [k for k, each in enumerate(flat) if is_input(each)]

    def run(*inputs: Fake) -> Fake:
        filled = list(flat)
        for k, value in zip(positions, inputs, strict=True):
            filled[k] = value
        args, kwargs = tree_unflatten(filled, spec)
        result = function(*args, **kwargs)
        if result is NotImplemented:
            raise NotImplementedError(str(target))
        return result

    inputs = [flat[k] for k in positions]
    modes = [each.fake_mode for each in flat if isinstance(each, FakeTensor)]
    try:
        with torch.no_grad(), modes[0] if modes else contextlib.nullcontext(), _for_all_sizes(inputs):
            graph = make_fx(run)(*inputs)
            return make_fx(torch.func.functionalize(run))(*inputs) if writes_to_views(graph.graph) else graph
    except Exception:  # whatever torch's own code raises here, there is no decomposition of this call
        return None

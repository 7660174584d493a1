# pyright: basic
"""torch's own decomposition of one call, traced on the fake tensors it had; for operators without a translation."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from onnxsmith.torch.mutation import writes_to_views

#: What decides the trace (the operator and all that is known of its arguments) -> the graph.
Decompositions = dict[Any, "torch.fx.GraphModule | None"]


def decomposed(target: Any, args: Any, kwargs: Any, cache: Decompositions) -> Any:
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


def is_input(value: Any) -> bool:
    """Whether a flat argument is an input of the traced graph; all else is baked in."""
    return isinstance(value, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool)


def _key(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (
            value.dtype,
            tuple(str(each) for each in value.shape),
            tuple(str(each) for each in value.stride()),
        )
    return str(value) if is_input(value) else (type(value), value)


def _function(target: Any) -> Any:
    """What to trace: a decomposition that torch has, or the operator itself where it is composite."""
    found = decomposition_table.get(target)
    if found is not None:
        return found
    if isinstance(target, torch._ops.OpOverload) and target._can_decompose():
        return target.decompose
    return None


def _for_all_sizes(modes: list[Any], inputs: list[Any]) -> Any:
    """Forbids a trace to ask about sizes what is not true of all of them: it would hold for the example only."""
    environments = [each.shape_env for each in modes]
    environments += [each.node.shape_env for each in inputs if not isinstance(each, torch.Tensor)]
    found = next((each for each in environments if hasattr(each, "error_on_new_guards")), None)
    return contextlib.nullcontext() if found is None else found.error_on_new_guards()


def _trace(target: Any, flat: list[Any], spec: Any) -> torch.fx.GraphModule | None:
    function = _function(target)
    if function is None:
        return None
    positions = [k for k, each in enumerate(flat) if is_input(each)]

    def run(*inputs: Any) -> Any:
        filled = list(flat)
        for k, value in zip(positions, inputs, strict=True):
            filled[k] = value
        args, kwargs = tree_unflatten(filled, spec)
        result = function(*args, **kwargs)
        if result is NotImplemented:
            raise NotImplementedError(str(target))
        return result

    inputs = [flat[k] for k in positions]
    modes = [each.fake_mode for each in flat if hasattr(each, "fake_mode")]
    try:
        with torch.no_grad(), modes[0] if modes else contextlib.nullcontext(), _for_all_sizes(modes, inputs):
            graph = make_fx(run)(*inputs)
            return make_fx(torch.func.functionalize(run))(*inputs) if writes_to_views(graph.graph) else graph
    except Exception:  # whatever torch's own code raises here, there is no decomposition of this call
        return None

"""Makes the writes of batch and instance normalisation explicit: torch's operators do not declare them.

In training `batch_norm` and `instance_norm` write to the running mean and variance that they are given. Each becomes an
operator that returns the new statistics, and a copy of these into the old ones, which is a write as any other.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx.node import Argument as FxArgument

from onnxsmith.torch.library.kinds import Fake, Target
from onnxsmith.torch.marking import NO_GRADIENT

_LIBRARY: Any = torch.library.Library("onnxsmith_norm", "DEF")
_LIBRARY.define(
    "instance_norm(Tensor x, Tensor? weight, Tensor? bias, Tensor mean, Tensor variance, float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor)"
)
_BATCH_NORM = torch.ops.aten.batch_norm.default
_INSTANCE_NORM = torch.ops.aten.instance_norm.default
_FUNCTIONAL: Any = torch.ops.aten._native_batch_norm_legit_functional.default


def _instance_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    variance: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    after = mean.clone(), variance.clone()
    result = torch.instance_norm(x, weight, bias, *after, True, momentum, eps, False)
    return result, *after


_LIBRARY.impl("instance_norm", _instance_norm, "CompositeExplicitAutograd")
_OWN: Any = torch.ops.onnxsmith_norm.instance_norm.default


def has_hidden_writes(module: torch.fx.GraphModule) -> bool:
    """True if a program writes to running statistics without saying so."""
    graphs = [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    return any(_writes(node) for graph in graphs for node in graph.nodes)


def declare_writes(module: torch.fx.GraphModule) -> None:
    """Make the writes to running statistics explicit, in place."""
    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            for node in list(each.graph.nodes):
                if _writes(node):
                    _declare(each.graph, node)
            each.recompile()


def _writes(node: torch.fx.Node) -> bool:
    if node.op != "call_function" or node.target not in (_BATCH_NORM, _INSTANCE_NORM):
        return False
    mean, variance, is_training = node.args[3:6]
    return is_training is True and all(isinstance(each, torch.fx.Node) for each in (mean, variance))


def _declare(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    x, weight, bias, mean, variance, _, momentum, eps, *_ = node.args
    assert isinstance(mean, torch.fx.Node)
    assert isinstance(variance, torch.fx.Node)
    result, statistics = node.meta.get("val"), [mean.meta.get("val"), variance.meta.get("val")]
    if node.target is _BATCH_NORM:
        args = (x, weight, bias, mean, variance, True, momentum, eps)
        target, fakes = _FUNCTIONAL, [result, *statistics, *statistics]
    else:
        args = (x, weight, bias, mean, variance, momentum, eps)
        target, fakes = _OWN, [result, *statistics]
    with graph.inserting_before(node):
        made = _call(graph, node, target, args, tuple(fakes))
        normal = _call(graph, node, operator.getitem, (made, 0), result)
        for k, old in ((-2, mean), (-1, variance)):
            new = _call(graph, node, operator.getitem, (made, len(fakes) + k), fakes[k])
            write = _call(graph, node, torch.ops.aten.copy_.default, (old, new), fakes[k])
            write.meta[NO_GRADIENT] = True  # autograd knows nothing of statistics
    name = node.name
    node.replace_all_uses_with(normal)
    graph.erase_node(node)
    normal.name = name  # by which the signature of the program may call it


def _call(
    graph: torch.fx.Graph, node: torch.fx.Node, target: Target, args: tuple[FxArgument, ...], fake: Fake
) -> torch.fx.Node:
    """A new node, of the same line and module."""
    made = graph.call_function(target, args)
    made.meta = {**node.meta, "val": fake}
    return made

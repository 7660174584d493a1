"""Finds programs that torch has to rewrite before they can be walked: those that renaming values cannot follow.

torch's own pass is slow, as it traces the whole program again, and so only programs that need it go through it.
"""

from __future__ import annotations

import contextlib
import copy
import operator
import warnings
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import torch
from torch.export import _remove_effect_tokens_pass as torch_tokens
from torch.export import exported_program
from torch.export.graph_signature import InputKind
from torch.fx.node import Argument as FxArgument

from onnxsmith.errors import ExportError
from onnxsmith.torch.autograd_modes import left_transforms
from onnxsmith.torch.library.kinds import Fake, Target
from onnxsmith.torch.marking import NO_GRADIENT, mark_gradients, secure_marks
from onnxsmith.torch.mutation import writes_to_views, written_positions
from onnxsmith.torch.refusals import DERIVATIVES_THAT_WORK

#: The functions that `torch.vmap` leaves in a graph; what stands between them has a dimension less than it runs with.
_VMAP_MODULE = "torch._functorch.predispatch"
#: What begins a forward derivative, as `torch.func.jvp` does.
_MAKE_DUAL: Any = torch.ops.aten._make_dual.default
_PROGRAMS: Any = exported_program
_TOKENS: Any = torch_tokens


def prepared(
    program: torch.export.ExportedProgram,
    *,
    is_training: bool = False,
    is_own: bool = False,
    keeps_writes: bool = False,
) -> torch.export.ExportedProgram:
    """The program as it can be walked: without writes to views, batched regions and autocast.

    `is_own` says that it was traced here, and is changed in place. One of a module in training says where gradients
    end. `keeps_writes` says that all writes matter, those of running statistics among them.
    """
    program = _without_tokens(program)
    if is_training:
        mark_gradients(program)
    hides_writes = has_hidden_writes(program.graph_module)
    if hides_writes and is_own:
        declare_writes(program.graph_module)
    is_walked = is_own or not (hides_writes and keeps_writes)
    if is_walked and not _needs_rewriting(program.graph_module, keeps_writes=keeps_writes):
        return program
    if is_training:
        secure_marks(program)
    with warnings.catch_warnings(), left_transforms(), _whole_derivatives(program.graph_module):
        # torch copies tree specs in a way that it has itself deprecated.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return _without_tokens(program.run_decompositions({}))  # pyright: ignore[reportUnknownMemberType]
        except Exception as error:  # whatever torch's own code raises here
            error.__context__ = None
            raise ExportError(
                f"torch cannot rewrite the program, which writes to views or transforms functions: "
                f"{str(error).partition(chr(10))[0]}",
                help=f"torch.func.grad and jacrev are beyond torch.export inside a module; {DERIVATIVES_THAT_WORK}",
            ) from error


def _without_tokens(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program without the inputs and outputs by which torch orders checks, which a model does not make."""
    signature = program.graph_signature
    if not any(each.kind is InputKind.TOKEN for each in signature.input_specs):
        return program
    own: Any = copy.copy(program)
    own._graph_signature = replace(signature, input_specs=[*signature.input_specs])
    own._graph_module = copy.deepcopy(program.graph_module)
    return _TOKENS._remove_effect_tokens(own)


@contextlib.contextmanager
def _whole_derivatives(module: torch.fx.GraphModule) -> Generator[None]:
    """Have torch take operators apart that are made of others, in a program with forward derivatives.

    torch keeps such operators whole as it rewrites a program, by kernels that have no derivative, and goes on.
    """
    graphs = [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    if not any(node.target is _MAKE_DUAL for graph in graphs for node in graph.nodes):
        yield
        return
    held = _PROGRAMS._override_composite_implicit_decomp
    _PROGRAMS._override_composite_implicit_decomp = contextlib.nullcontext
    try:
        yield
    finally:
        _PROGRAMS._override_composite_implicit_decomp = held


def _needs_rewriting(module: torch.fx.GraphModule, *, keeps_writes: bool) -> bool:
    graphs = [each for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    return any(
        writes_to_views(each.graph, keeps_operands=keeps_writes or each is not module)
        or _has_region(each.graph)
        or (each is not module and _writes_to_operands(each.graph))
        for each in graphs
    )


def _has_region(graph: torch.fx.Graph) -> bool:
    """True if a graph has nodes that run under a mode which changes what they compute."""
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if getattr(node.target, "__module__", "") == _VMAP_MODULE:
            return True
        if node.target is torch.ops.higher_order.wrap_with_autocast and _is_enabled(node):
            return True
    return False


def _is_enabled(autocast: torch.fx.Node) -> bool:
    return autocast.args[2] is not False


def _writes_to_operands(graph: torch.fx.Graph) -> bool:
    """True if a subgraph writes to what it was given; the graph around it would not see the new name."""
    for node in graph.nodes:
        written = written_positions(node.target) if node.op == "call_function" else ()
        for position in written:
            owner = node.args[position] if position < len(node.args) else None
            if isinstance(owner, torch.fx.Node) and owner.op == "placeholder":
                return True
    return False


# -- running statistics --------------------------------------------------------------------------------


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

"""Finds programs that torch has to rewrite before they can be walked: those that renaming values cannot follow.

torch's own pass is slow, as it traces the whole program again, and so only programs that need it go through it.
"""

from __future__ import annotations

import warnings

import torch

from onnxsmith.errors import ExportError
from onnxsmith.torch.marking import mark_gradients, secure_marks
from onnxsmith.torch.mutation import writes_to_views, written_positions
from onnxsmith.torch.refusals import DERIVATIVES_THAT_WORK
from onnxsmith.torch.running_statistics import declare_writes, has_hidden_writes

#: The functions that `torch.vmap` leaves in a graph; what stands between them has a dimension less than it runs with.
_VMAP_MODULE = "torch._functorch.predispatch"


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
    if is_training:
        mark_gradients(program)
    hides_writes = has_hidden_writes(program.graph_module)
    if hides_writes and is_own:
        declare_writes(program.graph_module)
    is_walked = is_own or not (hides_writes and keeps_writes)
    if is_walked and not _needs_rewriting(program.graph_module):
        return program
    if is_training:
        secure_marks(program)
    with warnings.catch_warnings():
        # torch copies tree specs in a way that it has itself deprecated.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return program.run_decompositions({})  # pyright: ignore[reportUnknownMemberType]
        except Exception as error:  # whatever torch's own code raises here
            error.__context__ = None
            raise ExportError(
                f"torch cannot rewrite the program, which writes to views or transforms functions: "
                f"{str(error).partition(chr(10))[0]}",
                help=f"torch.func.grad and jacrev are beyond torch.export inside a module; {DERIVATIVES_THAT_WORK}",
            ) from error


def _needs_rewriting(module: torch.fx.GraphModule) -> bool:
    graphs = [each for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    return any(
        writes_to_views(each.graph)
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

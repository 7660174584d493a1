"""Rewrites a program that was traced for training, so that its nodes say where gradients end or change.

Regions under `torch.no_grad` become nodes of the graph around them, each with a note. A hook of a tensor becomes a
formula that stands between the tensor and all that reads it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from torch.fx.node import Argument as FxArgument
from torch.fx.node import map_arg

from onnxsmith.errors import ExportError
from onnxsmith.torch.gradient_operators import COTANGENT, HOOK, REQUIRE, STOP, WITH_GRADIENT
from onnxsmith.torch.library.kinds import Fake, Target
from onnxsmith.torch.mutation import (
    functional_twin,
    is_view,
    roots,
    same_value,
    written_nodes,
    written_positions,
)
from onnxsmith.torch.origins import span_of

#: The key of a node's notes which says that autograd was off where it was made.
NO_GRADIENT = "onnxsmith.no_gradient"
_REGION = torch.ops.higher_order.wrap_with_set_grad_enabled
_DETACHES = (torch.ops.aten.detach.default, torch.ops.aten.detach_.default)


def mark_gradients(program: torch.export.ExportedProgram) -> None:
    """Rewrite a program in place."""
    graphs = [each for each in program.graph_module.modules() if isinstance(each, torch.fx.GraphModule)]
    renamed: dict[str, str] = {}
    for module in reversed(graphs):  # inner ones first
        _complete_users(module.graph)
        _inline_regions(module, renamed if module is program.graph_module else {})
        _write_to_sources(module.graph)
        _freeze(module.graph)
        _apply_hooks(module.graph)
        module.recompile()
    for old, new in renamed.items():
        program.graph_signature.replace_all_uses(old, new)


def _complete_users(graph: torch.fx.Graph) -> None:
    """Note each node with all that it reads: torch loses some where the derivative of a derivative is traced."""
    for node in graph.nodes:
        for each in node.all_input_nodes:
            each.users.setdefault(node)


# -- regions without autograd --------------------------------------------------------------------------------


def _inline_regions(module: torch.fx.GraphModule, renamed: dict[str, str]) -> None:
    for node in list(module.graph.nodes):
        if node.op == "call_function" and node.target is _REGION:
            is_enabled, body, *operands = node.args
            inner = getattr(module, str(body.target))
            results = _inlined(module, node, inner, operands, bool(is_enabled))
            for user in list(node.users):
                result = results[cast("int", user.args[1])]
                user.replace_all_uses_with(result)
                renamed[user.name] = result.name
                module.graph.erase_node(user)
            module.graph.erase_node(node)
            if not body.users:
                module.graph.erase_node(body)
                module.delete_submodule(str(body.target))


def _inlined(
    module: torch.fx.GraphModule,
    call: torch.fx.Node,
    body: torch.fx.GraphModule,
    operands: Sequence[FxArgument],
    is_enabled: bool,
) -> Sequence[torch.fx.Node]:
    """Copy the nodes of a region in front of its call; returns its results."""
    given = iter(operands)
    values: dict[torch.fx.Node, Any] = {}
    for node in body.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "output":
            return cast("Sequence[torch.fx.Node]", map_arg(node.args[0], lambda each: values[each]))
        else:
            with module.graph.inserting_before(call):
                copied = values[node] = module.graph.node_copy(node, lambda each: values[each])
            if node.op == "get_attr":
                copied.target = _moved(module, body, str(node.target), call.name)
            elif not is_enabled:
                copied.meta[NO_GRADIENT] = True
    return ()


def _moved(module: torch.fx.GraphModule, body: torch.fx.GraphModule, name: str, prefix: str) -> str:
    """Give an attribute of a region to the module around it."""
    new = f"{prefix}_{name.replace('.', '_')}"
    setattr(module, new, _attribute(body, name))
    return new


def _attribute(module: torch.nn.Module, name: str) -> torch.nn.Module | torch.Tensor:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _write_to_sources(graph: torch.fx.Graph) -> None:
    """Let what is written through a detached tensor be written to the tensor itself, which keeps its gradient."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not torch.ops.aten.detach.default or not node.users:
            continue
        writes = _only_writes(node)
        if writes is not None:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
            for each in writes:
                each.meta[NO_GRADIENT] = True


def _freeze(graph: torch.fx.Graph) -> None:
    """Let nodes read a leaf as a constant while it is frozen."""
    frozen: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in list(graph.nodes):
        if node.target is not REQUIRE:
            for leaf, constant in frozen.items():
                node.replace_input_with(leaf, constant)
            continue
        leaf, is_required = node.args
        if is_required:
            frozen.pop(leaf, None)
        else:
            with graph.inserting_before(node):
                frozen[leaf] = _stopped(graph, node, leaf)
        graph.erase_node(node)


def _stopped(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.fx.Node) -> torch.fx.Node:
    """A new node, of the line of another one: a value as a constant."""
    made = graph.call_function(STOP, (value,))
    made.meta = {**node.meta, "val": value.meta.get("val")}
    return made


def _only_writes(node: torch.fx.Node) -> list[torch.fx.Node] | None:
    """The nodes that write to a value, one on the other, and its views for it; None if anything reads it."""
    found: list[torch.fx.Node] = []
    for user in node.users:
        is_of_memory = bool(written_positions(user.target)) or (is_view(user.target) and bool(user.users))
        if not is_of_memory or user.args[0] is not node or node in user.args[1:]:
            return None
        later = _only_writes(user)
        if later is None:
            return None
        found += [user, *later]
    return found


# -- hooks ---------------------------------------------------------------------------------------------------


def formulas(graph: torch.fx.Graph) -> dict[torch.fx.Node, frozenset[int]]:
    """The nodes that are part of backward formulas, each with the numbers of the cotangents that it needs."""
    needed: dict[torch.fx.Node, frozenset[int]] = {}
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        numbers = frozenset[int]().union(*(needed.get(each, ()) for each in node.all_input_nodes))
        if node.target is COTANGENT:
            numbers |= {node.args[1]}
        elif node.target is WITH_GRADIENT:
            numbers -= {node.args[3]}
        if numbers:
            needed[node] = numbers
    return needed


def _apply_hooks(graph: torch.fx.Graph) -> None:
    """Put a formula in the place of each hook, between its tensor and all that reads that with a gradient."""
    hooks = [each for each in graph.nodes if each.target is HOOK]
    if not hooks:
        return
    needed = formulas(graph)
    written = _written(graph)
    for hook in hooks:
        tensor, _, number = hook.args
        if tensor in written:
            raise _refused(hook, "has a hook, and is written to in place", "compute a new tensor: x = x + 1")
        formula = [each for each in graph.nodes if number in needed.get(each, ()) and each is not hook]
        own = {*needed, *hooks, *(each for each in tensor.users if _ends_gradients(each))}
        last = _move_up(graph, hook, formula, own, written, needed)
        with graph.inserting_after(last):
            marked = graph.call_function(WITH_GRADIENT, ([tensor], [tensor], [hook.args[1]], number))
        marked.meta = {**hook.meta, "val": [tensor.meta.get("val")]}
        with graph.inserting_after(marked):
            result = graph.call_function(operator.getitem, (marked, 0))
        result.meta = {**hook.meta, "val": tensor.meta.get("val")}
        own.add(marked)
        # Of several hooks of one tensor, the first is nearest to those that read it.
        tensor.replace_all_uses_with(result, delete_user_cb=_is_none_of(own))
        graph.erase_node(hook)


def _is_none_of(nodes: set[torch.fx.Node]) -> Callable[[torch.fx.Node], bool]:
    return lambda node: node not in nodes


def _ends_gradients(node: torch.fx.Node) -> bool:
    return node.target in _DETACHES or NO_GRADIENT in node.meta


def _move_up(
    graph: torch.fx.Graph,
    hook: torch.fx.Node,
    formula: list[torch.fx.Node],
    own: set[torch.fx.Node],
    written: set[torch.fx.Node],
    needed: Mapping[torch.fx.Node, frozenset[int]],
) -> torch.fx.Node:
    """Move a formula directly behind its tensor, with all that it reads; returns the last node.

    What it reads of the results of the tensor's readers is computed once more, of the tensor without the hook.
    """
    tensor = cast("torch.fx.Node", hook.args[0])
    place = tensor
    if tensor.op == "placeholder":
        place = [each for each in graph.nodes if each.op == "placeholder"][-1]
    position = {each: k for k, each in enumerate(graph.nodes)}
    behind: set[torch.fx.Node] = set()  # computed of the tensor through a reader with a gradient
    for each in graph.nodes:
        is_reader = tensor in each.all_input_nodes and each not in own
        if is_reader or (each not in own and not behind.isdisjoint(each.all_input_nodes)):
            behind.add(each)
    copies: dict[torch.fx.Node, Any] = {}
    moved: list[torch.fx.Node] = []
    inside = set(formula)
    for each in sorted(
        _read_by([*formula, hook], inside, position, position[place]), key=position.__getitem__
    ):
        if each in needed:
            raise _refused(
                hook,
                "has a hook that reads the gradient of another tensor",
                "compute both in a torch.autograd.Function",
            )
        if written_positions(each.target) or not written.isdisjoint([each, *each.all_input_nodes]):
            raise _refused(
                hook,
                "has a hook that reads what is written to in place",
                "let the hook read a copy: scale = scale.clone()",
            )
        if each not in behind:
            moved.append(each)
        elif each.target is WITH_GRADIENT:  # the copy needs no gradient
            results = cast("list[torch.fx.Node]", each.args[0])
            copies[each] = [copies.get(given, given) for given in results]
        elif each.target is operator.getitem and isinstance(copies.get(each.all_input_nodes[0]), list):
            copies[each] = copies[each.all_input_nodes[0]][each.args[1]]
        elif torch.Tag.nondeterministic_seeded in getattr(each.target, "tags", ()):
            raise _refused(
                hook, "has a hook that reads random numbers", "draw them before the tensor is computed"
            )
        else:
            with graph.inserting_before(hook):
                copies[each] = graph.node_copy(each, lambda given: copies.get(given, given))
            moved.append(copies[each])
            own.add(copies[each])
    for each in (*formula, hook):
        each.args = map_arg(each.args, lambda given: copies.get(given, given))
    for each in (*moved, *formula):
        place.append(each)
        place = each
    return place


def _read_by(
    nodes: Sequence[torch.fx.Node],
    inside: set[torch.fx.Node],
    position: Mapping[torch.fx.Node, int],
    start: int,
) -> set[torch.fx.Node]:
    """The nodes behind a position that others are computed of, directly or not."""
    found: set[torch.fx.Node] = set()
    waiting = list(nodes)
    while waiting:
        each = waiting.pop()
        read = each.args[0] if each.target is WITH_GRADIENT and each not in inside else each.all_input_nodes
        for given in cast("Sequence[torch.fx.Node]", read):
            if given not in inside and given not in found and position[given] > start:
                found.add(given)
                waiting.append(given)
    return found


def _written(graph: torch.fx.Graph, but_for: Target | None = None) -> set[torch.fx.Node]:
    """The nodes whose memory something writes to, calls of one operator left out."""
    root = roots(graph)
    writing = [node for node in graph.nodes if node.target is not but_for]
    changed = {root[each] for node in writing for each in written_nodes(node)}
    return {each for each, source in root.items() if source in changed}


def _refused(node: torch.fx.Node, what: str, help: str) -> ExportError:
    # Hooks are traced at the end of forward; the line of their tensor says more.
    tensor = cast("torch.fx.Node", node.args[0]) if node.target is HOOK else node
    return ExportError(f"the gradient of the model would not be torch's: a tensor {what}", help=help).locate(
        span_of(tensor) or span_of(node)
    )


# -- programs that torch rewrites ----------------------------------------------------------------------------


def secure_marks(program: torch.export.ExportedProgram) -> None:
    """Say with nodes of their own where gradients end: notes do not survive when torch rewrites a program."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            _secure(module.graph)
            module.recompile()


def _secure(graph: torch.fx.Graph) -> None:
    in_place = (
        torch.ops.aten.detach_.default
    )  # torch declares a write, and it leaves all elements as they are
    written, needed = _written(graph, in_place), formulas(graph)
    for node in list(graph.nodes):
        if node.op != "call_function" or node in needed or not _ends_gradients(node):
            continue
        if node.target is in_place and node not in written:
            with graph.inserting_before(node):
                constant = _stopped(graph, node, cast("torch.fx.Node", node.args[0]))
            node.replace_all_uses_with(constant)
            graph.erase_node(node)
            continue
        is_alias = is_view(node.target) and node in written
        is_shared = is_alias and any(
            _depends_on_weights(each) for each in (*node.all_input_nodes, *_writes_to(node))
        )
        changed = [each for each in written_nodes(node) if _depends_on_weights(same_value(each))]
        if changed and not is_shared and functional_twin(node.target) is not None:
            _write_formula(graph, node, changed[0])
            continue
        if is_shared or changed:
            raise _refused(
                node,
                "without a gradient shares memory that is written to",
                "copy it first: x.detach().clone()",
            )
        for position, given in enumerate(node.args):
            # A constant is a copy, which nothing that writes to the alias would change.
            if position not in written_positions(node.target) and not is_alias:
                node.update_arg(position, map_arg(given, _constant_for(graph, node)))


def _write_formula(graph: torch.fx.Graph, node: torch.fx.Node, old: torch.fx.Node) -> None:
    """Write a value over an old one whose gradient it keeps: compute it, and copy it with a formula."""
    number = -1 - sum(each.target is WITH_GRADIENT for each in graph.nodes)  # those that were traced count up
    fake = old.meta.get("val")

    def call(target: Target, args: tuple[FxArgument, ...], val: Fake) -> torch.fx.Node:
        made = graph.call_function(target, args)
        made.meta = {**node.meta, "val": val}
        made.meta.pop(NO_GRADIENT, None)
        return made

    with graph.inserting_before(node):
        constants = [
            _stopped(graph, node, each) if isinstance(each, torch.fx.Node) else each for each in node.args
        ]
        twin = functional_twin(node.target)
        assert twin is not None  # or the write is refused
        new = call(twin, tuple(constants), fake)
        new.kwargs = node.kwargs
        cotangent = call(COTANGENT, (new, number, 0), fake)
        marked = call(WITH_GRADIENT, ([new], [old], [cotangent], number), [fake])
        written = call(torch.ops.aten.copy_.default, (old, call(operator.getitem, (marked, 0), fake)), fake)
    node.replace_all_uses_with(written)
    graph.erase_node(node)


def _constant_for(graph: torch.fx.Graph, node: torch.fx.Node) -> Callable[[torch.fx.Node], FxArgument]:
    """A function from a value to what a node reads in its place: the value as a constant."""

    def constant(given: torch.fx.Node) -> FxArgument:
        fake = given.meta.get("val")
        if _ends_gradients(given) or not isinstance(fake, torch.Tensor) or not _has_gradient(fake):
            return given
        with graph.inserting_before(node):
            return _stopped(graph, node, given)

    return constant


def _has_gradient(fake: torch.Tensor) -> bool:
    return fake.dtype.is_floating_point or fake.dtype.is_complex


def is_buffer(node: torch.fx.Node) -> bool:
    """True if a node is a buffer or a constant of the module, which no gradient is asked for."""
    return node.op == "placeholder" and node.name.startswith(("b_", "c_"))


def _depends_on_weights(node: torch.fx.Node) -> bool:
    """True if a value is computed of anything that a gradient may be asked for, or such a value is written to it."""
    seen: set[torch.fx.Node] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each in seen or _ends_gradients(each) or each.target is STOP:
            continue
        seen.add(each)
        if each.op == "placeholder" and not is_buffer(each):
            return True
        waiting += each.all_input_nodes
        waiting += _writes_to(each)
    return False


def _writes_to(node: torch.fx.Node) -> Iterator[torch.fx.Node]:
    """The nodes that write to a value, or to a view of it."""
    for user in node.users:
        if node in written_nodes(user):
            yield user
        elif is_view(user.target):
            yield from _writes_to(user)

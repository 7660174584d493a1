"""In-place operators: which argument one writes, what the functional twin is, and when renaming is not enough."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._ops import OpOverload

from onnxsmith.torch.library.kinds import Target, schema_of


@functools.lru_cache(maxsize=4096)
def written_positions(target: Target | str) -> tuple[int, ...]:
    """The positional arguments that an operator writes to."""
    schema = schema_of(target)
    if schema is None or not schema.is_mutable:
        return ()
    return tuple(
        k
        for k, each in enumerate(schema.arguments)
        if each.alias_info is not None and each.alias_info.is_write
    )


def written_nodes(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The arguments that a node writes to, also those that go by name, as `out` does."""
    schema = schema_of(node.target) if node.op == "call_function" else None
    if schema is None:
        return []
    found = [
        node.args[k] if k < len(node.args) else node.kwargs.get(schema.arguments[k].name)
        for k in written_positions(node.target)
    ]
    return [each for each in found if isinstance(each, torch.fx.Node)]


@functools.lru_cache(maxsize=4096)
def _viewed_position(target: Target | str) -> int | None:
    """The argument that the result of an operator may be a view of."""
    schema = schema_of(target)
    if schema is None or schema.is_mutable:
        return None
    if not any(each.alias_info is not None for each in schema.returns):
        return None
    return next((k for k, each in enumerate(schema.arguments) if each.alias_info is not None), None)


def is_view(target: Target | str) -> bool:
    """True if the result of an operator may be a view of an argument."""
    return _viewed_position(target) is not None


@functools.lru_cache(maxsize=4096)
def functional_twin(target: Target | str) -> OpOverload[..., Any] | None:
    """`aten.add.Tensor` for `aten.add_.Tensor`: same arguments, no writing; None where there is none."""
    schema = schema_of(target)
    if schema is None:
        return None
    namespace, _, name = schema.name.partition("::")
    if not name.endswith("_") or len(written_positions(target)) != 1:
        return None
    packet = getattr(getattr(torch.ops, namespace), name[:-1], None)
    overload = schema.overload_name or "default"
    twin: OpOverload[..., Any] | None = getattr(packet, overload, None)
    declared = None if twin is None else schema_of(twin)
    if declared is None or declared.is_mutable:
        return None
    theirs, ours = ([each.name for each in s.arguments] for s in (declared, schema))
    return twin if theirs[: len(ours)] == ours else None


def writes_to_views(graph: torch.fx.Graph, *, keeps_operands: bool = False) -> bool:
    """True if something that is written is read later under another name, or cannot be renamed at all.

    With `keeps_operands`, what the graph was given is read after it: it may be a buffer whose new value matters.
    """
    nodes = list(graph.nodes)
    if not any(written_positions(node.target) for node in nodes if node.op == "call_function"):
        return False
    position = {node: k for k, node in enumerate(nodes)}
    root = roots(graph)
    members: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    for node in nodes:
        members.setdefault(root[node], []).append(node)
    for node in nodes:
        if node.op != "call_function":
            continue
        written = written_positions(node.target)
        # torch declares that `detach_` writes, and it leaves all elements as they are: every constant has one.
        if not written or node.target is torch.ops.aten.detach_.default:
            continue
        owner = node.args[written[0]] if written[0] < len(node.args) else None
        if len(written) != 1 or not isinstance(owner, torch.fx.Node) or functional_twin(node.target) is None:
            return True
        same = same_value(owner)
        for other in members[root[owner]]:
            if same_value(other) is same:
                continue
            is_kept = keeps_operands and other.op == "placeholder"
            if is_kept or any(position[user] > position[node] for user in other.users):
                return True
    return False


def roots(graph: torch.fx.Graph) -> dict[torch.fx.Node, torch.fx.Node]:
    """For each node the one whose memory its value may share."""
    root: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in graph.nodes:
        root[node] = _root(node, root)
    return root


def same_value(node: torch.fx.Node) -> torch.fx.Node:
    """The node whose value an in-place result is."""
    while node.op == "call_function":
        written = written_positions(node.target)
        owner = node.args[written[0]] if written and written[0] < len(node.args) else None
        if not isinstance(owner, torch.fx.Node):
            break
        node = owner
    return node


def _root(node: torch.fx.Node, root: dict[torch.fx.Node, torch.fx.Node]) -> torch.fx.Node:
    if node.op != "call_function":
        return node
    if getattr(node.target, "__name__", "") == "getitem" and isinstance(node.args[0], torch.fx.Node):
        return root[node.args[0]]  # a part of split or unbind
    written = written_positions(node.target)
    place = written[0] if written else _viewed_position(node.target)
    if place is None or place >= len(node.args):
        return node
    source = node.args[place]
    return root[source] if isinstance(source, torch.fx.Node) else node

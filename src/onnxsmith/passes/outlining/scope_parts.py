"""Parts by name: nodes whose names say that they belong together, with the parts inside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnxsmith.passes.outlining.cutting import OWN_DOMAIN
from onnxsmith.passes.outlining.part import Part, Scope
from onnxsmith.passes.outlining.scopes import function_name

#: A function for a module of fewer nodes says no more than the node.
_FEWEST_NODES = 2


def module_parts(scopes: Mapping[ir.Node, Scope]) -> list[Part]:
    """A part for each module; those that hold all nodes, one node, or only a list of modules are none."""
    roots, parts = _tree(scopes)
    whole = Part([], inner=roots)
    counts: dict[Part, int] = {}
    dissolved: set[Part] = set()
    for scope, part in (*reversed(parts.items()), ((), whole)):  # inner ones before those around them
        inner: list[Part] = []
        for each in part.inner:
            if each in dissolved:
                part.nodes += each.nodes
            inner += each.inner if each in dissolved else [each]
        part.inner = inner
        if len(inner) == 1 and not part.nodes and part is not whole:
            # The same under two names: the outer one is closer to what a person looks for.
            part.nodes, part.inner = inner[0].nodes, inner[0].inner
        part.fewest = _FEWEST_NODES
        counts[part] = len(part.nodes) + sum(counts[each] for each in part.inner)
        is_list = not part.nodes and all(each.scope[len(scope)].isdigit() for each in part.inner)
        if is_list or not _FEWEST_NODES <= counts[part] < len(scopes):
            dissolved.add(part)
    return whole.inner


def named_parts(names: Mapping[ir.Node, str]) -> list[Part]:
    """A part for each name; with slashes in it, it is inside others. Only parts whose names are alike share."""
    roots, parts = _tree({node: tuple(filter(None, name.split("/"))) for node, name in names.items()})
    for scope, part in parts.items():
        part.kind = _without_numbers(scope[-1])
    return roots


def name_of_named(parts: Sequence[Part]) -> tuple[str, str]:
    """Domain and name of a function for parts that were given names: the name, where it can be one."""
    last = {each.scope[-1] for each in parts}
    only = last.pop() if len(last) == 1 else _without_numbers(parts[0].scope[-1])
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", only):
        return OWN_DOMAIN, only
    return OWN_DOMAIN, function_name([tuple(re.split(r"[^A-Za-z0-9]+", each.scope[-1])) for each in parts])


def _without_numbers(name: str) -> str:
    return re.sub(r"[^A-Za-z]*[0-9]+", "", name) or name


def _tree(scopes: Mapping[ir.Node, Scope]) -> tuple[list[Part], dict[Scope, Part]]:
    """The outermost parts, and all by their scopes, outer ones first."""
    roots: list[Part] = []
    parts: dict[Scope, Part] = {}
    for node, scope in scopes.items():
        around: Part | None = None
        for length in range(1, len(scope) + 1):
            part = parts.get(scope[:length])
            if part is None:
                part = parts[scope[:length]] = Part([], scope[:length])
                (roots if around is None else around.inner).append(part)
            around = part
        if around is not None:
            around.nodes.append(node)
    return roots, parts

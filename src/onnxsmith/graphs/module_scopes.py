"""The modules that names or metadata put a node in: `layers`, `0`, `attn` for `/layers.0/attn/MatMul`.

Exporters say in several ways which module of the user's program a node comes from; this is the one place that reads
them. What is done with it is for others.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from onnxsmith.graphs.lazy_ir import ir

Scope = tuple[str, ...]
_DEEPEST = 16
_LONGEST_NAME = 400
_NAME_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_NAMESPACE = "namespace"


def scope_of_name(name: str) -> Scope:
    """The modules in a name, the last part left out.

    >>> scope_of_name("/layers.0/attn/MatMul")
    ('layers', '0', 'attn')
    >>> scope_of_name("/layer1/layer1.0/conv1/Conv")
    ('layer1', '0', 'conv1')
    """
    if len(name) > _LONGEST_NAME:
        return ()
    head, _, last = name.strip("/").rpartition("/")
    return joined_scope([*head.split("/"), last.rpartition(".")[0]])


def parts_of_name(name: str) -> Scope:
    """A name in its parts, modules and all."""
    return joined_scope(name.strip("/").split("/")) if len(name) <= _LONGEST_NAME else (name,)


def joined_scope(parts: Sequence[str]) -> Scope:
    """One path of parts that each say some of it: `layer1`, `layer1.0` is `layer1.0`, not `layer1.layer1.0`."""
    path: list[str] = []
    for part in parts:
        words = [word for word in part.split(".") if word]
        known = next((n for n in range(len(words) - 1, 0, -1) if path[-n:] == words[:n]), 0)
        path += words[known:]
    return tuple(path[:_DEEPEST])


def scope_of(node: ir.Node) -> Scope:
    """The modules that a node is in, by its metadata, its name, or the name of what it makes."""
    modules = _list_of_names(node.metadata_props.get(_NAME_SCOPES, ""))
    if modules:
        return joined_scope(modules[:-1][-1:])
    namespace = node.metadata_props.get(_NAMESPACE)
    if namespace is not None:
        modules = [part.partition(":")[0].strip() for part in namespace.split("/")[:-1]]
        return joined_scope(modules)
    if node.name:
        return scope_of_name(node.name)
    return next((scope_of_name(value.name) for value in node.outputs if value.name), ())


def classes_of(node: ir.Node) -> list[tuple[Scope, str]]:
    """The modules that a node is in with their classes, as torch notes them: `torch.nn.modules.linear.Linear`."""
    names = _list_of_names(node.metadata_props.get(_NAME_SCOPES, ""))
    classes = _list_of_names(node.metadata_props.get(_CLASSES, ""))
    return [(joined_scope([name]), found) for name, found in zip(names, classes, strict=False)]


def settled_scope(scope: Scope, users: Sequence[Scope], makers: Sequence[Scope]) -> Scope:
    """Where a node of a scope belongs, by the scopes of what uses it and of what makes its inputs.

    Passes compute once what every layer did, a mask say, in the first of them. A node that takes nothing of its own
    module, and is used there and elsewhere, is where all its users are.

    >>> settled_scope(("layers", "0"), [("layers", "0"), ("layers", "1")], [("mask",)])
    ('layers',)
    """
    is_inside = [each[: len(scope)] == scope for each in users]
    if not scope or all(is_inside) or not any(is_inside):
        return scope
    shared = common_scope(users)
    module = scope[: len(shared) + 1]
    return scope if any(each[: len(module)] == module for each in makers) else shared


def common_scope(scopes: Sequence[Scope]) -> Scope:
    """The innermost module that all are in."""
    first, last = min(scopes), max(scopes)
    length = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: min(len(first), len(last)) if length is None else length]


def _list_of_names(text: str) -> list[str]:
    """The names in a list as Python writes it; none where it is no such list."""
    if not text.startswith("[") or len(text) > 10 * _LONGEST_NAME:
        return []
    try:
        names = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []
    return names if all(isinstance(each, str) for each in names) else []

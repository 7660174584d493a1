"""The modules that a node belongs to, as metadata or names say: `layers.0.attn` of a PyTorch export."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import onnx_ir as ir

Scope = tuple[str, ...]
_DEEPEST = 16
_LONGEST_NAME = 400
#: Metadata of nodes: the modules around a node, outermost first, as Python writes a list.
NAME_SCOPES = "pkg.torch.onnx.name_scopes"
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
    return path_of([*head.split("/"), last.rpartition(".")[0]])


def parts_of_name(name: str) -> Scope:
    """A name in its parts, modules and all."""
    return path_of(name.strip("/").split("/")) if len(name) <= _LONGEST_NAME else (name,)


def path_of(parts: Sequence[str]) -> Scope:
    """One path of parts that each say some of it: `layer1`, `layer1.0` is `layer1.0`, not `layer1.layer1.0`."""
    path: list[str] = []
    for part in parts:
        words = [word for word in part.split(".") if word]
        known = next((n for n in range(len(words) - 1, 0, -1) if path[-n:] == words[:n]), 0)
        path += words[known:]
    return tuple(path[:_DEEPEST])


def scope_of(node: ir.Node) -> Scope:
    """The modules that a node is in, by its metadata, its name, or the name of what it makes."""
    modules = list_of_names(node.metadata_props.get(NAME_SCOPES, ""))
    if modules:
        return path_of(modules[:-1][-1:])
    namespace = node.metadata_props.get(_NAMESPACE)
    if namespace is not None:
        modules = [part.partition(":")[0].strip() for part in namespace.split("/")[:-1]]
        return path_of(modules)
    if node.name:
        return scope_of_name(node.name)
    return next((scope_of_name(value.name) for value in node.outputs if value.name), ())


def list_of_names(text: str) -> list[str]:
    """The names in a list as Python writes it; none where it is no such list."""
    if not text.startswith("[") or len(text) > 10 * _LONGEST_NAME:
        return []
    try:
        names = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []
    return names if all(isinstance(each, str) for each in names) else []

"""The modules that names or metadata put nodes in, and what functions for them are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

import onnx_ir as ir

from onnxsmith.graphs.names import snake_case
from onnxsmith.passes.outlining.part import Scope
from onnxsmith.passes.outlining.wiring import Wiring

_DEEPEST = 16
_LONGEST_NAME = 400
_NAME_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_NAMESPACE = "namespace"
#: Modules that hold a whole model: their names tell nothing of a part.
_WHOLE = frozenset({"model", "module", "net", "network", "root", "main", "graph", "self"})
_NUMBER = re.compile(r"_?[0-9]+")


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
    return _joined([*head.split("/"), last.rpartition(".")[0]])


def parts_of_name(name: str) -> Scope:
    """A name in its parts, modules and all."""
    return _joined(name.strip("/").split("/")) if len(name) <= _LONGEST_NAME else (name,)


def _joined(parts: Sequence[str]) -> Scope:
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
        return _joined(modules[:-1][-1:])
    namespace = node.metadata_props.get(_NAMESPACE)
    if namespace is not None:
        modules = [part.partition(":")[0].strip() for part in namespace.split("/")[:-1]]
        return _joined(modules)
    if node.name:
        return scope_of_name(node.name)
    return next((scope_of_name(value.name) for value in node.outputs if value.name), ())


def _list_of_names(text: str) -> list[str]:
    """The names in a list as Python writes it; none where it is no such list."""
    if not text.startswith("[") or len(text) > 10 * _LONGEST_NAME:
        return []
    try:
        names = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []
    return names if all(isinstance(each, str) for each in names) else []


def all_scopes(wiring: Wiring) -> list[Scope]:
    """The scope of each node; one that has none is where all that use it are."""
    scopes = [scope_of(node) for node in wiring.nodes]
    for k in range(len(scopes) - 1, -1, -1):
        # Exporters name equal weights once and pass them on by Identity: that is no part of a layer.
        if scopes[k] or wiring.nodes[k].op_type == "Identity":
            continue
        users = [scopes[user] for value in wiring.nodes[k].outputs for user in wiring.users.get(value, ())]
        if users:
            scopes[k] = _common_start(users)
    return scopes


def _common_start(scopes: Sequence[Scope]) -> Scope:
    first, last = min(scopes), max(scopes)
    length = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: min(len(first), len(last)) if length is None else length]


def class_of(nodes: Iterable[ir.Node], scope: Scope) -> str | None:
    """The class of the module that some nodes are in, as torch notes it."""
    for node in nodes:
        names = _list_of_names(node.metadata_props.get(_NAME_SCOPES, ""))
        classes = _list_of_names(node.metadata_props.get(_CLASSES, ""))
        for name, qualified in zip(names, classes, strict=False):
            found = qualified.rpartition(".")[2]
            if _joined([name]) == scope and re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,38}", found):
                return snake_case(found)
    return None


def function_name(scopes: Sequence[Scope]) -> str:
    """What all these modules are.

    >>> function_name([("decoder", "layers", "0"), ("decoder", "layers", "1")])
    'decoder_layer'
    >>> function_name([("stem", "conv"), ("layers", "1", "conv")])
    'conv'
    """
    words = [_words(scope) for scope in scopes]
    shared: list[str] = []
    for column in zip(*(reversed(each) for each in words), strict=False):
        if len(set(column)) > 1:
            break
        shared.insert(0, column[0])
    told = [word for word in shared[-2:] if word not in _WHOLE] or shared[-1:]
    name = "_".join(told)
    return name if name and len(name) <= 40 else "block"


def _words(scope: Scope) -> list[str]:
    """The names in a path, one of many in the singular, without numbers."""
    result: list[str] = []
    for k, part in enumerate(scope):
        word = snake_case(re.sub(r"[^A-Za-z0-9]+", "_", _NUMBER.sub("", part))).strip("_")
        is_list = k + 1 < len(scope) and scope[k + 1].isdigit()
        if is_list and word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        if word[:1].isalpha() and word.isascii():
            result.append(word)
    return result

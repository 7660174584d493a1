"""The modules that names or metadata put nodes in, and what functions for them are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import onnx_ir as ir

from onnxsmith.graphs.module_scopes import Scope, classes_of, common_scope, scope_of, settled_scope
from onnxsmith.graphs.names import snake_case
from onnxsmith.passes.outlining.wiring import Wiring

#: Modules that hold a whole model: their names tell nothing of a part.
_WHOLE = frozenset({"model", "module", "net", "network", "root", "main", "graph", "self"})
_NUMBER = re.compile(r"_?[0-9]+")


def all_scopes(wiring: Wiring) -> list[Scope]:
    """The scope of each node; one that has none is where all that use it are."""
    scopes = [scope_of(node) for node in wiring.nodes]
    for k in range(len(scopes) - 1, -1, -1):
        # Exporters name equal weights once and pass them on by Identity: that is no part of a layer.
        if scopes[k] or wiring.nodes[k].op_type == "Identity":
            continue
        users = [scopes[user] for value in wiring.nodes[k].outputs for user in wiring.users.get(value, ())]
        if users:
            scopes[k] = common_scope(users)
    _hoist_shared(wiring, scopes)
    return scopes


def _hoist_shared(wiring: Wiring, scopes: list[Scope]) -> None:
    made = {value: k for k, node in enumerate(wiring.nodes) for value in node.outputs}
    for k, node in enumerate(wiring.nodes):
        users = [scopes[user] for value in node.outputs for user in wiring.users.get(value, ())]
        makers = [scopes[made[value]] for value in node.inputs if value is not None and value in made]
        scopes[k] = settled_scope(scopes[k], users, makers)


def class_of(nodes: Iterable[ir.Node], scope: Scope) -> str | None:
    """The class of the module that some nodes are in, as torch notes it."""
    for node in nodes:
        for module, qualified in classes_of(node):
            found = qualified.rpartition(".")[2]
            if module == scope and re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,38}", found):
                return snake_case(found)
    return None


def function_name(scopes: Sequence[Scope]) -> str:
    """The name of the function for all these modules.

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

"""The calls of `nn.Module`s that a node of torch's graph was made in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch


class ModuleCall(NamedTuple):
    """One call of a module."""

    #: What tells it from other calls, of the same module too.
    key: str
    #: The module's place in the model, as the names of its weights have it.
    path: str
    #: The module's class, with its package.
    kind: str


#: The calls of modules that a node is in, the outermost first, which is the model itself.
Calls = tuple[ModuleCall, ...]


def module_calls(node: torch.fx.Node) -> Calls:
    """The calls of modules that a node was made in."""
    stack: Mapping[str, tuple[str, str | type]] | None = node.meta.get("nn_module_stack")
    if not stack:
        return ()
    return tuple(ModuleCall(key, path, _class_name(kind)) for key, (path, kind) in stack.items())


def _class_name(kind: str | type) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"

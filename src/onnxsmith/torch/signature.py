"""Names of a model's outputs: by their places in the result of `forward`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch.utils import _pytree as pytree

from onnxsmith.torch.library.kinds import Fake

_NOT_A_WORD = re.compile(r"\W+")


def output_names(program: torch.export.ExportedProgram, leaves: Sequence[Fake]) -> list[str]:
    """One name for each of what `forward` returns, flat, which torch knows as `leaves`; Nones among them too."""
    spec = program.call_spec.out_spec
    if spec is None or spec.num_leaves != len(leaves):
        return []
    tree = pytree.tree_unflatten(leaves, spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    return [_name(path) for path in paths]


def _name(path: pytree.KeyPath) -> str:
    words = [_NOT_A_WORD.sub("_", str(_key(each))).strip("_") for each in path]
    text = "_".join(each for each in words if each)
    return text if text and not text[0].isdigit() else f"output_{text}" if text else "output"


def _key(entry: pytree.KeyEntry) -> str | int | pytree.KeyEntry:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return getattr(entry, attribute)
    return entry

# pyright: basic
"""What a model's inputs and outputs are called, and what the user calls its dimensions.

Names of inputs come from the signature of `forward`, those of outputs from where they stand in what it returns.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError

_NOT_A_WORD = re.compile(r"\W+")


def output_names(program: torch.export.ExportedProgram, leaves: list[Any]) -> list[str]:
    """One name for each of what `forward` returns, flat, which torch knows as `leaves`; Nones among them too."""
    spec = program.call_spec.out_spec
    if spec is None or spec.num_leaves != len(leaves):
        return []
    tree = pytree.tree_unflatten(leaves, spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    return [_name(path) for path in paths]


def _name(path: tuple[Any, ...]) -> str:
    words = [_NOT_A_WORD.sub("_", str(_key(each))).strip("_") for each in path]
    text = "_".join(each for each in words if each)
    return text if text and not text[0].isdigit() else f"output_{text}" if text else "output"


def _key(entry: Any) -> Any:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return getattr(entry, attribute)
    return entry


# -- dimensions ------------------------------------------------------------------------------------------


def with_torch_dims(dynamic_shapes: Any) -> Any:
    """What the user said of dimensions as torch takes it: a name in quotes is a dimension that stays open."""
    if isinstance(dynamic_shapes, str):
        return torch.export.Dim.DYNAMIC
    if isinstance(dynamic_shapes, dict):
        return {key: with_torch_dims(each) for key, each in dynamic_shapes.items()}
    if isinstance(dynamic_shapes, tuple | list):
        return type(dynamic_shapes)(with_torch_dims(each) for each in dynamic_shapes)
    return dynamic_shapes


def dimension_names(
    fakes: list[tuple[str, Any]], dynamic_shapes: Any, in_spec: Any
) -> tuple[dict[str, str], list[str]]:
    """torch's symbols -> the user's names; and what to say of dimensions that were asked to be open and are not.

    `fakes` are the flat user inputs, by name.
    """
    if dynamic_shapes is None:
        return {}, []
    fixed: list[str] = []
    wishes = _flat_wishes(dynamic_shapes, in_spec, len(fakes))
    names: dict[str, str] = {}
    examples: dict[str, tuple[int, str]] = {}
    for (name, fake), wish in zip(fakes, wishes, strict=False):
        if not isinstance(fake, torch.Tensor):
            sizes: dict[int, Any] = {0: fake} if isinstance(fake, torch.SymInt) else {}
            wish = {0: wish} if isinstance(wish, str) or _dim_name(wish) else {}
        else:
            sizes = dict(enumerate(fake.shape))
        for axis, asked in _by_axis(wish).items():
            size = sizes.get(axis if axis >= 0 else axis + len(sizes))
            if isinstance(size, torch.SymInt) and size.node.expr.is_Integer:
                size = int(size.node.expr)
            called = _dim_name(asked)
            if isinstance(size, int) and _is_open(asked):
                fixed.append(
                    f"dimension {axis} of input '{name}' was asked to be dynamic"
                    f"{f' as {called!r}' if called else ''}, and is {size} in the model: the module's code, or its "
                    "example of size 0 or 1, fixes it"
                )
            elif called and size is not None and not isinstance(size, int):
                expression = size.node.expr
                if expression.is_Symbol:
                    names.setdefault(expression.name, called)
                    _check_example(called, size.node.hint, f"dimension {axis} of input '{name}'", examples)
                else:
                    _name_root(expression, asked, names)
    return names, fixed


def _check_example(called: str, size: Any, place: str, examples: dict[str, tuple[int, str]]) -> None:
    """One name is one size, in the example, too."""
    if not isinstance(size, int):
        return
    before, where = examples.setdefault(called, (size, place))
    if before != size:
        raise ExportError(
            f"{called!r} is {before} as {where} and {size} as {place}",
            help="give dimensions that differ different names, or examples of one size",
        )


def _name_root(expression: Any, asked: Any, names: dict[str, str]) -> None:
    """Of a derived dimension, `2 * Dim("half")`, the symbol is the root's."""
    root = getattr(asked, "root", None)
    symbols = list(expression.free_symbols)
    if root is not None and len(symbols) == 1:
        names.setdefault(symbols[0].name, root.__name__)


def _is_open(asked: Any) -> bool:
    return asked is not None and not isinstance(asked, int) and "STATIC" not in repr(asked)


def _dim_name(asked: Any) -> str:
    if isinstance(asked, str):
        return asked
    return asked.__name__ if isinstance(asked, torch.export.Dim) else ""


def _by_axis(wish: Any) -> dict[int, Any]:
    if isinstance(wish, dict):
        return {int(key): each for key, each in wish.items()}
    if isinstance(wish, tuple | list):
        return dict(enumerate(wish))
    return {}


def _flat_wishes(dynamic_shapes: Any, in_spec: Any, count: int) -> list[Any]:
    """What is asked of each flat input, by the structure of the arguments."""
    args_spec, kwargs_spec = _children(in_spec)
    parts = [*_children(args_spec), *_children(kwargs_spec)]
    given = list(dynamic_shapes.values()) if isinstance(dynamic_shapes, dict) else list(dynamic_shapes)
    for k, part in enumerate(parts):  # what `*args` takes is one tuple of wishes
        if k < len(given) and not _children(part) and _holds_wishes(given[k]):
            given[k : k + 1] = given[k]
    flat: list[Any] = []
    for part, each in zip(parts, given, strict=False):
        flat += _matched(part, each)
    return flat + [None] * (count - len(flat))


def _holds_wishes(wish: Any) -> bool:
    """Whether a tuple has what is asked of tensors in it, and not of one tensor's dimensions."""
    return isinstance(wish, tuple | list) and any(isinstance(each, dict | tuple | list) for each in wish)


def _children(spec: Any) -> list[Any]:
    children = spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs
    return list(children)


def _matched(spec: Any, wish: Any) -> list[Any]:
    if spec.is_leaf():
        return [wish]
    children = _children(spec)
    if wish is None:
        return [None] * spec.num_leaves
    if isinstance(wish, dict) and spec.type is dict:
        inner = [wish.get(key) for key in spec.context]
    elif isinstance(wish, dict):
        inner = list(wish.values())
    else:
        inner = list(wish) if isinstance(wish, tuple | list) else [None] * len(children)
    return [leaf for child, each in zip(children, inner, strict=False) for leaf in _matched(child, each)]

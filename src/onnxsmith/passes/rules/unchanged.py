"""Detects a replacement that changes nothing: there is nothing to do, and a rule does not feed itself."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.graphs.identity import EXACT, OUTSIDE, array_key
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.constants import array_of

#: Constants up to this size are compared.
_COMPARED = 1024


def is_unchanged(edit: Editor, new: Sequence[ir.Value], old: Sequence[ir.Value]) -> bool:
    """True if new values are made by the same operators of the same values."""
    seen: set[tuple[ir.Value, ir.Value]] = set()
    waiting = list(zip(new, old, strict=True))
    while waiting:
        pair = left, right = waiting.pop()
        if left is right or pair in seen:
            continue
        seen.add(pair)
        made, was = left.producer(), right.producer()
        if _is_same_constant(edit, left, right):
            continue
        if made is None or was is None or made.graph is was.graph or not _is_same_call(made, was):
            return False
        if list(made.outputs).index(left) != list(was.outputs).index(right):
            return False
        for each, other in zip(made.inputs, was.inputs, strict=True):
            if each is None or other is None:
                if each is not other:
                    return False
                continue
            waiting.append((each, other))
    return True


def _is_same_call(made: ir.Node, was: ir.Node) -> bool:
    sizes = [(len(each.inputs), len(each.outputs)) for each in (made, was)]
    return sizes[0] == sizes[1] and EXACT.node(made, _any) == EXACT.node(was, _any)


def _any(_: ir.Value) -> int:
    """The inputs are looked at apart."""
    return OUTSIDE


def _is_same_constant(edit: Editor, left: ir.Value, right: ir.Value) -> bool:
    first = array_of(edit, left, _COMPARED)
    second = None if first is None else array_of(edit, right, _COMPARED)
    return first is not None and second is not None and array_key(first) == array_key(second)

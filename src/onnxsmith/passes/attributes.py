"""Attributes of nodes, from the plain values that rules write."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir


def attribute_of(
    name: str, content: int | float | str | Sequence[int] | Sequence[float] | ir.Graph | ir.Attr
) -> ir.Attr:
    """An attribute as rules write it, as onnx-ir has it."""
    if isinstance(content, ir.Attr):
        return content
    if isinstance(content, bool | int):
        return ir.AttrInt64(name, int(content))
    if isinstance(content, float):
        return ir.AttrFloat32(name, content)
    if isinstance(content, str):
        return ir.AttrString(name, content)
    if isinstance(content, ir.Graph):
        return ir.AttrGraph(name, content)
    numbers = list(content)
    if any(isinstance(each, float) for each in numbers):
        return ir.AttrFloat32s(name, [float(each) for each in numbers])
    return ir.AttrInt64s(name, [int(each) for each in numbers])

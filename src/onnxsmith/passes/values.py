"""Questions about values and nodes of onnx-ir graphs that rules ask all the time, and attributes from plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from onnxsmith.graphs.rewriting.scopes import graphs_of

Array: TypeAlias = NDArray[np.generic]
#: A size: a number, the name that the model has for it, or None where nothing is known.
Dimension: TypeAlias = int | str | None


def is_read(value: ir.Value) -> bool:
    """True if a node reads a value, or a graph gives it."""
    return value.is_graph_output() or bool(value.uses())


def readers(value: ir.Value) -> int:
    """How often a value is read, as an output of a graph too."""
    return len(value.uses()) + value.is_graph_output()


def made_by(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    """The node that makes a value, if it is of one of these operators of ONNX."""
    node = None if value is None else value.producer()
    return node if node is not None and node.op_type in op_types and not node.domain else None


def only_for(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    """The same, where the value is read once, in the same graph: nobody misses it when the two become one."""
    node = made_by(value, *op_types)
    if node is None or value is None or readers(value) != 1 or value.is_graph_output():
        return None
    return node if next(iter(value.uses())).node.graph is node.graph else None


def dimensions(value: ir.Value | None) -> tuple[Dimension, ...] | None:
    """The shape of a value; None where it is unknown, the rank too."""
    if value is None or value.shape is None:
        return None
    return tuple([each if isinstance(each, int) else each.value for each in value.shape])


def rank(value: ir.Value | None) -> int | None:
    """How many dimensions a value has."""
    return None if value is None or value.shape is None else len(value.shape)


def fixed_shape(value: ir.Value | None) -> tuple[int, ...] | None:
    """The shape of a value all of whose sizes are numbers."""
    shape = dimensions(value)
    if shape is None:
        return None
    sizes = tuple([each for each in shape if isinstance(each, int)])
    return sizes if len(sizes) == len(shape) else None


def same_shape(left: ir.Value | None, right: ir.Value | None) -> bool:
    """True if two values are known to have one shape."""
    shape = dimensions(left)
    return shape is not None and None not in shape and shape == dimensions(right)


#: How onnx's inference calls a size that it knows nothing of.
_MADE_UP = "unk__"


def is_vague(shape: ir.Shape) -> bool:
    """True if a shape has sizes that are neither numbers nor have a name of the model's."""
    return any(
        not isinstance(each, int) and (each.value is None or each.value.startswith(_MADE_UP))
        for each in shape
    )


def _is(attribute: ir.Attr | None, kind: ir.AttributeType) -> TypeGuard[ir.Attr]:
    """True if an attribute is given, as a value of a type; one of a stranger's model may be of any."""
    return attribute is not None and not attribute.is_ref() and attribute.type == kind


def int_attribute(node: ir.Node, name: str, default: int) -> int:
    """An attribute that is an int."""
    attribute = node.attributes.get(name)
    return default if not _is(attribute, ir.AttributeType.INT) else attribute.as_int()


def float_attribute(node: ir.Node, name: str, default: float) -> float:
    """An attribute that is a float."""
    attribute = node.attributes.get(name)
    return default if not _is(attribute, ir.AttributeType.FLOAT) else attribute.as_float()


def text_attribute(node: ir.Node, name: str, default: str) -> str:
    """An attribute that is a string."""
    attribute = node.attributes.get(name)
    return default if not _is(attribute, ir.AttributeType.STRING) else attribute.as_string()


def ints_attribute(node: ir.Node, name: str) -> tuple[int, ...] | None:
    """An attribute that is a list of ints; None where it is not given."""
    attribute = node.attributes.get(name)
    return tuple(attribute.as_ints()) if _is(attribute, ir.AttributeType.INTS) else None


def redirect(old: ir.Value, new: ir.Value | None) -> None:
    """Let the nodes that read a value read another one."""
    for use in old.uses():
        use.node.replace_input_with(use.idx, new)


def has_references(node: ir.Node) -> bool:
    """True if an attribute is that of the function around it, whose value only a call has."""
    return any(each.is_ref() for each in node.attributes.values())


def is_open_inside(node: ir.Node) -> bool:
    """True if the graphs inside a node may read values from around it, as those of control flow may."""
    return not node.domain and node.op_type in ("If", "Loop", "Scan")


def node_count(graph: ir.Graph | ir.Function) -> int:
    """The nodes of a graph and of those inside it, without constants."""
    return sum(1 for node in graph.all_nodes() if node.op_type != "Constant" or node.domain)


def names_in(root: ir.Graph) -> set[str]:
    """The names of all values and nodes of a graph and of those inside it."""
    names: set[str] = set()
    for graph in graphs_of(root):
        names.update(each.name for each in graph.inputs if each.name)
        names.update(graph.initializers)
        for node in graph:
            names.update([each.name for each in node.outputs if each.name])
            if node.name:
                names.add(node.name)
    return names


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

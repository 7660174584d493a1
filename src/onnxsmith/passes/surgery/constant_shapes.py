"""Constant shapes of Reshape and Expand that hold a size which is to be open, and what they could say instead.

Changes no model by itself: `with_shapes` tells people what to replace, where a size that a model had cannot be open.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.ir_types import shape_from_ir
from onnxsmith.passes.surgery.dimensions import atoms
from onnxsmith.passes.surgery.holding import ModelContent
from onnxsmith.passes.surgery.naming import tensor_of
from onnxsmith.passes.surgery.replacing_weights import holders
from onnxsmith.passes.values import int_attribute

#: Other values for constants, by the names that `replace_weights` takes.
Shapes = Mapping[str, tuple[int, ...]]


def open_shapes(
    held: ModelContent, sizes: Collection[int], *, also_products: bool
) -> dict[str, tuple[int, ...]]:
    """Constant shapes that hold one of the sizes, told so that they mean the same and leave it open.

    The types of `held` are worked out, with the sizes that it had. A batch may also stand in a product, as in the 24 of
    2 times 12: `also_products` leaves the first size open wherever it can be.
    """
    found: dict[str, tuple[int, ...]] = {}
    known = holders(held)
    for name, value in _constant_values(held).items():
        readers = [use.node for use in value.uses()]
        if not readers or any(use.idx != 1 for use in value.uses()):
            continue
        given = tuple(int(each) for each in known[name].tensor.numpy().reshape(-1))
        operators = {(each.domain, each.op_type) for each in readers}
        told = given
        if operators == {("", "Reshape")}:
            told = _reshaped(given, readers, sizes, also_products=also_products)
        elif operators == {("", "Expand")}:
            told = _expanded(given, readers, sizes)
        if told != given:
            found[name] = told
    return found


def _constant_values(held: ModelContent) -> dict[str, ir.Value]:
    """The values of the main graph that are lists of integers which `replace_weights` can replace."""
    found: dict[str, ir.Value] = {}
    for name, each in holders(held).items():
        value = each.holder if isinstance(each.holder, ir.Value) else each.holder.outputs[0]
        is_shape = each.tensor.dtype == ir.DataType.INT64 and len(each.tensor.shape) == 1
        if is_shape and name == value.name and not value.is_graph_output():
            found[name] = value
    return found


def _reshaped(
    given: tuple[int, ...], readers: list[ir.Node], sizes: Collection[int], *, also_products: bool
) -> tuple[int, ...]:
    """0 where the data has the size in the same place, else -1."""
    place = next((place for place, size in enumerate(given) if size in sizes), None)
    if place is None:
        return (-1, *given[1:]) if also_products and given and -1 not in given and 0 not in given else given
    shapes = [
        shape_from_ir(None if each.inputs[0] is None else each.inputs[0].shape) or () for each in readers
    ]
    is_copied = all(place < len(each) and each[place] == given[place] for each in shapes)
    if is_copied and not any(int_attribute(each, "allowzero", 0) for each in readers):
        return (*given[:place], 0, *given[place + 1 :])
    return given if -1 in given or 0 in given else (*given[:place], -1, *given[place + 1 :])


def _expanded(given: tuple[int, ...], readers: list[ir.Node], sizes: Collection[int]) -> tuple[int, ...]:
    """1, which leaves the size of the data, where the data has the size in the same place, from the right."""
    place = next((place for place, size in enumerate(given) if size in sizes and size != 1), None)
    if place is None:
        return given
    right = len(given) - place
    for each in readers:
        shape = shape_from_ir(None if each.inputs[0] is None else each.inputs[0].shape) or ()
        if len(shape) < right or shape[-right] != given[place]:
            return given
    return (*given[:place], 1, *given[place + 1 :])


def put_shapes(held: ModelContent, shapes: Shapes) -> None:
    """Put other values in the places of constants; in place."""
    known = holders(held)
    for name, values in shapes.items():
        known[name].put(tensor_of(np.array(values, np.int64), name))


def needed(held: ModelContent, shapes: Shapes, names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Those of the shapes, in a model that has them and whose types are worked out, that give what has open sizes."""
    values = _constant_values(held)
    return {
        name: each
        for name, each in shapes.items()
        if any(_places(use.node.outputs[0], names) for use in values[name].uses())
    }


def keeps_items_apart(held: ModelContent, names: Collection[str]) -> bool:
    """True if open dimensions stay outermost wherever elements are put in another shape, and in all outputs.

    Shapes that fit are not enough: elements of several items of a batch could be mixed.
    """
    reshaped = [node for node in held.graph.all_nodes() if (node.domain, node.op_type) == ("", "Reshape")]
    pairs = [(_places(node.inputs[0], names), _places(node.outputs[0], names)) for node in reshaped]
    return all(before == after and before in ([], [0]) for before, after in pairs) and all(
        _places(each, names) == [0] for each in held.graph.outputs
    )


def are_computed(held: ModelContent) -> bool:
    """True if shapes are put together in the model, where `optimize` would make constants of them."""
    return any(
        value is not None and (maker := value.producer()) is not None and maker.op_type == "Concat"
        for node in held.graph
        if node.op_type in ("Reshape", "Expand")
        for value in node.inputs[1:2]
    )


def _places(value: ir.Value | None, names: Collection[str]) -> list[int]:
    """The places in a shape that have one of the names."""
    shape = shape_from_ir(None if value is None else value.shape) or ()
    return [
        place
        for place, each in enumerate(shape)
        if isinstance(each, str) and not {*atoms(each)}.isdisjoint(names)
    ]

"""ONNX's inference, kept from what it does not come back from: it ends the process on some models, or goes on for ever.

Everything that lets onnx infer the types of a whole model does so through this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import (
    all_nodes,
    inner_graphs,
    nodes_of_model,
    operator_key,
)
from onnxsmith.schema.einsum_equation import read_equation

_MOST_DIMENSIONS = 1 << 16


def without_traps(model: onnx.ModelProto, *, is_checked: bool = False) -> onnx.ModelProto:
    """The model without attributes and declared sizes that ONNX's inference does not come back from.

    Inputs have no defaults in it: inference would take these for constants, though a caller may give another value.
    `is_checked` says that the types of the model are to be checked: operators stay as they are where they can.
    """
    traps = _places_of_traps(model)
    if not traps and not _defaults(model) and not any(True for _ in _negative_sizes(model)):
        return model
    safe = _without(model, traps)
    if not is_checked:
        return safe
    # An operator stays where inference without it finds the type of its input. It says nothing of functions.
    nodes = all_nodes(model.graph.node)
    untyped = {place for place in traps if place < len(nodes) and _is_readable(nodes[place])}
    typed = _with_known_inputs(safe, untyped) if untyped else set[int]()
    return _without(model, traps - typed) if typed else safe


def _places_of_traps(model: onnx.ModelProto) -> set[int]:
    """The nodes that inference may not come back from, by their position among all nodes."""
    # A node of the main graph that reads a typed input of the model is none: the type is there in any case.
    declared = {each.name for each in model.graph.input if each.type.WhichOneof("value")}
    inner = len(model.graph.node)
    return {
        place
        for place, node in enumerate(nodes_of_model(model))
        if not _is_readable(node)
        or (
            operator_key(node) in _ENDS_PROCESS
            and not (place < inner and node.input and node.input[0] in declared)
        )
    }


def _defaults(model: onnx.ModelProto) -> set[str]:
    """The inputs that have a default, and say their own type."""
    held = {each.name for each in model.graph.initializer}
    return {each.name for each in model.graph.input if each.name in held and each.type.tensor_type.elem_type}


def _without(model: onnx.ModelProto, traps: Set[int]) -> onnx.ModelProto:
    copy = copied(model)
    for size in list(_negative_sizes(copy)):
        size.Clear()  # older writers say -1 for a dynamic size
    defaults = _defaults(copy)
    if defaults:
        kept = [each for each in copy.graph.initializer if each.name not in defaults]
        del copy.graph.initializer[:]
        copy.graph.initializer.extend(kept)
    nodes = nodes_of_model(copy)
    for node in (nodes[place] for place in traps):
        kind = _ENDS_PROCESS.get(operator_key(node))
        if kind is None:
            del node.attribute[:]
            continue
        dtype = kind(node)
        if dtype == onnx.TensorProto.UNDEFINED:
            node.op_type = _UNKNOWN
            continue
        stand_in = helper.make_node("Identity" if dtype is None else "Cast", node.input[:1], node.output)
        if dtype is not None:
            stand_in.attribute.append(helper.make_attribute("to", dtype))
        node.CopyFrom(stand_in)
    return copy


def _with_known_inputs(model: onnx.ModelProto, places: Set[int]) -> set[int]:
    """The nodes among these whose first input has a type that inference finds."""
    try:
        found = infer(model)
    except Exception:  # onnx raises unrelated classes; what is not inferred is not known
        return set()
    nodes = all_nodes(found.graph.node)
    typed = {each.name for info in _infos(found) for each in info if each.type.WhichOneof("value")}
    typed |= {each.name for each in found.graph.initializer}
    return {place for place in places if nodes[place].input and nodes[place].input[0] in typed}


def _value_type(encoder: onnx.NodeProto) -> int:
    """The element type of what a LabelEncoder gives."""
    types = {
        "values_floats": onnx.TensorProto.FLOAT,
        "values_int64s": onnx.TensorProto.INT64,
        "values_strings": onnx.TensorProto.STRING,
    }
    for each in encoder.attribute:
        if each.name in types or each.name == "values_tensor":
            return types.get(each.name, each.t.data_type)
    return onnx.TensorProto.UNDEFINED


def _leaf_type(trees: onnx.NodeProto) -> int:
    """The element type of what a TreeEnsemble gives."""
    weights = (each.t.data_type for each in trees.attribute if each.name == "leaf_weights")
    return next(weights, onnx.TensorProto.UNDEFINED)


def _named_type(matrix: onnx.NodeProto) -> int | None:
    """The element type of what an EyeLike gives; None for that of its input."""
    return next((each.i for each in matrix.attribute if each.name == "dtype"), None)


#: Operators at which the inference of onnx up to 1.23 ends the process where the type of their input is not known, and
#: the element type that they give, for a cast in their place. Where it is None, it is that of their input; where it
#: is UNDEFINED, nothing but their input says it, and an operator that nobody knows is in their place.
_ENDS_PROCESS: dict[tuple[str, str], Callable[[onnx.NodeProto], int | None]] = {
    ("ai.onnx.ml", "DictVectorizer"): lambda _: onnx.TensorProto.UNDEFINED,
    ("ai.onnx.ml", "LabelEncoder"): _value_type,
    ("ai.onnx.ml", "TreeEnsemble"): _leaf_type,
    ("", "EyeLike"): _named_type,
    ("", "RegexFullMatch"): lambda _: onnx.TensorProto.BOOL,
}


def _is_readable(node: onnx.NodeProto) -> bool:
    """True if inference can read the node: it goes on for ever with some equations, and trusts batch_dims."""
    if node.op_type == "Einsum":
        return all(read_equation(each.s.decode(errors="replace")) for each in node.attribute)
    return node.op_type != "GatherND" or all(0 <= each.i < _MOST_DIMENSIONS for each in node.attribute)


def _negative_sizes(model: onnx.ModelProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    """The declared sizes that are below zero."""
    for info in (each for group in _infos(model) for each in group):
        yield from (dim for dim in info.type.tensor_type.shape.dim if dim.dim_value < 0)


def _infos(model: onnx.ModelProto) -> list[Iterable[onnx.ValueInfoProto]]:
    """All that is declared of values, in bodies and functions, too."""
    waiting = [model.graph]
    infos: list[Iterable[onnx.ValueInfoProto]] = [each.value_info for each in model.functions]
    for function in model.functions:
        waiting += [graph for node in function.node for graph in inner_graphs(node)]
    while waiting:
        graph = waiting.pop()
        infos += [graph.input, graph.output, graph.value_info]
        waiting += [each for node in graph.node for each in inner_graphs(node)]
    return infos


def infer(model: onnx.ModelProto, *, follows_sizes: bool = False, is_strict: bool = False) -> onnx.ModelProto:
    """The model with the types that ONNX's inference finds; raises what inference raises.

    The Slice of onnx ends the process on a size below zero, as a window gives that is larger than its image. So slices
    behind nodes that may give one are let in one after the other, until such a size shows.
    """
    groups, never = _doubtful_slices(model, follows_sizes=follows_sizes)
    while True:
        held = {*never, *(place for group in groups for place in group)}
        given = _without_slices(model, held) if held else model
        found = shape_inference.infer_shapes(
            given, check_type=is_strict, strict_mode=is_strict, data_prop=follows_sizes
        )
        if not groups or any(True for _ in _negative_sizes(found)):
            return _with_nodes_of(found, model) if held else found
        groups = groups[1:]


def size_below_zero(model: onnx.ModelProto) -> tuple[str, int] | None:
    """A value of the main graph with a size below zero where a `Slice` may get one, and that size; None without one.

    Where no slice is behind a node that may give such a size, as in most models, nothing is inferred.
    """
    groups, never = _doubtful_slices(model, follows_sizes=False)
    if not groups and not never:
        return None
    try:
        found = infer(without_traps(model))
    except Exception:  # what is wrong with the model, the runtime says
        return None
    for info in (*found.graph.input, *found.graph.value_info, *found.graph.output):
        for size in info.type.tensor_type.shape.dim:
            if size.dim_value < 0:
                return info.name, size.dim_value
    return None


def _without_slices(model: onnx.ModelProto, places: Set[int]) -> onnx.ModelProto:
    """The model with slices whose ends nothing knows, so that inference finds their rank alone."""
    copy = copied(model)
    for place, node in enumerate(nodes_of_model(copy)):
        if place in places:
            node.input[1] = node.input[2] = _UNKNOWN
    copy.graph.input.append(helper.make_tensor_value_info(_UNKNOWN, onnx.TensorProto.INT64, [None]))
    return copy


def _with_nodes_of(inferred: onnx.ModelProto, model: onnx.ModelProto) -> onnx.ModelProto:
    """The types of one model, and the nodes of the other."""
    for node, given in zip(nodes_of_model(inferred), nodes_of_model(model), strict=True):
        if _UNKNOWN in node.input:
            node.input[:] = given.input
    del inferred.graph.input[-1]
    return inferred


#: The name of a value in the place of the ends of a slice, and of an operator of which nothing is known.
_UNKNOWN = "onnxsmith: not known"


def _doubtful_slices(model: onnx.ModelProto, *, follows_sizes: bool) -> tuple[list[list[int]], list[int]]:
    """The slices that may get a size below zero, by their position among all nodes.

    Those of the main graph are in groups, of which each depends on the groups before it alone. The others, in bodies
    and functions, whose values come from elsewhere, are not let in at all; neither are those behind too many groups.
    """
    nodes = nodes_of_model(model)
    slices = [place for place, node in enumerate(nodes) if _is_slice(node)]
    if not slices:
        return [], []
    numbers = {each.name: each for each in model.graph.initializer}
    for node in nodes:
        if node.op_type == "Constant" and node.output:
            numbers.update((node.output[0], _tensor_of(each)) for each in node.attribute)
    shrinking = _Shrinking(numbers, follows_sizes and any(_may_subtract(node, numbers) for node in nodes))
    if not any(shrinking.is_possible(node) for node in nodes):
        return [], []
    functions = {(each.domain, each.name) for each in model.functions}
    # Even where no size below zero can stand, odd where one may since the last slice.
    depths: dict[str, int] = {}
    groups: dict[int, list[int]] = {}
    count = len(model.graph.node)
    for place, node in enumerate(nodes[:count]):
        inside = all_nodes([node])
        depth = max((depths.get(name, 0) for each in inside for name in each.input), default=0)
        if any((each.domain, each.op_type) in functions or shrinking.is_possible(each) for each in inside):
            depth += depth % 2 == 0
        elif _is_slice(node) and depth % 2:
            groups.setdefault(depth, []).append(place)
            depth += 1
        depths.update(dict.fromkeys(node.output, depth))
    ordered = [groups[depth] for depth in sorted(groups)]
    never = [place for place in slices if place >= count]
    never += [place for group in ordered[_MOST_GROUPS:] for place in group]
    return ordered[:_MOST_GROUPS], never


def _tensor_of(attribute: onnx.AttributeProto) -> onnx.TensorProto:
    """The numbers of a constant, which may stand in a tensor or in the attribute itself."""
    if attribute.HasField("t"):
        return attribute.t
    return numpy_helper.from_array(np.array([*attribute.ints, attribute.i], np.int64))


def _is_slice(node: onnx.NodeProto) -> bool:
    return node.op_type == "Slice" and len(node.input) > 2


#: Each group is one more inference; slices behind so many are not let in.
_MOST_GROUPS = 4
#: Where the weights of an operator with windows stand among its inputs; pools have none.
_WINDOWS = {
    "Conv": 1,
    "ConvInteger": 1,
    "QLinearConv": 3,
    "DeformConv": 1,
    "MaxPool": None,
    "AveragePool": None,
    "LpPool": None,
}
#: Operators whose results are as large as an input says.
_SIZED = frozenset(
    (
        *("Pad", "Expand", "Split", "TopK", "Resize", "Upsample", "Col2Im", "DFT", "STFT", "CenterCropPad"),
        *("MaxUnpool", "Tile", "OneHot"),
    )
)
#: Attributes that may be below zero, and are no sizes.
_SIGNED = ("axis", "axes", "start", "end", "value", "dim", "index", "class", "keys", "seed")
#: Most numbers of a size that are looked at.
_MOST_NUMBERS = 1 << 16


class _Shrinking:
    """Finds the nodes that may give a size below zero where all that they read is sound."""

    def __init__(self, numbers: Mapping[str, onnx.TensorProto], are_sizes_computed: bool) -> None:
        self._numbers = numbers
        self._are_sizes_computed = are_sizes_computed

    def is_possible(self, node: onnx.NodeProto) -> bool:
        if node.op_type in ("Constant", "Slice"):
            return False
        for each in node.attribute:
            is_signed = any(word in each.name for word in _SIGNED)
            if not is_signed and (each.i < 0 or any(size < 0 for size in each.ints)):
                return True
        if node.op_type in _WINDOWS:
            return not self._windows_fit(node, _WINDOWS[node.op_type])
        if node.op_type == "ConvTranspose":
            return not self._windows_fit(node, 1)
        return node.op_type in _SIZED and any(self._is_below_zero(name) for name in node.input[1:])

    def _windows_fit(self, node: onnx.NodeProto, weights: int | None) -> bool:
        """True if every window lies in its image and the pads around that, however small the image."""
        lists = {each.name: list(each.ints) for each in node.attribute}
        if any(each.name == "auto_pad" and each.s.startswith(b"SAME") for each in node.attribute):
            return True
        window = lists.get("kernel_shape", [])
        if not window and weights is not None and len(node.input) > weights:
            held = self._numbers.get(node.input[weights])
            window = [] if held is None else list(held.dims[2:])
        count = len(window)
        pads = lists.get("pads") or [0] * (2 * count)
        dilations = lists.get("dilations") or [1] * count
        strides = lists.get("strides") or [1] * count
        further = lists.get("output_padding") or [0] * count
        if not count or len(pads) != 2 * count or not len(dilations) == len(strides) == len(further) == count:
            return False
        for k, size in enumerate(window):
            extent, around = (size - 1) * dilations[k] + 1, pads[k] + pads[k + count]
            if node.op_type != "ConvTranspose" and around < extent - 1:
                return False
            if node.op_type == "ConvTranspose" and extent + further[k] < around + strides[k]:
                return False
        return True

    def _is_below_zero(self, name: str) -> bool:
        held = self._numbers.get(name)
        return self._are_sizes_computed if held is None else bool(name) and _has_negative(held)


def _may_subtract(node: onnx.NodeProto, numbers: Mapping[str, onnx.TensorProto]) -> bool:
    """True if a node may compute a size below zero of sizes."""
    if node.op_type in ("Sub", "Neg"):
        return True
    held = (numbers.get(name) for name in node.input if node.op_type in ("Add", "Mul", "Concat"))
    return any(each is not None and _has_negative(each) for each in held)


def _has_negative(tensor: onnx.TensorProto) -> bool:
    """True if a weight is small, and has a number below zero; also if its numbers cannot be read."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or np.prod(tensor.dims, dtype=float) > _MOST_NUMBERS:
        return False
    try:
        return bool((numpy_helper.to_array(tensor) < 0).any())
    except Exception:  # onnx raises unrelated classes for damaged tensors
        return True

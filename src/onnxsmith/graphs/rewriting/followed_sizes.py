"""Decides whether ONNX's inference may follow sizes that are computed: it lists every element of a vector it meets.

Data propagation of onnx up to 1.23 writes down one entry for each element of a vector that an `Add` or `Concat` reads,
whatever its length is. With 2**62 elements, which a file of 300 bytes can declare, it never ends. Nothing is inferred
here: lengths and numbers are bounded from above, from what inference finds without following sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx

from onnxsmith.graphs.rewriting.scopes import inner_graphs

#: So many elements of one vector may be listed, and so large may a computed size be.
_LONGEST = 1 << 16
#: Bounds stop growing here, past any number of 64 bits: one that is squared n times would have 2**n digits.
_LARGEST = 1 << 64
#: The operators whose inputs are listed.
_LISTING = frozenset({"Add", "Sub", "Mul", "Cast", "Concat", "Gather", "Slice", "Squeeze", "Unsqueeze"})
#: The operators that make a tensor of a computed shape, and which input says the shape.
_SHAPED = {"ConstantOfShape": 0, "Expand": 1, "Reshape": 1, "Resize": 3, "CenterCropPad": 1}
_INTEGERS: dict[int, str] = {onnx.TensorProto.INT64: "<i8", onnx.TensorProto.INT32: "<i4"}


def can_follow_sizes(inferred: onnx.GraphProto) -> bool:
    """True if no vector that inference would list is long; `inferred` has the types found without following sizes."""
    return _Bounds().hold(inferred)


class _Bounds:
    """Upper bounds of the integers that values hold, and of the lengths of vectors, by name."""

    def __init__(self) -> None:
        #: The largest integer among the elements; 0 where inference follows none.
        self._largest: dict[str, int] = {}
        #: The lengths of vectors whose elements would be listed.
        self._lengths: dict[str, int] = {}
        #: How many elements tensors have, where inference knows all their sizes.
        self._elements: dict[str, int] = {}
        self._largest_size = 0

    def hold(self, graph: onnx.GraphProto) -> bool:
        """True if no vector of a graph is longer than what may be listed."""
        for info in (*graph.input, *graph.value_info, *graph.output):
            self._declare(info.name, info.type.tensor_type.shape)
        for each in graph.initializer:
            self._know(each.name, each)
        return all(self._node(node) for node in graph.node)

    def _declare(self, name: str, shape: onnx.TensorShapeProto) -> None:
        sizes = [each.dim_value for each in shape.dim if each.HasField("dim_value")]
        self._largest_size = max([self._largest_size, *sizes])
        if len(sizes) == len(shape.dim):
            self._elements[name] = math.prod(sizes)
        if len(sizes) == len(shape.dim) == 1:
            self._lengths[name] = sizes[0]

    def _know(self, name: str, constant: onnx.TensorProto) -> None:
        """Note a constant: inference lists its numbers if they are integers, and nothing of it otherwise."""
        is_listed = len(constant.dims) == 1 and constant.data_type in _INTEGERS
        self._elements[name] = math.prod(constant.dims)
        self._lengths[name] = constant.dims[0] if is_listed else 0
        self._largest_size = max([self._largest_size, *constant.dims])
        self._largest[name] = _largest(constant) if self._elements[name] <= _LONGEST else 0

    def _node(self, node: onnx.NodeProto) -> bool:
        if not all(self.hold(each) for each in inner_graphs(node)):
            return False
        lengths = [self._lengths.get(each, 0) for each in node.input]
        if node.op_type in _LISTING and max(lengths, default=0) > _LONGEST:
            return False
        for name in node.output:
            self._largest[name] = min(self._number(node), _LARGEST)
            if name not in self._lengths and name not in self._elements:
                self._lengths[name] = self._length(node, lengths)
        for each in node.attribute:
            if node.op_type == "Constant" and each.HasField("t"):
                self._know(node.output[0], each.t)
        return True

    def _number(self, node: onnx.NodeProto) -> int:
        """The largest integer that a node may give."""
        given = [self._largest.get(each, 0) for each in node.input]
        match node.op_type:
            case "Shape":
                return self._largest_size
            case "Size":
                return self._elements.get(node.input[0], _LONGEST + 1) if given else 0
            case "Add" | "Sub":
                return sum(given)
            case "Mul":
                return math.prod(given)
            case "Concat":
                return max(given, default=0)
            case "Cast" | "Gather" | "Slice" | "Squeeze" | "Unsqueeze":
                return given[0] if given else 0
            case _:
                return 0

    def _length(self, node: onnx.NodeProto, lengths: Sequence[int]) -> int:
        """The length that the result of a node may turn out to have, if it is a vector of a size that is computed."""
        place = _SHAPED.get(node.op_type)
        if node.op_type == "Concat":
            return sum(lengths)
        if place is None or place >= len(node.input):
            return max(lengths, default=0) if node.op_type in _LISTING else 0
        shape = node.input[place]
        if self._elements.get(shape, 1) != 1 or not self._largest.get(shape):
            return 0  # no vector, or of a size that inference does not know
        if node.op_type == "Reshape":  # the number may be the -1 that stands for all elements
            return self._elements.get(node.input[0], _LONGEST + 1)
        return max(self._largest[shape], *lengths)


def _largest(constant: onnx.TensorProto) -> int:
    """The largest of the integers of a constant, without their signs."""
    kind = _INTEGERS.get(constant.data_type)
    if kind is None or constant.data_location == onnx.TensorProto.EXTERNAL:
        return 0
    numbers = constant.int64_data or constant.int32_data
    if constant.HasField("raw_data"):
        size = np.dtype(kind).itemsize
        numbers = np.frombuffer(constant.raw_data[: len(constant.raw_data) // size * size], kind).tolist()
    return max(map(abs, numbers), default=0)

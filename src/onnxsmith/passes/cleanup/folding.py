"""Constant folding: a node all of whose inputs are constants is run now, by the runtime, and its result kept.

Results of up to 1 MB are kept, and larger ones that are no larger than their inputs. The larger ones are computed when
the model is saved or run, so that no second copy of the weights is held. A weight that is also read as it is stays
apart from its transpose beyond 64 KB, which would store it twice. What it takes to run a node is estimated
first: nothing runs that could take long, has a body, or may give another result tomorrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.operator import Operator, operator
from onnxsmith.core.target import ACTIVE
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.identity import is_random, value_number
from onnxsmith.graphs.ir_types import array_to_ir, dimensions_of, ir_dtype
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.typing_values import walked
from onnxsmith.passes.values import Array, has_references
from onnxsmith.types.value_types import TensorType

#: Results up to this size are always kept.
_SMALL_BYTES = 1 << 20
#: A weight up to this size may be stored twice, as it is and transposed. ONNX Runtime turns it itself when it loads a
#: model, so that a transpose which stays costs no time later.
_COPIED_BYTES = 1 << 16
#: Products and sums that one node may take.
_MOST_WORK = 1 << 31
#: Results of nodes whose inputs are all so small are small themselves, for operators that add no elements.
_TINY = 64

#: What is no computation, or what runtimes look for as it stands: a weight in few bits is meant to stay in few bits.
_KEPT = frozenset(
    {
        "Constant", "Identity", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
        "If", "Loop", "Scan", "SequenceMap", "Optional", "OptionalGetElement", "OptionalHasElement",
        "ImageDecoder", "StringNormalizer", "RegexFullMatch", "StringSplit", "StringConcat",
    }
)  # fmt: skip
#: Operators whose result never has more elements than their inputs have together.
_ADDS_NOTHING = frozenset(
    {
        "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs", "Not", "And", "Or", "Equal", "Less", "Greater",
        "Cast", "Concat", "Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Shape", "Size", "Sqrt", "Reciprocal",
        "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "Floor", "Ceil", "Where",
        "Transpose", "Split",
    }
)  # fmt: skip

_AttributeValue: TypeAlias = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Array


def fold(at: Attempt) -> Outcome:
    """A node of constants: its result."""
    node = at.node
    if node.domain not in ("", "ai.onnx.ml") or node.op_type in _KEPT or not node.inputs:
        return None
    tensors: list[ir.TensorProtocol | None] = []
    for value in node.inputs:
        tensor = at.edit.tensor(value)
        if value is not None and tensor is None:
            return None
        tensors.append(tensor)
    if has_graphs(node) or has_references(node) or is_random(node) or node in at.edit.unfoldable:
        return None
    is_of_weight = any(each is not None and WEIGHT_KEY in each.meta for each in node.inputs)
    if is_of_weight and not at.edit.folds_weights:
        return None
    results = _folded(at, tensors)
    if results is None:
        at.edit.unfoldable.add(node)
        return None
    values = [
        None if result is None else at.tensor(result, _name(at, value))
        for value, result in zip(node.outputs, results, strict=True)
    ]
    if is_of_weight:
        for value in values:
            if value is not None:
                notes_of(value)[WEIGHT_KEY] = value.name
    return values


def _name(at: Attempt, value: ir.Value) -> str:
    """The name of a folded value: a transposed weight is named after the weight."""
    weight = at.input(0)
    if at.node.op_type == "Transpose" and weight is not None and weight.name:
        return f"{weight.name}.T"
    return value.name or "folded"


def _folded(
    at: Attempt, tensors: Sequence[ir.TensorProtocol | None]
) -> Sequence[ir.TensorProtocol | None] | None:
    node = at.node
    given = [each for each in tensors if each is not None]
    if any(each.dtype == ir.DataType.STRING for each in given):
        return None
    run = _runner(at)
    if run is None:
        return None
    sizes = [math.prod(dimensions_of(each)) for each in given]
    if node.op_type in _ADDS_NOTHING and sum(sizes) <= _TINY:
        return _computed(run, tensors, node)
    types = _result_types(at)
    if types is None or _work(at, types) > _MOST_WORK:
        return None
    # An input that is read twice is there once: what doubles it is larger than it.
    made_of = sum(each.nbytes for each in {id(each): each for each in given}.values())
    size = sum(math.ceil(math.prod(shape) * dtype.bitwidth / 8) for dtype, shape in types)
    if size > _COPIED_BYTES and _would_be_stored_twice(at.edit, node):
        return None
    if size <= _SMALL_BYTES and made_of <= 16 * _SMALL_BYTES:
        return _computed(run, tensors, node)
    if size > made_of or not _is_only_for(at.edit, node, _SMALL_BYTES):
        return None
    return [
        _later(run, tensors, place, dtype, shape, node.outputs[place].name)
        for place, (dtype, shape) in enumerate(types)
    ]


def kept_transposes(edit: Editor) -> list[str]:
    """The lines of the report about weights whose transpose is left to the runtime."""
    kept = dict.fromkeys(
        node.inputs[0].name
        for node in edit.nodes()
        if node.inputs and node.inputs[0] is not None and _would_be_stored_twice(edit, node)
    )
    return [
        f"weight '{name}' is read as it is and transposed: its Transpose stays, to store it once"
        for name in kept
    ]


def _would_be_stored_twice(edit: Editor, node: ir.Node) -> bool:
    """True if a node is the transpose of a weight that others read as it is."""
    return (node.domain, node.op_type) == ("", "Transpose") and not _is_only_for(edit, node, _COPIED_BYTES)


def _is_only_for(edit: Editor, node: ir.Node, small: int) -> bool:
    """True if what a node is made of, small constants aside, is read in no other way: it would be held twice."""
    for value in node.inputs:
        tensor = edit.tensor(value)
        if value is None or tensor is None or tensor.nbytes <= small:
            continue
        if value.is_graph_output() or any(not _is_same(use.node, node) for use in value.uses()):
            return False
    return True


def _is_same(left: ir.Node, right: ir.Node) -> bool:
    """True if two nodes do the same to a constant, so that they will be one."""
    return left is right or ((number := value_number(left)) is not None and number == value_number(right))


class _Run:
    """A node as a function of arrays."""

    def __init__(
        self, name: str, operator: Operator, attributes: dict[str, _AttributeValue], outputs: int
    ) -> None:
        self._name = name
        self._operator = operator
        self._attributes = attributes
        self._count = outputs

    def __call__(self, tensors: Sequence[ir.TensorProtocol | None]) -> Sequence[Array]:
        arrays = [None if each is None else each.numpy() for each in tensors]
        turned = arrays[0] if self._name == "Transpose" else None
        if turned is not None and turned.nbytes > _SMALL_BYTES:
            # The same for numpy, without what the runtime's allocator keeps: several times the weight, measured.
            return (turned.transpose(cast("tuple[int, ...] | None", self._attributes.get("perm"))),)
        # Where a graph is being made around us, operators would become nodes of it.
        token = ACTIVE.set(None)
        try:
            named = {} if self._count == 1 else {"outputs": self._count}
            result = self._operator(*arrays, **self._attributes, **named)
        finally:
            ACTIVE.reset(token)
        return cast("tuple[Array, ...]", result) if isinstance(result, tuple) else (result,)


def _runner(at: Attempt) -> _Run | None:
    attributes: dict[str, _AttributeValue] = {}
    for name, attribute in at.node.attributes.items():
        match attribute.type:
            case ir.AttributeType.INT | ir.AttributeType.FLOAT | ir.AttributeType.STRING:
                attributes[name] = attribute.value
            case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
                attributes[name] = tuple(attribute.value)
            case ir.AttributeType.TENSOR:
                attributes[name] = attribute.as_tensor().numpy()
            case _:
                return None
    found = _operator(at.node.domain, at.node.op_type, at.edit.version(at.node, at.node.domain))
    return None if found is None else _Run(at.node.op_type, found, attributes, len(at.node.outputs))


@lru_cache(maxsize=1024)
def _operator(domain: str, name: str, version: int) -> Operator | None:
    try:
        return operator(domain, name, version)
    except OnnxsmithError:
        return None


def _computed(
    run: _Run, tensors: Sequence[ir.TensorProtocol | None], node: ir.Node
) -> Sequence[ir.TensorProtocol] | None:
    try:
        results = run(tensors)
    except OnnxsmithError:  # it cannot run: let it fail where the model runs, if it ever does
        return None
    if len(results) != len(node.outputs) or not all(hasattr(each, "dtype") for each in results):
        return None  # a sequence is no constant
    return [array_to_ir(each) for each in results]


def _later(
    run: _Run,
    tensors: Sequence[ir.TensorProtocol | None],
    place: int,
    dtype: ir.DataType,
    shape: tuple[int, ...],
    name: str | None,
) -> ir.TensorProtocol:
    """A tensor that is computed when it is read."""
    return ir.LazyTensor(
        lambda: array_to_ir(np.ascontiguousarray(run(tensors)[place])),
        dtype=dtype,
        shape=ir.Shape(shape),
        name=name,
    )


def _result_types(at: Attempt) -> list[tuple[ir.DataType, tuple[int, ...]]] | None:
    """Element type and shape of the results, from the content of the inputs; None where that does not say it."""
    node = at.node
    walk = walked(at.edit, node, {})
    if walk is None:
        return None
    found: list[tuple[ir.DataType, tuple[int, ...]]] = []
    for value in node.outputs:
        kind = walk.of(value).type
        if not isinstance(kind, TensorType) or kind.dtype is None or kind.shape is None:
            return None
        shape = tuple([each for each in kind.shape if isinstance(each, int)])
        if len(shape) != len(kind.shape):
            return None
        found.append((ir_dtype(kind.dtype), shape))
    return found


def _work(at: Attempt, types: Sequence[tuple[ir.DataType, tuple[int, ...]]]) -> int:
    """Products and sums that a node takes, at most: for each element of a result, what one input has in a row."""
    results = sum(math.prod(shape) for _, shape in types)
    largest = 1
    for value in at.node.inputs:
        tensor = at.edit.tensor(value)
        if tensor is None:
            continue
        shape = dimensions_of(tensor)
        match at.node.op_type:
            case "MatMul" | "Gemm":
                largest = max(largest, *shape[-2:], 1)
            case "Conv" | "ConvTranspose" | "Einsum":
                largest = max(largest, math.prod(shape))
            case _:
                pass
    return results * largest

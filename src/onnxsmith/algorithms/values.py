"""Operations on values that algorithms share: casts, shapes as tensors, axes, constants.

Operators themselves come from `op`; the rules of a subject stand in its own module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TypeAlias, overload
from typing import cast as typed

import numpy as np

from onnxsmith.algorithms.operators import Tensor, TensorOperator, TensorOrArray, op
from onnxsmith.core.semantics.dimensions import dimension
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Array, Value
from onnxsmith.core.value import Size as AnySize
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

#: Names of sizes that the data decides.
_UNBACKED = re.compile(r"\bu\d+\b")
#: A length or a place along a dimension: an int where it is known now, else a number of the model.
Size: TypeAlias = int | Tensor
#: A tensor, or a Python number that is to be one.
Numeric: TypeAlias = Tensor | np.generic | bool | int | float | complex


def dtype_of(x: Tensor) -> DType:
    """The element type of a tensor; algorithms are recorded for element types that are known."""
    dtype = x.dtype
    assert dtype is not None, "an algorithm is recorded for known element types"
    return dtype


def rank_of(x: Tensor) -> int:
    """How many dimensions a tensor has; algorithms are recorded for ranks that are known."""
    return len(dimensions_of(x))


def dimensions_of(x: Tensor) -> tuple[Dimension, ...]:
    """The shape as inference writes it."""
    shape = x.type.shape
    assert shape is not None, "an algorithm is recorded for known ranks"
    return shape


#: Who knows more of the sizes in a graph than the tensors do, and computes each only once.
SIZE_READER: ContextVar[Callable[[Tensor, int], AnySize]] = ContextVar("SIZE_READER", default=dimension)


def size_of(x: Tensor, axis: int) -> Size:
    """One dimension of a tensor: an int, or a number of the model."""
    return _size(SIZE_READER.get()(x, axis))


def _size(found: object) -> Size:
    assert isinstance(
        found, int | Tensor
    )  # sizes are whole numbers, and those of a model can be computed with
    return found


def as_size(x: Tensor) -> Size:
    """A scalar of the model as a size."""
    return _size(x.as_number())


def sizes_of(x: Tensor) -> list[Size]:
    """The shape: ints, and numbers of the model where they are not known."""
    return [size_of(x, axis) for axis in range(rank_of(x))]


def least(a: Size, b: Size) -> Size:
    """The smaller of two sizes."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else _extreme(op.Min, a, b)


def greatest(a: Size, b: Size) -> Size:
    """The greater of two sizes."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else _extreme(op.Max, a, b)


def _extreme(operator: TensorOperator, a: Size, b: Size) -> Size:
    return as_size(operator(cast(a, DType.INT64), cast(b, DType.INT64)))


def product(sizes: Sequence[Size]) -> Size:
    """How many elements a shape has."""
    total: Size = 1
    for each in sizes:
        total = each if isinstance(total, int) and total == 1 else total * each
    return total


def like(value: complex, x: Tensor) -> Array:
    """A number in the element type of a tensor."""
    return np.asarray(value, dtype_of(x).numpy)


def where(condition: TensorOrArray, x: TensorOrArray, y: TensorOrArray) -> Tensor:
    """Elements of one or the other, as `Where` gives them; ONNX Runtime has none of truth values."""
    if any(isinstance(each, Tensor) and dtype_of(each) is DType.BOOL for each in (x, y)):
        return op.Or(op.And(condition, x), op.And(op.Not(condition), y))
    return op.Where(condition, x, y)


def constant(array: Array | np.generic | complex) -> Tensor:
    """An array as a tensor of the graph."""
    made = current_graph().constant(np.asarray(array))
    assert isinstance(made, Tensor)  # a constant is a tensor
    return made


@overload
def cast(value: Tensor, dtype: DType) -> Tensor: ...
@overload
def cast(value: Numeric | Array, dtype: DType) -> TensorOrArray: ...
def cast(value: Numeric | Array, dtype: DType) -> TensorOrArray:
    """A tensor, number or literal in an element type; a literal becomes a scalar array."""
    if isinstance(value, Number):
        return typed(Tensor, value.as_dtype(dtype))
    if not isinstance(value, Tensor):
        return literal(value, dtype)
    return value if value.dtype is dtype else op.Cast(value, to=dtype)


def as_tensor(value: Numeric | Array, dtype: DType) -> Tensor:
    """A tensor, number or literal as a tensor of the graph, in an element type."""
    made = cast(value, dtype)
    return made if isinstance(made, Tensor) else constant(made)


def converted(x: Tensor, dtype: DType) -> Tensor:
    """A tensor in an element type."""
    return x if x.dtype is dtype else op.Cast(x, to=dtype)


def literal(value: object, dtype: DType) -> Array:
    """A Python number (or list) as an array; integers wrap around."""
    with np.errstate(all="ignore"):
        if dtype.is_integer and not isinstance(value, bool):
            return np.asarray(value).astype(dtype.numpy)
        return np.asarray(value, dtype.numpy)


# -- shapes ----------------------------------------------------------------------------------------------


def is_static(sizes: Sequence[Size]) -> bool:
    """True if all sizes are ints."""
    return all(isinstance(each, int) for each in sizes)


def has_zero(sizes: Sequence[Size]) -> bool:
    """True if one of the sizes is certainly 0; of one that only the model knows, nothing is certain."""
    return any(isinstance(each, int) and each == 0 for each in sizes)


def int64s(sizes: Sequence[Size]) -> TensorOrArray:
    """Ints and numbers of the model as an INT64 vector: a constant where all are known."""
    if is_static(sizes):
        return np.array(sizes, np.int64).reshape(-1)
    parts: list[TensorOrArray] = []
    known: list[int] = []
    for each in sizes:
        if isinstance(each, int):
            known.append(each)
            continue
        if known:
            parts.append(np.array(known, np.int64))
            known = []
        parts.append(op.Reshape(cast(each, DType.INT64), np.array([1], np.int64)))
    if known:
        parts.append(np.array(known, np.int64))
    return op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def reshape(x: Tensor, sizes: Sequence[Size]) -> Tensor:
    """The elements in another shape. Sizes that stay where they are, and one more, are left to `Reshape`."""
    sizes = list(sizes)
    before = x.type.shape
    if (
        before is not None
        and len(before) == len(sizes)
        and all(_is_same(size, old) for size, old in zip(sizes, before, strict=True))
    ):
        return x
    unknown = [k for k, each in enumerate(sizes) if not isinstance(each, int)]
    known = [each for each in sizes if isinstance(each, int)]
    if unknown and before is not None and -1 not in known and 0 not in known:
        kept = [k for k in unknown if k < len(before) and _is_same(sizes[k], before[k])]
        rest = [k for k in unknown if k not in kept]
        # A size of zero beside -1 leaves the latter open; sizes that the data decides may well be zero.
        may_be_zero = any(_may_be_zero(sizes[k]) for k in unknown)
        if len(rest) <= 1 and not (may_be_zero and len(unknown) > 1 and rest):
            for k in kept:
                sizes[k] = 0
            for k in rest:
                sizes[k] = -1
    elif before is not None and 0 in known and -1 not in known:
        return op.Reshape(x, int64s(sizes), allowzero=1)
    return op.Reshape(x, int64s(sizes))


def _dimension(size: Size) -> Dimension:
    if isinstance(size, Number):
        data = size.known.data
        return data if isinstance(data, str | int) else None
    return size if isinstance(size, int) else None


def _is_same(size: Size, dimension: Dimension) -> bool:
    mine = _dimension(size)
    return mine == dimension if isinstance(mine, int) else symbolic.is_same(mine, dimension)


def _may_be_zero(size: Size) -> bool:
    text = _dimension(size)
    return not isinstance(text, int) and (text is None or _UNBACKED.search(str(text)) is not None)


def axis_of(dim: int, rank: int) -> int:
    """A dimension counted from the front; a scalar counts as one dimension."""
    return dim % max(rank, 1)


def axes_of(dims: int | Sequence[int] | None, rank: int) -> list[int]:
    """Dimensions counted from the front; all of them for None or an empty list."""
    if dims is None or (not isinstance(dims, int) and not len(dims)):
        return list(range(rank))
    return sorted(axis_of(each, rank) for each in ([dims] if isinstance(dims, int) else dims))


def expand(x: Tensor, sizes: Sequence[Size]) -> Tensor:
    """A tensor broadcast to a shape; as it is where it has it."""
    before = dimensions_of(x)
    if len(before) == len(sizes) and all(_is_same(a, b) for a, b in zip(sizes, before, strict=True)):
        return x
    return op.Expand(x, int64s(sizes))


def counted(size: Size) -> Tensor:
    """The numbers from 0 up to a size, as INT64."""
    if isinstance(size, int):
        return constant(np.arange(size))
    return numbers_until(size)


def numbers_until(end: Size) -> Tensor:
    """The same as a node, however large the size is."""
    return op.Range(np.int64(0), cast(end, DType.INT64), np.int64(1))


def transposed(x: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    rank = rank_of(x)
    return op.Transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])


def as_column(vector: Tensor, axis: int, rank: int) -> Tensor:
    """A vector that stands along an axis of a tensor, to broadcast with it."""
    return op.Reshape(vector, [-1 if k == axis else 1 for k in range(rank)])


def flat(x: Tensor) -> Tensor:
    """All elements in a row."""
    return op.Reshape(x, [-1])


def filled(sizes: Sequence[Size], value: Numeric, dtype: DType) -> Tensor:
    """A tensor of one value."""
    element = cast(value, dtype)
    if isinstance(element, np.ndarray) and is_static(sizes) and not sizes:
        return constant(element)
    return op.Expand(element if isinstance(element, Value) else constant(element), int64s(sizes))


def with_last(x: Tensor, axis: int) -> Tensor:
    """A tensor with an axis exchanged with the last one."""
    order = list(range(rank_of(x)))
    order[axis], order[-1] = order[-1], order[axis]
    return x if axis == len(order) - 1 else op.Transpose(x, perm=order)

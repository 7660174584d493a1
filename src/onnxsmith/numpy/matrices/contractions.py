"""Products: `dot`, `inner`, `outer`, `tensordot`, `cross`, `kron`, `trace`, `einsum`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from onnxsmith.algorithms.linalg.powers import cross as crossed
from onnxsmith.errors import AttributeTypeError, AttributeValueError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axes_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.rearranging import diagonal
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_same
from onnxsmith.numpy.reshaping import broadcast_arrays, expand_dims, moveaxis, reshape, transpose
from onnxsmith.numpy.sizes import Size, product
from onnxsmith.numpy.ufuncs import products
from onnxsmith.types.value_types import sizes_differ


@public("dot")
def dot(a: ArrayLike, b: ArrayLike) -> Array:
    """numpy's `dot`: over the last dimension of one and the last but one of the other.

    >>> import onnxsmith.numpy as xp
    >>> xp.dot(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array(11)
    """
    x, y = array_of(a), array_of(b)
    if not x.ndim or not y.ndim:
        return x * y
    return tensordot(x, y, axes=([x.ndim - 1], [max(y.ndim - 2, 0)])).as_number()


@public("inner")
def inner(a: ArrayLike, b: ArrayLike) -> Array:
    """Over the last dimensions of both.

    >>> import onnxsmith.numpy as xp
    >>> xp.inner(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array(11)
    """
    x, y = array_of(a), array_of(b)
    if not x.ndim or not y.ndim:
        return x * y
    return tensordot(x, y, axes=([x.ndim - 1], [y.ndim - 1])).as_number()


@public("vdot")
def vdot(a: ArrayLike, b: ArrayLike) -> Array:
    """Of all elements, those of the first conjugate.

    >>> import onnxsmith.numpy as xp
    >>> xp.vdot(xp.asarray([1j, 2]), xp.asarray([1j, 3]))
    Array(7.+0.j)
    """
    x, y = reshape(a, -1), reshape(b, -1)
    return dot(x.conj(), y)


@public("linalg.outer")
def vector_outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of an element of one vector and an element of another.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array([[3, 4],
           [6, 8]])
    """
    x, y = array_of(x1), array_of(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError(f"the arrays are two vectors, not of {x.ndim} and {y.ndim} dimensions")
    return outer(x, y)


@public("outer")
def outer(a: ArrayLike, b: ArrayLike) -> Array:
    """All products of an element of one and an element of the other.

    >>> import onnxsmith.numpy as xp
    >>> xp.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array([[3, 4],
           [6, 8]])
    """
    return reshape(reshape(a, -1), (-1, 1)) * reshape(reshape(b, -1), (1, -1))


@public("linalg.tensordot")
@public("tensordot")
def tensordot(a: ArrayLike, b: ArrayLike, /, axes: Any = 2) -> Array:
    """The sum of products over some dimensions of each.

    >>> import onnxsmith.numpy as xp
    >>> xp.tensordot(xp.ones((2, 3)), xp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    x, y = array_of(a), array_of(b)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise AttributeValueError(f"axes is from 0 to {min(x.ndim, y.ndim)}, not {axes}")
        mine = tuple(range(x.ndim - axes, x.ndim))
        theirs = tuple(range(axes))
    else:
        pair = (
            list(cast("Sequence[Any]", axes))
            if isinstance(axes, Sequence) or hasattr(axes, "__len__")
            else []
        )
        if len(pair) != 2:
            raise AttributeTypeError(
                "axes is an int, or a pair of axes for each array", culprit=("attribute", "axes")
            )
        first, second = pair
        mine, theirs = axes_of(first, x.ndim, "axes"), axes_of(second, y.ndim, "axes")
    if len(mine) != len(theirs):
        raise AttributeValueError("axes names as many dimensions of one array as of the other")
    for k, each in zip(mine, theirs, strict=True):
        left, right = x.shape[k], y.shape[each]
        if sizes_differ(left, right):
            raise ShapeError(f"dimension {k} has size {left}, and dimension {each} of the other size {right}")
        require_same(left, right, ValueError("shape-mismatch for sum"))
    rows = [k for k in range(x.ndim) if k not in mine]
    columns = [k for k in range(y.ndim) if k not in theirs]
    inside = product(cast("list[Size]", [x.shape[k] for k in mine]))
    outside = [
        cast("list[Size]", [x.shape[k] for k in rows]),
        cast("list[Size]", [y.shape[k] for k in columns]),
    ]
    left = reshape(transpose(x, (*rows, *mine)), (product(outside[0]), inside), copy=True)
    right = reshape(transpose(y, (*theirs, *columns)), (inside, product(outside[1])), copy=True)
    return reshape(left @ right, (*outside[0], *outside[1]), copy=True)


@recorded()
def _crossed(x: Array, y: Array, axis: int) -> Array:
    return array_from(crossed(tensors_of(x), tensors_of(y), axis))


@public("linalg.cross")
def vector_cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The vectors at right angles to two, along an axis of three.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
    Array([0, 0, 1])
    """
    return cross(x1, x2, axis=axis)


@public("cross")
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """numpy's `cross`, of vectors of three.

    >>> import onnxsmith.numpy as xp
    >>> xp.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
    Array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    # Each has the axis itself: broadcast first, it would be another one of the shorter.
    turned = [moveaxis(array_of(a), axisa, -1), moveaxis(array_of(b), axisb, -1)]
    for each in turned:
        size = each.shape[-1]
        if isinstance(size, int) and size != 3:
            raise ShapeError(f"the vectors have 3 elements each, not {size}")
        require_same(size, 3, ValueError("incompatible dimensions for cross product"))
    x, y = broadcast_arrays(*turned)
    dtype = dtypes.promoted([x.dtype, y.dtype])
    made = _crossed(as_type(x, dtype).copy(), as_type(y, dtype).copy(), x.ndim - 1)
    return moveaxis(made, -1, axisc)


@public("kron")
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """All products of elements, as blocks of the second.

    >>> import onnxsmith.numpy as xp
    >>> xp.kron(xp.asarray([1, 10]), xp.asarray([1, 2]))
    Array([ 1,  2, 10, 20])
    """
    x, y = array_of(a), array_of(b)
    if not x.ndim or not y.ndim:
        return x * y
    rank = max(x.ndim, y.ndim)
    left = reshape(x, (*[1] * (rank - x.ndim), *tuple(x.shape)))
    right = reshape(y, (*[1] * (rank - y.ndim), *tuple(y.shape)))
    sizes = tuple(p * q for p, q in zip(tuple(left.shape), tuple(right.shape), strict=True))
    spread = expand_dims(left, tuple(range(1, 2 * rank, 2))) * expand_dims(
        right, tuple(range(0, 2 * rank, 2))
    )
    return reshape(spread, sizes, copy=True)


@public("trace")
def trace(
    x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> Array:
    """The sums of diagonals.

    >>> import onnxsmith.numpy as xp
    >>> xp.trace(xp.asarray([[1, 2], [3, 4]]))
    Array(5)
    """
    return diagonal(x, offset, axis1, axis2).sum(-1, dtype)


@public("linalg.trace")
def matrix_trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums of the diagonals of matrices.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
    Array(5)
    """
    return trace(x, offset, -2, -1, dtype)


@public("linalg.multi_dot")
def multi_dot(arrays: Sequence[object]) -> Array:
    """The product of several matrices, from the left.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.multi_dot([xp.ones((2, 3)), xp.ones((3, 4)), xp.ones((4, 1))])
    Array([[12.],
           [12.]])
    """
    made = [array_of(each) for each in arrays]
    if len(made) < 2:
        raise AttributeValueError("a product has two matrices or more", culprit=("attribute", "arrays"))
    first, *others = made
    for each in others:
        first = dot(first, each)
    return first


@public("linalg.matmul")
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The product of matrices.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.matmul(xp.asarray([[1, 2]]), xp.asarray([[3], [4]]))
    Array([[11]])
    """
    return array_of(x1) @ array_of(x2)


@public("linalg.vecdot")
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The products of vectors along an axis, those of the first conjugate.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.vecdot(xp.asarray([1, 2]), xp.asarray([3, 4]))
    Array(11)
    """
    x, y = array_of(x1), array_of(x2)
    # Each has the axis itself: broadcast first, a size of 1 would go with any other.
    return products.vecdot(moveaxis(x, axis, -1), moveaxis(y, axis, -1))

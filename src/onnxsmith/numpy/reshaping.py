"""Views in another shape: `reshape`, `transpose`, `squeeze`, `broadcast_to` and their kin."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import SupportsIndex, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.demands import is_noted
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, AxisError, ShapeError
from onnxsmith.numpy import sharing
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of, axis_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_as_many, require_to_fit, require_together
from onnxsmith.numpy.sizes import (
    ShapeLike,
    Size,
    check_not_negative,
    is_known,
    product,
    shape_of,
)

# -- reshape ---------------------------------------------------------------------------------------------


@public("reshape")
def reshape(x: ArrayLike, /, shape: ShapeLike, order: str = "C", *, copy: bool | None = None) -> Array:
    """The same elements in another shape; one size may be -1. A view where numpy's is one.

    >>> import onnxsmith.numpy as xp
    >>> xp.reshape(xp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]])
    """
    array = array_of(x)
    if order == "A":
        order = _order_of(array)
    if order == "F":
        return transpose(reshape(transpose(array), shape_of(shape)[::-1], copy=copy))
    check_choice("order", order, "C", "F", "A")
    sizes = _resolved(array, shape_of(shape))
    if copy:
        return sharing.detached(reshaped(sharing.detached(array), sizes))
    before = tuple(array.shape)
    is_plain = is_view = array._is_plain
    layout = None if is_plain else sharing.layout_of(array)
    if layout is not None:
        wanted = layout.reshape(cast("tuple[int, ...]", sizes))
        is_plain, is_view = wanted.flags.c_contiguous, np.may_share_memory(wanted, layout)
    if copy is False and not is_view:
        raise AttributeValueError(
            "the elements do not lie so that this shape is a view of them", culprit=("attribute", "copy")
        )
    if layout is not None and not is_view:
        return sharing.detached(reshaped(sharing.detached(array), sizes), is_plain=True)
    return sharing.view(
        array,
        lambda base: reshaped(base, sizes),
        (lambda base, part: reshaped(part, before)) if is_view else None,
        lambda layout: layout.reshape(cast("tuple[int, ...]", sizes)),
        is_plain=is_plain,
    )


def _order_of(x: Array) -> str:
    """The meaning of order "A": "F" where the first dimension is the fastest."""
    if x._is_plain:
        return "C"
    layout = sharing.layout_of(x)
    if layout is None:
        raise AttributeValueError(
            "order 'A' depends on how the elements lie, and that is not known",
            culprit=("attribute", "order"),
            help="say which: 'C' or 'F'",
        )
    return "F" if layout.flags.fnc else "C"


def _resolved(x: Array, shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """A shape without -1, unless the operator itself may work it out."""
    unknown = [k for k, each in enumerate(shape) if isinstance(each, int) and each == -1]
    if len(unknown) > 1:
        raise ShapeError("only one size of a shape may be -1")
    # A number of the model may be -1, too, unless there is one already.
    check_not_negative(
        [each for k, each in enumerate(shape) if k not in unknown and (unknown or isinstance(each, int))]
    )
    others = [each for k, each in enumerate(shape) if k not in unknown]
    if not unknown and not is_known(shape) and is_noted():
        require_as_many(x, shape)
    if x.is_symbolic and not is_known(x.shape):
        if not unknown or (is_known(others) and 0 not in others):
            return shape
        rest = values.greatest(cast(values.Size, product(others)), 1)
        found = cast(Size, cast(Size, x.size) // rest)
        return tuple(found if k in unknown else each for k, each in enumerate(shape))
    total, count = x.size, product(others)
    if isinstance(count, int):
        fits = count == total if not unknown else bool(count) and total % count == 0
        if not fits:
            raise ShapeError(f"an array of {total} elements has no shape {shape}")
        return tuple(total // count if k in unknown else each for k, each in enumerate(shape))
    return shape


@recorded("shape")
def reshaped(x: Array, shape: tuple[Size, ...]) -> Array:
    """The elements in another shape, as an array of its own."""
    sizes = cast("Sequence[values.Size]", shape)

    def of_tensor(part: Tensor) -> Tensor:
        if is_known(shape) and -1 in shape:
            return op.Reshape(part, np.array(shape, np.int64))
        return op.Reshape(part, values.int64s(sizes), allowzero=1)

    return array_from(tensors_of(x).map(of_tensor))


@public("ravel")
def ravel(x: ArrayLike, order: str = "C") -> Array:
    """All elements in one dimension: a view where numpy's is one.

    >>> import onnxsmith.numpy as xp
    >>> xp.ravel(xp.asarray([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4])
    """
    array = array_of(x)
    if order == "A":
        order = _order_of(array)
    elif order == "K" and array._is_plain:
        order = "C"
    if order == "A":
        order = _order_of(array)
    layout = None if array._is_plain and order == "C" else sharing.layout_of(array)
    if layout is not None and not np.may_share_memory(layout, layout.ravel("F" if order == "F" else "C")):
        # Unlike `reshape`, it makes a copy of elements that do not lie side by side.
        return sharing.detached(reshape(array, (-1,), order), is_plain=True)
    return reshape(array, (-1,), order)


@public("_flat")
def flat(x: Array) -> Array:
    """`x.flat`: all elements in a row, shared however they lie."""
    before = tuple(x.shape)
    return sharing.view(
        x,
        lambda base: reshaped(base, (x.size,) if is_known(before) else (-1,)),
        lambda base, part: reshaped(part, before),
        lambda layout: layout.reshape(-1),
        is_plain=x._is_plain,
    )


# -- the order of dimensions -----------------------------------------------------------------------------


@recorded()
def permuted(x: Array, axes: tuple[int, ...]) -> Array:
    """The dimensions in another order, as an array of its own."""
    return array_from(tensors_of(x).map(op.Transpose, perm=axes))


@public("permute_dims")
@public("transpose")
def transpose(x: ArrayLike, /, axes: Axes = None) -> Array:
    """The dimensions in another order, reversed unless it is given: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.permute_dims(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    array = array_of(x)
    rank = array.ndim
    order = tuple(range(rank))[::-1] if axes is None else axes_of(axes, rank, "axes")
    if len(order) != rank:
        raise AttributeValueError(
            f"axes names {len(order)} of {rank} dimensions", culprit=("attribute", "axes")
        )
    back = tuple(int(each) for each in np.argsort(order))
    is_same = order == tuple(range(rank))
    return sharing.view(
        array,
        lambda base: permuted(base, order),
        lambda base, part: permuted(part, back),
        lambda layout: layout.transpose(order),
        is_plain=array._is_plain and is_same,
    )


@public("matrix_transpose")
@public("linalg.matrix_transpose")
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two dimensions exchanged.

    >>> import onnxsmith.numpy as xp
    >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]])
    """
    array = array_of(x)
    if array.ndim < 2:
        raise ShapeError(f"a matrix has two dimensions, and this array {array.ndim}")
    return swapaxes(array, -1, -2)


@public("swapaxes")
def swapaxes(x: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex) -> Array:
    """Two dimensions in each other's place: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.swapaxes(xp.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    array = array_of(x)
    order = list(range(array.ndim))
    first, second = axis_of(axis1, array.ndim, "axis1"), axis_of(axis2, array.ndim, "axis2")
    order[first], order[second] = second, first
    return transpose(array, order)


@public("moveaxis")
def moveaxis(x: ArrayLike, source: Axes, destination: Axes, /) -> Array:
    """Dimensions in other places, the others in their order: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    array = array_of(x)
    taken = axes_of(source, array.ndim, "source")
    places = axes_of(destination, array.ndim, "destination")
    if len(taken) != len(places):
        raise AttributeValueError("source and destination name as many dimensions")
    order = [each for each in range(array.ndim) if each not in taken]
    for place, axis in sorted(zip(places, taken, strict=True)):
        order.insert(place, axis)
    return transpose(array, order)


@public("rollaxis")
def rollaxis(x: ArrayLike, axis: int, start: int = 0) -> Array:
    """A dimension moved to before another: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.rollaxis(xp.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    array = array_of(x)
    rank = array.ndim
    source = axis_of(axis, rank)
    if not isinstance(cast(object, start), SupportsIndex) or not -rank <= start <= rank:
        axis_of(start, rank + 1, "start")
        raise AxisError(f"start {start} is out of bounds: it is from {-rank} to {rank}")
    # A negative start counts among the dimensions that there are: -1 stands before the last one.
    place = start + rank if start < 0 else start
    return moveaxis(array, source, place - (source < place))


# -- dimensions of size 1 --------------------------------------------------------------------------------


@recorded()
def _squeezed(x: Array, axes: tuple[int, ...]) -> Array:
    return array_from(tensors_of(x).map(lambda part: op.Squeeze(part, list(axes)) if axes else part))


@recorded()
def unsqueezed(x: Array, axes: tuple[int, ...]) -> Array:
    """New dimensions of size 1, in the places that they have in the result; an array of its own."""
    return array_from(tensors_of(x).map(lambda part: op.Unsqueeze(part, list(axes)) if axes else part))


@public("squeeze")
def squeeze(x: ArrayLike, /, axis: Axes = None) -> Array:
    """Without dimensions of size 1, all or those that are named: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.squeeze(xp.zeros((1, 3, 1))).shape
    (3,)
    """
    array = array_of(x)
    shape = tuple(array.shape)
    if axis is None:
        if not is_known(shape):
            raise ShapeError(
                "which dimensions have size 1 is known only when the model runs",
                help="name them: xp.squeeze(x, axis=…)",
            )
        axes = tuple(k for k, each in enumerate(shape) if each == 1)
    else:
        # As numpy, which counts one dimension of a number here.
        axes = () if not shape and axis in (0, -1) else axes_of(axis, array.ndim)
        for each in axes:
            if isinstance(shape[each], int) and shape[each] != 1:
                raise ShapeError(f"dimension {each} has size {shape[each]}, and only one of size 1 can go")
    return sharing.view(
        array,
        lambda base: _squeezed(base, axes),
        lambda base, part: unsqueezed(part, axes),
        lambda layout: layout.squeeze(axes),
        is_plain=array._is_plain,
    )


@public("expand_dims")
def expand_dims(x: ArrayLike, /, axis: Axes = 0) -> Array:
    """New dimensions of size 1: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.expand_dims(xp.asarray([1, 2]), axis=1).shape
    (2, 1)
    """
    array = array_of(x)
    count = 1 if isinstance(axis, SupportsIndex) or axis is None else len(axis)
    axes = tuple(sorted(axes_of(axis, array.ndim + count)))
    return sharing.view(
        array,
        lambda base: unsqueezed(base, axes),
        lambda base, part: _squeezed(part, axes),
        lambda layout: np.expand_dims(layout, axes),
        is_plain=array._is_plain,
    )


# -- broadcasting ----------------------------------------------------------------------------------------


@recorded("shape")
def expanded(x: Array, shape: tuple[Size, ...]) -> Array:
    """The elements broadcast to a shape that they fit."""
    sizes = values.int64s(cast("Sequence[values.Size]", shape))
    return array_from(tensors_of(x).map(op.Expand, sizes))


@public("broadcast_to")
def broadcast_to(x: ArrayLike, /, shape: ShapeLike) -> Array:
    """Broadcast to a shape: a view that cannot be written to.

    >>> import onnxsmith.numpy as xp
    >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]])
    """
    array = array_of(x)
    sizes = shape_of(shape)
    check_not_negative(sizes)
    before = tuple(array.shape)
    if len(sizes) < len(before):
        raise ShapeError(f"an array of {len(before)} dimensions does not broadcast to {len(sizes)}")
    for mine, wanted in zip(before[::-1], sizes[::-1], strict=False):
        if isinstance(mine, int) and isinstance(wanted, int) and mine not in (1, wanted):
            raise ShapeError(f"an array of shape {before} does not broadcast to {sizes}")
        require_to_fit(mine, wanted)
    made = sharing.view(
        sharing.detached(array) if array.is_number else array,
        lambda base: expanded(base, sizes),
        lambda base, part: base,
        lambda layout: np.broadcast_to(layout, cast("tuple[int, ...]", sizes)),
        is_plain=False,
    )
    made.lock("it is broadcast, and its elements stand for several")
    return made


@public("broadcast_shapes")
def broadcast_shapes(*shapes: ShapeLike) -> tuple[Size, ...]:
    """The shape that all broadcast to.

    >>> import onnxsmith.numpy as xp
    >>> xp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    found = [shape_of(each) for each in shapes]
    if all(is_known(each) for each in found):
        try:
            return np.broadcast_shapes(*cast("list[tuple[int, ...]]", found))
        except ValueError:
            raise ShapeError(f"the shapes {', '.join(map(str, found))} do not broadcast") from None
    for each in found:
        check_not_negative(each)
    error = ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    for first, second in itertools.combinations(found, 2):
        for a, b in zip(first[::-1], second[::-1], strict=False):
            require_together(a, b, error)
    return broadcast_sizes(found)


def broadcast_sizes(shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The same where the model knows some sizes: what is 1 gives way, and the greater of two open ones is taken."""
    rank = max(map(len, shapes))
    result: list[Size] = []
    for axis in range(rank):
        sizes = [each[axis - rank + len(each)] for each in shapes if axis >= rank - len(each)]
        fixed = {each for each in sizes if isinstance(each, int) and each != 1}
        if len(fixed) > 1:
            raise ShapeError(f"sizes {sorted(fixed)} do not broadcast")
        if fixed:
            result.append(fixed.pop())
            continue
        total: Size = 1
        for each in sizes:
            if not isinstance(each, int):
                total = each if isinstance(total, int) else cast(Size, _wider(total, each))
        result.append(total)
    return tuple(result)


def _wider(a: Size, b: Size) -> values.Size:
    """Of two sizes that broadcast, the one that is not 1: a product where the other is 1, either where they agree."""
    first, second = cast(values.Size, a), cast(values.Size, b)
    one = op.Equal(values.int64s([first]), np.array([1], np.int64))
    chosen = op.Where(one, values.int64s([second]), values.int64s([first]))
    return cast(values.Size, op.Squeeze(chosen, [0]).as_number())


@public("broadcast_arrays")
def broadcast_arrays(*arrays: ArrayLike) -> tuple[Array, ...]:
    """All arrays in the shape that they broadcast to.

    >>> import onnxsmith.numpy as xp
    >>> xp.broadcast_arrays(xp.asarray([1, 2]), xp.asarray([[3], [4]]))
    (Array([[1, 2],
           [1, 2]]), Array([[3, 3],
           [4, 4]]))
    """
    given = [array_of(each) for each in arrays]
    if not given:
        return ()
    shape = broadcast_shapes(*[tuple(each.shape) for each in given])
    if is_known(shape) and all(is_known(each.shape) and tuple(each.shape) == shape for each in given):
        return tuple(given)  # as numpy, which gives them as they are
    made = tuple(broadcast_to(each, shape) for each in given)
    # Of no elements none stands for several.
    return tuple(map(sharing.detached, made)) if is_known(shape) and 0 in shape else made


def _at_least(x: ArrayLike, rank: int) -> Array:
    array = array_of(x)
    missing = rank - array.ndim
    if missing <= 0:
        return array
    if rank < 3:
        return expand_dims(array, tuple(range(missing)))
    # numpy puts a vector into the middle, and a matrix first.
    return expand_dims(array, {1: (2,), 2: (0, 2), 3: (0, 1, 2)}[missing])


def _each(arrays: tuple[ArrayLike, ...], rank: int) -> Array | tuple[Array, ...]:
    made = tuple(_at_least(each, rank) for each in arrays)
    return made[0] if len(made) == 1 else made


@public("atleast_1d")
def atleast_1d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """With one dimension at least.

    >>> import onnxsmith.numpy as xp
    >>> xp.atleast_1d(xp.asarray(3.0))
    Array([3.])
    """
    return _each(arrays, 1)


@public("atleast_2d")
def atleast_2d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """With two dimensions at least.

    >>> import onnxsmith.numpy as xp
    >>> xp.atleast_2d(xp.asarray([1, 2]))
    Array([[1, 2]])
    """
    return _each(arrays, 2)


@public("atleast_3d")
def atleast_3d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """With three dimensions at least.

    >>> import onnxsmith.numpy as xp
    >>> xp.atleast_3d(xp.asarray([1, 2])).shape
    (1, 2, 1)
    """
    return _each(arrays, 3)


# -- parts of complex numbers ----------------------------------------------------------------------------


@recorded()
def _part(x: Array, which: str) -> Array:
    field = tensors_of(x)
    assert field.im is not None  # only complex arrays have parts to be viewed
    return array_from(field.re if which == "real" else field.im)


@recorded()
def _with_part(x: Array, part: Array, which: str) -> Array:
    field, given = tensors_of(x), tensors_of(as_type(part, np.real(np.empty(0, x.dtype)).dtype)).re
    return array_from(Field(given, field.im) if which == "real" else Field(field.re, given))


@public("real")
def real(x: ArrayLike) -> Array:
    """The real parts: a view; a real array is its own.

    >>> import onnxsmith.numpy as xp
    >>> xp.real(xp.asarray([1 + 2j, 3j]))
    Array([1., 0.])
    """
    # A number of Python's has one of its own.
    return cast("Array", getattr(x, "real")) if isinstance(x, Number) else _viewed_part(array_of(x), "real")  # noqa: B009


@public("imag")
def imag(x: ArrayLike) -> Array:
    """The imaginary parts: a view; zeros for a real array.

    >>> import onnxsmith.numpy as xp
    >>> xp.imag(xp.asarray([1 + 2j, 3j]))
    Array([2., 3.])
    """
    return cast("Array", getattr(x, "imag")) if isinstance(x, Number) else _viewed_part(array_of(x), "imag")  # noqa: B009


def _viewed_part(array: Array, which: str) -> Array:
    if array.dtype.kind != "c":
        if which == "real":
            return array
        zeros = array_from(tensors_of(array)) if array.is_symbolic else array
        made = _zeros(zeros)
        if array.is_number:
            return made
        made = sharing.detached(made)
        made.lock("a real array has no imaginary parts")
        return made
    return sharing.view(
        array,
        lambda base: _part(base, which),
        lambda base, part: _with_part(base, part, which),
        lambda layout: np.real(layout) if which == "real" else np.imag(layout),
        is_plain=False,
    )


@recorded()
def _zeros(x: Array) -> Array:
    tensor = tensors_of(x).re
    return array_from(values.filled(values.sizes_of(tensor), 0, values.dtype_of(tensor)))

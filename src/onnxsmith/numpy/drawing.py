"""Random numbers of a key: `xp.random`. The same key gives the same numbers, at once and in a model.

There is no hidden state: who needs more numbers splits the key. In a model the key, or the seed that it is made of, may
be an input.
"""

from __future__ import annotations

import math
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.threefry import fraction, threefry
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, stacked, tensor_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.ranges import counted
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sizes import ShapeLike, Size, check_not_negative, product, shape_of
from onnxsmith.numpy.ufuncs.exponentials import cos, log, sqrt
from onnxsmith.types.dtypes import DType

_Words: TypeAlias = tuple[Tensor, Tensor]

_WORD = np.dtype(np.uint32)
_INT64 = np.dtype(np.int64)
#: The first word of the counter: new keys are never among the numbers that are drawn.
_FOR_NUMBERS, _FOR_KEYS = 0, 0xFFFFFFFF
#: Ranges up to this size are drawn without a number that is wider than INT64.
_MOST = 2**31


def _key_of(key: ArrayLike) -> Array:
    found = array_of(key)
    if found.dtype != _WORD or found.ndim != 1 or (not found.is_symbolic and found.shape != (2,)):
        raise InputTypeError("a key is two words of uint32", help="xp.random.key(seed) makes one")
    return found


def _drawn(key: Array, shape: tuple[Size, ...], first: int = _FOR_NUMBERS) -> _Words:
    """Two words for every place of a shape."""
    words = values.converted(tensor_of(key), DType.INT64)
    parts = op.Gather(words, np.int64(0)), op.Gather(words, np.int64(1))
    # A word counts 2**32 places; what is beyond goes to the other.
    count = counted(product(shape))
    high = op.Div(count, np.int64(2**32)) + first
    low = op.BitwiseAnd(count, np.int64(0xFFFFFFFF))
    sizes = values.int64s(cast("tuple[values.Size, ...]", shape))
    x, y = (op.Reshape(each, sizes, allowzero=1) for each in threefry(parts, (high, low)))
    return x, y


@public("random.key")
def key(seed: ArrayLike) -> Array:
    """The key of a seed: an integer, known now or in the model.

    >>> import onnxsmith.numpy as xp
    >>> xp.random.key(7)
    Array([0, 7], dtype=uint32)
    """
    given = array_of(seed)
    if given.dtype.kind not in "iu" or given.ndim:
        raise InputTypeError("a seed is an integer")
    return _key(as_type(given, _INT64))


@recorded()
def _key(seed: Array) -> Array:
    return as_type(stacked([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF]), _WORD)


@public("random.split")
def split(key: ArrayLike, num: int = 2) -> Array:
    """Keys whose numbers have nothing to do with each other, or with those of the key: one a row.

    >>> import onnxsmith.numpy as xp
    >>> first, second = xp.random.split(xp.random.key(0))
    """
    return _split(_key_of(key), num)


@recorded()
def _split(key: Array, num: int) -> Array:
    # How many there are is part of the form, so that they can be unpacked in a recording.
    made = [op.Unsqueeze(each, [1]) for each in _drawn(key, (num,), _FOR_KEYS)]
    return array_from(
        op.Reshape(values.converted(op.Concat(*made, axis=1), DType.UINT32), np.array([num, 2]))
    )


def _real(dtype: DTypeLike | None) -> NumpyDType:
    found = dtypes.FLOAT64 if dtype is None else dtypes.read(dtype)
    if found.kind != "f":
        raise AttributeValueError(f"fractions are drawn, not {found.name}", culprit=("attribute", "dtype"))
    return found


def _sizes(shape: ShapeLike) -> tuple[Size, ...]:
    found = shape_of(shape)
    check_not_negative(found)
    return found


@public("random.uniform")
def uniform(
    key: ArrayLike,
    shape: ShapeLike = (),
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    dtype: DTypeLike | None = None,
) -> Array:
    """Fractions from `low` on, below `high`, each as likely as the others.

    >>> import onnxsmith.numpy as xp
    >>> xp.random.uniform(xp.random.key(0), 3).shape
    (3,)
    """
    kind = _real(dtype)
    made = _uniform(_key_of(key), _sizes(shape), kind)
    if low == 0.0 and high == 1.0:
        return made
    start = as_type(array_of(low), kind)
    return made * (as_type(array_of(high), kind) - start) + start


@recorded("shape")
def _uniform(key: Array, shape: tuple[Size, ...], dtype: NumpyDType) -> Array:
    made = fraction(_drawn(key, shape), is_wide=dtype.itemsize == 8)
    if dtype.itemsize == 2:  # what is nearly 1 must not be rounded to 1
        made = op.Floor(made * np.float32(2.0**11)) * np.float32(2.0**-11)
    return array_from(values.converted(made, dtypes.onnx_type(dtype)))


@public("random.normal")
def normal(
    key: ArrayLike,
    shape: ShapeLike = (),
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    dtype: DTypeLike | None = None,
) -> Array:
    """Numbers of the normal distribution, with a mean and a standard deviation.

    >>> import onnxsmith.numpy as xp
    >>> key = xp.random.key(0)
    >>> xp.random.normal(key, (2, 3)).shape
    (2, 3)
    """
    kind = _real(dtype)
    made = _normal(_key_of(key), _sizes(shape), kind)
    if loc == 0.0 and scale == 1.0:
        return made
    return made * as_type(array_of(scale), kind) + as_type(array_of(loc), kind)


@recorded("shape")
def _normal(key: Array, shape: tuple[Size, ...], dtype: NumpyDType) -> Array:
    # Box and Muller's: a distance and a direction in the plane, of which one coordinate is taken.
    keys = _split(key, 2)
    distance, direction = (fraction(_drawn(keys[k], shape), is_wide=True) for k in range(2))
    away = array_from(1 - distance)  # above 0, whose logarithm is finite
    angle = array_from(direction * (2 * math.pi))
    return as_type(sqrt(log(away) * -2.0) * cos(angle), dtype)


@public("random.integers")
def integers(
    key: ArrayLike, low: int, high: int | None = None, shape: ShapeLike = (), dtype: DTypeLike | None = None
) -> Array:
    """Integers from `low` on (0 where one bound is given), below `high`; the bounds are ints, at most 2**31 apart.

    >>> import onnxsmith.numpy as xp
    >>> bool(xp.all(xp.random.integers(xp.random.key(1), 6, shape=100) < 6))
    True
    """
    start, stop = (0, low) if high is None else (low, high)
    kind = _INT64 if dtype is None else dtypes.read(dtype)
    if kind.kind not in "iu":
        raise AttributeValueError(f"integers are drawn, not {kind.name}", culprit=("attribute", "dtype"))
    limits = np.iinfo(cast("np.dtype[np.int64]", kind))
    if not 0 < stop - start <= _MOST or start < limits.min or stop - 1 > limits.max:
        raise AttributeValueError(
            f"integers from {start} to below {stop} are none, more than 2**31, or not of {kind.name}"
        )
    return as_type(_integers(_key_of(key), _sizes(shape), start, stop - start), kind)


@recorded("shape", "start", "count")
def _integers(key: Array, shape: tuple[Size, ...], start: Size, count: Size) -> Array:
    """Of 64 bits, so that of two numbers none is likelier than the other by more than one in 2**33."""
    high, low = _drawn(key, shape)
    size = values.cast(cast(values.Size, count), DType.INT64)
    carried = op.Mod(high, size) * op.Mod(np.int64(2**32), size)
    place = op.Mod(carried + low, size)
    return array_from(place + values.cast(cast(values.Size, start), DType.INT64))


@public("random.permutation")
def permutation(key: ArrayLike, x: ShapeLike) -> Array:
    """The numbers below `x` in a random order; of an array, its rows.

    >>> import onnxsmith.numpy as xp
    >>> xp.random.permutation(xp.random.key(0), 4)
    Array([1, 0, 3, 2])
    """
    if isinstance(x, Array):
        if not x.ndim:
            raise ShapeError("an array without dimensions has no rows")
        order = _order(_key_of(key), (x.shape[0],))
        return x.take(order, axis=0)
    return _order(_key_of(key), _sizes(x))


@recorded("shape")
def _order(key: Array, shape: tuple[Size, ...]) -> Array:
    high, low = _drawn(key, shape)
    rank = op.Div(high, np.int64(2)) * (2**32) + low
    return array_from(rank).argsort(stable=True)

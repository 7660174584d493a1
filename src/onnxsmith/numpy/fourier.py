"""`xp.fft`: discrete Fourier transforms of one and more dimensions, complex, real and Hermitian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, SupportsIndex, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.fourier import along, half_transform, real_transform, scale_of, transform
from onnxsmith.algorithms.operators import op
from onnxsmith.core.demands import forbid
from onnxsmith.errors import AttributeTypeError, AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, Device, DTypeLike, ShapeLike, SizeLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of, axis_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.creation import check_device
from onnxsmith.numpy.documentation import documented
from onnxsmith.numpy.ranges import counted
from onnxsmith.numpy.rearranging import roll
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least
from onnxsmith.numpy.sizes import Size, shape_of, size_of
from onnxsmith.types.dtypes import DType

Kind = Literal["complex", "half", "real"]


def _resized(z: Field, axis: int, count: values.Size) -> Field:
    """Cut, or filled up with zeros, to a count along an axis."""
    held = values.size_of(z.re, axis)
    if isinstance(held, int) and isinstance(count, int) and held == count:
        return z
    pads: list[values.Size] = [0] * (2 * z.rank)
    pads[z.rank + axis] = count - held  # below 0 it is cut
    return z.map(lambda part: op.Pad(part, values.int64s(pads), values.like(0, part)))


# The counts belong to the form of a call: how a transform is computed depends on them.
@recorded()
def _transformed(
    x: Array, counts: tuple[Size, ...], axes: tuple[int, ...], kind: Kind, norm: str, inverse: bool
) -> Array:
    """A transform along axes, the last one first or last, as its kind has it."""
    z = tensors_of(x)
    wanted = z.dtype
    z = z.cast(DType.DOUBLE) if z.dtype is not DType.DOUBLE else z
    sizes = cast("list[values.Size]", list(counts))
    held = [*sizes[:-1], sizes[-1] // 2 + 1] if kind == "real" else sizes
    for axis, count in zip(axes, held, strict=True):
        z = _resized(z, axis, count)
    many = list(zip(axes, sizes, strict=True))
    if kind == "half":
        z = along(z, axes[-1], lambda each: half_transform(each.re, sizes[-1], inverse))
    for axis, count in many if kind == "complex" else many[:-1]:
        z = along(z, axis, lambda each, n=count: transform(each, n, inverse))
    if kind == "real":
        z = along(z, axes[-1], lambda each: Field(real_transform(each, sizes[-1], inverse)))
    factor = scale_of(sizes, norm, inverse)
    if factor is not None:
        # A Python float would be a literal of float32, cast afterwards.
        by = np.float64(factor) if isinstance(factor, float) else factor
        z = z.map(lambda part: part * by)
    return array_from(z.cast(wanted))


def _transform(
    x: ArrayLike,
    sizes: object,
    axes: Axes,
    norm: str | None,
    kind: Kind,
    inverse: bool,
    *,
    default_axes: Axes,
) -> Array:
    array = array_of(x)
    check_choice("norm", norm, "backward", "ortho", "forward", others=(None,))
    if kind == "half" and array.dtype.kind == "c":
        raise InputTypeError("this transform is for real numbers", help="use xp.fft.fft for complex ones")
    if kind == "half":
        array = as_type(
            array,
            np.dtype(np.float32) if array.dtype.itemsize < 8 and array.dtype.kind == "f" else dtypes.FLOAT64,
        )
    else:
        is_small = array.dtype.kind in "fc" and array.dtype.itemsize <= (4 if array.dtype.kind == "f" else 8)
        array = as_type(array, dtypes.COMPLEX64 if is_small else dtypes.COMPLEX128)
    given = None if sizes is None else shape_of(sizes, "s")
    if axes is None and given is not None and default_axes is None:
        places = axes_of(tuple(range(-len(given), 0)), array.ndim, "axes")
    else:
        places = axes_of(default_axes if axes is None else axes, array.ndim, "axes")
    if not places and kind == "complex":
        return array_of(x)  # as numpy, which transforms along each axis in turn: itself
    if not places:
        raise AttributeValueError("a transform of real numbers has an axis", culprit=("attribute", "axes"))
    counts = _counts(array, given, places, kind)
    return _transformed(array, counts, places, kind, norm or "backward", inverse)


def _counts(x: Array, given: tuple[Size, ...] | None, axes: tuple[int, ...], kind: Kind) -> tuple[Size, ...]:
    held = [cast(Size, x.shape[axis]) for axis in axes]
    if given is None:
        counts = held
        if kind == "real" and held:
            counts[-1] = cast(Size, 2 * (held[-1] - 1))
    elif len(given) != len(held):
        raise AttributeValueError(f"there are {len(given)} sizes for {len(held)} axes")
    else:  # -1 is the size that there is, of a real transform, too
        counts = [own if isinstance(n, int) and n == -1 else n for n, own in zip(given, held, strict=True)]
    for each in counts:
        if isinstance(each, int) and each < 1:
            raise AttributeValueError(f"a transform is of 1 number or more, not of {each}")
        require_at_least(each, 1, ValueError("Invalid number of FFT data points specified."))
    return tuple(counts)


def _single(name: str, kind: Kind, inverse: bool) -> Callable[..., Array]:
    def function(
        x: ArrayLike, /, n: SizeLike | None = None, axis: int = -1, norm: str | None = None
    ) -> Array:
        array = array_of(x)
        place = axis_of(axis, array.ndim)
        sizes = None if n is None else (size_of(n, "n"),)
        if (
            sizes is not None and isinstance(sizes[0], int) and sizes[0] == -1
        ):  # among several, it would stand for the size that there is
            raise AttributeValueError(
                "a transform is of 1 number or more, not of -1", culprit=("attribute", "n")
            )
        return _transform(array, sizes, (place,), norm, kind, inverse, default_axes=None)

    function.__name__ = name
    function.__doc__ = documented(f"fft.{name}")
    return public(f"fft.{name}")(function)


def _several(name: str, kind: Kind, inverse: bool, default_axes: Axes) -> Callable[..., Array]:
    def function(
        x: ArrayLike, /, s: ShapeLike | None = None, axes: Axes = default_axes, norm: str | None = None
    ) -> Array:
        if isinstance(axes, SupportsIndex):
            raise AttributeTypeError(
                "axes is a sequence of ints, not one", culprit=("attribute", "axes"), help=f"axes=({axes},)"
            )
        return _transform(x, s, axes, norm, kind, inverse, default_axes=default_axes)

    function.__name__ = name
    function.__doc__ = documented(f"fft.{name}")
    return public(f"fft.{name}")(function)


fft = _single("fft", "complex", False)
ifft = _single("ifft", "complex", True)
rfft = _single("rfft", "half", False)
irfft = _single("irfft", "real", True)
hfft = _single("hfft", "real", False)
ihfft = _single("ihfft", "half", True)
for _name, _kind, _inverse in (
    ("fft", "complex", False),
    ("ifft", "complex", True),
    ("rfft", "half", False),
    ("irfft", "real", True),
):
    _several(f"{_name}n", cast(Kind, _kind), _inverse, None)
    _several(f"{_name}2", cast(Kind, _kind), _inverse, (-2, -1))


# -- frequencies -----------------------------------------------------------------------------------------


def _frequencies(n: object, d: float, dtype: DTypeLike | None, is_half: bool) -> Array:
    size = size_of(n, "n")
    wanted = dtypes.FLOAT64 if dtype is None else dtypes.read(dtype)
    if wanted.kind not in "f":
        raise AttributeValueError("frequencies are floats", culprit=("attribute", "dtype"))
    if isinstance(size, int):
        made = np.fft.rfftfreq(size, d) if is_half else np.fft.fftfreq(size, d)
        return Array(cast("np.ndarray[Any, Any]", made).astype(wanted))
    require_at_least(size, 0, ValueError("negative dimensions are not allowed"))
    count = values.cast(size, DType.INT64)
    length = op.Cast(count, to=DType.DOUBLE) * d
    forbid(lambda: op.Equal(length, np.float64(0)), ZeroDivisionError("float division by zero"))
    above = cast(Size, size // 2 + 1 if is_half else (size - 1) // 2 + 1)  # as many are not negative
    places = counted(size if not is_half else above)
    if not is_half:
        is_negative = places >= values.cast(above, DType.INT64)
        places = op.Where(is_negative, places - count, places)
    made = values.converted(places, DType.DOUBLE) / length
    return as_type(array_from(made), wanted)


@public("fft.fftfreq")
def fftfreq(
    n: SizeLike, /, d: float = 1.0, dtype: DTypeLike | None = None, *, device: Device = None
) -> Array:
    """The frequencies of a transform of `n` numbers, `d` apart; `n` may be a size that only the model knows.

    >>> import onnxsmith.numpy as xp
    >>> xp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device(device)
    return _frequencies(n, d, dtype, is_half=False)


@public("fft.rfftfreq")
def rfftfreq(
    n: SizeLike, /, d: float = 1.0, dtype: DTypeLike | None = None, *, device: Device = None
) -> Array:
    """The frequencies of a transform of `n` real numbers, `d` apart; `n` may be a size that only the model knows.

    >>> import onnxsmith.numpy as xp
    >>> xp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ])
    """
    check_device(device)
    return _frequencies(n, d, dtype, is_half=True)


@public("fft.fftshift")
def fftshift(x: ArrayLike, /, axes: Axes = None) -> Array:
    """The zero frequency in the middle.

    >>> import onnxsmith.numpy as xp
    >>> xp.fft.fftshift(xp.fft.fftfreq(4))
    Array([-0.5 , -0.25,  0.  ,  0.25])
    """
    array = array_of(x)
    places = axes_of(axes, array.ndim, "axes")
    return roll(array, tuple(cast(Size, array.shape[each] // 2) for each in places), places)


@public("fft.ifftshift")
def ifftshift(x: ArrayLike, /, axes: Axes = None) -> Array:
    """The zero frequency back at the start.

    >>> import onnxsmith.numpy as xp
    >>> xp.fft.ifftshift(xp.asarray([-2, -1, 0, 1]))
    Array([ 0,  1, -2, -1])
    """
    array = array_of(x)
    places = axes_of(axes, array.ndim, "axes")
    return roll(array, tuple(cast(Size, -(array.shape[each] // 2)) for each in places), places)

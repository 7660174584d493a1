"""Functions written in C that other libraries' Python code calls: filters of `scipy.ndimage`, `scipy.fft`, and more.

They are found by their module and name, so that no library is loaded for it. Where a library calls them with what ours
do not take, it is refused with the line of the call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, ShapeLike, SizeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS

Function: TypeAlias = Callable[..., Any]


def _f(name: str) -> Function:
    return cast(Function, FUNCTIONS[name])


def _u(name: str) -> Function:
    return cast(Function, UFUNCS[name])


# -- windows over arrays -----------------------------------------------------------------------------------

_NEAREST, _WRAP, _REFLECT, _MIRROR, _CONSTANT, _GRID_WRAP, _GRID_CONSTANT = range(7)


def _extended(x: Array, axis: int, before: int, after: int, mode: int, cval: float) -> Array:
    """An array with neighbours outside of it along an axis; without any, it stays so."""
    count = x.shape[axis]
    is_there = _f("clip")(_f("asarray")(count), 0, 1)
    total = _f("asarray")(count) + is_there * (before + after)
    place = _f("arange")(total) - before
    size = _u("maximum")(_f("asarray")(count), 1)
    is_outside = None
    if mode in (_CONSTANT, _GRID_CONSTANT):
        is_outside = _u("logical_or")(place < 0, place >= count)
        place = _f("clip")(place, 0, size - 1)
    elif mode == _NEAREST:
        place = _f("clip")(place, 0, size - 1)
    elif mode in (_WRAP, _GRID_WRAP):
        place = place % size
    else:
        period = 2 * size if mode == _REFLECT else _u("maximum")(2 * size - 2, 1)
        place = place % period
        back = period - (1 if mode == _REFLECT else 0) - place
        place = _f("where")(place < size, place, back)
    taken: Array = _f("take")(x, place, axis=axis)
    if is_outside is None:
        return taken
    shape = [1] * x.ndim
    shape[axis] = -1
    return _f("where")(is_outside.reshape(tuple(shape)), float(cval), taken)


def _known(value: ArrayLike) -> np.ndarray[Any, Any]:
    """Weights and footprints, which must be known when the model is made."""
    return np.asarray(value)


def _windows(
    x: Array, shape: Sequence[int], origins: Sequence[int], mode: int, cval: float
) -> Callable[[tuple[int, ...]], Array]:
    """Gives the array of the neighbours of all elements that stand at one place of a window."""
    sizes = x.shape
    whole = x
    for axis, (length, origin) in enumerate(zip(shape, origins, strict=True)):
        if length > 1 or origin:
            before = length // 2 + origin
            whole = _extended(whole, axis, before, length - 1 - before, mode, cval)

    def at(place: tuple[int, ...]) -> Array:
        parts = [
            slice(None) if length == 1 and not origin else slice(start, start + size)
            for start, size, length, origin in zip(place, sizes, shape, origins, strict=True)
        ]
        return whole[tuple(parts)]

    return at


def _wide(x: ArrayLike) -> Array:
    array = array_of(x)
    return array if array.dtype.kind == "c" else as_type(array, dtypes.FLOAT64)


def _write(output: ArrayLike, made: Array) -> None:
    if not isinstance(output, Array):
        raise InputTypeError("the result goes into an array of numpy's, which a model does not have")
    output[...] = as_type(made, output.dtype)


def _correlate(
    x: ArrayLike, weights: ArrayLike, output: ArrayLike, mode: int, cval: float, origins: Sequence[int]
) -> None:
    given = array_of(weights)
    shape = tuple(cast("Sequence[int]", given.shape))
    at = _windows(_wide(x), shape, origins, mode, cval)
    is_open = given.is_symbolic
    known = None if is_open else _known(weights)
    total: Any = None
    for place in itertools.product(*map(range, shape)):
        if known is not None and not known[place]:
            continue
        weight = given[place] if known is None else float(known[place])
        part = at(place) * weight
        total = part if total is None else total + part
    _write(output, at((0,) * len(shape)) * 0.0 if total is None else total)


def _along(axis: int, rank: int, value: int, other: int) -> tuple[int, ...]:
    return tuple(value if each == axis else other for each in range(rank))


def _correlate_along(
    x: ArrayLike, weights: ArrayLike, axis: int, output: ArrayLike, mode: int, cval: float, origin: int
) -> None:
    array, given = array_of(x), array_of(weights)
    shape = _along(axis, array.ndim, -1, 1)
    _correlate(array, given.reshape(shape), output, mode, cval, _along(axis, array.ndim, origin, 0))


def _uniform_along(
    x: ArrayLike, size: int, axis: int, output: ArrayLike, mode: int, cval: float, origin: int
) -> None:
    _correlate_along(x, np.full(size, 1 / size), axis, output, mode, cval, origin)


def _extreme_along(
    x: ArrayLike, size: int, axis: int, output: ArrayLike, mode: int, cval: float, origin: int, minimum: int
) -> None:
    rank = array_of(x).ndim
    footprint = np.ones(_along(axis, rank, size, 1), bool)
    _extreme(x, footprint, None, output, mode, cval, _along(axis, rank, origin, 0), minimum)


def _extreme(
    x: ArrayLike,
    footprint: ArrayLike,
    structure: ArrayLike | None,
    output: ArrayLike,
    mode: int,
    cval: float,
    origins: Sequence[int],
    minimum: int,
) -> None:
    where, heights = _known(footprint), None if structure is None else _known(structure)
    at = _windows(_wide(x), where.shape, origins, mode, cval)
    pick = _u("minimum" if minimum else "maximum")
    found: Any = None
    for place in itertools.product(*map(range, where.shape)):
        if where[place]:
            part = at(place)
            if heights is not None:
                part = part - float(heights[place]) if minimum else part + float(heights[place])
            found = part if found is None else pick(found, part)
    if found is None:
        raise InputTypeError("a footprint without any element has no extreme")
    _write(output, found)


def _ranked(
    x: ArrayLike,
    rank: int,
    footprint: ArrayLike,
    output: ArrayLike,
    mode: int,
    cval: float,
    origins: ArrayLike,
) -> None:
    where = _known(footprint)
    at = _windows(_wide(x), where.shape, tuple(_known(origins).tolist()), mode, cval)
    places = [each for each in itertools.product(*map(range, where.shape)) if where[each]]
    _write(output, _f("sort")(_f("stack")([at(each) for each in places]), axis=0)[rank])


# -- scipy.fft ---------------------------------------------------------------------------------------------


def _transform(name: str) -> Function:
    def call(
        x: ArrayLike,
        n: SizeLike | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
    ) -> Array:
        return _f(f"fft.{name}")(x, n, axis, norm)

    return call


def _shifted(name: str) -> Function:
    def call(x: ArrayLike, axes: Axes = None) -> Array:
        return _f(f"fft.{name}")(x, axes=axes)

    return call


_TRANSFORMS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_OF_SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def _several(name: str) -> Function:
    default: Axes = (-2, -1) if name.endswith("2") else None

    def call(
        x: ArrayLike,
        s: ShapeLike | None = None,
        axes: Axes = default,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
    ) -> Array:
        return _f(f"fft.{name}")(x, s, axes, norm)

    return call


# -- scikit-learn ------------------------------------------------------------------------------------------


def _is_finite(x: ArrayLike, allow_nan: bool = False) -> Array:
    """0 for numbers that are all finite, 1 where one is NaN, 2 where one is infinite."""
    has_inf, has_nan = _f("any")(_u("isinf")(x)), _f("any")(_u("isnan")(x))
    found = _f("where")(has_inf, 2, 0)
    return found if allow_nan else _f("where")(has_nan, 1, found)


#: By module and name.
_BY_NAME: dict[tuple[str, str], Function] = {
    ("scipy.ndimage._nd_image", "correlate"): _correlate,
    ("scipy.ndimage._nd_image", "correlate1d"): _correlate_along,
    ("scipy.ndimage._nd_image", "uniform_filter1d"): _uniform_along,
    ("scipy.ndimage._nd_image", "min_or_max_filter1d"): _extreme_along,
    ("scipy.ndimage._nd_image", "min_or_max_filter"): _extreme,
    ("scipy.ndimage._nd_image", "rank_filter"): _ranked,
    ("sklearn.utils._isfinite", "cy_isfinite"): _is_finite,
    **{("scipy.fft._basic", name): _transform(name) for name in _TRANSFORMS},
    **{("scipy.fft._basic", name): _several(name) for name in _OF_SEVERAL},
    **{("scipy.fft._helper", name): _shifted(name) for name in ("fftshift", "ifftshift")},
}


def of_library(function: UserValue) -> Function | None:
    """Ours in the place of a function of a library; None for all others."""
    home: object = getattr(function, "__module__", None)
    if not isinstance(home, str):
        home = getattr(getattr(function, "__self__", None), "__name__", None)
    name: object = getattr(function, "__name__", None)
    if not isinstance(home, str) or not isinstance(name, str):
        return None
    return _BY_NAME.get((home, name))

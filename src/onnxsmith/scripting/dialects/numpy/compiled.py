"""Functions that numpy's own Python code calls and that are written in C, with no public name: what ours are for them.

`np.linalg.solve`, staged behind its dispatcher, ends in `_umath_linalg.solve`; `np.fft.fft` in `_raw_fft`. What they
compute has functions of ours; here they get the arguments that numpy's internal ones take. A numpy that has other
internal functions has no entries for them, and its code is refused where it calls them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import NotImplementedType
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np

from onnxsmith.errors import InputTypeError, ShapeError, TracedValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike, ShapeLike, SizeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.registry import FUNCTIONS as _REGISTERED
from onnxsmith.numpy.registry import UFUNCS as _UNIVERSAL
from onnxsmith.numpy.reshaping import broadcast_sizes
from onnxsmith.numpy.sharing import view
from onnxsmith.numpy.sizes import Size

Function: TypeAlias = Callable[..., Any]

#: Functions of ours, by name: what each gives stands at its definition.
FUNCTIONS = cast("Mapping[str, Function]", _REGISTERED)
UFUNCS = cast("Mapping[str, Function]", _UNIVERSAL)


def internal_functions() -> Mapping[object, Function]:
    """Functions of the installed numpy, and ours."""
    found: dict[object, Function] = {}
    for module, table in _TABLES.items():
        try:
            home = importlib.import_module(module)
        except ImportError:  # another version of numpy
            continue
        for name, ours in table.items():
            theirs = getattr(home, name, None)
            if theirs is not None:
                found[theirs] = ours
    return found


# -- linear algebra --------------------------------------------------------------------------------------------


def _wide(x: ArrayLike, signature: str | None) -> Array:
    """An operand in the element type that a signature such as `DD->D` names."""
    array = array_of(x)
    if signature is None:
        return array
    return as_type(array, dtypes.COMPLEX128 if signature.startswith("D") else dtypes.FLOAT64)


def _of_matrices(name: str, **options: bool | str) -> Function:
    """A function of matrices, in double precision, as one of `linalg`."""

    def call(*operands: ArrayLike, signature: str | None = None) -> Array | tuple[Array, ...]:
        found = FUNCTIONS[f"linalg.{name}"](*(_wide(each, signature) for each in operands), **options)
        return tuple(cast("tuple[Array, ...]", found)) if isinstance(found, tuple) else found

    return call


def _least_squares(
    a: ArrayLike, b: ArrayLike, rcond: ArrayLike | None, *, signature: str | None = None
) -> tuple[Array, ...]:
    return tuple(FUNCTIONS["linalg.lstsq"](_wide(a, signature), _wide(b, signature), rcond))


_LINALG: dict[str, Function] = {
    "solve": _of_matrices("solve"),
    "solve1": _of_matrices("solve"),
    "inv": _of_matrices("inv"),
    "det": _of_matrices("det"),
    "slogdet": _of_matrices("slogdet"),
    "cholesky_lo": _of_matrices("cholesky"),
    "cholesky_up": _of_matrices("cholesky", upper=True),
    "eig": _of_matrices("eig"),
    "eigvals": _of_matrices("eigvals"),
    "eigh_lo": _of_matrices("eigh", UPLO="L"),
    "eigh_up": _of_matrices("eigh", UPLO="U"),
    "eigvalsh_lo": _of_matrices("eigvalsh", UPLO="L"),
    "eigvalsh_up": _of_matrices("eigvalsh", UPLO="U"),
    "svd": _of_matrices("svdvals"),
    "svd_f": _of_matrices("svd", full_matrices=True),
    "svd_s": _of_matrices("svd", full_matrices=False),
    "lstsq": _least_squares,
}


# -- Fourier transforms ----------------------------------------------------------------------------------------

_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _transform(
    a: ArrayLike,
    n: SizeLike | None,
    axis: int,
    is_real: bool,
    is_forward: bool,
    norm: str | None,
    out: Array | None = None,
) -> Array:
    name = f"{'' if is_forward else 'i'}{'r' if is_real else ''}fft"
    made = FUNCTIONS[f"fft.{name}"](a, n, axis, norm)
    if out is None:
        return made
    out[...] = made
    return out


# -- sliding products ------------------------------------------------------------------------------------------

_MODES: dict[int | str, str] = {0: "valid", 1: "same", 2: "full"}


def _correlate(a: ArrayLike, v: ArrayLike, mode: int | str = 0) -> Array:
    """Without conjugation, unlike `np.correlate`: what `np.convolve` reverses its second operand for."""
    reversed_ = array_of(v)[::-1]
    return FUNCTIONS["convolve"](a, reversed_, _MODES.get(mode, mode))


def _correlate_conjugate(a: ArrayLike, v: ArrayLike, mode: int | str = 0) -> Array:
    return FUNCTIONS["correlate"](a, v, _MODES.get(mode, mode))


def _counted(a: ArrayLike) -> Array:
    return FUNCTIONS["count_nonzero"](a)


def _not_by_hash(array: ArrayLike, *, equal_nan: bool = True) -> NotImplementedType:
    """numpy sorts, then, as it does for other types."""
    return NotImplemented


def _interpolated(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
) -> Array:
    return FUNCTIONS["interp"](x, xp, fp, left=left, right=right)


# -- what arrays are made of -----------------------------------------------------------------------------------


class Converter:
    """numpy's internal `_array_converter`: arguments as arrays, and results in their classes."""

    def __init__(self, *given: ArrayLike) -> None:
        self._given = given
        self._arrays = tuple(array_of(each) for each in given)
        self.scalar_input = tuple(
            each.is_number if isinstance(each, Array) else not isinstance(each, list | tuple | np.ndarray)
            for each in given
        )

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, place: int) -> Array:
        return self._arrays[place]

    def __iter__(self) -> Iterator[Array]:
        return iter(self._arrays)

    def as_arrays(
        self, *, subok: bool = True, pyscalars: str = "convert_if_no_array"
    ) -> tuple[ArrayLike, ...]:
        """The arguments as arrays; Python's numbers may stay what they are."""
        has_array = not all(self.scalar_input)
        keeps = pyscalars == "preserve" or (pyscalars == "convert_if_no_array" and has_array)
        return tuple(
            given if keeps and dtypes.is_scalar(given) else array
            for given, array in zip(self._given, self._arrays, strict=True)
        )

    def result_type(
        self, extra_dtype: DTypeLike | None = None, ensure_inexact: bool = False
    ) -> dtypes.NumpyDType:
        """The element type of what the arguments give together."""
        parts: list[ArrayLike | DTypeLike] = [
            each if dtypes.is_scalar(each) else array
            for each, array in zip(self._given, self._arrays, strict=True)
        ]
        if extra_dtype is not None:
            parts.append(extra_dtype)
        found = FUNCTIONS["result_type"](*parts)
        return FUNCTIONS["result_type"](found, 1.0) if ensure_inexact else found

    def wrap(self, array: ArrayLike, /, to_scalar: bool | None = None) -> ArrayLike:
        """A result as numpy gives it: a number where there are no dimensions and no argument had any."""
        if not isinstance(array, Array) or array.ndim:
            return array
        is_scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return array.as_number() if is_scalar else array


class _Broadcast:
    """`np.broadcast(a, b)`, as far as its shape is asked for."""

    def __init__(self, *arrays: ArrayLike) -> None:
        self.shape: tuple[Size, ...] = tuple(broadcast_sizes([array_of(each).shape for each in arrays]))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> Size:
        size: Size = 1
        for each in self.shape:
            size = cast(Size, size * each)
        return size

    def __iter__(self) -> NoReturn:
        raise InputTypeError(
            "np.broadcast has a shape here, and no elements to go through",
            help="a, b = np.broadcast_arrays(a, b), and loop over a.ravel() and b.ravel()",
        ).locate_at_caller()


def _broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool, readonly: bool) -> Array:
    return FUNCTIONS["broadcast_to"](array, shape)


def _placed(array: ArrayLike, mask: ArrayLike, values: ArrayLike) -> None:
    if not isinstance(array, Array):
        raise InputTypeError("place writes to arrays of onnxsmith.numpy alone here")
    value = array_of(values)
    if value.ndim and value.shape != (1,):
        raise InputTypeError("it repeats values by how many places a mask has", help="use np.where")
    array[...] = FUNCTIONS["where"](mask, value.reshape(()) if value.ndim else value, array)


def _strided(
    x: ArrayLike,
    shape: Sequence[Size] | None = None,
    strides: Sequence[Size] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> Array:
    """Elements by their distances in memory: a view that cannot be written to, for elements may stand there twice."""
    array = array_of(x)
    if not cast("tuple[bool, str | None]", array.traits)[0]:
        raise TracedValueError(
            "how far apart the elements of this array are is known to numpy alone",
            help="make a copy first: np.ascontiguousarray(x)",
        )
    sizes = array.shape if shape is None else tuple(shape)
    steps = array.strides if strides is None else tuple(strides)
    if len(sizes) != len(steps):
        raise ShapeError(
            f"as_strided needs as many strides as the shape has sizes: {len(steps)} for {len(sizes)}",
            help="strides are in bytes, one for each dimension of shape; without them they are those of the array",
        )
    if any(isinstance(each, int) and each < 0 for each in steps):
        raise InputTypeError("as_strided goes forward here", help="reverse the result: as_strided(…)[::-1]")
    place: Any = 0
    for axis, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        counted = FUNCTIONS["arange"](size).reshape((-1,) + (1,) * (len(sizes) - axis - 1))
        place = UFUNCS["add"](place, UFUNCS["multiply"](counted, step // array.itemsize))

    def taken(base: Array) -> Array:
        row = FUNCTIONS["reshape"](base, (-1,))
        return row[place] if sizes else row[0]

    made = view(
        array,
        taken,
        lambda base, part: base,  # it is never written to
        lambda layout: np.lib.stride_tricks.as_strided(
            layout, cast("tuple[int, ...]", sizes), cast("tuple[int, ...]", steps)
        ),
        is_plain=False,
    )
    made.lock("its elements may stand at several places of another array")
    return made


_TABLES: dict[str, dict[str, Function]] = {
    "numpy.linalg._umath_linalg": _LINALG,
    "numpy.fft._pocketfft": {"_raw_fft": _transform},
    "numpy._core.multiarray": {
        "correlate": _correlate,
        "correlate2": _correlate_conjugate,
        "count_nonzero": _counted,
        "interp": _interpolated,
        "interp_complex": _interpolated,
        "broadcast": _Broadcast,
        "_place": _placed,
    },
    "numpy._core._multiarray_umath": {
        "_array_converter": Converter,
        "_unique_hash": _not_by_hash,
    },
    "numpy.lib._stride_tricks_impl": {"_broadcast_to": _broadcast_to, "as_strided": _strided},
}

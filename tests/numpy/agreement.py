"""What it means that a function agrees with numpy: the same element types and shapes, and values as near as numpy's.

Whole numbers and truth values are equal. Fractions are within a few units in the last place of the exact result, or as
near to it as numpy's own; the exact result is what numpy computes in a wider type. What numpy
refuses is refused. Everything is asked of arrays whose elements are known, and of a model that was recorded with every
size open.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import trace
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.types.value_types import TensorType

Function = Callable[..., Any]
Case = TypeVar("Case")

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*BOOL, *INTEGERS, *FLOATS)
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
ALL = (*REAL, *COMPLEX)

#: Element types that are asked of a recorded model, too: known elements go through one that is recorded likewise.
_RECORDED = ("int64", "float32", "complex64")
_WIDE = {"f": np.dtype(np.longdouble), "c": np.dtype(np.clongdouble)}


def sample(
    dtype: str, shape: tuple[int, ...], seed: int = 0, *, special: bool = True
) -> np.ndarray[Any, Any]:
    """Elements of a type: with repeats, and with what is hard for it."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng([seed, *shape])
    count = int(np.prod(shape))
    if kind.kind == "b":
        return (rng.random(shape) < 0.6).astype(kind)
    if kind.kind in "iu":
        limits = np.iinfo(dtype)
        made = rng.integers(max(limits.min, -20), 20, shape).astype(kind)
        hard: list[Any] = [limits.max, limits.min, limits.max - 1]
    else:
        made = np.asarray(np.round(rng.normal(0, 3, shape), 1), kind)
        if kind.kind == "c":
            made = np.asarray(made + 1j * np.round(rng.normal(0, 3, shape), 0), kind)
        hard = [np.nan, np.inf, -np.inf, -0.0]
    if special and count:
        places = rng.permutation(count)[: len(hard)]
        made.reshape(-1)[places] = np.array(hard, kind)[: len(places)]
    return made


def some(dtype: str, cases: Sequence[Case]) -> Sequence[Case]:
    """All cases for a few element types, and every third one, from another place on, for the others."""
    return cases if dtype in _RECORDED else cases[ALL.index(dtype) % 3 :: 3]


def agrees(
    name: str,
    *args: Any,
    ulps: float = 4,
    scale: float = 0,
    exact: bool = True,
    recorded: bool = True,
    theirs: Function | None = None,
    **kwargs: Any,
) -> None:
    """Check a call of a function against numpy's, on numpy's arguments.

    `scale` is the size of what cancels on the way, as in a sum: units in the last place are those of it.
    `exact=False` where numpy cannot compute in a wider type; `recorded=False` where the form of a result depends on
    values, and a model cannot have it.
    """
    reference = theirs or _function(np, name)
    try:
        expected = _quietly(reference, args, kwargs)
    except Exception as error:
        with pytest.raises(_expected_errors(error)) as caught:
            _function(xp, name)(*_ours(args), **_ours(kwargs))
        assert isinstance(caught.value, OnnxsmithError), f"{name}: {caught.value!r} is none of ours"
        return
    precise = _precise(reference, args, kwargs) if exact else None
    told = f"{name}({', '.join(map(_told, args))}, {kwargs})"
    _compare(_function(xp, name)(*_ours(args), **_ours(kwargs)), expected, precise, ulps, scale, told)
    if recorded and any(each.dtype.name in _RECORDED for each in _arrays((args, kwargs))):
        model_result = run_recorded(name, args, kwargs)
        _compare(model_result, expected, precise, ulps, scale, "recorded " + told)


def _function(namespace: Any, name: str) -> Function:
    return functools.reduce(getattr, name.split("."), namespace)


def _expected_errors(error: Exception) -> tuple[type[Exception], ...]:
    for kind in (IndexError, TypeError, ValueError, ZeroDivisionError):
        if isinstance(error, kind):
            return (kind,)
    return (type(error),)


def _quietly(function: Function, args: Any, kwargs: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def _precise(function: Function, args: Any, kwargs: Any) -> Any:
    """The result in a wider type, if numpy has it."""
    if not any(each.dtype.kind in "fc" for each in _arrays((args, kwargs))):
        return None
    try:
        wide = {k: v for k, v in _mapped(kwargs, _widened).items() if k != "dtype"}
        return _quietly(function, _mapped(args, _widened), wide)
    except Exception:  # numpy has a class for each reason, and any means that it refuses
        return None


def _widened(array: Any) -> Any:
    return array.astype(_WIDE.get(array.dtype.kind, array.dtype))


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_mapped(each, change) for each in value])
    return value


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _arrays(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _arrays(each)


def _ours(value: Any) -> Any:
    return _mapped(value, lambda array: xp.asarray(array.copy()))


def _told(value: Any) -> str:
    return f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)


# -- recorded --------------------------------------------------------------------------------------------

_MODELS: dict[Any, tuple[Any, list[int]]] = {}


def run_recorded(name: str, args: Any, kwargs: Any) -> Any:
    """The results of a model of the call, whose sizes are all open."""
    arrays = list(_arrays((args, kwargs)))
    if not arrays:
        return _function(xp, name)(*args, **kwargs)
    key = (name, repr(_mapped((args, kwargs), lambda array: f"<{array.dtype}, {array.ndim}>")))
    if key not in _MODELS:
        _MODELS[key] = _recorded(name, args, kwargs, arrays)
    model, counts = _MODELS[key]
    feeds: list[Any] = []
    for array in arrays:
        feeds += [array.real.copy(), array.imag.copy()] if array.dtype.kind == "c" else [array]
    results = model(*feeds)
    made = list(results) if isinstance(results, tuple) else [results]
    joined: list[Any] = []
    for count in counts:
        first = np.asarray(made.pop(0))
        if count == 2:
            first = first.astype(dtypes.complex_of(first.dtype))
            first.imag = np.asarray(made.pop(0))
        joined.append(first)
    return joined if len(joined) > 1 else joined[0]


def _recorded(name: str, args: Any, kwargs: Any, arrays: Sequence[Any]) -> tuple[Any, list[int]]:
    types: list[TensorType] = []
    for number, array in enumerate(arrays):
        sizes = tuple(f"{'NMKLPQ'[number]}{axis}" for axis in range(array.ndim))
        types += [TensorType(dtypes.onnx_type(array.dtype), sizes)] * (2 if array.dtype.kind == "c" else 1)
    counts: list[int] = []

    def body(*tensors: Any) -> tuple[Any, ...]:
        given = iter(tensors)

        def made(array: Any) -> Any:
            if array.dtype.kind == "c":
                return Array(Complex(next(given), next(given)))
            return xp.asarray(next(given))

        own_args, own_kwargs = _mapped((args, kwargs), made)
        outputs: list[Any] = []
        for each in _flat(_function(xp, name)(*own_args, **own_kwargs)):
            held = each.held if isinstance(each, Array) else xp.asarray(each).held
            parts = [held.real, held.imag] if isinstance(held, Complex) else [held]
            counts.append(len(parts))
            outputs += parts
        return tuple(outputs)

    return trace(body, *types), counts


def _flat(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [each for item in result for each in _flat(item)]
    return [result]


# -- comparing -------------------------------------------------------------------------------------------


def _compare(ours: Any, expected: Any, precise: Any, ulps: float, scale: float, told: str) -> None:
    mine, theirs = _flat(ours), _flat(expected)
    exact = _flat(precise) if precise is not None else [None] * len(theirs)
    assert len(mine) == len(theirs), f"{told}: {len(mine)} results, not {len(theirs)}"
    for a, b, c in zip(mine, theirs, exact, strict=True):
        _compare_arrays(np.asarray(a), np.asarray(b), None if c is None else np.asarray(c), ulps, scale, told)


def _compare_arrays(ours: Any, expected: Any, precise: Any, ulps: float, scale: float, told: str) -> None:
    assert ours.dtype == expected.dtype, f"{told}: {ours.dtype}, not {expected.dtype}"
    assert ours.shape == expected.shape, f"{told}: {ours.shape}, not {expected.shape}"
    if ours.dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, expected, err_msg=told)
        return
    exact = expected
    if precise is not None and precise.shape == expected.shape and precise.dtype.kind in "fc":
        exact = precise
    with np.errstate(all="ignore"):
        size = np.fmax(np.nan_to_num(np.abs(exact), posinf=0), scale)
        unit = np.spacing(size.astype(ours.real.dtype)).astype(np.longdouble)
        if ours.dtype.kind == "f":
            good = _is_near(ours, expected, exact, ulps * unit)
        else:
            good = _is_near(ours.real, expected.real, exact.real, ulps * unit)
            good &= _is_near(ours.imag, expected.imag, exact.imag, ulps * unit)
    assert good.all(), f"{told}:\n{ours[~good]} is not\n{expected[~good]}, exactly\n{exact[~good]}"


def _is_near(ours: Any, expected: Any, exact: Any, allowed: Any) -> Any:
    same = (ours == expected) | (np.isnan(ours) & np.isnan(expected))
    mine = np.abs(ours.astype(np.longdouble) - exact.astype(np.longdouble))
    numpys = np.abs(expected.astype(np.longdouble) - exact.astype(np.longdouble))
    # What overflows on numpy's way need not overflow on ours.
    overflowed = ~np.isfinite(expected) & np.isfinite(exact)
    near = (mine <= np.fmax(allowed, numpys)) | (overflowed & (mine <= allowed))
    return same | (near & np.isfinite(ours) & (np.isfinite(expected) | overflowed))

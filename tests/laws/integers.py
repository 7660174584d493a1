"""Operators on integers that doubles do not hold, as cases: every road must give what numpy does, wrapped around."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.types.dtypes import DType
from tests.laws.case import Case, node_case

Array: TypeAlias = np.ndarray[Any, Any]

#: What numpy has for a reduction; the axes are those of the array's reduction.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceSum": lambda x, **options: x.sum(dtype=x.dtype, **options),
    "ReduceL1": lambda x, **options: np.abs(x).sum(dtype=x.dtype, **options),
    "ReduceSumSquare": lambda x, **options: (x * x).sum(dtype=x.dtype, **options),
    "ReduceProd": lambda x, **options: x.prod(dtype=x.dtype, **options),
}
EXTREMES: dict[str, Callable[..., Any]] = {"ReduceMax": np.max, "ReduceMin": np.min}
#: Operator, opset version, inputs, attributes, and what comes out.
Call: TypeAlias = tuple[str, int, list[Array], dict[str, Any], Any]


def integer_cases() -> Iterator[Case]:
    """Each operator on numbers of all sizes, and on large ones that are close to each other."""
    signed = [(np.dtype(each), _calls(each)) for each in (np.int32, np.int64)]
    unsigned = [(np.dtype(each), _sums(each)) for each in (np.uint32, np.uint64)]
    for dtype, calls in [*signed, *unsigned]:
        for number, (name, version, inputs, attributes, expected) in enumerate(calls):
            title = f"integers_{number}_{name}_{dtype.name}"
            code = DType.from_numpy(dtype)
            assert code is not None
            yield node_case(
                title, name, version, inputs, attributes, 1, (np.asarray(expected),), dtypes=[code]
            )


def _calls(dtype: type[np.signedinteger[Any]]) -> Iterator[Call]:
    rng, limits = np.random.default_rng(0), np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (3, 4, 5), dtype=dtype, endpoint=True)
    x[0, 0, 0] = limits.min
    near = np.array([[2**53, 1, 1], [1, 2, limits.max]]).astype(dtype)
    with np.errstate(all="ignore"):
        for name, reduced in REDUCTIONS.items():
            for value in (x, near, near[:, :0]):
                last = reduced(value, axis=(value.ndim - 1,), keepdims=True)
                yield name, 18, [value, np.array([-1])], {}, last
            yield name, 18, [x], {"keepdims": 0}, reduced(x)
            given = {"keepdims": 0, "noop_with_empty_axes": 1}
            yield name, 18, [x, np.array([0, -1])], given, reduced(x, axis=(0, 2))
            # Without axes nothing is summed up; what is done to each element is.
            each = reduced(x[None], axis=(0,))
            yield name, 18, [x], given, each
            yield name, 18, [x, np.zeros(0, np.int64)], given, each
            yield name, 13, [x], {"keepdims": 1}, reduced(x, keepdims=True)
            yield name, 11, [x], {"axes": (0, -1), "keepdims": 0}, reduced(x, axis=(0, 2))
            if name != "ReduceSum":
                axes = {"axes": (0, 2), "keepdims": 0}
                yield name, 13, [near[None]], axes, reduced(near[None], axis=(0, 2))
        exponents = rng.integers(0, 70, x.shape, dtype=dtype)
        yield "Pow", 15, [x, exponents], {}, x**exponents
        yield "Pow", 15, [x, np.array(7, dtype)], {}, x ** np.array(7, dtype)
        odd = np.array([2**53 + 1, 2**53 + 2, 5, 4]).astype(dtype)
        yield "Pow", 15, [np.array([-1, -1, -1, 1], dtype), odd], {}, np.array([-1, 1, -1, 1], dtype)
        divisors = np.where(rng.random(x.shape) < 0.3, -1, x[::-1] | 1).astype(dtype)
        yield "Mod", 13, [x, divisors], {"fmod": 1}, np.fmod(x, divisors)
        yield "Mod", 13, [x, divisors], {}, np.mod(x, divisors)
        yield "MatMul", 13, [x, x[0].T], {}, x @ x[0].T
        yield "CumSum", 14, [x, np.array(1)], {}, x.cumsum(axis=1, dtype=dtype)
        for equation in ("ijk->i", "ijk->", "...k->...", "ijk->kji"):
            yield "Einsum", 12, [x], {"equation": equation}, np.einsum(equation, x)
        yield "Einsum", 12, [x, x[0]], {"equation": "ijk,jl->ik"}, np.einsum("ijk,jl->ik", x, x[0])
        ends = [np.array(each, dtype) for each in (limits.max - 9, limits.max - 1, 2)]
        yield "Range", 11, ends, {}, np.arange(*ends, dtype=dtype)
    yield from _extremes(x, rng)


def _sums(dtype: type[np.unsignedinteger[Any]]) -> Iterator[Call]:
    """Reductions of unsigned integers, which are those of signed ones to ONNX Runtime."""
    most = np.iinfo(dtype).max
    x = np.array([[most, 1, most], [2**31, most // 2 + 1, most // 2 + 2]], dtype)
    for name, reduced in REDUCTIONS.items():
        for axes in ((0,), (0, 1)):
            yield name, 18, [x, np.array(axes)], {"keepdims": 0}, reduced(x, axis=axes)
            if name != "ReduceSum":
                yield name, 13, [x], {"keepdims": 0, "axes": axes}, reduced(x, axis=axes)
        yield name, 11, [x], {}, reduced(x, keepdims=True)
        each = reduced(x[None], axis=(0,))
        yield name, 18, [x], {"noop_with_empty_axes": 1}, each
    for name, found in (EXTREMES if dtype is np.uint32 else {}).items():
        yield name, 18, [x, np.array([1])], {"keepdims": 0}, found(x, axis=1)


def _extremes(x: Array, rng: np.random.Generator) -> Iterator[Call]:
    """The greatest and the least of numbers whose halves are alike, or close to each other and to the ends."""
    dtype, limits = x.dtype, np.iinfo(x.dtype)
    edges = [
        0,
        1,
        -1,
        2**31,
        -(2**31) - 1,
        2**32,
        -(2**32),
        2**53,
        2**62,
        2**62 + 2**31,
        limits.max,
        limits.min,
    ]
    close = rng.choice(np.array(edges), (3, 4, 5)) + rng.integers(-2, 2, (3, 4, 5), endpoint=True)
    scalars = [np.array(each).astype(dtype) for each in (1 - 2**33, 2**31)]
    for value in (x, close.astype(dtype), np.full((2, 4), limits.max, dtype), x[:, :0]):
        other = value[::-1]
        yield "Max", 13, [value, other], {}, np.maximum(value, other)
        yield (
            "Min",
            12,
            [value, value[:1], scalars[0]],
            {},
            np.minimum(value, np.minimum(value[:1], scalars[0])),
        )
        yield "Clip", 13, [value, *scalars], {}, np.minimum(np.maximum(value, scalars[0]), scalars[1])
        yield "Clip", 12, [value, scalars[1]], {}, np.maximum(value, scalars[1])
        yield "Sign", 13, [value], {}, np.sign(value)
        yield "Relu", 14, [value], {}, np.maximum(value, 0)
        last = np.array([-1])
        for name, found in EXTREMES.items():
            lowest = limits.min if name == "ReduceMax" else limits.max
            for keepdims in (0, 1):
                options = {"keepdims": keepdims, "noop_with_empty_axes": keepdims}
                yield name, 18, [value, last], options, found(value, axis=-1, keepdims=bool(keepdims))
            yield name, 18, [value], {"noop_with_empty_axes": 1}, value
            yield name, 18, [value], {"keepdims": 0}, found(value, initial=lowest)
            axes = {"axes": (0, 1), "keepdims": 0}
            yield name, 11, [value], axes, found(value, axis=(0, 1), initial=lowest)

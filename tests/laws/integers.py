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
#: Operator, opset version, inputs, attributes, and what comes out.
Call: TypeAlias = tuple[str, int, list[Array], dict[str, Any], Any]


def integer_cases() -> Iterator[Case]:
    """Each operator on numbers of all sizes, and on large ones that are close to each other."""
    for dtype in (np.int32, np.int64):
        for number, (name, version, inputs, attributes, expected) in enumerate(_calls(dtype)):
            title = f"integers_{number}_{name}_{np.dtype(dtype).name}"
            code = DType.from_numpy(np.dtype(dtype))
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
            yield name, 13, [x], {"keepdims": 1}, reduced(x, keepdims=True)
            if name != "ReduceSum":
                axes = {"axes": (0, 2), "keepdims": 0}
                yield name, 13, [near[None]], axes, reduced(near[None], axis=(0, 2))
        exponents = rng.integers(0, 70, x.shape, dtype=dtype)
        yield "Pow", 15, [x, exponents], {}, x**exponents
        yield "Pow", 15, [x, np.array(7, dtype)], {}, x ** np.array(7, dtype)
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

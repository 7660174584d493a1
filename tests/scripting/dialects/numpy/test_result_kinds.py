"""A law: what a function gives is of the class that numpy gives: an array, a number of numpy's, or one of Python's.

Where two paths give numbers of different classes, a model has one for both: those are not asked here.
"""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.scripting.dialects.numpy.agreeing import check

ARGUMENTS = {
    "x": np.array([1.0, 2.0, 4.0, 3.0]),
    "m": np.arange(6.0).reshape(2, 3) + np.eye(2, 3),
    "s": np.float64(2.5),
    "z": np.array(2.5),
    "i": np.array([3, 1, 2]),
    "n": 3,
    "f": 2.7,
}
#: Functions of one value, each asked with a vector, numbers of both kinds, and an array of no dimensions.
OF_ONE = [
    "np.cumsum",
    "np.ravel",
    "np.copy",
    "np.sin",
    "np.abs",
    "np.negative",
    "np.floor",
    "np.sqrt",
    "np.exp",
    "np.sign",
    "np.isnan",
    "np.round",
    "np.sum",
    "np.prod",
    "np.mean",
    "np.std",
    "np.var",
    "np.median",
    "np.max",
    "np.min",
    "np.ptp",
    "np.argmax",
    "np.argmin",
    "np.any",
    "np.all",
    "np.count_nonzero",
    "np.asarray",
    "np.array",
    "np.atleast_1d",
    "np.atleast_2d",
    "np.zeros_like",
    "np.ones_like",
    "np.nan_to_num",
    "np.real",
    "np.imag",
    "np.angle",
    "np.conj",
    "np.transpose",
    "np.sinc",
    "np.i0",
    "np.deg2rad",
    "np.log1p",
    "np.rint",
    "np.modf",
    "np.frexp",
    "np.flip",
    "np.unique",
    "np.nansum",
    "np.nanmax",
    "np.nanmean",
    "np.nanmedian",
    "np.ndim",
    "np.size",
    "np.float32",
    "np.float64",
    "np.isfinite",
    "np.square",
    "np.cov",
    "np.corrcoef",
    "np.gradient",
    "np.diff",
    "np.sort",
    "np.linalg.norm",
    "np.logical_not",
    "np.expand_dims_0",
    "abs",
]
#: Expressions of `ARGUMENTS`.
OTHERS = """
    np.vectorize(lambda a: a + 1)(x); np.vectorize(lambda a: a + 1)(s); np.vectorize(lambda a: a + 1)(z)
    np.vectorize(lambda a: a + 1)(f); round(s); round(s, 1); round(f); round(f, 1); round(x[0]); round(x.mean(), 1)
    np.squeeze(s); np.squeeze(z); np.squeeze(f); np.squeeze(s, ()); np.linalg.qr(m); np.unique_counts(i)
    x[0]; x[...]; x[0, ...]; m[0, 0]; m[0, 0, ...]; z[()]; z[...]; s[()]; s[...]; x[:1].reshape(()); z + 1; -z; z > 2
    np.where(z > 1, z, s); np.where(f > 1, f, 2.0); np.where(s > 1, s, 0); np.clip(z, 0, 1); np.clip(f, 0, 1)
    np.select([x > 1], [x]); np.select([z > 1], [z]); np.piecewise(z, [z > 1], [1.0, 2.0]); np.choose(1, [f, f])
    float(z); int(s); bool(z); z.item(); s.item(); x[0].item(); x.item(1); z.tolist(); s.tolist(); x.tolist()
    z.copy(); z.astype(int); s.astype(int); s.T; z.T; z.conj(); s.conj(); z.real; s.real; f.real; s.reshape(())
    np.dot(x, x); x @ x; np.vdot(x, x); np.einsum("i,i", x, x); np.trace(m); np.kron(f, f); np.kron(z, x)
    np.percentile(x, 30); np.quantile(z, 0.3); np.average(x, weights=x); np.trapezoid(x); np.interp(z, x, x)
    np.interp(f, x, x); np.searchsorted(x, z); np.searchsorted(x, f); np.digitize(z, x); np.polyval([1, 2], f)
    np.polyval([1, 2], z); np.isclose(z, s); np.allclose(z, s); np.array_equal(x, x); np.maximum(f, n); np.isin(f, x)
    np.isin(z, x); max(x); min(i); sum(x); sum(i); len(x); x.size; x.shape; x.ndim; divmod(s, f); divmod(n, 2)
    pow(s, 2); n / 2; n // 2; not n; x[0] > 2 and f > 1; np.full((), f); np.zeros(()); np.broadcast_to(s, ())
    np.broadcast_to(f, ()); np.reshape(f, ()); np.take(x, 1); np.unravel_index(3, (2, 3)); np.hypot(f, s)
    np.add.reduce(x); np.maximum.reduce(m, axis=None); i[0]; int(i[0]); i[0] + n; n + i[0]; np.arange(n)[1]
    np.linalg.slogdet(m[:, :2]); [float(v) for v in x]; [v for v in x]; [int(v) for v in x]; list(x); list(m)
    sorted(x); sorted(i, reverse=True); list(map(float, x)); list(map(lambda a, b: a * b, x, x)); sum(map(abs, x))
    functools.reduce(lambda a, b: a + b, x); functools.reduce(lambda a, b: a * b, x, 1.0); any(map(np.isnan, x))
    np.fromiter((v * 2 for v in x), float); np.fromiter((v for v in x), dtype=np.float32, count=2)
    {"a": x.mean(), "n": len(x)}; (x.sum(), x.shape[0], f); x.dtype.type(3); x.flat[1]; bool(x[0] > 1); x[0] == 1
    math.floor(f); math.sqrt(x[0]); np.float64(n) / 2; x.shape[0] / 2; s.copy(); x[0].copy(); (x[0] * 1j).copy()
"""


def _expressions() -> list[str]:
    of_one = [
        f"np.expand_dims({value}, 0)" if name == "np.expand_dims_0" else f"{name}({value})"
        for name in OF_ONE
        for value in "xszfn"
    ]
    return [
        *of_one,
        *(each.strip() for line in OTHERS.splitlines() for each in line.split(";") if each.strip()),
    ]


def _function(expression: str) -> Callable[..., Any]:
    """A function that returns an expression, with source that can be read."""
    source = f"def given({', '.join(ARGUMENTS)}):\n    return {expression}\n"
    file = f"<result kinds: {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = {"np": np, "math": math, "functools": functools}
    exec(compile(source, file, "exec"), space)
    return space["given"]


@pytest.mark.parametrize("expression", _expressions())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_are_of_numpys_class(expression: str) -> None:
    function = _function(expression)
    try:
        function(*ARGUMENTS.values())
    except Exception:  # numpy has no such result
        return
    check(function, *ARGUMENTS.values())

"""Whether a model gives what the function itself gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.numpy_code.rule import numbers

#: Of the largest element, by how much any may be off.
_PARTS = {np.dtype(np.float32): 2e-6, np.dtype(np.complex64): 2e-6}


#: Arrays of numbers.
Array = np.ndarray[Any, np.dtype[Any]]


def _adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def _is_eigen(a: Array, values: Array, vectors: Array) -> Iterator[tuple[Array, Array]]:
    yield a @ vectors, vectors * values[..., None, :]
    yield np.linalg.norm(vectors, axis=-2), np.ones_like(values.real)


def _is_svd(a: Array, u: Array, values: Array, vh: Array) -> Iterator[tuple[Array, Array]]:
    count = values.shape[-1]
    yield (u[..., :, :count] * values[..., None, :]) @ vh[..., :count, :], a
    yield _adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*u.shape[:-2], u.shape[-1], u.shape[-1]))
    yield (
        vh @ _adjoint(vh),
        np.broadcast_to(np.eye(vh.shape[-2]), (*vh.shape[:-2], vh.shape[-2], vh.shape[-2])),
    )


#: Functions that give factors of a matrix, of which there are many: what must be equal, and which result is one alone.
FACTORS: dict[str, tuple[Callable[..., Iterator[tuple[Array, Array]]], int]] = {
    "numpy.linalg.eigh": (_is_eigen, 0),
    "numpy.linalg.svd": (_is_svd, 1),
}


def difference(
    own: object,
    model: object,
    exact: object,
    factors: tuple[Callable[..., Iterator[tuple[Array, Array]]], int] | None = None,
    given: Array | None = None,
) -> str | None:
    """How a model's result differs from the function's own; None where it does not.

    `exact` is what the function gives in float64: where its own float32 result is off by more, so may the model's be.
    `factors` are of the array that was `given`, and are judged by what they give together.
    """
    if factors is not None and given is not None and given.size:
        return _factors_differ(own, model, *factors, given)
    ours, theirs, best = numbers(model), numbers(own), numbers(exact)
    if ours is not None and theirs is not None and len(ours) == len(theirs):
        ours = [_put_together(each, other) for each, other in zip(ours, theirs, strict=True)]
    assert theirs is not None
    if ours is None:
        return f"gives {type(model).__name__}"
    if len(ours) != len(theirs):
        return f"gives {len(ours)} arrays instead of {len(theirs)}"
    if best is None or [each.shape for each in best] != [each.shape for each in theirs]:
        best = theirs
    for mine, other, reference in zip(ours, theirs, best, strict=True):
        found = _differs(mine, other, reference)
        if found is not None:
            return found
    return None


def _factors_differ(
    own: Any, model: Any, of_factors: Callable[..., Iterator[tuple[Array, Array]]], single: int, given: Array
) -> str | None:
    if [each.shape for each in own] != [each.shape for each in model]:
        return "other shapes"
    found = _differs(model[single], own[single], own[single])
    limit = 1e-4 if given.dtype == np.float32 else 1e-8
    for left, right in of_factors(given, *model):
        if np.abs(left - right).max(initial=0) > limit * max(1.0, float(np.abs(given).max())):
            return f"factors that do not give the matrix: off by {np.abs(left - right).max():.3g}"
    return found


def _put_together(mine: np.ndarray[Any, Any], own: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Complex numbers of the pairs that a model gives for them."""
    if own.dtype.kind != "c" or mine.dtype.kind != "f" or mine.shape[-1:] != (2,):
        return mine
    return np.ascontiguousarray(mine).view(np.result_type(mine.dtype, np.complex64))[..., 0]


def _differs(
    mine: np.ndarray[Any, Any], own: np.ndarray[Any, Any], exact: np.ndarray[Any, Any]
) -> str | None:
    if mine.shape != own.shape:
        return f"shape {mine.shape} instead of {own.shape}"
    if mine.dtype != own.dtype:
        return f"{mine.dtype} instead of {own.dtype}"
    if own.dtype.kind not in "fc":
        return None if np.array_equal(mine, own) else "other whole numbers"
    special = np.isnan(own) | np.isinf(own)
    is_off = np.isnan(own) != np.isnan(mine)
    is_off |= np.isinf(own) & (mine != own) & ~np.isnan(own)
    is_off |= np.isinf(mine) & ~np.isinf(own)
    if is_off.any():
        return "other places of NaN or infinity"
    part = _PARTS.get(own.dtype, 1e-10)
    mine, own, exact = (
        each[~special].astype(np.complex128) for each in (mine, own, exact.reshape(own.shape))
    )
    if not own.size:
        return None
    return None if _is_close(mine, own, exact, part) else f"off by {np.abs(mine - own).max():.3g}"


def _is_close(
    mine: np.ndarray[Any, Any], own: np.ndarray[Any, Any], exact: np.ndarray[Any, Any], part: float
) -> bool:
    off = np.nan_to_num(np.abs(own - exact))
    allowed = 10 * part * np.abs(own) + part * np.abs(own).max() + 8 * off.max()
    return bool(np.all(np.abs(mine - own) <= allowed))

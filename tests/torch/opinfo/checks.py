"""What some operators need to be compared: results that are right in more than one way, random, or left unset.

A check gets the operator's arguments, the model's outputs and torch's, as real tensors, and raises Wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tests.torch.opinfo.comparing import Wrong, as_real, check_form, is_close

Check = Callable[[Any, tuple[Any, ...], dict[str, Any], Sequence[torch.Tensor], Sequence[Any]], None]

#: Their numbers are whatever the memory held.
UNSET = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
    }
)


def _complex(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return torch.complex(value[..., 0], value[..., 1]) if like.is_complex() else value


def _same(found: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    precision = torch.finfo(wanted.dtype).eps if wanted.dtype.is_floating_point or wanted.is_complex() else 0
    if not torch.allclose(found, wanted, rtol=1e-4, atol=scale * max(1e-5, 64 * precision), equal_nan=True):
        raise Wrong(f"{what}: off by {float((found - wanted).abs().max())}")


def _forms(found: Sequence[torch.Tensor], expected: Sequence[Any]) -> list[torch.Tensor]:
    """The outputs, complex again, after a look at their form."""
    if len(found) != len(expected):
        raise Wrong(f"{len(found)} outputs, not {len(expected)}")
    for index, (got, want) in enumerate(zip(found, expected, strict=True)):
        check_form(index, got, as_real(want))
    return [_complex(got, want) for got, want in zip(found, expected, strict=True)]


def _qr(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    q, r = _forms(found, expected)
    if q.numel():
        _same(q @ r, a, "q @ r")
        _same(
            q.mH @ q, torch.eye(q.shape[-1], dtype=q.dtype).expand(q.mH.shape[:-1] + q.shape[-1:]), "qᴴ @ q"
        )
    else:
        _same(r.abs(), expected[1].abs(), "r")
    if not torch.equal(r, r.triu()):
        raise Wrong("r is not upper triangular")


def _svd(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    u, s, v = _forms(found, expected)
    _same(s, expected[1], "singular values")
    k = s.shape[-1]
    if u.numel() and v.numel():
        is_torch_svd = expected[2].shape[-1] == k and torch.allclose(
            (expected[0][..., :k] * expected[1].unsqueeze(-2)) @ expected[2][..., :k].mH, a, atol=1e-2
        )
        right = v[..., :k].mH if is_torch_svd else v[..., :k, :]
        _same((u[..., :k] * s.unsqueeze(-2)) @ right, a, "u @ s @ vᴴ")


def _eigh(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    values, vectors = _forms(found, expected)
    _same(values, expected[0], "eigenvalues")
    rebuilt = (expected[1] * expected[0].unsqueeze(-2)) @ expected[1].mH
    _same((vectors * values.unsqueeze(-2)) @ vectors.mH, rebuilt, "v @ w @ vᴴ")


def _eigenvalues(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    (values,) = _forms(found[:1], expected[:1])
    remaining = values.reshape(-1, values.shape[-1]).clone() if values.numel() else values.reshape(0, 1)
    for row, wanted in zip(remaining, expected[0].reshape(remaining.shape), strict=True):
        left = list(range(len(row)))
        for value in wanted:
            nearest = min(left, key=lambda index: float((row[index] - value).abs()))
            _same(row[nearest], value, "eigenvalue")
            left.remove(nearest)


def _eig(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    values, vectors = _forms(found, expected)
    _eigenvalues(a, args, kwargs, found, expected)
    _same(a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2), "a @ v")


def _ordered(a: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: Any, expected: Any) -> None:
    """Values as torch gives them; among equal values any place will do, unless the sort is to be stable."""
    _forms(found, expected)
    if all(is_close(got, as_real(want)) for got, want in zip(found, expected, strict=True)):
        return
    if kwargs.get("stable", False):
        raise Wrong("a stable sort gives equal values in another order")
    is_unordered = kwargs.get("sorted", True) is False
    dims = [dim for dim in range(max(1, a.dim())) if _are_places(found, expected, a, dim, is_unordered)]
    if not dims:
        raise Wrong("values or places differ")


def _are_places(found: Any, expected: Any, a: torch.Tensor, dim: int, is_unordered: bool) -> bool:
    """Whether the model's and torch's places along a dimension hold the same values, those given if any are."""
    got, want = (_values_at(a, places, dim) for places in (found[-1], expected[-1]))
    if got is None or want is None:
        return False
    columns = [got, want, *((found[0], expected[0]) if len(found) == 2 else ())]
    if is_unordered and got.dim():
        columns = [column.sort(dim).values for column in columns]
    return all(is_close(column, columns[1]) for column in columns)


def _values_at(a: torch.Tensor, places: torch.Tensor, dim: int) -> torch.Tensor | None:
    if a.dim() == 0:
        return a
    is_reduced = places.dim() == a.dim() - 1
    whole = places.unsqueeze(dim) if is_reduced else places
    sizes = zip(whole.shape, a.shape, strict=True)
    if any(size != other and axis != dim for axis, (size, other) in enumerate(sizes)):
        return None
    if whole.numel() and not 0 <= int(whole.min()) <= int(whole.max()) < a.shape[dim]:
        return None
    values = a.gather(dim, whole)
    return values.squeeze(dim) if is_reduced else values


CHECKS: dict[str, Check] = {
    "qr": _qr,
    "linalg.qr": _qr,
    "svd": _svd,
    "linalg.svd": _svd,
    "linalg.eigh": _eigh,
    "linalg.eig": _eig,
    "linalg.eigvals": _eigenvalues,
    **dict.fromkeys(("sort", "argsort", "topk", "kthvalue", "median", "nanmedian", "mode"), _ordered),
}

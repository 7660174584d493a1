"""Compares the outputs of a model with torch's: element type, shape, and numbers within a tolerance by type.

Knows nothing of operators; `checks.py` holds what some of them need besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

#: Relative and absolute tolerance. Wider than those of `torch.testing.assert_close`, which are meant for one
#: implementation beside another of the same algorithm; about those that torch's operator tests use.
TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-6, 1e-7),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
}

_WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}

#: How many times torch's own distance from the result in double precision a model may be away from it. Where a
#: problem is badly conditioned, torch's result is no truth either.
_TIMES_TORCHS_ERROR = 8.0


class Wrong(Exception):
    """A model's output is not what torch computes."""


def compare(
    found: Sequence[torch.Tensor],
    expected: Sequence[Any],
    *,
    precise: Callable[[], Sequence[Any]] | None = None,
    only_form: bool = False,
) -> None:
    """Raise Wrong if outputs differ. `precise` computes the same in double precision, for a second opinion."""
    if len(found) != len(expected):
        raise Wrong(f"{len(found)} outputs, not {len(expected)}")
    reals = [as_real(value) for value in expected]
    for index, value in enumerate(expected):
        # A Python float has no element type of its own: float32 and float64 are both right.
        if isinstance(value, float) and found[index].is_floating_point():
            reals[index] = reals[index].to(found[index].dtype)
    truth: Sequence[torch.Tensor] | None = None
    for index, (got, want) in enumerate(zip(found, reals, strict=True)):
        check_form(index, got, want)
        if only_form or is_close(got, want):
            continue
        if precise is not None and want.is_floating_point():
            truth = truth if truth is not None else [as_real(value) for value in precise()]
            if _is_as_good_as_torch(got, want, truth[index]):
                continue
        raise Wrong(f"output {index}: {_difference(got, want)}")


def as_real(value: Any) -> torch.Tensor:
    """A leaf of torch's result as a model gives it: numbers as scalars, complex numbers as pairs."""
    if not isinstance(value, torch.Tensor):
        return torch.tensor(value, dtype=torch.float32 if isinstance(value, float) else None)
    value = value.detach().resolve_conj().resolve_neg()
    return torch.view_as_real(value) if value.is_complex() else value


def check_form(index: int, got: torch.Tensor, want: torch.Tensor) -> None:
    """Raise Wrong if an output has another element type or shape."""
    if got.dtype != want.dtype:
        raise Wrong(f"output {index}: element type {got.dtype}, not {want.dtype}")
    if got.shape != want.shape:
        raise Wrong(f"output {index}: shape {tuple(got.shape)}, not {tuple(want.shape)}")


def is_close(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Whether numbers agree within the tolerance of their type; integers and booleans exactly."""
    if want.dtype not in TOLERANCES:
        return torch.equal(got, want)
    relative, absolute = TOLERANCES[want.dtype]
    return torch.allclose(got, want, rtol=relative, atol=absolute, equal_nan=True)


def widened(value: Any) -> Any:
    """A tensor in double precision; anything else as it is."""
    if isinstance(value, torch.Tensor) and value.dtype in _WIDER:
        return value.to(_WIDER[value.dtype])
    return value


def _is_as_good_as_torch(got: torch.Tensor, want: torch.Tensor, truth: torch.Tensor) -> bool:
    if truth.shape != want.shape:
        return False
    relative, absolute = TOLERANCES[want.dtype]
    got64, want64, truth64 = got.double(), want.double(), truth.double()
    finite = torch.isfinite(truth64) & torch.isfinite(want64)
    if not torch.equal(got64[~finite].nan_to_num(), want64[~finite].nan_to_num()):
        return False
    if not finite.any():
        return True
    torchs_error = (want64 - truth64)[finite].abs().max()
    allowed = absolute + relative * truth64[finite].abs() + _TIMES_TORCHS_ERROR * torchs_error
    return bool(((got64 - truth64)[finite].abs() <= allowed).all())


def _difference(got: torch.Tensor, want: torch.Tensor) -> str:
    different = ~torch.isclose(got.double(), want.double(), rtol=1e-5, atol=1e-6, equal_nan=True)
    if not different.any():
        return "numbers differ"
    place = tuple(different.nonzero()[0].tolist())
    return f"{int(different.sum())} of {want.numel()} differ, {got[place].item()} not {want[place].item()} at {place}"

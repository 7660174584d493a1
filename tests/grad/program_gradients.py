"""Gradients of generated programs against torch's: of the first order, along a direction, and of the second."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from onnxsmith.errors import ModelWarning
from onnxsmith.grad import grad, jvp, value_and_grad
from tests.grad.programs import program

#: How far a derivative may be off, of its largest element or of one.
TOLERANCE = 1e-8
WRT = (0, 1, 2)


def failure(seed: int, *, is_second: bool = False) -> str | None:
    """What is wrong with the gradient of a program; None if nothing is."""
    made = program(seed)
    *arrays, count = made.inputs
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    loss = made.on_torch()(*tensors, int(count))
    wanted = _slopes(loss, tensors, keeps=is_second)
    function = made.as_script()
    value, found = value_and_grad(function, wrt=WRT)(*made.inputs)
    told = _different([value, *found], [loss, *wanted], "first derivatives")
    if told is not None:
        return told
    numbers = np.random.default_rng(seed)
    along = [np.asarray(numbers.standard_normal(each.shape)) for each in arrays]
    _, change = jvp(function, wrt=WRT)(*made.inputs, tangent=tuple(along))
    slope = sum((g * torch.tensor(v)).sum() for g, v in zip(wanted, along, strict=True))
    told = _different([change], [slope], "the way forwards")
    if told is not None or not is_second:
        return told
    seconds = _slopes(slope, tensors, keeps=False)

    def along_direction(*given: Any) -> Any:
        first = grad(function, wrt=WRT)(*given)
        return sum((g * v).sum() for g, v in zip(first, along, strict=True))

    return _different(grad(along_direction, wrt=WRT)(*made.inputs), seconds, "second derivatives")


def _slopes(of: Any, wrt: Sequence[torch.Tensor], *, keeps: bool) -> list[torch.Tensor]:
    if not of.requires_grad:
        return [torch.zeros_like(each) for each in wrt]
    found = torch.autograd.grad(of, wrt, allow_unused=True, create_graph=keeps)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wrt, found, strict=True)]


def _different(found: Sequence[Any], wanted: Sequence[Any], what: str) -> str | None:
    for ours, theirs in zip(found, wanted, strict=True):
        truth = theirs.detach().numpy()
        if np.shape(ours) != truth.shape:
            return f"{what}: the shape {np.shape(ours)}, not {truth.shape}"
        allowed = TOLERANCE * max(1.0, float(np.abs(truth).max()))
        off = float(np.abs(ours - truth).max())
        if not off <= allowed:
            return f"{what}: off by {off:.3g}"
    return None


def told(seed: int, check: Callable[[int], str | None]) -> str | None:
    """What is wrong, with the program; an error is wrong, too."""
    try:
        with warnings.catch_warnings():
            # Programs draw what they use; that something has no part in the loss is told, and right.
            warnings.simplefilter("ignore", ModelWarning)
            found = check(seed)
    except Exception as error:  # one program must not hide the others
        found = f"{type(error).__name__}: {error}"
    return None if found is None else f"program {seed}: {found}\n{program(seed).source}"

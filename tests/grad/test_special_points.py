"""Gradients at special points: zeros, whole numbers, powers, equal arguments, multiples.

Formulas choose there between branches, and the branch that has the right value may have the wrong slope. Every
universal function with fractions for results is held to torch's gradient where torch has one. Others are held to
differences of numpy's values on either side: where both sides go on from the value, the slope is between theirs, and
at a jump it is that of the side that goes on. It is 0 where none does.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script
from onnxsmith.errors import ModelWarning
from onnxsmith.grad import grad
from onnxsmith.numpy.registry import UFUNCS

LINE = [0, 0.5, 1, 2, 3, 4, 8, 10, 100, 1000, 0.25, 0.1]
LINE = [*LINE, *(-each for each in LINE[1:])]
#: Of two arguments: all pairs.
PAIRS = [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4]
#: How far one goes for a difference, which changes as much where there is no jump, and less where no slope is infinite.
STEP = 1e-7
JUMP = 1e-2
STEEP = 1e4

#: Under which name torch has a function; None where its gradient is not one.
ON_TORCH: dict[str, Callable[..., Any] | None] = {
    "power": torch.pow,
    "rint": torch.round,
    "fabs": torch.abs,
    "degrees": torch.rad2deg,
    "radians": torch.deg2rad,
    "floor_divide": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "conjugate": torch.clone,
    "heaviside": None,
    "nextafter": None,
    "divmod": None,
    "ldexp": None,  # 0 below an exponent of 0
    # Of zeros, where torch's is not a number, it is that of ReduceL2.
    "hypot": None,
}


@dataclass(frozen=True)
class Case:
    """A function of elements, and its arguments."""

    name: str
    function: Callable[..., Any]
    torch: Callable[..., Any] | None
    arguments: tuple[np.ndarray, ...]

    def values(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(self.function(*arguments))


def _output(function: Callable[..., Any], position: int) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments)[position]


def _takes_fractions(function: np.ufunc) -> bool:
    return any(each.startswith(("d->", "dd->", "dl->")) for each in function.types)


def _pairs() -> tuple[np.ndarray, ...]:
    line = np.array(PAIRS, np.float64)
    return np.repeat(line, len(line)), np.tile(line, len(line))


def _of_ufuncs() -> list[Case]:
    found: list[Case] = []
    seen: set[int] = set()
    for name, ufunc in UFUNCS.items():
        function = getattr(np, name)
        if id(ufunc) in seen or function.signature is not None or not _takes_fractions(function):
            continue
        seen.add(id(ufunc))
        arguments = (np.array(LINE, np.float64),) if function.nin == 1 else _pairs()
        if name == "ldexp":
            arguments = (arguments[0], arguments[-1].astype(np.int64))
        theirs = ON_TORCH.get(name, getattr(torch, name, None))
        for position in range(function.nout):
            one = function if function.nout == 1 else _output(function, position)
            theirs_one = theirs if theirs is None or function.nout == 1 else _output(theirs, position)
            with np.errstate(all="ignore"):
                if np.asarray(one(*arguments)).dtype != np.float64:
                    continue
            title = name if function.nout == 1 else f"{name}[{position}]"
            found.append(Case(title, one, theirs_one, arguments))
    return found


#: Lines that rise, so that no slope of 0 is between those of two neighbours.
KNOTS, HEIGHTS = np.array([-2.0, -1.0, 0.0, 0.5, 2.0]), np.array([1.0, 3.0, 4.0, 4.25, 8.75])
_LINE = (np.array(LINE, np.float64),)
_BESIDE = (np.array([0.0, 0.5, 1.0, 2.0, 10.0]),)

FUNCTIONS = [
    *_of_ufuncs(),
    Case("expit", xp.special.expit, torch.sigmoid, _LINE),
    Case("logit", xp.special.logit, torch.logit, (np.array([0.25, 0.3, 0.5, 0.7, 0.75]),)),
    Case("entr", xp.special.entr, torch.special.entr, _BESIDE),
    Case("interp", lambda x: np.interp(x, KNOTS, HEIGHTS), None, _LINE),
    Case("x % 1", lambda x: x % 1.0, None, _LINE),
    Case("abs of complex", lambda x: np.abs(x + 0j), torch.abs, _LINE),
    Case("sinc", np.sinc, torch.sinc, _LINE),
    Case("nan_to_num", np.nan_to_num, torch.nan_to_num, _LINE),
    Case("i0", np.i0, torch.special.i0, (np.array([-2.0, -1.0, 0.0, 1.0, 8.0]),)),
]


def slopes_on_torch(case: Case) -> list[np.ndarray]:
    given = [torch.tensor(each, requires_grad=each.dtype.kind == "f") for each in case.arguments]
    assert case.torch is not None
    result = case.torch(*given)
    wanted = [each for each in given if each.requires_grad]
    if not result.requires_grad:
        return [np.zeros(each.shape) for each in wanted]
    found = torch.autograd.grad(result.sum(), wanted, allow_unused=True)
    return [np.zeros(x.shape) if g is None else g.numpy() for x, g in zip(wanted, found, strict=True)]


def limits(case: Case, position: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest slope that an argument may have."""
    middle = case.values(case.arguments)
    sides = []
    for sign in (-1, 1):
        moved = list(case.arguments)
        moved[position] = moved[position] + sign * STEP
        with np.errstate(invalid="ignore"):  # beyond where it is finite
            change = (case.values(moved) - middle) * sign
        slope = np.where(np.abs(change) > STEEP * STEP, np.copysign(np.inf, change), change / STEP)
        sides.append(np.where(np.abs(change) < JUMP, slope, np.nan))
    left, right = sides
    low, high = (
        np.nan_to_num(pick(left, right), posinf=np.inf, neginf=-np.inf) for pick in (np.fmin, np.fmax)
    )
    near = [1e-5 * np.maximum(1.0, np.abs(np.where(np.isinf(each), 0.0, each))) for each in (low, high)]
    return low - near[0], high + near[1]


def slopes(case: Case, given: Sequence[np.ndarray]) -> list[np.ndarray]:
    wrt = [k for k, each in enumerate(given) if each.dtype.kind == "f"]
    function = case.function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # steps have no part in the sum
        return list(grad(xp.jit(lambda *x: function(*x).sum()), wrt=wrt)(*given))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", FUNCTIONS, ids=[each.name for each in FUNCTIONS])
def test_slopes_at_special_points(case: Case, dtype: type[np.floating[Any]]) -> None:
    given = [each.astype(dtype) if each.dtype.kind == "f" else each for each in case.arguments]
    inside = np.isfinite(case.values(case.arguments)) & np.isfinite(case.values(given))
    digits = 1e-5 if dtype is np.float32 else 1e-12
    wanted = None if case.torch is None else slopes_on_torch(case)
    for position, found in enumerate(slopes(case, given)):
        if wanted is not None:
            low = high = wanted[position]
            fits = np.isclose(found, low, rtol=digits, atol=digits, equal_nan=True)
        else:
            low, high = limits(case, position)
            fits = (low <= found) & (found <= high)
        wrong = np.flatnonzero(inside & ~fits)
        points = [tuple(float(each[k]) for each in case.arguments) for k in wrong]
        assert not points, (position, list(zip(points, found[wrong], low[wrong], high[wrong], strict=True)))


#: Those whose rules choose between formulas, or go through functions with rules of their own.
TWICE = [
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "remainder",
    "fmax",
    "modf[0]",
    "expit",
    "abs of complex",
]


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_at_special_points(name: str) -> None:
    (case,) = [each for each in FUNCTIONS if each.name == name]
    weights = np.arange(1, 1 + len(case.arguments))

    def weighted(*x: Any) -> Any:
        return sum((each * weight).sum() for each, weight in zip(slopes(case, x), weights, strict=True))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        found = grad(xp.jit(weighted), wrt=list(range(len(weights))))(*case.arguments)
    if case.torch is None:
        wanted = [np.zeros(each.shape) for each in case.arguments]
    else:
        given = [torch.tensor(each, requires_grad=True) for each in case.arguments]
        first = torch.autograd.grad(case.torch(*given).sum(), given, create_graph=True)
        total = torch.stack(
            [each.sum() * float(weight) for each, weight in zip(first, weights, strict=True)]
        ).sum()
        wanted = [np.zeros(each.shape) for each in case.arguments]
        if total.requires_grad:
            second = torch.autograd.grad(total, given, allow_unused=True)
            wanted = [
                x if each is None else each.numpy(force=True) for x, each in zip(wanted, second, strict=True)
            ]
    inside = np.isfinite(case.values(case.arguments))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours[inside], theirs[inside], rtol=1e-9, atol=1e-12)


# -- of whole arrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0.5, 1, 1.5, 2, 3, np.inf, -1, -2])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_norms_where_elements_are_zero(order: float, kind: type[np.inexact[Any]]) -> None:
    for x in ([0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, -1.0, 0.0], [2.0, -1.0, 0.5]):
        given = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        turned = given * (1j if kind is np.complex128 else 1)
        (wanted,) = torch.autograd.grad(torch.linalg.vector_norm(turned, order), given)
        if order < 0 and 0 in x:
            wanted = torch.zeros(3)  # flat, where torch divides by zero
        factor = kind(1j) if kind is np.complex128 else kind(1)
        real = np.asarray(x, np.float32 if kind is np.float32 else np.float64)
        found = grad(xp.jit(lambda x, factor=factor: np.linalg.norm(x * factor, order)))(real)
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5, atol=1e-12, err_msg=str(x))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_rows(dtype: type[np.floating[Any]]) -> None:
    """Each with its gradient in closed form."""
    equal, angles = np.ones(4), np.array([0, 1, 1 + 2 * np.pi, 0, np.pi, 0])
    cases: list[tuple[Callable[..., Any], np.ndarray, np.ndarray]] = [
        (lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2), equal, 8 * equal),
        (lambda x: np.logaddexp.reduce(x), equal, equal / 4),
        (lambda x: np.logaddexp2.reduce(x), equal, equal / 4),
        (lambda x: np.unwrap(x).sum(), angles, np.ones(6)),
        (lambda x: np.unwrap(x, period=1.0).sum(), np.array([0, 0.5, 0, 1, 1.5]), np.ones(5)),
        (lambda x: np.interp(x, KNOTS, HEIGHTS).sum(), KNOTS, np.array([2, 1, 0.5, 3, 3])),
        (lambda x: np.geomspace(x[0], x[1], 3).sum(), np.array([1.0, 100.0]), np.array([6.0, 1.05])),
        (lambda x: np.log2(x[0]) + np.log10(x[1]), np.array([8.0, 100.0]), 1 / (np.log([2, 10]) * [8, 100])),
    ]
    for number, (function, x, wanted) in enumerate(cases):
        found = grad(xp.jit(function))(x.astype(dtype))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=str(number))


@pytest.mark.parametrize(("function", "x"), [(math.log2, 8.0), (math.log10, 100.0)])
def test_logarithms_of_python(function: Callable[[float], float], x: float) -> None:
    base = 2 if function is math.log2 else 10
    assert grad(xp.jit(lambda x: function(x)))(x) == pytest.approx(1 / (x * math.log(base)))


@script
def deviation(x: FLOAT["N"]):
    return x.std()


@pytest.mark.parametrize("function", [xp.jit(lambda x: x.std()), xp.jit(lambda x: np.nanstd(x)), deviation])
def test_the_deviation_of_equal_values_is_flat_as_in_torch(function: Any) -> None:
    np.testing.assert_array_equal(grad(function)(np.ones(3, np.float32)), [0, 0, 0])
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    x.std(correction=0).backward()
    assert x.grad is not None
    np.testing.assert_allclose(grad(function)(np.float32([1, 2, 4])), x.grad.numpy(), rtol=1e-5)

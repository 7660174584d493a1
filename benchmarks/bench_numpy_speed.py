"""Plain numpy code, as `xp.jit` runs it, beside numpy itself and numba: chains, windows, clusters and loops.

Sessions of ONNX Runtime have as many threads as there are cores; numpy has one. The bars are of the elapsed time, which
is what a caller waits for: they say something on an idle machine alone. CPU time counts all threads, so that nothing is
gained by them there; it is told beside each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most

NAME = "numpy_speed"
DESCRIPTION = "functions of plain numpy code, compiled before; elapsed time, and CPU time of all threads"

Function = Callable[..., Any]


def chain(x):
    y = x * 2 + 1
    y = y / 3 - x
    y = np.sqrt(np.abs(y)) * x
    y = np.maximum(y, 0.5)
    return np.minimum(y - 0.25, 3)


def transcendental_chain(x):
    y = np.exp(-np.abs(x)) + 1
    y = np.tanh(y * x) - 0.5
    return np.log(y * y + 1) * np.sqrt(np.abs(x)) - y


def rolling(x, width=64):
    sums = np.cumsum(x)
    sums[width:] = sums[width:] - sums[:-width]
    return sums[width - 1 :] / width


def window_means(x, width=64):
    return np.lib.stride_tricks.sliding_window_view(x, width).mean(axis=-1)


def window_extremes(x, width=16):
    windows = np.lib.stride_tricks.sliding_window_view(x, width)
    return windows.max(axis=-1) - windows.min(axis=-1)


def k_means_step(points, centres):
    distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    labels = distances.argmin(axis=1)
    ones = (labels[:, None] == np.arange(len(centres))).astype(points.dtype)
    counts = ones.sum(axis=0)
    return (ones.T @ points) / np.maximum(counts, 1)[:, None], labels


def independent_steps(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            out[i] = x[i] - 0.5
        elif x[i] < -0.5:
            out[i] = x[i] + 0.5
    return out


def recurrence(x):
    out = np.zeros(len(x))
    level = 0.0
    for i in range(len(x)):
        level = 0.9 * level + 0.1 * x[i]
        out[i] = level
    return out


def running_counts(x):
    out = np.zeros(len(x))
    above, total = 0, 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            above += 1
            total += x[i]
        out[i] = total * above
    return out


def running_peak(x):
    out = np.zeros(len(x))
    peak = -np.inf
    for i in range(len(x)):
        if x[i] > peak:
            peak = x[i]
        out[i] = peak
    return out


def nonlinear_recurrence(x):
    out = np.zeros(len(x))
    level = 0.5
    for i in range(len(x)):
        level = 3.5 * level * (1 - level) + 0.01 * x[i] * level
        out[i] = level
    return out


def recurrence_of_functions(x):
    level = 0.0
    for i in range(len(x)):
        level = np.clip(level + np.where(x[i] > 0, x[i], 0.0), 0.0, 5.0)
    return level


@dataclass(frozen=True)
class Timed:
    """A function, what it is given, and how much of numpy's time it may take."""

    name: str
    function: Function
    arguments: Callable[[np.random.Generator], tuple[Any, ...]]
    most: float | None


def _million(dtype: Any) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda draw: (draw.normal(size=1_000_000).astype(dtype),)


def _thousand(draw: np.random.Generator) -> tuple[Any, ...]:
    return (draw.normal(size=1000),)


CASES = (
    Timed("ten elementwise operators, 1 M float32", chain, _million(np.float32), 0.7),
    Timed("ten elementwise operators, 1 M float64", chain, _million(np.float64), 0.7),
    Timed("ten, of them four transcendental, 1 M float32", transcendental_chain, _million(np.float32), None),
    Timed("ten, of them four transcendental, 1 M float64", transcendental_chain, _million(np.float64), None),
    Timed("mean of a rolling window, 1 M float64", window_means, _million(np.float64), 1),
    Timed("extremes of a rolling window, 1 M float64", window_extremes, _million(np.float64), 1),
    Timed("a rolling mean by running sums, 1 M float64", rolling, _million(np.float64), 1),
    Timed(
        "a step of k-means, 20,000 points, 16 centres",
        k_means_step,
        lambda draw: (draw.normal(size=(20_000, 8)), draw.normal(size=(16, 8))),
        1,
    ),
    Timed("a loop of 1,000 independent steps", independent_steps, _thousand, 0.5),
    Timed("a loop of 1,000 steps of a recurrence", recurrence, _thousand, 0.5),
    Timed("a loop of 1,000 steps that count and add up", running_counts, _thousand, 0.5),
    Timed("a loop of 1,000 steps that keep the greatest", running_peak, _thousand, 0.5),
    Timed("a loop of 1,000 steps that wait for each other", nonlinear_recurrence, _thousand, None),
    Timed("the same, of numpy's functions", recurrence_of_functions, _thousand, None),
)


def run(context: Context) -> list[Row]:
    """Rows for each function."""
    rows: list[Row] = []
    for case in CASES:
        given = case.arguments(np.random.default_rng(0))
        expected = case.function(*given)
        ours = _onnxsmith(case.function, given)
        for name, clock, most in (
            (case.name, time.perf_counter, case.most),
            (f"{case.name}: CPU", time.process_time, None),
        ):
            peers = [
                Peer(
                    "numpy",
                    lambda: lambda: case.function(*given),  # noqa: B023  # called before the loop goes on
                    bar=None if most is None else ratio_at_most(most),
                ),
                Peer("numba", lambda: _numba(case.function, given), package="numba"),  # noqa: B023  # called before the loop goes on
            ]
            check = _checker(expected)
            rows += contest(context, name, ours, peers, unit="ms", per_second=1e3, check=check, clock=clock)
    return rows


def _checker(expected: Any) -> Callable[[Any], None]:
    def check(result: Any) -> None:
        several = isinstance(expected, tuple)
        for one, other in zip(
            result if several else (result,), expected if several else (expected,), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    return check


def _onnxsmith(function: Function, given: tuple[Any, ...]) -> Callable[[], object]:
    import onnxsmith.numpy as xp

    fast = xp.jit(function)
    return lambda: fast(*given)


def _numba(function: Function, given: tuple[Any, ...]) -> Callable[[], object]:
    import numba  # an optional peer

    fast = numba.njit(function)
    return lambda: fast(*given)

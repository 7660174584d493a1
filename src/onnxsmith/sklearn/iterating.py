"""Factors that are found by going on until they are near enough, as plain numpy code.

Each function is code for numpy, as a user's is: it is not called, but staged, so that its `while` is a loop of the
model. How often scikit-learn goes on can depend on all rows of a call, and so it does here.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Numbers: TypeAlias = np.ndarray[Any, Any]


def descended(products: Numbers, inner: Numbers, tolerance: float, most: int, count: int) -> Numbers:
    """Weights that are not negative, by coordinate descent; `products` are those of the rows with the factors."""
    weights: Any = products * 0.0
    step = 0
    violation: Any = np.asarray(1.0, weights.dtype)
    first: Any = np.asarray(0.0, weights.dtype)
    is_open: Any = np.asarray(weights.shape[0] >= 0)
    while is_open:
        violation = np.asarray(0.0, weights.dtype)
        for k in range(count):
            slope: Any = weights @ inner[k] - products[:, k]
            is_free = np.asarray(weights[:, k] != 0).astype(weights.dtype)
            violation = violation + np.sum(np.abs(np.minimum(slope, 0.0) + is_free * np.maximum(slope, 0.0)))
            if inner[k, k] != 0:
                weights[:, k] = np.maximum(weights[:, k] - slope / inner[k, k], 0.0)
        first = first + violation * np.asarray(step == 0).astype(weights.dtype)
        step = step + 1
        # Near enough, or nothing to do from the beginning.
        is_open = np.logical_and(step < most, violation > tolerance * first)
    return weights


def topics(counts: Numbers, words: Numbers, prior: float, tolerance: float, most: int) -> Numbers:
    """How much of each topic is in each row, by variational Bayes; `words` say how likely each is in a topic."""
    small = np.finfo(counts.dtype).eps
    shares = counts @ words.T * 0.0 + 1.0
    step = 0
    is_open = shares[:, 0] > 0
    digamma = shares
    expected = shares
    while step == 0 or (step <= most and np.any(is_open)):
        if step == 0:
            made = shares
        else:
            made = expected * ((counts / (expected @ words + small)) @ words.T) + prior
        total = np.sum(made, axis=1, keepdims=True)
        both = np.concatenate([made, total], axis=1)
        digamma = both * 0.0
        rest = both
        for _ in range(6):
            digamma = np.where(rest < 6, digamma - 1.0 / rest, digamma)
            rest = np.where(rest < 6, rest + 1.0, rest)
        square = 1.0 / (rest * rest)
        digamma = digamma + np.log(rest) - 0.5 / rest
        digamma = digamma - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0)))
        digamma = np.where(both <= 1e-6, -0.5772156649015329 - 1.0 / both, digamma)
        made_expected = np.exp(digamma[:, :-1] - digamma[:, -1:])
        is_far = np.mean(np.abs(shares - made), axis=1) >= tolerance
        expected = np.where(is_open[:, None], made_expected, expected)
        shares = np.where(is_open[:, None], made, shares)
        is_open = np.logical_and(is_open, np.logical_or(is_far, step == 0))
        step = step + 1
    return shares / np.sum(shares, axis=1, keepdims=True)


def coupled(winning: Numbers, count: int) -> Numbers:
    """libsvm's probabilities of classes, of those that one wins against another, of shape (rows, pairs).

    Each row goes on until its own error is small, and stays as it is from there on.
    """
    rows = winning.shape[0]
    beats: list[list[Any]] = [[None] * count for _ in range(count)]
    place = 0
    for first in range(count):
        for second in range(first + 1, count):
            beats[first][second] = winning[:, place]
            beats[second][first] = 1 - winning[:, place]
            place += 1
    squares: list[list[Any]] = [[None] * count for _ in range(count)]
    for t in range(count):
        squares[t][t] = sum(beats[j][t] * beats[j][t] for j in range(count) if j != t)
        for j in range(count):
            if j != t:
                squares[t][j] = -beats[j][t] * beats[t][j]
    shares = np.full((rows, count), 1.0 / count)
    is_open = winning[:, 0] == winning[:, 0]
    step = 0
    while np.logical_and(step < max(100, count), np.any(is_open)):
        products: list[Any] = [sum(squares[t][j] * shares[:, j] for j in range(count)) for t in range(count)]
        whole: Any = sum(shares[:, t] * products[t] for t in range(count))
        error = np.max(np.stack([np.abs(products[t] - whole) for t in range(count)], axis=1), axis=1)
        is_open = np.logical_and(is_open, error >= 0.005 / count)
        made: list[Any] = [shares[:, t] for t in range(count)]
        for t in range(count):
            change: Any = (whole - products[t]) / squares[t][t]
            made[t] = made[t] + change
            whole = (
                (whole + change * (change * squares[t][t] + 2 * products[t])) / (1 + change) / (1 + change)
            )
            products = [(products[j] + change * squares[t][j]) / (1 + change) for j in range(count)]
            made = [made[j] / (1 + change) for j in range(count)]
        shares = np.where(is_open[:, None], np.stack(made, axis=1), shares)
        step = step + 1
    return shares

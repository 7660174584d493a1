"""Statistics: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def zscore(x, axis=0, ddof=0):
    mean = x.mean(axis=axis, keepdims=True)
    std = x.std(axis=axis, ddof=ddof, keepdims=True)
    std[std == 0] = 1
    return (x - mean) / std


def winsorise(x, lower=0.05, upper=0.95):
    low, high = np.quantile(x, [lower, upper])
    out = x.copy()
    out[out < low] = low
    out[out > high] = high
    return out


def weighted_median(values, weights):
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    cumulated = np.cumsum(weights)
    return values[np.searchsorted(cumulated, 0.5 * cumulated[-1])]


def running_statistics(x):
    """Welford's method: one pass, mean, variance, minimum and maximum."""
    mean, m2 = 0.0, 0.0
    smallest, largest = np.inf, -np.inf
    for count, value in enumerate(x, start=1):
        delta = value - mean
        mean += delta / count
        m2 += delta * (value - mean)
        smallest = min(smallest, value)
        largest = max(largest, value)
    n = len(x)
    return {"mean": mean, "variance": m2 / n if n > 0 else 0.0, "min": smallest, "max": largest}


def rolling_mean_std(x, window=4):
    padded = np.concatenate(([0.0], np.cumsum(x)))
    squares = np.concatenate(([0.0], np.cumsum(x**2)))
    mean = (padded[window:] - padded[:-window]) / window
    variance = (squares[window:] - squares[:-window]) / window - mean**2
    return mean, np.sqrt(np.maximum(variance, 0))


def outliers(x, threshold=3.5):
    """Which values are outliers, by the median absolute deviation."""
    median = np.median(x)
    deviation = np.abs(x - median)
    mad = np.median(deviation)
    if mad == 0:
        return np.zeros(x.shape, dtype=bool)
    return 0.6745 * deviation / mad > threshold


def _ranks(x):
    order = np.argsort(x, kind="stable")
    ranks = np.empty(len(x))
    ranks[order] = np.arange(1, len(x) + 1)
    # Ties share the mean of their ranks.
    for value in np.unique(x):
        same = x == value
        ranks[same] = ranks[same].mean()
    return ranks


def spearman(x, y):
    return np.corrcoef(_ranks(x), _ranks(y))[0, 1]

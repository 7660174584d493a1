"""Signals: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def moving_average(x, width=3):
    return np.convolve(x, np.ones(width) / width, mode="valid")


def butterworth_lowpass(x, cutoff=0.1):
    """A second order low pass, sample by sample."""
    k = np.tan(np.pi * cutoff)
    norm = 1 / (1 + np.sqrt(2) * k + k**2)
    b = [k**2 * norm, 2 * k**2 * norm, k**2 * norm]
    a = [2 * (k**2 - 1) * norm, (1 - np.sqrt(2) * k + k**2) * norm]
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = b[0] * x[i]
        if i >= 1:
            y[i] += b[1] * x[i - 1] - a[0] * y[i - 1]
        if i >= 2:
            y[i] += b[2] * x[i - 2] - a[1] * y[i - 2]
    return y


def autocorrelation(x):
    x = x - x.mean()
    n = len(x)
    full = np.correlate(x, x, mode="full")
    result = full[n - 1 :]
    if result[0] == 0:
        return np.zeros(n)
    return result / result[0]


def find_peaks(x, height=0.0, distance=2):
    """Places of local maxima above a height, each at least a distance behind the one before."""
    candidates = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:]) & (x[1:-1] > height)) + 1
    keep = np.zeros(len(candidates), dtype=bool)
    last = -distance
    for k, place in enumerate(candidates):
        if place - last >= distance:
            keep[k] = True
            last = place
    return candidates[keep]


def median_filter(x, width=3):
    half = width // 2
    padded = np.pad(x, half, mode="edge")
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.median(padded[i : i + width])
    return out


def envelope_follower(x, attack=0.5, release=0.1):
    level = 0.0
    out = np.zeros_like(x)
    for i, sample in enumerate(np.abs(x)):
        if sample > level:
            level += attack * (sample - level)
        else:
            level += release * (sample - level)
        out[i] = level
    return out


def power_spectrum(x, rate=100.0):
    """Frequencies, their power, and the strongest frequency, with a Hann window."""
    n = len(x)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    spectrum = np.fft.rfft((x - np.mean(x)) * window)
    power = np.abs(spectrum) ** 2 / n
    frequencies = np.fft.rfftfreq(n, d=1 / rate)
    return frequencies, power, frequencies[np.argmax(power)]

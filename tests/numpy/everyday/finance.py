"""Finance: everyday numpy functions, written without a thought of ONNX."""

import numpy as np


def npv(rate, cashflows):
    return np.sum(cashflows / (1 + rate) ** np.arange(len(cashflows)))


def irr(cashflows, guess=0.1, tolerance=1e-6, max_iterations=50):
    """The rate at which the present value is nothing, by Newton's method; nan where it finds none."""
    rate = guess
    periods = np.arange(len(cashflows))
    iteration = 0
    while iteration < max_iterations:
        discount = (1 + rate) ** periods
        value = np.sum(cashflows / discount)
        slope = -np.sum(periods * cashflows / discount) / (1 + rate)
        if slope == 0:
            return np.nan
        step = value / slope
        rate -= step
        if abs(step) < tolerance:
            return rate
        iteration += 1
    return np.nan


def _normal_cdf(x):
    t = 1 / (1 + 0.2316419 * np.abs(x))
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) * poly
    return np.where(x >= 0, 1 - tail, tail)


def black_scholes(spot, strike, years, rate=0.02, volatility=0.3, kind="call"):
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    if kind == "call":
        return spot * _normal_cdf(d1) - strike * np.exp(-rate * years) * _normal_cdf(d2)
    elif kind == "put":
        return strike * np.exp(-rate * years) * _normal_cdf(-d2) - spot * _normal_cdf(-d1)
    raise ValueError(f"no option of the kind {kind!r}")


def max_drawdown(prices):
    """The largest fall from a peak, and where it began and ended."""
    if len(prices) == 0:
        return 0.0, -1, -1
    peaks = np.maximum.accumulate(prices)
    drawdowns = (peaks - prices) / peaks
    end = np.argmax(drawdowns)
    start = np.argmax(prices[: end + 1])
    return drawdowns[end], start, end


def moving_average_crossover(prices, short=2, long=4):
    """1 where the short average rises above the long one, -1 where it falls below."""

    def average(x, n):
        sums = np.cumsum(np.insert(x, 0, 0))
        return (sums[n:] - sums[:-n]) / n

    fast = average(prices, short)[long - short :]
    slow = average(prices, long)
    position = np.where(fast > slow, 1, 0)
    signal = np.zeros(len(prices), dtype=np.int64)
    signal[long:] = np.diff(position)
    return signal


def amortisation(principal, yearly_rate, months=12):
    """A row for each month: interest, repayment, what is left."""
    rate = yearly_rate / 12
    payment = principal * rate / (1 - (1 + rate) ** -months)
    schedule = np.zeros((months, 3))
    balance = principal
    for month in range(months):
        interest = balance * rate
        repaid = payment - interest
        balance -= repaid
        schedule[month] = interest, repaid, balance
    return payment, schedule


def relative_strength(prices, period=3):
    """Wilder's index, nan until there are enough prices."""
    n = len(prices)
    result = np.full(n, np.nan)
    if n <= period:
        return result
    changes = np.diff(prices)
    gains = np.where(changes > 0, changes, 0)
    losses = np.where(changes < 0, -changes, 0)
    gain = gains[:period].mean()
    loss = losses[:period].mean()
    for i in range(period, n):
        if i > period:
            gain = (gain * (period - 1) + gains[i - 1]) / period
            loss = (loss * (period - 1) + losses[i - 1]) / period
        result[i] = 100.0 if loss == 0 else 100 - 100 / (1 + gain / loss)
    return result

"""Dynamic programming: everyday numpy functions with loops, written without a thought of ONNX."""

import numpy as np


def edit_distance(a, b):
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=int)
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


def longest_increasing_subsequence(x):
    n = len(x)
    if n == 0:
        return 0
    lengths = np.ones(n, dtype=int)
    for i in range(1, n):
        for j in range(i):
            if x[j] < x[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
    return lengths.max()


def knapsack(weights, values, capacity=10):
    """The best value, and which items to take."""
    n = len(weights)
    best = np.zeros((n + 1, capacity + 1))
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            best[i, c] = best[i - 1, c]
            if weights[i - 1] <= c:
                best[i, c] = max(best[i, c], best[i - 1, c - weights[i - 1]] + values[i - 1])
    taken = np.zeros(n, dtype=bool)
    c = capacity
    for i in range(n, 0, -1):
        if best[i, c] != best[i - 1, c]:
            taken[i - 1] = True
            c -= weights[i - 1]
    return best[n, capacity], taken


def dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = abs(a[i - 1] - b[j - 1])
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def viterbi(observations, start, transition, emission):
    """The most likely path through hidden states, and its log probability."""
    steps, states = len(observations), len(start)
    scores = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=int)
    scores[0] = np.log(start) + np.log(emission[:, observations[0]])
    for t in range(1, steps):
        for s in range(states):
            candidates = scores[t - 1] + np.log(transition[:, s])
            back[t, s] = np.argmax(candidates)
            scores[t, s] = candidates[back[t, s]] + np.log(emission[s, observations[t]])
    path = np.zeros(steps, dtype=int)
    path[-1] = np.argmax(scores[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, scores[-1].max()

"""Simulation: everyday numpy functions with loops, written without a thought of ONNX."""

import numpy as np


def logistic_map(x0, r, steps=20):
    orbit = np.empty(steps + 1)
    orbit[0] = x0
    for i in range(steps):
        orbit[i + 1] = r * orbit[i] * (1 - orbit[i])
    return orbit


def lotka_volterra(start, steps, dt=0.01, rates=(1.1, 0.4, 0.1, 0.4)):
    """Hunters and hunted, by Runge and Kutta's fourth order."""
    alpha, beta, delta, gamma = rates

    def derivative(state):
        prey, predators = state
        return np.array(
            [alpha * prey - beta * prey * predators, delta * prey * predators - gamma * predators]
        )

    path = np.zeros((steps + 1, 2))
    path[0] = start
    for i in range(steps):
        y = path[i]
        k1 = derivative(y)
        k2 = derivative(y + dt / 2 * k1)
        k3 = derivative(y + dt / 2 * k2)
        k4 = derivative(y + dt * k3)
        path[i + 1] = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def first_passage(increments, barrier=1.0):
    """The path of a random walk, and the first step at which it leaves the barriers, or -1."""
    path = np.cumsum(increments)
    for step in range(len(path)):
        if abs(path[step]) >= barrier:
            return path, step
    return path, -1


def game_of_life(board, generations=3):
    for _ in range(generations):
        neighbours = sum(
            np.roll(np.roll(board, dy, axis=0), dx, axis=1)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if (dy, dx) != (0, 0)
        )
        board = ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(board.dtype)
    return board


def heat_equation(temperatures, steps, diffusivity=0.2):
    u = temperatures.copy()
    for _ in range(steps):
        u[1:-1] += diffusivity * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
    return u


def k_means(points, centres, max_iterations=20, tolerance=1e-4):
    """Lloyd's algorithm: centres, labels, and how many steps it took."""
    centres = centres.copy()
    for iteration in range(max_iterations):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        updated = centres.copy()
        for k in range(len(centres)):
            members = points[labels == k]
            if len(members) > 0:
                updated[k] = members.mean(axis=0)
        shift = np.linalg.norm(updated - centres)
        centres = updated
        if shift < tolerance:
            break
    return centres, labels, iteration + 1


def mandelbrot(real, imaginary, max_iterations=15):
    """After how many steps each point of a grid escapes."""
    c = real[None, :] + 1j * imaginary[:, None]
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=int)
    alive = np.ones(c.shape, dtype=bool)
    for _ in range(max_iterations):
        z[alive] = z[alive] ** 2 + c[alive]
        alive[np.abs(z) > 2] = False
        counts[alive] += 1
    return counts


def page_rank(links, damping=0.85, tolerance=1e-6):
    """links[i, j] is 1 where page j links to page i."""
    n = len(links)
    out = links.sum(axis=0)
    transition = np.where(out > 0, links / np.where(out > 0, out, 1), 1 / n)
    rank = np.ones(n) / n
    while True:
        updated = (1 - damping) / n + damping * transition @ rank
        if np.abs(updated - rank).sum() < tolerance:
            return updated
        rank = updated

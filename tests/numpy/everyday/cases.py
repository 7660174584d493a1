"""Sixty everyday functions with inputs at several sizes. The list was written before the first function was tried.

Floating point arrays are made in float64; whoever runs a case converts them to the element type in question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.numpy.everyday import (
    dynamic_programming,
    finance,
    geometry,
    imaging,
    losses,
    metrics,
    signal_processing,
    simulation,
    statistics,
)

Draw = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A function, and the arguments that it is called with at each size."""

    function: Callable[..., Any]
    arguments: Callable[[Draw, int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    options: tuple[dict[str, Any], ...] = ({},)

    @property
    def name(self) -> str:
        return self.function.__name__

    def at(self, size: int, dtype: type[np.floating[Any]]) -> tuple[Any, ...]:
        """The arguments at a size, the same at each call."""
        drawn = self.arguments(np.random.default_rng(size + 1), size)
        return tuple(
            each.astype(dtype) if isinstance(each, np.ndarray) and each.dtype.kind == "f" else each
            for each in drawn
        )


def _vector(draw: Draw, n: int) -> tuple[Any, ...]:
    return (draw.normal(size=n),)


def _prices(draw: Draw, n: int) -> tuple[Any, ...]:
    return (100 * np.exp(np.cumsum(draw.normal(scale=0.05, size=n))),)


def _labelled(draw: Draw, n: int) -> tuple[Any, ...]:
    return (draw.integers(0, 2, size=n), draw.random(n))


def _image(draw: Draw, n: int) -> tuple[Any, ...]:
    return (draw.random((n, n + 2)),)


def _points(draw: Draw, n: int) -> tuple[Any, ...]:
    return (draw.normal(size=(n, 2)),)


def _boxes(draw: Draw, n: int) -> Any:
    corners = draw.random((n, 2)) * 4
    return np.concatenate([corners, corners + draw.random((n, 2)) * 3 + 0.1], axis=1)


def _polygon(draw: Draw, n: int) -> Any:
    angles = np.sort(draw.random(n)) * 2 * np.pi
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) * (0.5 + draw.random((n, 1)))


def _hidden_states(draw: Draw, n: int) -> tuple[Any, ...]:
    return (
        draw.integers(0, 4, size=n),
        draw.dirichlet(np.ones(3)),
        draw.dirichlet(np.ones(3), size=3),
        draw.dirichlet(np.ones(4), size=3),
    )


CASES = (
    Case(signal_processing.moving_average, _vector, (1, 2, 3, 10, 57), ({}, {"width": 5})),
    Case(signal_processing.butterworth_lowpass, _vector, (0, 1, 2, 9, 40), ({}, {"cutoff": 0.25})),
    Case(signal_processing.autocorrelation, _vector, (1, 2, 9, 40)),
    Case(signal_processing.find_peaks, _vector, (2, 3, 12, 60), ({}, {"height": 0.5, "distance": 4})),
    Case(signal_processing.median_filter, _vector, (1, 2, 9, 40), ({}, {"width": 5})),
    Case(signal_processing.envelope_follower, _vector, (0, 1, 2, 30)),
    Case(signal_processing.power_spectrum, _vector, (1, 2, 9, 64)),
    Case(statistics.zscore, lambda d, n: (d.normal(size=(n, 3)),), (1, 2, 9), ({}, {"axis": 1}, {"ddof": 1})),
    Case(statistics.winsorise, _vector, (1, 2, 9, 40), ({}, {"lower": 0.2, "upper": 0.7})),
    Case(statistics.weighted_median, lambda d, n: (d.normal(size=n), d.random(n)), (1, 2, 9, 40)),
    Case(statistics.running_statistics, _vector, (0, 1, 2, 30)),
    Case(statistics.rolling_mean_std, _vector, (3, 4, 9, 40), ({}, {"window": 2})),
    Case(
        statistics.outliers, lambda d, n: (d.standard_cauchy(size=n),), (1, 2, 9, 40), ({}, {"threshold": 2})
    ),
    Case(statistics.spearman, lambda d, n: (d.normal(size=n).round(1), d.normal(size=n)), (2, 9, 40)),
    Case(
        geometry.haversine,
        lambda d, n: (d.uniform(-80, 80, size=(n, 2)), d.uniform(-80, 80, size=(n, 2))),
        (0, 1, 2, 20),
    ),
    Case(geometry.polygon_area_and_centroid, lambda d, n: (_polygon(d, n),), (1, 2, 3, 9)),
    Case(geometry.point_in_polygon, lambda d, n: (d.normal(size=2) / 2, _polygon(d, n)), (0, 1, 3, 12, 13)),
    Case(
        geometry.rotate_about_axis,
        lambda d, n: (d.normal(size=(n, 3)), d.normal(size=3), 10.0 * n),
        (0, 1, 2, 20),
    ),
    Case(
        geometry.k_nearest,
        lambda d, n: (d.normal(size=(n, 3)), d.normal(size=(4, 3))),
        (2, 3, 20),
        ({}, {"k": 1}),
    ),
    Case(
        geometry.distance_to_segment,
        lambda d, n: (d.normal(size=n), d.normal(size=n), d.normal(size=n)),
        (0, 1, 2, 3),
    ),
    Case(geometry.convex_hull, _points, (1, 2, 3, 12)),
    Case(imaging.bilinear_resize, _image, (1, 2, 9), ({}, {"height": 2, "width": 3})),
    Case(imaging.convolve2d, lambda d, n: (d.random((n, n + 1)), d.normal(size=(3, 5))), (1, 2, 7)),
    Case(imaging.sobel, _image, (1, 2, 9)),
    Case(imaging.otsu_threshold, _image, (0, 1, 2, 9), ({}, {"bins": 5})),
    Case(
        imaging.histogram_equalise,
        lambda d, n: (d.integers(40, 200, size=(n, n), dtype=np.uint8),),
        (1, 2, 9),
    ),
    Case(imaging.box_blur, _image, (0, 1, 2, 9), ({}, {"radius": 2})),
    Case(imaging.label_components, lambda d, n: (d.random((n, n + 1)) > 0.45,), (0, 1, 2, 9)),
    Case(finance.npv, lambda d, n: (0.05, d.normal(size=n) * 100), (0, 1, 2, 20)),
    Case(finance.irr, lambda d, n: (np.concatenate([[-100.0], d.random(n) * 120]),), (0, 1, 2, 9)),
    Case(
        finance.black_scholes,
        lambda d, n: (80 + 40 * d.random(n), 80 + 40 * d.random(n), 0.1 + 2 * d.random(n)),
        (0, 1, 2, 20),
        ({}, {"kind": "put"}, {"volatility": 0.1}),
    ),
    Case(finance.max_drawdown, _prices, (0, 1, 2, 40)),
    Case(finance.moving_average_crossover, _prices, (4, 5, 40), ({}, {"short": 3, "long": 5})),
    Case(finance.amortisation, lambda d, n: (1000.0 + n, 0.06), (1, 2), ({}, {"months": 3})),
    Case(finance.relative_strength, _prices, (0, 1, 4, 30), ({}, {"period": 5})),
    Case(
        losses.cross_entropy,
        lambda d, n: (d.normal(size=(n, 4)), d.integers(0, 4, size=n)),
        (1, 2, 9),
        ({}, {"smoothing": 0.1}),
    ),
    Case(
        losses.huber,
        lambda d, n: (d.normal(size=n), d.normal(size=n)),
        (1, 2, 9),
        ({}, {"reduction": "sum"}, {"reduction": "none", "delta": 0.5}),
    ),
    Case(
        losses.focal_loss,
        lambda d, n: (d.random(n), d.integers(0, 2, size=n)),
        (1, 2, 9),
        ({}, {"gamma": 0.5}),
    ),
    Case(
        losses.triplet_loss,
        lambda d, n: (d.normal(size=(n, 3)), d.normal(size=(n, 3)), d.normal(size=(n, 3))),
        (0, 1, 2, 9),
    ),
    Case(losses.multiclass_hinge, lambda d, n: (d.normal(size=(n, 4)), d.integers(0, 4, size=n)), (1, 2, 9)),
    Case(
        metrics.confusion_matrix,
        lambda d, n: (d.integers(0, 3, size=n), d.integers(0, 3, size=n)),
        (0, 1, 2, 30),
        ({}, {"classes": 5}),
    ),
    Case(
        metrics.precision_recall_f1,
        lambda d, n: (d.integers(0, 2, size=n), d.integers(0, 2, size=n)),
        (0, 1, 2, 30),
    ),
    Case(metrics.roc_auc, lambda d, n: (d.integers(0, 2, size=n), d.random(n).round(1)), (1, 2, 9, 40)),
    Case(metrics.average_precision, _labelled, (0, 1, 2, 30)),
    Case(metrics.ndcg, lambda d, n: (d.integers(0, 4, size=n), d.random(n)), (0, 1, 2, 30), ({}, {"k": 3})),
    Case(metrics.non_maximum_suppression, lambda d, n: (_boxes(d, n), d.random(n)), (0, 1, 2, 12)),
    Case(metrics.silhouette, lambda d, n: (d.normal(size=(n, 2)), np.arange(n) % 3), (2, 4, 15)),
    Case(simulation.logistic_map, lambda d, n: (d.random(), 3.2), (1, 2), ({}, {"steps": 5})),
    Case(simulation.lotka_volterra, lambda d, n: (10 * d.random(2), n), (0, 1, 2, 30), ({}, {"dt": 0.1})),
    Case(simulation.first_passage, _vector, (0, 1, 2, 30), ({}, {"barrier": 3.0})),
    Case(simulation.game_of_life, lambda d, n: (d.integers(0, 2, size=(n, n + 1)),), (0, 1, 2, 9)),
    Case(simulation.heat_equation, lambda d, n: (d.random(n), 5), (2, 3, 20), ({}, {"diffusivity": 0.1})),
    Case(simulation.k_means, lambda d, n: (d.normal(size=(n, 2)), d.normal(size=(3, 2))), (0, 1, 2, 30)),
    Case(
        simulation.mandelbrot,
        lambda d, n: (np.linspace(-2, 0.5, n), np.linspace(-1, 1, n + 1)),
        (0, 1, 2, 12),
    ),
    Case(simulation.page_rank, lambda d, n: (d.integers(0, 2, size=(n, n)),), (1, 2, 9)),
    Case(
        dynamic_programming.edit_distance,
        lambda d, n: (d.integers(0, 3, size=n), d.integers(0, 3, size=n + 2)),
        (0, 1, 2, 9),
    ),
    Case(dynamic_programming.longest_increasing_subsequence, _vector, (0, 1, 2, 14)),
    Case(
        dynamic_programming.knapsack,
        lambda d, n: (d.integers(1, 6, size=n), d.random(n)),
        (0, 1, 2, 7),
        ({}, {"capacity": 4}),
    ),
    Case(
        dynamic_programming.dynamic_time_warping,
        lambda d, n: (d.normal(size=n), d.normal(size=n + 1)),
        (0, 1, 2, 9),
    ),
    Case(dynamic_programming.viterbi, _hidden_states, (1, 2, 9)),
)

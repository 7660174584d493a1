"""Models of forests beside scikit-learn itself: one row, and 10,000 rows, in CPU time of one thread each.

Needs scikit-learn. The bars: one row five times faster, 10,000 rows not slower.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most, times_better
from benchmarks.timing import time_in_turns

NAME = "sklearn_speed"
DESCRIPTION = "forests and boosting as models, beside scikit-learn (--set trees=100)"

_MANY = 10_000


def run(context: Context) -> list[Row]:
    """Two rows for each estimator."""
    if importlib.util.find_spec("sklearn") is None:
        print("sklearn: not installed")
        return []
    import numpy as np
    from sklearn import ensemble
    from sklearn.datasets import make_classification

    from onnxsmith.sklearn import convert

    count = int(context.number("trees", 100))
    rows, classes = make_classification(2_000, 20, n_informative=10, n_classes=3, random_state=0)
    many = np.random.default_rng(0).normal(size=(_MANY, 20)) * 2
    made: list[Row] = []
    estimators: list[Any] = [
        ensemble.RandomForestClassifier(count, random_state=0),
        ensemble.RandomForestRegressor(count, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=count, random_state=0),
        ensemble.HistGradientBoostingClassifier(max_iter=count, random_state=0),
    ]
    for estimator in estimators:
        estimator.fit(rows, classes)
        model = convert(estimator, rows, outputs=["predict"], verify=False)
        for given, words, bar in (
            (many[:1], "one row", times_better(5)),
            (many, f"{_MANY:,} rows", ratio_at_most(1)),
        ):
            found = time_in_turns(
                {"ours": lambda g=given, m=model: m(g), "theirs": lambda g=given, e=estimator: e.predict(g)},
                rounds=5,
            )
            name = f"{type(estimator).__name__}, {words}"
            made.append(Row(name, found["ours"] * 1e3, "ms", "scikit-learn", found["theirs"] * 1e3, bar))
    return made

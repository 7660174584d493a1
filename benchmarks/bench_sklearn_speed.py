"""Models beside scikit-learn itself: one row, and 10,000 rows, in CPU time of one thread each.

Needs scikit-learn. The bars: one row five times faster, 10,000 rows not slower; of forests, a pipeline with a logistic
regression, and pipelines of text, also such with capitals beyond ASCII.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most, times_better
from benchmarks.timing import time_in_turns

NAME = "sklearn_speed"
DESCRIPTION = "forests, boosting, linear and text pipelines as models, beside scikit-learn (--set trees=100)"

_MANY = 10_000
#: Letters that words are made of; where words are capitalised, so are letters beyond ASCII.
_ALPHABETS = {
    "ASCII": "abcdefghijklmnopqrstuvwxyz",
    "Latin": "abcdefghijklmnopqrstuvwxyzäöüéèçñøåß",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψωάέής",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
}
_WORDS = 3_000


def run(context: Context) -> list[Row]:
    """Two rows for each estimator."""
    if importlib.util.find_spec("sklearn") is None:
        print("sklearn: not installed")
        return []
    from threadpoolctl import threadpool_limits

    from onnxsmith.sklearn import convert

    made: list[Row] = []
    for name, estimator, many in (*_on_numbers(context), *_on_texts()):
        model = convert(estimator, many[:100], outputs=["predict"], verify=False)
        for given, words, bar in (
            (many[:1], "one row", times_better(5)),
            (many, f"{_MANY:,} rows", ratio_at_most(1)),
        ):
            # Threads of OpenMP that wait would count as time of scikit-learn's. Only libraries that are loaded by now
            # are limited, so that this stands behind the imports.
            with threadpool_limits(1):
                found = time_in_turns(
                    {
                        "ours": lambda g=given, m=model: m(g),
                        "theirs": lambda g=given, e=estimator: e.predict(g),
                    },
                    rounds=5,
                )
            row = f"{name}, {words}"
            made.append(Row(row, found["ours"] * 1e3, "ms", "scikit-learn", found["theirs"] * 1e3, bar))
    return made


def _on_numbers(context: Context) -> Iterator[tuple[str, Any, Any]]:
    """Names, fitted estimators, and rows for them."""
    import numpy as np
    from sklearn import ensemble
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    count = int(context.number("trees", 100))
    rows, classes = make_classification(2_000, 20, n_informative=10, n_classes=3, random_state=0)
    many = np.random.default_rng(0).normal(size=(_MANY, 20)) * 2
    estimators: list[Any] = [
        ensemble.RandomForestClassifier(count, random_state=0),
        ensemble.RandomForestRegressor(count, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=count, random_state=0),
        ensemble.HistGradientBoostingClassifier(max_iter=count, random_state=0),
    ]
    for each in estimators:
        yield type(each).__name__, each.fit(rows, classes), many
    yield (
        "StandardScaler, LogisticRegression",
        make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, classes),
        many,
    )


def _on_texts() -> Iterator[tuple[str, Any, Any]]:
    """The same for texts of words as frequent as in languages, a fifth of them with a capital."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    share = 1 / np.arange(1, _WORDS + 1)
    for name, letters in _ALPHABETS.items():
        draw = np.random.default_rng(0)
        words = ["".join(draw.choice(list(letters), draw.integers(2, 10))) for _ in range(_WORDS)]
        texts: list[str] = []
        for _ in range(_MANY):
            chosen = draw.choice(words, draw.integers(5, 60), p=share / share.sum())
            texts.append(" ".join(each.capitalize() if draw.random() < 0.2 else each for each in chosen))
        few = texts[:2_000]
        classes = draw.integers(0, 3, len(few))
        pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=0.1))
        yield (
            f"TfidfVectorizer, LogisticRegression, {name}",
            pipeline.fit(few, classes),
            np.array(texts, object),
        )

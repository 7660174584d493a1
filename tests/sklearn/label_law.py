"""The law of labels: the label that a model gives is the class at the argmax of what the same model gives.

Rows with NaN, infinity, a huge number or a missing text that the estimator refuses are refused by `predict`, too.
For classifiers whose `predict` scikit-learn defines so, on all rows that are tried. Labels are always the estimator's.
`convert` compares some rows itself; here it is told not to, so that the law sees what is made at first.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from onnxsmith.errors import OnnxsmithError
from onnxsmith.sklearn import convert
from tests.laws.named import Law, Verdict

#: Every classifier of scikit-learn with probabilities that fits in a moment, plain and inside others.
CLASSIFIERS: dict[str, Any] = {
    "calibrated, isotonic": lambda: CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=3),
    "calibrated, sigmoid": lambda: CalibratedClassifierCV(GaussianNB(), method="sigmoid", cv=3),
    "calibrated, one": lambda: CalibratedClassifierCV(SGDClassifier(), ensemble=False, cv=3),
    "linear discriminants": LinearDiscriminantAnalysis,
    "quadratic discriminants": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
    "boosted stumps": lambda: AdaBoostClassifier(n_estimators=5),
    "bagging": lambda: BaggingClassifier(n_estimators=3),
    "extra trees": lambda: ExtraTreesClassifier(n_estimators=5),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=5),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=5),
    "forest": lambda: RandomForestClassifier(n_estimators=5),
    "stacking": lambda: StackingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier())], cv=3),
    "voting": lambda: VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    "gaussian process": GaussianProcessClassifier,
    "logistic": LogisticRegression,
    "log loss": lambda: SGDClassifier(loss="log_loss"),
    "one against the rest": lambda: OneVsRestClassifier(LogisticRegression()),
    "codes": lambda: OutputCodeClassifier(LogisticRegression()),
    "bernoulli": BernoulliNB,
    "gaussian": GaussianNB,
    "neighbours": KNeighborsClassifier,
    "neighbours in a radius": lambda: RadiusNeighborsClassifier(radius=50.0),
    "perceptron": lambda: MLPClassifier((5,), max_iter=30),
    "pipeline": lambda: make_pipeline(StandardScaler(), CalibratedClassifierCV(LogisticRegression(), cv=3)),
    "propagation": LabelPropagation,
    "spreading": LabelSpreading,
    "self training": lambda: SelfTrainingClassifier(GaussianNB()),
    "tree": DecisionTreeClassifier,
    "extra tree": ExtraTreeClassifier,
}
#: Classifiers of texts. The probability of a long one is too small for a number, and that of no class is 0.
OF_TEXTS: dict[str, Any] = {
    "words, multinomial": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
    "words, complement": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
    "words, bernoulli": lambda: make_pipeline(CountVectorizer(), BernoulliNB()),
    "words, logistic": lambda: make_pipeline(CountVectorizer(), LogisticRegression()),
}
NAMES = {"texts": ["ant", "bee", "cat", "dog"], "numbers": [7, 3, 11, 5], "truths": [False, True]}
ROWS, TEXTS = 1000, 100
_WORDS = 40


def _texts(draws: np.random.RandomState, classes: Any, likely: Any) -> Any:
    """A text of each of some classes, of a few words or of many; how likely the words are depends on the class."""
    lengths = draws.choice([3, 30, 600], len(classes))
    chosen = (draws.choice(_WORDS, n, p=likely[k]) for n, k in zip(lengths, classes, strict=True))
    return np.array([" ".join(f"word{each}" for each in words) for words in chosen], object)


def _data(draws: np.random.RandomState, count: int, width: int, *, is_text: bool) -> tuple[Any, Any, Any]:
    """Data to fit to, the numbers of their classes, and data that were not seen."""
    if is_text:
        likely = draws.dirichlet(np.ones(_WORDS), count)
        y, others = (draws.randint(count, size=n) for n in (120, TEXTS))
        return _texts(draws, y, likely), y, _texts(draws, others, likely)
    X = draws.randn(120, width)
    scores = X @ draws.randn(width, count) + draws.randn(120, count)
    return X, scores.argmax(1), draws.randn(ROWS, width) * 2


def verdict(rng: random.Random, kind: str) -> Verdict:
    """One classifier, fitted on data that were drawn, on rows that it has not seen."""
    draws = np.random.RandomState(rng.randrange(2**32))
    labelled = rng.choice(list(NAMES))
    count = 2 if labelled == "truths" else rng.choice((2, 3, 4))
    width = rng.randrange(1, 5)
    X, classes, fresh = _data(draws, count, width, is_text=kind in OF_TEXTS)
    y = np.array(NAMES[labelled])[classes]
    what = f"{kind}, {count} classes that are {labelled}, {width} columns"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = (CLASSIFIERS | OF_TEXTS)[kind]().fit(X, y)
            wanted = np.asarray(fitted.predict(fresh))
            scores = fitted.predict_proba(fresh) if hasattr(fitted, "predict_proba") else None
        except Exception as error:  # what scikit-learn itself does not fit
            return Verdict("refused", f"{what}: {error}")
        try:
            model = convert(fitted, X[:20], verify=False)
        except OnnxsmithError as error:
            return Verdict("refused", f"{what}: {error.message}")
    try:
        made = model(fresh)
    except OnnxsmithError as error:
        return Verdict("wrong", f"{what}: the model does not run: {error.message}")
    found, proba = made if isinstance(made, tuple) else (made, None)
    if scores is None or proba is None:
        other = int((found.astype(str) != wanted.astype(str)).sum())
        return Verdict("wrong", f"{what}: {other} labels differ") if other else Verdict("equal")
    # Where two classes are as good as each other, rounding decides.
    ordered = np.sort(scores, axis=1)
    is_clear = ordered[:, -1] - ordered[:, -2] > 1e-6
    other = int((found.astype(str) != wanted.astype(str))[is_clear].sum())
    if other:
        return Verdict("wrong", f"{what}: {other} of {len(fresh)} labels are not the estimator's")
    if np.array_equal(fitted.classes_[scores.argmax(1)], wanted):
        own = np.asarray(fitted.classes_)[proba.argmax(1)]
        other = int((found.astype(str) != own.astype(str)).sum())
        if other:
            return Verdict(
                "wrong", f"{what}: {other} of {len(fresh)} labels are not those of the model's own argmax"
            )
    spoiled = fresh[:3].copy()
    value = rng.choice((None, np.nan) if kind in OF_TEXTS else (np.nan, np.inf, -np.inf, 1e300))
    spoiled.flat[rng.randrange(spoiled.size)] = value
    return _verdict_on_spoiled(f"{what}, {value} in a row", fitted, model, spoiled)


def _verdict_on_spoiled(what: str, fitted: Any, model: Any, rows: Any) -> Verdict:
    """Rows that the estimator refuses are refused by `predict`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted.predict(rows)
            fitted.predict_proba(rows)
    except Exception:  # whatever an estimator says of such rows
        try:
            found = model.predict(rows)
        except OnnxsmithError:
            return Verdict("equal")
        return Verdict("wrong", f"{what}: the estimator raises, and the model gives {found}")
    return Verdict("equal")


def verdicts(seed: int) -> Iterator[Verdict]:
    """All classifiers in turn, each time in another order."""
    rng = random.Random(seed)
    kinds = [*CLASSIFIERS, *OF_TEXTS]
    while True:
        for kind in rng.sample(kinds, len(kinds)):
            yield verdict(rng, kind)


LAW = Law("the label is the class at the argmax of what the same model gives", 500, verdicts)

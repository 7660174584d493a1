"""Networks as estimators: scikit-learn's own checks, its tools around them, and what they are fitted to."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from onnxsmith import FLOAT, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeValueError, PipelineError
from onnxsmith.sklearn import NeuralNetClassifier, NeuralNetRegressor, convert
from onnxsmith.training import Callback, Trainer, losses, sgd
from onnxsmith.training.schedules import cosine

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "classifier": NeuralNetClassifier,
    "regressor": NeuralNetRegressor,
}
#: Rows that count twice are added up as one product: in float32 the last bits differ, in float64 by less than 1e-7.
IN_FLOAT64 = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
#: Left out for scikit-learn's own networks, too: they ask for a setting of scipy, and for a method that there is not.
LEFT_OUT = ("check_array_api_input", "check_classifiers_multilabel_output_format_decision_function")


def checks_of(estimator: Any) -> list[tuple[str, Any, Any]]:
    return [
        (getattr(check, "func", check).__name__, each, check)
        for each, check in estimator_checks_generator(estimator)
    ]


@pytest.mark.parametrize(
    ("name", "estimator", "check"),
    [case for made in ESTIMATORS.values() for case in checks_of(made(max_iter=100))],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_checks_of_scikit_learn(name: str, estimator: Any, check: Callable[[Any], None]) -> None:
    if name in IN_FLOAT64:
        estimator = clone(estimator).set_params(dtype="float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            check(estimator)
        except SkipTest:
            assert name in LEFT_OUT


@pytest.mark.parametrize(
    ("ours", "theirs"), [(NeuralNetClassifier, MLPClassifier), (NeuralNetRegressor, MLPRegressor)]
)
def test_the_checks_are_those_of_scikit_learns_networks(ours: Any, theirs: Any) -> None:
    assert [name for name, _, _ in checks_of(ours())] == [name for name, _, _ in checks_of(theirs())]
    names = theirs().get_params().keys() - ours().get_params().keys()
    assert names <= {"max_fun"}, "of lbfgs, which needs whole gradients"


def network(columns: int, scores: int) -> Model:
    numbers = np.random.default_rng(0)
    first = (numbers.normal(size=(columns, 32)) / columns**0.5).astype(np.float32)
    second = (numbers.normal(size=(32, scores)) / 6).astype(np.float32)
    biases = np.zeros(32, np.float32), np.zeros(scores, np.float32)
    return trace(lambda x: op.Relu(x @ first + biases[0]) @ second + biases[1], FLOAT["N", columns])


@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (NeuralNetClassifier(model=network(2, 3), max_iter=100), 20),
        (NeuralNetClassifier(model=network(10, 1), max_iter=100), 20),
        (NeuralNetRegressor(model=network(10, 1), max_iter=100), 22),
    ],
    ids=["2 columns, 3 classes", "10 columns, 2 classes", "10 columns, 1 number"],
)
def test_checks_from_a_fixed_model(estimator: Any, least: int) -> None:
    """All but those whose data has another number of columns or classes, which is refused as that."""
    passed = 0
    for name, each, check in checks_of(estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(each)
                passed += 1
            except SkipTest:
                assert name in LEFT_OUT
            except Exception as error:
                found: BaseException | None = error
                while found is not None and not isinstance(found, PipelineError):
                    found = found.__cause__ or found.__context__
                assert found is not None, name
                assert str(found).startswith(("the model takes", "the model gives")), name
    assert passed >= least


# -- what they learn -----------------------------------------------------------------------------------------------

IRIS: tuple[Any, Any] = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LABELS: dict[str, tuple[Any, Any]] = {
    "numbers": (IRIS[1], np.int64),
    "negative numbers": (IRIS[1] - 5, np.int64),
    "texts": (NAMES[IRIS[1]], NAMES.dtype),
    "objects": (NAMES[IRIS[1]].astype(object), object),
    "two texts": (np.where(IRIS[1] > 0, "other", "setosa"), np.dtype("<U6")),
    "truth values": (IRIS[1] > 0, bool),
}


def quiet(made: Any, X: Any, y: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return made.fit(X, y, **options)


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_kind(name: str) -> None:
    labels, dtype = LABELS[name]
    made = quiet(
        NeuralNetClassifier((8,), max_iter=150, learning_rate_init=0.05, random_state=0), IRIS[0], labels
    )
    np.testing.assert_array_equal(made.classes_, np.unique(labels))
    found = made.predict(IRIS[0])
    assert found.dtype == dtype
    assert (found == labels).mean() > 0.9
    assert made.predict_proba(IRIS[0]).shape == (150, len(made.classes_))
    np.testing.assert_allclose(made.predict_proba(IRIS[0]).sum(1), 1.0, rtol=1e-5)


def test_one_class_and_one_feature() -> None:
    made = quiet(NeuralNetClassifier((4,), max_iter=5), IRIS[0][:, :1], np.full(150, "only"))
    assert set(made.predict(IRIS[0][:, :1])) == {"only"}


def test_several_labels_at_once() -> None:
    X, y = make_multilabel_classification(200, 5, n_classes=3, random_state=0)
    made = quiet(NeuralNetClassifier((32,), max_iter=200, learning_rate_init=0.05, random_state=0), X, y)
    assert made.predict(X).shape == y.shape
    assert (made.predict(X) == y).mean() > 0.85


def test_several_numbers_at_once() -> None:
    X, y = IRIS[0][:, :2], IRIS[0][:, 2:]
    made = quiet(NeuralNetRegressor((32,), max_iter=200, learning_rate_init=0.01, random_state=0), X, y)
    assert made.predict(X).shape == y.shape
    assert made.score(X, y) > 0.85
    assert quiet(clone(made), X, y[:, 0]).predict(X).shape == (150,)


@pytest.mark.parametrize(
    ("solver", "rule"),
    [("sgd", "constant"), ("sgd", "invscaling"), ("sgd", "adaptive"), ("adam", "constant")],
)
def test_full_batches_give_the_losses_of_scikit_learn(solver: str, rule: str) -> None:
    """From the same first weights, and with batches that are all rows."""
    X, y = IRIS
    # A rate that changes counts for the momentum at once, as in torch; in scikit-learn's it counts from then on.
    options: dict[str, Any] = {
        "momentum": 0.9 if rule == "constant" else 0.0,
        # It is added to the corrected mean, as in torch; scikit-learn adds it to the mean itself.
        "epsilon": 1e-14,
        "hidden_layer_sizes": (9, 5), "activation": "tanh", "solver": solver, "alpha": 0.1, "random_state": 3,
        "max_iter": 30, "learning_rate": rule, "learning_rate_init": 0.05, "n_iter_no_change": 3, "tol": 1e-3,
    }  # fmt: skip
    ours = quiet(NeuralNetClassifier(**options, dtype="float64"), X, y)
    theirs = quiet(MLPClassifier(**options), X, y)
    tolerance = 1e-9 if solver == "sgd" else 1e-7
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=tolerance)
    for mine, other in zip(ours.coefs_ + ours.intercepts_, theirs.coefs_ + theirs.intercepts_, strict=True):
        np.testing.assert_allclose(mine, other, atol=10 * tolerance)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=10 * tolerance)
    assert ours.n_iter_ == theirs.n_iter_
    assert (ours.n_features_in_, ours.n_outputs_, ours.t_) == (4, 3, theirs.t_)


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_has_the_losses_of_scikit_learn(weighted: bool) -> None:
    X, y = IRIS[0][:, :3], IRIS[0][:, 3]
    weight = np.linspace(0.1, 2.0, len(y)) if weighted else None
    options: dict[str, Any] = {"hidden_layer_sizes": (6,), "random_state": 1, "max_iter": 20, "alpha": 0.01}
    ours = quiet(NeuralNetRegressor(**options, dtype="float64"), X, y, sample_weight=weight)
    theirs = quiet(MLPRegressor(**options), X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


def test_early_stopping_takes_the_best_weights() -> None:
    made = NeuralNetClassifier(
        (16,), early_stopping=True, max_iter=300, learning_rate_init=0.05, random_state=0
    )
    made.fit(*IRIS)
    assert made.n_iter_ < 300
    assert made.best_validation_score_ == max(made.validation_scores_)
    assert len(made.validation_scores_) == made.n_iter_
    assert made.best_loss_ is None


def test_partial_fits_go_on_with_what_the_optimiser_keeps() -> None:
    X, y = IRIS
    made = NeuralNetClassifier((8,), random_state=0, shuffle=False, dtype="float64")
    whole = quiet(clone(made).set_params(max_iter=3, tol=0.0), X, y)
    for number in range(3):
        made.partial_fit(X, y, classes=[0, 1, 2] if not number else None)
        made = pickle.loads(pickle.dumps(made))  # without its session
    np.testing.assert_allclose(made.loss_curve_, whole.loss_curve_, rtol=1e-12)
    for mine, other in zip(made.coefs_, whole.coefs_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10)


def test_a_warm_start_goes_on() -> None:
    X, y = IRIS
    made = quiet(NeuralNetClassifier((8,), warm_start=True, max_iter=5, random_state=0), X, y)
    first = made.loss_curve_[-1]
    quiet(made, X, y)
    assert len(made.loss_curve_) == 10
    assert made.loss_curve_[5] < first * 1.05
    cold = quiet(clone(made).set_params(warm_start=False), X, y)
    assert len(quiet(cold, X, y).loss_curve_) == 5


def test_sparse_rows_are_those_that_are_dense() -> None:
    X, y = IRIS
    made = quiet(NeuralNetClassifier((8,), max_iter=5, random_state=0), X, y)
    other = quiet(clone(made), sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(other.predict_proba(sparse.csc_matrix(X)), made.predict_proba(X))


def test_pipelines_and_searches() -> None:
    X, y = IRIS
    steps = make_pipeline(
        StandardScaler(), NeuralNetClassifier(max_iter=40, learning_rate_init=0.02, random_state=0)
    )
    grid = {
        "neuralnetclassifier__hidden_layer_sizes": [(8,), (8, 4)],
        "neuralnetclassifier__alpha": [1e-4, 1.0],
    }
    found = quiet(GridSearchCV(steps, grid, cv=2), X, y)
    assert found.best_score_ > 0.9
    model = convert(found, X)
    np.testing.assert_array_equal(model(X)[0], found.predict(X))


# -- from models ---------------------------------------------------------------------------------------------------

FIRST = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


@script
def scripted(x: FLOAT["N", 4]) -> FLOAT["N", 3]:
    return op.MatMul(x, FIRST)


def plain(x: Any) -> Any:
    return op.MatMul(x, FIRST)


GIVEN: dict[str, Callable[[], Any]] = {
    "model": lambda: trace(plain, FLOAT["N", 4]),
    "proto": lambda: trace(plain, FLOAT["N", 4]).proto,
    "bytes": lambda: trace(plain, FLOAT["N", 4]).proto.SerializeToString(),
    "onnx-ir": lambda: trace(plain, FLOAT["N", 4]).ir,
    "script": lambda: scripted,
    "function": lambda: plain,
}


@pytest.mark.parametrize("name", GIVEN)
def test_from_a_model(name: str) -> None:
    X, y = IRIS
    given = GIVEN[name]()
    made = quiet(
        NeuralNetClassifier(model=given, max_iter=100, learning_rate_init=0.05, random_state=0), X, y
    )
    assert made.score(X, y) > 0.9
    assert list(made.weights_) == ["FIRST"]
    np.testing.assert_array_equal(made.model_(X.astype(np.float32)).argmax(1), made.predict(X))
    assert clone(made).model is given
    with pytest.raises(AttributeError, match="there are no layers"):
        _ = made.coefs_


def test_two_classes_with_a_score_each() -> None:
    X, y = IRIS[0], np.where(IRIS[1] > 0, "other", "setosa")
    made = quiet(
        NeuralNetClassifier(model=network(4, 2), max_iter=100, learning_rate_init=0.05, random_state=0), X, y
    )
    assert made.score(X, y) > 0.95
    assert made.predict_proba(X).shape == (150, 2)
    assert convert(made, X)(X)[0].tolist() == made.predict(X).tolist()


class Counting(Callback):
    steps = 0

    def on_batch_end(self, trainer: Trainer, loss: float) -> None:
        Counting.steps += 1


def test_own_losses_penalties_optimisers_schedules_and_callbacks() -> None:
    X, y = IRIS[0][:, :3], IRIS[0][:, 3]
    made = NeuralNetRegressor(
        (16,),
        loss=losses.huber(0.5),
        penalty=losses.elastic_penalty(l1=1e-3, biases=False),
        solver=sgd(cosine(0.05), momentum=0.9),
        batch_size=50,
        max_iter=40,
        random_state=0,
        callbacks=[Counting()],
    )
    quiet(made, X, y)
    assert made.score(X, y) > 0.85
    assert Counting.steps == 120
    strong = quiet(clone(made).set_params(penalty=losses.elastic_penalty(l1=0.1)), X, y)
    assert abs(strong.coefs_[0]).mean() < abs(made.coefs_[0]).mean() / 2


# -- mistakes ------------------------------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "activation": (
        {"activation": "swish"},
        "activation is one of identity, logistic, tanh, relu, not 'swish'",
    ),
    "solver": ({"solver": "lbfgs"}, "solver is an optimizer, or the name of one, not 'lbfgs'"),
    "rate": (
        {"learning_rate": 0.1},
        "learning_rate is 'constant', 'invscaling', 'adaptive' or a schedule, not 0.1",
    ),
    "layers": ({"hidden_layer_sizes": (5, 0)}, r"numbers of units from 1 on, not \(5, 0\)"),
    "alpha": ({"alpha": -1.0}, "alpha is a number from 0 on, not -1.0"),
    "epochs": ({"max_iter": "many"}, "max_iter is a number from 0 on, not 'many'"),
    "dtype": ({"dtype": "float16"}, "dtype is one of float32, float64, not 'float16'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_parameters_that_nothing_can_be_made_of(name: str) -> None:
    options, told = MISTAKES[name]
    with pytest.raises(AttributeValueError, match=told):
        NeuralNetClassifier(**options).fit(*IRIS)


def test_data_that_do_not_fit() -> None:
    X, y = IRIS
    with pytest.raises(NotFittedError):
        NeuralNetClassifier().predict(X)
    with pytest.raises(PipelineError, match="the model takes 4 columns, and X has 2"):
        NeuralNetClassifier(model=network(4, 3)).fit(X[:, :2], y)
    with pytest.raises(PipelineError, match="the model gives 3 scores for each row, and y has 2 classes"):
        NeuralNetClassifier(model=network(4, 3)).fit(X, y > 0)
    with pytest.raises(PipelineError, match="classes must be passed on the first call"):
        NeuralNetClassifier().partial_fit(X, y)
    with pytest.raises(PipelineError, match="X has numbers that are infinite in float32"):
        NeuralNetClassifier().fit(X * 1e39, y)
    with pytest.raises(AttributeValueError, match="partial_fit does not support early_stopping"):
        NeuralNetClassifier(early_stopping=True).partial_fit(X, y, classes=[0, 1, 2])
    made = NeuralNetClassifier((4,)).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(PipelineError, match=r"classes that are not in `self.classes_`: \[3, 4, 5\]"):
        made.partial_fit(X, y + 3)

"""Converted estimators are trained by the names of their coefficients, equal to torch from the same start."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch
from sklearn import linear_model
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import onnxsmith
from onnxsmith.errors import LossError
from onnxsmith.graphs import trained_parameters
from onnxsmith.training import Trainer, losses, sgd, training_step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).astype(np.float32) * 2 + 1
Y = (X @ np.float32([1, 2, -1, 0.5])).astype(np.float32)
TWO = (Y > 2).astype(np.int64)
NAMES = np.array(["one", "other", "third"])
THREE = NAMES[np.digitize(Y, [0, 4])]

#: Estimators that are fitted with few iterations, so that there is something left to train.
ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "MLPRegressor": (MLPRegressor(hidden_layer_sizes=(5,), max_iter=2, random_state=0), Y),
    "MLPClassifier, two classes": (MLPClassifier(hidden_layer_sizes=(5,), max_iter=2, random_state=0), TWO),
    "MLPClassifier, texts": (MLPClassifier(hidden_layer_sizes=(5, 4), max_iter=2, random_state=0), THREE),
    "LinearRegression": (linear_model.LinearRegression(), Y),
    "Ridge": (linear_model.Ridge(50.0), Y),
    "Lasso": (linear_model.Lasso(0.5), Y),
    "LogisticRegression": (linear_model.LogisticRegression(C=0.01), TWO),
    "LogisticRegression, texts": (linear_model.LogisticRegression(C=0.01), THREE),
    "SGDClassifier": (linear_model.SGDClassifier(loss="log_loss", random_state=0), TWO),
}


def network(estimator: Any) -> nn.Module:
    """The estimator's layers in torch, with its weights."""
    if hasattr(estimator, "coefs_"):
        pairs = list(zip(estimator.coefs_, estimator.intercepts_, strict=True))
    else:
        pairs = [(np.atleast_2d(estimator.coef_).T, np.atleast_1d(estimator.intercept_))]
    layers: list[nn.Module] = []
    for coefficients, intercept in pairs:
        layer = nn.Linear(*coefficients.shape)
        layer.weight.data = torch.tensor(coefficients.T.astype(np.float32))
        layer.bias.data = torch.tensor(intercept.astype(np.float32))
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def trained_by_torch(estimator: Any, x: np.ndarray, target: np.ndarray) -> list[np.ndarray]:
    net = network(estimator)
    optimizer = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)
    for _ in range(20):
        optimizer.zero_grad()
        made = net(torch.tensor(x))
        if target.dtype == np.int64:
            scores = torch.cat([torch.zeros_like(made), made], 1) if made.shape[1] == 1 else made
            nn.functional.cross_entropy(scores, torch.tensor(target)).backward()
        else:
            nn.functional.mse_loss(made[:, 0], torch.tensor(target)).backward()
        optimizer.step()
    return [each.detach().numpy() for each in net.parameters()]


@pytest.mark.parametrize(
    ("is_scaled", "is_optimised"), [(False, False), (True, True)], ids=["alone", "scaled, optimised"]
)
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_coefficients_are_trained_as_torch_trains_them(
    name: str, is_scaled: bool, is_optimised: bool
) -> None:
    estimator, labels = ESTIMATORS[name]
    scaler = StandardScaler().fit(X)
    whole = (make_pipeline(StandardScaler(), estimator) if is_scaled else estimator).fit(X, labels)
    model = onnxsmith.sklearn.convert(whole, X)
    if is_optimised:
        model = model.optimize()
    is_classifier = hasattr(whole, "classes_")
    target = np.searchsorted(whole.classes_, labels) if is_classifier else labels
    trainer = Trainer(model, "cross_entropy" if is_classifier else "squared", sgd(0.02, momentum=0.9))
    trainer.fit(X, target, epochs=20, batch_size=60, shuffle=False, progress=False)
    owner = type(estimator).__name__.lower()
    count = len(estimator.coefs_) if hasattr(estimator, "coefs_") else 1
    numbers = [f"s_{k}" for k in range(count)] if hasattr(estimator, "coefs_") else ["_"]
    wanted = [f"{owner}.{kind}{each}" for each in numbers for kind in ("coef", "intercept")]
    assert sorted(trainer.trained) == sorted(wanted)
    inputs = scaler.transform(X) if is_scaled else X
    for name_of, theirs in zip(wanted, trained_by_torch(estimator, inputs, target), strict=True):
        ours = trainer.state[name_of]
        same = ours.T if hasattr(estimator, "coefs_") else np.reshape(ours, theirs.shape)
        assert np.linalg.norm(same - theirs) <= 1e-5 * max(np.linalg.norm(theirs), 1), name_of
    given = trainer.model(X)
    if is_classifier:  # labels and probabilities come of the same weights
        np.testing.assert_array_equal(given[0], whole.classes_[given[1].argmax(1)])


def parameters(estimator: Any, labels: Any, **options: Any) -> list[str]:
    model = onnxsmith.sklearn.convert(estimator.fit(X, labels), X, **options)
    return list(trained_parameters.read(model.ir.metadata_props) or ())


def test_names_of_steps_and_of_estimators_inside_others() -> None:
    pipeline = make_pipeline(StandardScaler(), linear_model.Ridge(fit_intercept=False))
    assert parameters(pipeline, Y) == ["ridge.coef_"]
    pipeline.steps[1] = ("net", linear_model.Ridge())
    assert parameters(pipeline, Y) == ["net.coef_", "net.intercept_"]
    many = MultiOutputRegressor(linear_model.Ridge())
    assert parameters(many, np.stack([Y, -Y], 1)) == [
        f"estimators_[{k}].{each}" for k in (0, 1) for each in ("coef_", "intercept_")
    ]


def test_a_loss_of_scores_becomes_that_of_probabilities() -> None:
    model = onnxsmith.sklearn.convert(linear_model.LogisticRegression().fit(X, TWO), X)
    given = training_step(model, losses.cross_entropy, sgd(0.1))
    assert given.text() == training_step(model, losses.probability_cross_entropy, sgd(0.1)).text()
    weighted = functools.partial(losses.cross_entropy, weight=[1, 2])
    of_probabilities = functools.partial(losses.probability_cross_entropy, weight=[1, 2])
    assert (
        training_step(model, weighted, sgd(0.1)).text()
        == training_step(model, of_probabilities, sgd(0.1)).text()
    )
    for loss, text in (
        (functools.partial(losses.cross_entropy, label_smoothing=0.1), "no label_smoothing"),
        (losses.binary_cross_entropy, "binary_cross_entropy takes scores"),
    ):
        with pytest.raises(LossError, match=text):
            training_step(model, loss, sgd(0.1))
    own = training_step(model, lambda probabilities, y: ((probabilities - y) ** 2).mean(), sgd(0.1))
    assert own.inputs[1].type.shape == ("N", 2)
    scores = onnxsmith.sklearn.convert(
        linear_model.LogisticRegression().fit(X, THREE), X, outputs="decision_function"
    )
    assert training_step(scores, losses.cross_entropy, sgd(0.1)).text() != given.text()

"""`NeuralNetClassifier` and `NeuralNetRegressor`: networks that are trained in scikit-learn's manner."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.core.value import Array
from onnxsmith.errors import PipelineError, boundary
from onnxsmith.sklearn.networks.data import accuracy, dense_rows, kind_of_labels, r2
from onnxsmith.sklearn.networks.layers import Output
from onnxsmith.sklearn.networks.neural_net import NeuralNet
from onnxsmith.sklearn.rows import Elements, Rows
from onnxsmith.training import losses


class NeuralNetClassifier(ClassifierMixin, NeuralNet):
    """A classifier that trains a network on ONNX Runtime, with the parameters of scikit-learn's MLPClassifier.

    The network has layers of `hidden_layer_sizes`, or it is a `model`: one of ONNX, a script, or a function of a tensor
    that is recorded for the columns of X. It gives scores, one for each class, or one where there are two. `loss` and
    `penalty` are functions as `Trainer` takes them. `solver` is the name of one of `onnxsmith.training.optimizers`,
    or what one of them made, and `learning_rate` may be a schedule. `weights_` has the trained weights by name, and
    `model_` is the network as an ONNX model.

    >>> import numpy as np
    >>> from onnxsmith.sklearn import NeuralNetClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> network = NeuralNetClassifier((16,), max_iter=500, learning_rate_init=0.01, random_state=0).fit(X, y)
    >>> bool(network.score(X, y) > 0.95)
    True
    >>> network.predict([[1.0, 1.0], [1.0, -1.0]])
    array(['same', 'other'], dtype='<U5')
    """

    #: The labels, in the order of the scores.
    classes_: Elements
    #: True if a row may have several labels.
    is_multilabel_: bool

    @boundary
    def partial_fit(
        self, X: Rows, y: Rows, classes: Rows | None = None, sample_weight: Rows | None = None
    ) -> Self:
        """Train on rows for one epoch, and go on from what the optimiser keeps; the first call names all classes."""
        if classes is None and not hasattr(self, "n_iter_"):
            raise PipelineError(
                "classes must be passed on the first call to partial_fit",
                help="partial_fit(X, y, classes=np.unique(all_labels))",
            )
        return self._fit(X, y, sample_weight, is_partial=True, classes=classes)

    @boundary
    def predict(self, X: Rows) -> Elements:
        """The class of each row; of several labels 1 where the probability is over one half."""
        scores = self._scores(X)
        if self.is_multilabel_:
            return (self._probable(scores) > 0.5).astype(np.int64)
        places = scores.argmax(1) if scores.shape[1] > 1 else (self._probable(scores)[:, 0] > 0.5).astype(int)
        return self.classes_[np.minimum(places, len(self.classes_) - 1)]

    @boundary
    def predict_proba(self, X: Rows) -> Elements:
        """The probability of each class, in the order of `classes_`."""
        found = self._probable(self._scores(X))
        if found.shape[1] > 1 or self.is_multilabel_:
            return found
        return np.concatenate([1.0 - found, found], axis=1)

    def predict_log_proba(self, X: Rows) -> Elements:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def gives_probabilities_(self) -> bool:
        """True if the scores of the network are probabilities already, as its loss takes them."""
        return getattr(self.loss, "func", self.loss) is losses.probability_cross_entropy

    def _probable(self, scores: Array) -> Array:
        """Probabilities of scores."""
        if self.gives_probabilities_:
            return scores
        if self.out_activation_ == "softmax":
            powers = np.exp(scores - scores.max(1, keepdims=True))
            return powers / powers.sum(1, keepdims=True)
        return np.exp(-np.logaddexp(0.0, -scores))

    @property
    def _is_of_labels(self) -> bool:
        return not self.is_multilabel_

    def _targets(
        self, y: Elements, *, is_first: bool, classes: Rows | None, scores: int | None
    ) -> tuple[Array, Output, int]:
        kind = kind_of_labels(y)
        if kind == "multiclass-multioutput":
            raise PipelineError(
                "y has several columns of classes, and a network gives scores of one",
                help="MultiOutputClassifier(NeuralNetClassifier()) trains one for each column",
            )
        is_multilabel = kind == "multilabel-indicator"
        if is_first:
            self.is_multilabel_ = is_multilabel
            if is_multilabel:
                self.classes_ = cast(Elements, np.arange(y.shape[1]))
            else:
                self.classes_ = cast(Elements, np.unique(y if classes is None else np.asarray(classes)))
        if is_multilabel != self.is_multilabel_ or (is_multilabel and y.shape[1] != len(self.classes_)):
            raise PipelineError("`y` has other labels than in the call of fit before")
        if is_multilabel:
            return dense_rows(y, self.dtype), "logistic", len(self.classes_)
        self._check_classes(y)
        places = np.searchsorted(self.classes_, y)
        if len(self.classes_) > 2 or scores == len(self.classes_) == 2:
            return places.astype(np.int64), "softmax", len(self.classes_)
        return places.astype(self.dtype)[:, None], "logistic", 1

    def _check_classes(self, y: Elements) -> None:
        found = np.unique(y)
        strange = cast(Elements, np.setdiff1d(found, self.classes_))
        if len(strange):
            raise PipelineError(
                f"`y` has classes that are not in `self.classes_`: {strange.tolist()!r}, "
                f"and the network knows {self.classes_.tolist()!r}",
                help="name all classes in the first call: partial_fit(X, y, classes=[…])",
            )

    def _score_of(self, scores: Array, target: Array, sample_weight: Array | None) -> float:
        if self.is_multilabel_:
            return accuracy(target > 0.5, scores > 0, sample_weight)
        if scores.ndim == 2 and scores.shape[1] > 1:
            return accuracy(target.ravel(), scores.argmax(1), sample_weight)
        return accuracy(target.ravel() > 0.5, scores.ravel() > 0, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = cast(Any, super()).__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class NeuralNetRegressor(RegressorMixin, NeuralNet):
    """A regressor that trains a network on ONNX Runtime, with the parameters of scikit-learn's MLPRegressor.

    The parameters are those of `NeuralNetClassifier`; the network gives a number for each column of y.

    >>> import numpy as np
    >>> from onnxsmith.sklearn import NeuralNetRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> network = NeuralNetRegressor((32,), "tanh", max_iter=1000, learning_rate_init=0.01, random_state=0)
    >>> bool(network.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    #: True if y is a vector.
    is_flat_: bool

    @boundary
    def partial_fit(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Train on rows for one epoch, and go on from what the optimiser keeps."""
        return self._fit(X, y, sample_weight, is_partial=True)

    @boundary
    def predict(self, X: Rows) -> Elements:
        """The number of each row, or those of all columns of y."""
        found = self._scores(X)
        return found[:, 0] if self.is_flat_ else found

    def _targets(
        self, y: Elements, *, is_first: bool, classes: Rows | None, scores: int | None
    ) -> tuple[Array, Output, int]:
        if is_first:
            self.is_flat_ = y.ndim == 1
        target = np.asarray(y.reshape(len(y), -1), self.dtype)
        return target, "identity", target.shape[1]

    def _score_of(self, scores: Array, target: Array, sample_weight: Array | None) -> float:
        return r2(target, scores.reshape(target.shape), sample_weight)

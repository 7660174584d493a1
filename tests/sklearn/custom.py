"""Forty transformers and estimators of the kinds that people publish, each with where such code is found.

The list was written before any of it was converted, in the style of its sources; nothing is copied. `test_custom`
says which of them cannot become models, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_array, check_is_fitted

# ---- FunctionTransformer: scikit-learn's guide and gallery ----


def log_shifted(X, shift=1.0):
    return np.log(X + shift)


def all_but_first_column(X):
    return X[:, 1:]


def ratio_of_columns(X):
    return X[:, [0]] / X[:, [1]]


def sine_of_period(X, period=24):
    return np.sin(X / period * 2 * np.pi)


def sine_and_cosine(X, period=24):
    angle = 2 * np.pi * X / period
    return np.hstack([np.sin(angle), np.cos(angle)])


def clip_outliers(X):
    return np.clip(X, 0.5, 3.0)


def with_row_statistics(X):
    return np.column_stack([X, X.mean(axis=1), X.std(axis=1), X.max(axis=1) - X.min(axis=1)])


def replace_missing(X):
    return np.where(np.isnan(X), 0.0, X)


def bucketize(X):
    return np.digitize(X, bins=[0.5, 1.0, 2.0])


def above_threshold(X, threshold=1.5):
    return (X > threshold).astype(int)


def pairwise_products(X):
    n = X.shape[1]
    return np.column_stack([X[:, i] * X[:, j] for i in range(n) for j in range(i + 1, n)])


def frame_ratio(df):
    return pd.DataFrame({"ratio": df["a"] / df["b"]})


def frame_hours(df):
    return df.assign(sine=np.sin(2 * np.pi * df["a"] / 24))


# ---- classes ----


class CombinedAttributes(TransformerMixin, BaseEstimator):
    """Ratios of columns, one of them optional."""

    def __init__(self, add_third=True):
        self.add_third = add_third

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        per_house = X[:, 0] / X[:, 1]
        per_room = X[:, 2] / X[:, 1]
        if self.add_third:
            return np.c_[X, per_house, per_room, X[:, 3] / X[:, 0]]
        return np.c_[X, per_house, per_room]


class ClusterSimilarity(TransformerMixin, BaseEstimator):
    """How near rows are to the centres of clusters."""

    def __init__(self, n_clusters=3, gamma=1.0):
        self.n_clusters = n_clusters
        self.gamma = gamma

    def fit(self, X, y=None):
        self.kmeans_ = KMeans(self.n_clusters, n_init=2, random_state=0).fit(X)
        return self

    def transform(self, X):
        return rbf_kernel(X, self.kmeans_.cluster_centers_, gamma=self.gamma)


class OwnScaler(TransformerMixin, BaseEstimator):
    """A scaler written again, with the checks that the developers' guide asks for."""

    def __init__(self, with_mean=True):
        self.with_mean = with_mean

    def fit(self, X, y=None):
        X = check_array(X)
        self.mean_ = X.mean(axis=0)
        self.scale_ = X.std(axis=0)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        check_is_fitted(self)
        X = check_array(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError("Unexpected number of features")
        if self.with_mean:
            X = X - self.mean_
        return X / self.scale_


class SquareRoot(TransformerMixin, BaseEstimator):
    """The template of the developers' guide."""

    def fit(self, X, y=None):
        X = check_array(X, accept_sparse=True)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        check_is_fitted(self, "n_features_in_")
        X = check_array(X, accept_sparse=True)
        if X.shape[1] != self.n_features_in_:
            raise ValueError("Shape of input is different from what was seen in `fit`")
        return np.sqrt(X)


class NearestLabel(ClassifierMixin, BaseEstimator):
    """The template classifier of the developers' guide: the label of the nearest row."""

    def fit(self, X, y):
        self.X_, self.y_ = check_array(X), np.asarray(y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = check_array(X)
        closest = np.argmin(euclidean_distances(X, self.X_), axis=1)
        return self.y_[closest]


class Winsorizer(TransformerMixin, BaseEstimator):
    """Cuts columns off at quantiles that fitting found."""

    def __init__(self, lower=0.05, upper=0.95):
        self.lower = lower
        self.upper = upper

    def fit(self, X, y=None):
        self.low_ = np.quantile(X, self.lower, axis=0)
        self.high_ = np.quantile(X, self.upper, axis=0)
        return self

    def transform(self, X):
        return np.minimum(np.maximum(X, self.low_), self.high_)


class ColumnSelector(TransformerMixin, BaseEstimator):
    """Some columns by place."""

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        return X[:, self.columns]


class IqrOutlierFlag(TransformerMixin, BaseEstimator):
    """Adds a column that says in how many columns a row is far out."""

    def fit(self, X, y=None):
        first, third = np.percentile(X, [25, 75], axis=0)
        spread = third - first
        self.lower_, self.upper_ = first - 1.5 * spread, third + 1.5 * spread
        return self

    def transform(self, X):
        is_out = (X < self.lower_) | (X > self.upper_)
        return np.hstack([X, is_out.sum(axis=1).reshape(-1, 1)])


class MedianImputer(TransformerMixin, BaseEstimator):
    """Medians in the places of what is missing, column by column."""

    def fit(self, X, y=None):
        self.median_ = np.nanmedian(X, axis=0)
        return self

    def transform(self, X):
        X = X.copy()
        for column in range(X.shape[1]):
            missing = np.isnan(X[:, column])
            X[missing, column] = self.median_[column]
        return X


class LogitOfShare(TransformerMixin, BaseEstimator):
    """The logit of shares, kept away from 0 and 1."""

    def __init__(self, epsilon=1e-3):
        self.epsilon = epsilon

    def fit(self, X, y=None):
        self.top_ = X.max(axis=0)
        return self

    def transform(self, X):
        share = np.clip(X / self.top_, self.epsilon, 1 - self.epsilon)
        return np.log(share / (1 - share))


class DropCorrelated(TransformerMixin, BaseEstimator):
    """Leaves out columns that go together with one before them."""

    def __init__(self, threshold=0.9):
        self.threshold = threshold

    def fit(self, X, y=None):
        together = np.abs(np.corrcoef(X, rowvar=False))
        upper = np.triu(together, k=1)
        self.keep_ = ~np.any(upper > self.threshold, axis=0)
        return self

    def transform(self, X):
        return X[:, self.keep_]


class RankToNormal(TransformerMixin, BaseEstimator):
    """Where an element stands among those of fitting, between 0 and 1."""

    def fit(self, X, y=None):
        self.sorted_ = np.sort(X, axis=0)
        return self

    def transform(self, X):
        count = self.sorted_.shape[0]
        columns = [np.searchsorted(self.sorted_[:, j], X[:, j]) / count for j in range(X.shape[1])]
        return np.stack(columns, axis=1)


class RandomFourier(TransformerMixin, BaseEstimator):
    """Random features of a kernel."""

    def __init__(self, n_components=8, gamma=0.5, seed=0):
        self.n_components = n_components
        self.gamma = gamma
        self.seed = seed

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.seed)
        self.weights_ = np.sqrt(2 * self.gamma) * rng.normal(size=(X.shape[1], self.n_components))
        self.offset_ = rng.uniform(0, 2 * np.pi, size=self.n_components)
        return self

    def transform(self, X):
        projected = X @ self.weights_ + self.offset_
        return np.sqrt(2.0 / self.n_components) * np.cos(projected)


class PcaByHand(TransformerMixin, BaseEstimator):
    """Principal components by singular values."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        _, _, rows = np.linalg.svd(X - self.mean_, full_matrices=False)
        self.components_ = rows[: self.n_components]
        return self

    def transform(self, X):
        return np.dot(X - self.mean_, self.components_.T)

    def inverse_transform(self, X):
        return np.dot(X, self.components_) + self.mean_


class Mahalanobis(TransformerMixin, BaseEstimator):
    """The distance of rows from the mean, in units of their spread."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.precision_ = np.linalg.inv(np.cov(X, rowvar=False))
        return self

    def transform(self, X):
        centred = X - self.mean_
        return np.sqrt(np.einsum("ij,jk,ik->i", centred, self.precision_, centred))[:, np.newaxis]


class SoftmaxRegression(ClassifierMixin, BaseEstimator):
    """A classifier with its own gradient descent."""

    def fit(self, X, y):
        self.classes_, index = np.unique(y, return_inverse=True)
        target = np.eye(len(self.classes_))[index]
        self.weights_ = np.zeros((X.shape[1], len(self.classes_)))
        for _ in range(20):
            self.weights_ -= 0.1 * X.T @ (self._softmax(X @ self.weights_) - target) / len(X)
        return self

    def _softmax(self, scores):
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)

    def predict_proba(self, X):
        return self._softmax(X @ self.weights_)

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class AveragedModels(RegressorMixin, BaseEstimator):
    """The mean of several models, as in many a winning notebook."""

    def fit(self, X, y):
        self.models_ = [LinearRegression(fit_intercept=each).fit(X, y) for each in (True, False)]
        return self

    def predict(self, X):
        predictions = np.column_stack([model.predict(X) for model in self.models_])
        return np.mean(predictions, axis=1)


class ThresholdedClassifier(ClassifierMixin, BaseEstimator):
    """Another model, with a threshold of one's own."""

    def __init__(self, threshold=0.3):
        self.threshold = threshold

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y > 0)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return (self.model_.predict_proba(X)[:, 1] >= self.threshold).astype(int)


class MedianAbsoluteScaler(TransformerMixin, BaseEstimator):
    """Scales by the median absolute deviation."""

    def fit(self, X, y=None):
        self.median_ = np.median(X, axis=0)
        self.mad_ = np.median(np.abs(X - self.median_), axis=0)
        self.mad_[self.mad_ == 0] = 1.0
        return self

    def transform(self, X):
        return 0.6745 * (X - self.median_) / self.mad_


class OneHotByHand(TransformerMixin, BaseEstimator):
    """A column for each whole number that fitting saw."""

    def fit(self, X, y=None):
        self.values_ = np.unique(np.floor(X[:, 0]))
        return self

    def transform(self, X):
        return (np.floor(X[:, [0]]) == self.values_).astype(float)


class FrequencyEncoder(TransformerMixin, BaseEstimator):
    """How often a whole number came in fitting."""

    def fit(self, X, y=None):
        values, counts = np.unique(np.floor(X[:, 0]), return_counts=True)
        self.share_ = dict(zip(values.tolist(), (counts / len(X)).tolist(), strict=True))
        return self

    def transform(self, X):
        return np.array([[self.share_.get(each, 0.0)] for each in np.floor(X[:, 0])])


class WithScaler(TransformerMixin, BaseEstimator):
    """Another transformer inside, on some of the columns."""

    def fit(self, X, y=None):
        self.scaler_ = StandardScaler().fit(X[:, :2])
        return self

    def transform(self, X):
        return np.hstack([self.scaler_.transform(X[:, :2]), X[:, 2:]])


class MovingAverage(TransformerMixin, BaseEstimator):
    """The mean of a few neighbouring columns, as for spectra."""

    def __init__(self, window=3):
        self.window = window

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        summed = np.cumsum(X, axis=1)
        summed[:, self.window :] = summed[:, self.window :] - summed[:, : -self.window]
        return summed[:, self.window - 1 :] / self.window


class StandardNormalVariate(TransformerMixin, BaseEstimator):
    """Each row centred and scaled by itself, as for spectra."""

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        return ((X.T - X.mean(axis=1)) / X.std(axis=1)).T


class Custom(NamedTuple):
    """One of the list."""

    name: str
    source: str
    made: Callable[[], Any]
    #: What it is fitted on: "array", "missing" (with NaN), or "frame".
    data: str = "array"


_GUIDE = "scikit-learn user guide, preprocessing: custom transformers"
_CYCLES = "scikit-learn gallery, time-related feature engineering"
_BOOK = "A. Géron, Hands-On Machine Learning, chapter 2, custom transformers"
_DEVELOPERS = "scikit-learn, developing estimators, and its project template"
_STACK = "Stack Overflow, questions on custom transformers in pipelines"
_KAGGLE = "Kaggle, public notebooks on tabular competitions"
_SPECTRA = "chemotools and notebooks on spectra"

CUSTOM: tuple[Custom, ...] = (
    Custom("log1p", _GUIDE, lambda: FunctionTransformer(np.log1p, validate=True)),
    Custom("log1p with its inverse", _BOOK, lambda: FunctionTransformer(np.log, inverse_func=np.exp)),
    Custom("keywords", _GUIDE, lambda: FunctionTransformer(log_shifted, kw_args={"shift": 2.0})),
    Custom("all but the first column", _GUIDE, lambda: FunctionTransformer(all_but_first_column)),
    Custom("ratio of columns", _BOOK, lambda: FunctionTransformer(ratio_of_columns)),
    Custom(
        "kernel to a point",
        _BOOK,
        lambda: FunctionTransformer(rbf_kernel, kw_args={"Y": [[1.0, 1.0, 1.0, 1.0]], "gamma": 0.1}),
    ),
    Custom("sine", _CYCLES, lambda: FunctionTransformer(sine_of_period, kw_args={"period": 12})),
    Custom("sine and cosine", _CYCLES, lambda: FunctionTransformer(sine_and_cosine)),
    Custom("clip", _STACK, lambda: FunctionTransformer(clip_outliers)),
    Custom("statistics of rows", _KAGGLE, lambda: FunctionTransformer(with_row_statistics)),
    Custom("zeros for missing", _KAGGLE, lambda: FunctionTransformer(replace_missing), "missing"),
    Custom("buckets", _STACK, lambda: FunctionTransformer(bucketize)),
    Custom("threshold", _STACK, lambda: FunctionTransformer(above_threshold, kw_args={"threshold": 1.0})),
    Custom("products of pairs", _KAGGLE, lambda: FunctionTransformer(pairwise_products)),
    Custom("ratio in a frame", _STACK, lambda: FunctionTransformer(frame_ratio), "frame"),
    Custom("assigned column", _CYCLES, lambda: FunctionTransformer(frame_hours), "frame"),
    Custom("combined attributes", _BOOK, CombinedAttributes),
    Custom("cluster similarity", _BOOK, ClusterSimilarity),
    Custom("own scaler", _BOOK, OwnScaler),
    Custom("square root", _DEVELOPERS, SquareRoot),
    Custom("nearest label", _DEVELOPERS, NearestLabel),
    Custom("winsorizer", _KAGGLE, Winsorizer),
    Custom("column selector", _STACK, lambda: ColumnSelector([2, 0])),
    Custom("outlier flag", _KAGGLE, IqrOutlierFlag),
    Custom("median imputer", _STACK, MedianImputer, "missing"),
    Custom("logit of share", _KAGGLE, LogitOfShare),
    Custom("drop correlated", _KAGGLE, DropCorrelated),
    Custom("rank", _STACK, RankToNormal),
    Custom("random Fourier features", _KAGGLE, RandomFourier),
    Custom("principal components", _STACK, PcaByHand),
    Custom("Mahalanobis distance", _STACK, Mahalanobis),
    Custom("softmax regression", _STACK, SoftmaxRegression),
    Custom("averaged models", _KAGGLE, AveragedModels),
    Custom("thresholded classifier", _STACK, ThresholdedClassifier),
    Custom("median absolute scaler", _KAGGLE, MedianAbsoluteScaler),
    Custom("one-hot by hand", _STACK, OneHotByHand),
    Custom("frequencies", _KAGGLE, FrequencyEncoder),
    Custom("scaler inside", _STACK, WithScaler),
    Custom("moving average", _SPECTRA, MovingAverage),
    Custom("standard normal variate", _SPECTRA, StandardNormalVariate),
)

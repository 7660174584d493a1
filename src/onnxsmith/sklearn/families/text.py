"""Vectorisers of text: tokens, n-grams and what they count, as a `Bag`, which linear models multiply as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.numpy import Array, log
from onnxsmith.numpy import abs as magnitude
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.bags import Bag
from onnxsmith.sklearn.string_operators import hashes
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.text.analysis import Analysis
from onnxsmith.sklearn.values import Columns, Fitted, Given, array_of

_MODULE = "sklearn.feature_extraction.text"


def _texts(x: Given) -> Tensor:
    """The texts, one for each row."""
    if isinstance(x, Columns) and len(x) == 1:
        (x,) = x.values()
    if not isinstance(x, Tensor):
        raise NotCovered("it takes one text for each row, and is given something else")
    if len(x.shape) != 1:
        raise NotCovered("it takes one text for each row, and is given a matrix")
    return x


def _counts(estimator: Fitted, texts: Tensor) -> Bag:
    vocabulary = {str(text): int(place) for text, place in estimator.vocabulary_.items()}
    features = Analysis(estimator).features(texts, vocabulary)
    dtype = np.dtype(estimator.dtype)
    bag = Bag(features, where(features < 0, 0, 1).astype(dtype), len(vocabulary), is_counted_singly=True)
    return bag.present() if estimator.binary else bag


@converts(f"{_MODULE}.CountVectorizer", "transform", columns=True)
def counts(estimator: Fitted, x: Given) -> Bag:
    """How often each n-gram of the vocabulary comes."""
    return _counts(estimator, _texts(x))


@converts(f"{_MODULE}.TfidfVectorizer", "transform", columns=True)
def weighted_counts(estimator: Fitted, x: Given) -> Bag:
    """Counts, weighted by how rare n-grams are."""
    return weighted(estimator._tfidf, _counts(estimator, _texts(x)))


def weighted(estimator: Fitted, bag: Bag) -> Bag:
    """The counts, weighted as a TfidfTransformer does."""
    if estimator.sublinear_tf or estimator.norm is not None:
        bag = bag.merged()  # while they are whole numbers, which add up exactly
    kind: Any = (
        bag.dtype if bag.dtype in (np.dtype(np.float32), np.dtype(np.float64)) else np.dtype(np.float64)
    )
    if estimator.sublinear_tf:
        bag = bag.astype(kind)
        bag = bag.with_numbers(where(bag.numbers > 0, log(where(bag.numbers > 0, bag.numbers, 1)) + 1, 0))
    bag = bag.astype(kind)
    if estimator.use_idf:
        bag = bag.times(np.asarray(estimator.idf_).astype(kind))
    return bag if estimator.norm is None else bag.normalized(estimator.norm)


@converts(f"{_MODULE}.HashingVectorizer", "transform", columns=True)
def hashed_counts(estimator: Fitted, x: Given) -> Bag:
    """How often n-grams of each hash come."""
    features, signs = hashed(Analysis(estimator), _texts(x), int(estimator.n_features))
    numbers = signs if estimator.alternate_sign else where(features < 0, 0, 1)
    bag = Bag(features, numbers.astype(np.dtype(estimator.dtype)), int(estimator.n_features))
    if estimator.binary:
        bag = bag.present()
    return bag if estimator.norm is None else bag.normalized(estimator.norm)


# -- hashing -------------------------------------------------------------------------------------------


_SMALLEST = -(2**31)


def hashed(analysis: Analysis, texts: Tensor, count: int) -> tuple[Array, Array]:
    """For each text the features of its n-grams, -1 in between, and 1 or -1 for each."""
    grams, is_there = analysis.grams(texts)
    code = array_of(hashes(grams)).astype("int64")
    special = (2**31 - 1 - (count - 1)) % count
    place = where(is_equal(code, _SMALLEST), special, magnitude(code) % count)
    return where(is_there, place, -1), where(is_there, where(code >= 0, 1, -1), 0)

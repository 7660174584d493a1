"""Vectorisers count in a model what they count in scikit-learn, on texts of all scripts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import onnxsmith
from onnxsmith.errors import UnconvertedStepError
from tests.sklearn.text.texts import made_texts

TEXTS, OTHERS = made_texts(1000, seed=3), made_texts(300, seed=4)

_SETTINGS: list[dict[str, Any]] = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (4, 5)},
    {"stop_words": ["the", "βγ", "aa", "12"], "ngram_range": (1, 2)},
    {"lowercase": False},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"binary": True},
    {"token_pattern": r"\S+"},
]
_WEIGHTS: list[dict[str, Any]] = [
    {},
    {"sublinear_tf": True},
    {"norm": "l1"},
    {"norm": None, "use_idf": False},
    {"dtype": np.float32},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
]
_HASHES: list[dict[str, Any]] = [
    {"alternate_sign": False, "norm": "l1"},
    {"binary": True, "norm": None},
    {"dtype": np.float32},
]


def _check(fitted: Any) -> None:
    model = onnxsmith.sklearn.convert(fitted, TEXTS[:40])
    for texts in (TEXTS, OTHERS, TEXTS[:1], np.array([""], object)):
        found, wanted = model.transform(texts), fitted.transform(texts).toarray()
        assert found.dtype == wanted.dtype
        if wanted.dtype.kind == "i":
            assert np.array_equal(found, wanted)
        else:
            np.testing.assert_allclose(
                found, wanted, rtol=0, atol=1e-6 if wanted.dtype == np.float32 else 1e-12
            )


@pytest.mark.parametrize("settings", _SETTINGS, ids=str)
def test_counts(settings: dict[str, Any]) -> None:
    _check(CountVectorizer(**settings).fit(TEXTS))


@pytest.mark.parametrize("settings", _WEIGHTS, ids=str)
def test_weighted_counts(settings: dict[str, Any]) -> None:
    _check(TfidfVectorizer(**settings).fit(TEXTS))


@pytest.mark.parametrize("settings", [*_SETTINGS, *_HASHES], ids=str)
def test_hashed_counts(settings: dict[str, Any]) -> None:
    _check(HashingVectorizer(n_features=64, **settings))


def test_a_given_vocabulary_may_have_what_no_text_has() -> None:
    given = ["fox", "the fox", "a", " a", "x y", "  ", "a b "]
    _check(CountVectorizer(vocabulary=given, ngram_range=(1, 2)).fit(TEXTS))
    _check(CountVectorizer(vocabulary=given, analyzer="char_wb", ngram_range=(2, 3)).fit(TEXTS))


def test_no_rows_give_no_rows() -> None:
    model = onnxsmith.sklearn.convert(CountVectorizer(analyzer="char").fit(TEXTS), TEXTS)
    assert model.transform([]).shape == (0, len(CountVectorizer(analyzer="char").fit(TEXTS).vocabulary_))


@pytest.mark.parametrize("vectorizer", [TfidfVectorizer(), HashingVectorizer(n_features=2**20)])
def test_a_linear_model_makes_no_matrix_of_counts(vectorizer: Any) -> None:
    labels = np.array([len(each) % 3 for each in TEXTS])
    fitted = make_pipeline(vectorizer, LogisticRegression(tol=1.0)).fit(TEXTS, labels)
    model = onnxsmith.sklearn.convert(fitted, TEXTS[:100])
    np.testing.assert_allclose(model.predict_proba(TEXTS), fitted.predict_proba(TEXTS), rtol=0, atol=1e-9)
    # The matrix would be made between the two.
    assert [node.op_type.split("__")[0] for node in model.proto.graph.node] == [
        type(vectorizer).__name__,
        "LogisticRegression",
        "LogisticRegression",
    ]


def test_counts_go_through_a_transformer_of_their_own() -> None:
    fitted = make_pipeline(CountVectorizer(), TfidfTransformer(sublinear_tf=True)).fit(TEXTS)
    _check(fitted)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"tokenizer": str.split, "token_pattern": None}, "tokenizer is code on text"),
        ({"preprocessor": str.upper}, "preprocessor is code on text"),
        ({"analyzer": str.split}, "analyzer is code on text"),
        ({"strip_accents": str.upper}, "strip_accents is code on text"),
        ({"token_pattern": r"(?i)[a-z]+"}, "token_pattern .* has flags"),
    ],
)
def test_code_on_text_is_refused_by_name(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(UnconvertedStepError, match=why):
        onnxsmith.sklearn.convert(CountVectorizer(**settings).fit(TEXTS), TEXTS)

"""Words that are looked up as they are written have the numbers of what Python's lower case makes of them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import onnxsmith
from onnxsmith.sklearn.text.lookup import spellings
from onnxsmith.types.characters import changes

_WORDS = (
    *("fox", "don", "straße", "naïve", "x_1", "ab1", "ﬁx", "ŉa", "ǆab", "ꞌab", "ΐα"),
    *("σοφός", "ος", "σσ", "ας", "ασ", "жук", "i̇i", "istanbul", "日本", "𐐨𐐨", "ᏸa"),
)


@pytest.mark.parametrize("word", _WORDS)
def test_a_spelling_is_one_word_and_no_other(word: str) -> None:
    tokens = CountVectorizer().build_analyzer()
    assert [tokens(each) for each in spellings(word)] == [[word] for _ in spellings(word)]


def test_a_word_that_has_a_capital_is_never_found() -> None:
    assert not list(spellings("Fox"))


def _as_written_anyhow(rng: random.Random) -> str:
    """Words in any case, with marks behind them that a sigma looks past, and characters whose lower case is two."""
    made = ""
    for _ in range(rng.randrange(8)):
        word = rng.choice(_WORDS)
        word = rng.choice([word, word.upper(), word.capitalize(), word.title(), word.swapcase()])
        word = "".join(rng.choice([each, each.upper(), each.lower()]) for each in word)
        made += word + rng.choice([" ", "'", ".", "\u0301", "İ", "-Σ", "\u00ad", "Ⓐ", "\n", "1", "ʰ "])
    return made


def _texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [_as_written_anyhow(rng) for _ in range(count)]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("stop_words", [None, ["fox", "ος", "ΑΣ"]], ids=["all", "stop words"])
def test_words_in_any_case_are_counted_as_python_counts_them(
    ngrams: tuple[int, int], stop_words: list[str] | None
) -> None:
    fitted = CountVectorizer(ngram_range=ngrams, stop_words=stop_words, min_df=2).fit(_texts(100, 0))
    model = onnxsmith.sklearn.convert(fitted, _texts(5, 1), verify=False)
    for texts in (_texts(400, 2), ["ΑΣ'Α ΑΣ' ΟΣ ΑΣⒶ"], ["İX Fox"], ["FoX"], [" "]):
        assert np.array_equal(model.transform(texts), fitted.transform(texts).toarray())


def test_a_vocabulary_may_have_words_that_no_text_has() -> None:
    texts = ["Fox FOX fox a two words Σ"]
    words = ["Fox", "fox", "a", "two words", "σ"]
    fitted = CountVectorizer(vocabulary=words, stop_words=["a"], token_pattern=r"(?u)\b\w+\b")
    with pytest.warns(UserWarning, match="Upper case"):
        fitted.fit(texts)
    model = onnxsmith.sklearn.convert(fitted, texts, verify=False)
    assert np.array_equal(model.transform(texts), fitted.transform(texts).toarray())


def test_every_character_that_changes_is_found_in_capitals() -> None:
    """One word for each: `a`, the character in lower case, `a`."""
    every = [each for each in changes(lowercase=True, strip_accents=None) if each.isalnum()]
    texts = [f"a{each}a" for each in every]
    fitted = CountVectorizer().fit(texts)
    model = onnxsmith.sklearn.convert(fitted, texts[:3], verify=False)
    assert np.array_equal(model.transform(texts), fitted.transform(texts).toarray())

"""Lower case and accents in a model are Python's, whatever locales there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

from onnxsmith import STRING, trace
from onnxsmith.sklearn.text.preprocessing import preprocessed
from onnxsmith.types.characters import changes, sigma_classes
from tests.sklearn.text.texts import made_texts

_ACCENTS: dict[str | None, Callable[[str], str]] = {
    None: str,
    "unicode": strip_accents_unicode,
    "ascii": strip_accents_ascii,
}


@pytest.mark.parametrize("strip_accents", _ACCENTS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_texts_become_what_python_makes_of_them(lowercase: bool, strip_accents: str | None) -> None:
    texts = made_texts(1000, seed=1)
    model = trace(lambda x: preprocessed(x, lowercase=lowercase, strip_accents=strip_accents), STRING["N"])
    accents = _ACCENTS[strip_accents]
    wanted = [accents(each.lower() if lowercase else each) for each in texts]
    assert model(texts).tolist() == wanted
    assert model(texts[:0]).shape == (0,)


def test_every_character_that_changes_is_in_the_table() -> None:
    table = changes(lowercase=True, strip_accents=None)
    every = (chr(each) for each in range(0x110000) if not 0xD800 <= each <= 0xDFFF)
    assert table == {each: each.lower() for each in every if each.lower() != each}


@pytest.mark.parametrize("text", ["ΑΣ", "ΑΣ ΑΣΑ", "Σ", " Σ", "Α.Σ", "ΑΣ'", "ΑΣ\u0301Α", "ΑΣΣ", "İΣ", "1Σ"])
def test_a_sigma_at_the_end_of_a_word_has_its_final_form(text: str) -> None:
    model = trace(lambda x: preprocessed(x, lowercase=True, strip_accents=None), STRING["N"])
    assert model(np.array([text, "abc"], dtype=object)).tolist() == [text.lower(), "abc"]


def test_the_rule_of_the_final_sigma_knows_cased_and_ignorable_characters() -> None:
    kinds = sigma_classes()
    assert kinds["a"] == kinds["Я"] == 1
    assert kinds["'"] == kinds["\u0301"] == 0
    assert not {"1", " "} & set(kinds)

"""Token patterns of Python's find the same tokens in the runtime, or are refused by name."""

from __future__ import annotations

import re

import numpy as np
import pytest

from onnxsmith import STRING, trace
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.text.patterns import token_pattern
from onnxsmith.sklearn.text.tokens import words
from tests.sklearn.text.texts import made_texts


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?u)\b\w\w+\b",
        r"(?u)\b\w+\b",
        r"\w+",
        r"\w{3,}",
        r"\S+",
        r"[^\W\d_]+",
        r"\b[a-zA-Z]{2,}\b",
        r"\b(?:\d+|[a-c]+)\b",
        r"[a-z]\w*",
        r"\d+[a-c]",
        r"(?:\d|[a-c])x",
        r"[^\s,]+",
        r"#?\w+",
    ],
)
def test_a_pattern_finds_what_python_finds(pattern: str) -> None:
    found = token_pattern(pattern)
    model = trace(lambda x: words(x, found, (), is_aligned=True).texts, STRING["N"])
    texts = np.append(made_texts(300, seed=2), ["ab1 c2x #tag a,b ax bx 12ab", ""])
    rows = model(texts).tolist()
    assert [[each for each in row if each] for row in rows] == [re.findall(pattern, each) for each in texts]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)b", "has a group"),
        (r"a|ab", "may end in several places"),
        (r"a+?", "may end in several places"),
        (r"(?i)a+", "has flags"),
        (r"a*", "matches nothing at all"),
        (r"(?<=a)b+", "has assert"),
        (r"\ba\w*x", "has a .b, and tokens that are no whole words"),
        (r"\w+(?:'\w+)?", "may end in several places"),
        (r"(", "is no regular expression"),
    ],
)
def test_what_the_runtime_finds_differently_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(NotCovered, match=why):
        token_pattern(pattern)

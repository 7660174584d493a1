"""n-grams as numbers, against a search through the vocabulary."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn")
from onnxsmith import numpy as xp  # scikit-learn may be missing
from onnxsmith.sklearn.text.analysis import grams_of

VOCABULARIES: list[dict[tuple[str, ...], int]] = [
    {("a",): 0, ("b",): 1},
    {("a",): 1, ("b",): 0, ("a", "b"): 2},
    {("a", "b"): 0, ("b", "c"): 1, ("a", "b", "c"): 2, ("c",): 3},
    {("c", "a", "b"): 4, ("c", "a"): 1},
]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_features_of_every_gram(vocabulary: dict[tuple[str, ...], int]) -> None:
    longest = max(map(len, vocabulary))
    grams = grams_of(vocabulary, longest)
    assert sorted(grams.pieces) == sorted({piece for gram in vocabulary for piece in gram})
    assert len(grams.levels) == longest
    for length in range(1, longest + 1):
        rows = list(itertools.product([*grams.pieces, "?"], repeat=length))
        numbers = np.array([[grams.pieces.get(each, -1) for each in row] for row in rows])
        prefix = xp.asarray(numbers[:, 0])
        for k in range(2, length + 1):
            prefix = grams.longer(k, prefix, xp.asarray(numbers[:, k - 1]))
        found = np.asarray(grams.found(length, prefix))
        assert found.tolist() == [vocabulary.get(row, -1) for row in rows]


def test_a_length_that_no_gram_has() -> None:
    grams = grams_of({("a",): 0, ("b",): 1}, 2)
    assert np.asarray(grams.longer(2, xp.asarray([0, -1]), xp.asarray([1, 1]))).tolist() == [-1, -1]

"""n-grams as numbers: a row of pieces (words, characters) becomes the features that its n-grams are.

Pieces have numbers; so has every prefix of an n-gram of the vocabulary. The number of a prefix and the next piece are
the key of the longer prefix, so that an n-gram is found in as many steps as it has pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsmith.numpy import Array, asarray, take
from onnxsmith.sklearn.arrays import where
from onnxsmith.sklearn.string_operators import numbers_of_numbers
from onnxsmith.sklearn.values import array_of


@dataclass(frozen=True, slots=True)
class Level:
    """All prefixes of one length."""

    #: By the number of the prefix before times the count of pieces, plus the piece: the number of the prefix.
    keys: Mapping[int, int]
    #: By the number of a prefix, the feature that it is; -1 for a prefix only. The last entry is for no prefix.
    features: np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Grams:
    """A vocabulary of n-grams, taken apart."""

    pieces: Mapping[str, int]
    levels: Sequence[Level]

    def found(self, length: int, prefix: Array) -> Array:
        """The features of prefixes of a length; -1 for those that are none."""
        features = self.levels[length - 1].features
        if np.array_equal(features[:-1], np.arange(len(features) - 1)):
            return prefix
        return take(asarray(features), prefix)

    def longer(self, length: int, prefix: Array, pieces: Array) -> Array:
        """The prefixes of a length, of those one shorter and the pieces behind them; -1 where there is none."""
        level, count = self.levels[length - 1], len(self.pieces)
        if not level.keys:
            return where(prefix < 0, prefix, -1)
        key = where((prefix >= 0) & (pieces >= 0), prefix * count + pieces, -1)
        return array_of(numbers_of_numbers(key.tensor, level.keys, -1))


def grams_of(vocabulary: Mapping[tuple[str, ...], int], longest: int) -> Grams:
    """A vocabulary of n-grams (as pieces) and their features, by length up to the longest."""
    pieces: dict[str, int] = {}
    for gram in vocabulary:
        for piece in gram:
            pieces.setdefault(piece, len(pieces))
    prefixes: list[dict[tuple[int, ...], int]] = [{} for _ in range(longest)]
    features: list[dict[int, int]] = [{} for _ in range(longest)]
    prefixes[0] = {(each,): each for each in range(len(pieces))}
    for gram, feature in vocabulary.items():
        numbers = tuple(pieces[each] for each in gram)
        for length in range(2, len(numbers) + 1):
            known = prefixes[length - 1]
            known.setdefault(numbers[:length], len(known))
        features[len(numbers) - 1][prefixes[len(numbers) - 1][numbers]] = feature
    count = len(pieces)
    levels: list[Level] = []
    for position, known in enumerate(prefixes):
        shorter = prefixes[position - 1] if position else {}
        keys = (
            {shorter[each[:-1]] * count + each[-1]: number for each, number in known.items()}
            if position
            else {}
        )
        table = np.full(len(known) + 1, -1, np.int64)
        for number, feature in features[position].items():
            table[number] = feature
        levels.append(Level(keys, table))
    return Grams(pieces, levels)

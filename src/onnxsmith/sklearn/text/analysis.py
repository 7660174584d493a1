"""Applies a vectoriser's settings to texts: rows of features of a vocabulary, or rows of n-grams as text.

Settings that are code of the user's (a tokeniser, a preprocessor, an analyser) are refused: no operator runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, arange, asarray, concatenate, take
from onnxsmith.sklearn.arrays import where
from onnxsmith.sklearn.categories import places_of_text
from onnxsmith.sklearn.string_operators import is_text, numbers_of_numbers
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.text.lookup import is_looked_up, numbers_of_words
from onnxsmith.sklearn.text.patterns import token_pattern
from onnxsmith.sklearn.text.preprocessing import preprocessed
from onnxsmith.sklearn.text.tokens import Pieces, characters, spaced_words, words
from onnxsmith.sklearn.values import Fitted, array_of

_CODE = ("preprocessor", "tokenizer")


class Analysis:
    """The settings of one vectoriser, checked."""

    def __init__(self, estimator: Fitted) -> None:
        refuse_code(estimator)
        self._estimator = estimator
        self.analyzer: str = estimator.analyzer
        self.shortest, self.longest = (int(each) for each in estimator.ngram_range)
        self._pattern = None
        if self.analyzer == "word":
            self._pattern = token_pattern(estimator.token_pattern)
            if self._pattern.has_spaces and self.longest > 1:
                raise NotCovered(
                    "token_pattern matches spaces, so that n-grams of words cannot be told apart"
                )

    def pieces(self, texts: Tensor) -> Pieces:
        """The words or characters of texts."""
        estimator = self._estimator
        accents = estimator.strip_accents
        clean = preprocessed(texts, lowercase=bool(estimator.lowercase), strip_accents=accents)
        if self._pattern is not None:
            stop_words = estimator.get_stop_words() or ()
            return words(clean, self._pattern, stop_words, is_aligned=self.longest > 1)
        return characters(clean) if self.analyzer == "char" else spaced_words(clean)

    # -- features of a vocabulary ------------------------------------------------------------------------

    def features(self, texts: Tensor, vocabulary: Mapping[str, int]) -> Array:
        """For each text the features that it has, -1 in between; as often as it has them."""
        # In the order of features: of words alone, each then has its feature for its number.
        ordered = sorted(vocabulary.items(), key=lambda each: each[1])
        taken = {parts: feature for text, feature in ordered if (parts := self._taken_apart(text))}
        grams = grams_of(taken, self.longest)
        pieces, numbers = self._numbers(texts, grams.pieces)
        found: list[Array] = []
        prefix = numbers
        for length in range(1, self.longest + 1):
            if length > 1:
                prefix = grams.longer(length, prefix[:, :-1], numbers[:, length - 1 :])
            found += self._of_length(grams, length, prefix, pieces)
        return found[0] if len(found) == 1 else concatenate(found, axis=1)

    def _numbers(self, texts: Tensor, known: Mapping[str, int]) -> tuple[Pieces | None, Array]:
        """The numbers of words or characters, -1 for those that have none; and these themselves, if they are made."""
        estimator, pattern = self._estimator, self._pattern
        if pattern is not None and is_looked_up(pattern, strip_accents=estimator.strip_accents):
            numbers = numbers_of_words(
                texts,
                pattern,
                known,
                estimator.get_stop_words() or (),
                lowercase=bool(estimator.lowercase),
                is_aligned=self.longest > 1,
            )
            return None, numbers
        pieces = self.pieces(texts)
        return pieces, where(pieces.is_there, places_of_text(pieces.texts, list(known)), -1)

    @property
    def _is_word_bound(self) -> bool:
        return self.analyzer == "char_wb"

    def _taken_apart(self, gram: str) -> tuple[str, ...] | None:
        """The pieces of an n-gram of the vocabulary; None for one that no text has."""
        parts = tuple(gram.split(" ")) if self.analyzer == "word" else tuple(gram)
        if self._pattern is not None and self._pattern.has_spaces:
            parts = (gram,)
        if self.analyzer == "char_wb":
            is_whole = gram[:1] == " " == gram[-1:] and len(gram) > 2
            has_inner = any(each.isspace() for each in gram[1:-1]) or (len(gram) == 2 and gram.isspace())
            if has_inner or (len(parts) < self.shortest and not is_whole):
                return None
            return parts if parts and len(parts) <= self.longest else None
        return parts if parts and self.shortest <= len(parts) <= self.longest and all(parts) else None

    def _of_length(self, grams: Grams, length: int, prefix: Array, pieces: Pieces | None) -> list[Array]:
        """The features of one length, by the place at which they begin."""
        if length < self.shortest and not self._is_word_bound:
            return []
        found = grams.found(length, prefix)
        if pieces is None or not self._is_word_bound or length > 1:
            return [found]
        if self.shortest > 1:
            return []
        first, again = _single(pieces)
        return [where(first, found, -1), where(again, found, -1)]

    # -- n-grams as text ---------------------------------------------------------------------------------

    def grams(self, texts: Tensor) -> tuple[Tensor, Array]:
        """For each text its n-grams as text, and whether there is one."""
        pieces = self.pieces(texts)
        joint = np.array(" " if self.analyzer == "word" else "", object)
        gram, is_there = pieces
        made: list[Any] = []
        flags: list[Array] = []
        is_space = _is_space(pieces)
        for length in range(1, self.longest + 1):
            if length > 1:
                behind = op.Slice(
                    pieces.texts, np.array([length - 1]), np.array([np.iinfo(np.int64).max]), np.array([1])
                )
                before = op.Slice(gram, np.array([0]), np.array([-1]), np.array([1]))
                gram = op.StringConcat(op.StringConcat(before, joint), behind)
                is_there = is_there[:, :-1] & pieces.is_there[:, length - 1 :]
                if self._is_word_bound and length > 2:  # what was last is inside now, and is no space
                    is_there = is_there & ~is_space[:, length - 2 : -1]
            for each in self._those_of_length(length, is_there, is_space, pieces):
                made.append(gram)
                flags.append(each)
        return op.Concat(*made, axis=1), concatenate(flags, axis=1)

    def _those_of_length(self, length: int, is_there: Array, is_space: Array, pieces: Pieces) -> list[Array]:
        """Flags for n-grams of a length, by the place at which they begin; two arrays where one may come twice."""
        if not self._is_word_bound:
            return [is_there] if length >= self.shortest else []
        if length == 1:
            return list(_single(pieces)) if self.shortest == 1 else []
        if length >= self.shortest:
            return [is_there]
        if length == 2:
            return []
        # A word that is shorter than every n-gram counts as a whole, with its spaces.
        width = length - 1
        return [is_there & is_space[:, :-width] & is_space[:, width:]]


def _is_space(pieces: Pieces) -> Array:
    return array_of(is_text(pieces.texts, " "))


def _single(pieces: Pieces) -> tuple[Array, Array]:
    """Of single characters those that count, and those that count again.

    Each word has a space before it and one behind, where two words share the one that stands here.
    """
    is_space = _is_space(pieces)
    is_after = arange(is_space.shape[1])[None, :] > 0
    return pieces.is_there & (~is_space | is_after), pieces.is_there & is_space & is_after


def refuse_code(estimator: Fitted) -> None:
    """Refuse settings that are code, or that read files and bytes."""
    for name in _CODE:
        if getattr(estimator, name) is not None:
            raise NotCovered(f"{name} is code on text, which no operator runs")
    if callable(estimator.analyzer):
        raise NotCovered("analyzer is code on text, which no operator runs")
    if callable(estimator.strip_accents):
        raise NotCovered("strip_accents is code on text, which no operator runs")
    if estimator.input != "content":
        raise NotCovered(f"input={estimator.input!r} reads files, and a model is given the texts")


# -- n-grams -------------------------------------------------------------------------------------------


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

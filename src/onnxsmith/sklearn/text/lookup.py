r"""The numbers that a vocabulary has for the words of texts, without texts in lower case.

Words are looked up as they are written: the table has each word as it is, with a capital first, and in capitals. What
is not found there and has a character that changes is put into lower case, a word at a time, and looked up again. So
most words are read once, and few texts are ever taken apart into characters.

That gives what lowering first gives, since a word stays one word: of all characters `İ` alone becomes two, and a sigma
is the only one that looks at what stands around it. Texts in which those matter are put into lower case before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array
from onnxsmith.sklearn.arrays import any_is
from onnxsmith.sklearn.control_flow import control_flow
from onnxsmith.sklearn.string_operators import numbers_of_text, of_rank
from onnxsmith.sklearn.text.patterns import TokenPattern
from onnxsmith.sklearn.text.preprocessing import lowered_where, preprocessed
from onnxsmith.sklearn.text.tokens import aligned, padded_tokens
from onnxsmith.sklearn.values import array_of
from onnxsmith.types.characters import (
    SIGMA,
    changes,
    class_text,
    ranges_of,
    sigma_classes,
)

# What is no number of a word: behind the last word of a text, a word of no number, a word that does not count.
_NONE, _UNKNOWN, _STOP = -1, -2, -3
_WORD = re.compile(r"\w+")


def is_looked_up(pattern: TokenPattern, *, strip_accents: str | None) -> bool:
    """True if words can be looked up as they are written."""
    return pattern.is_word and pattern.kept is None and strip_accents is None


def numbers_of_words(
    texts: Tensor,
    pattern: TokenPattern,
    pieces: Mapping[str, int],
    stop_words: Collection[str],
    *,
    lowercase: bool,
    is_aligned: bool,
) -> Array:
    """The number of each word in a row; -1 for words that have none. Without gaps where they are to be aligned."""
    known = {**pieces, **dict.fromkeys(stop_words, _STOP)}
    if lowercase:
        texts = lowered_where(texts, _lowered_before())
        table = {written: number for word, number in known.items() for written in spellings(word)}
    else:
        table = known
    tokens = padded_tokens(texts, pattern)
    found = op.Slice(numbers_of_text(tokens, {**table, "": _NONE}, _UNKNOWN), [0], [-1], [0])
    if lowercase:
        found = _looked_up_again(tokens, found, known)
    if is_aligned and stop_words:
        is_there = array_of(op.Equal(found, _UNKNOWN) | (found >= 0))
        found, _ = aligned(found, is_there, np.array(_NONE))
    return array_of(op.Max(found, np.array(-1)))  # which says no more than that there is no number


def spellings(word: str) -> Iterator[str]:
    """How a word of a vocabulary is written in texts: those ways that are looked up at once."""
    for each in {word: None, word.capitalize(): None, word.upper(): None}:
        if each.lower() == word and _WORD.fullmatch(each):
            yield each


def _looked_up_again(tokens: Tensor, rows: Tensor, known: Mapping[str, int]) -> Tensor:
    """The rows of numbers, with those of words that are found in lower case alone."""
    flat = op.Reshape(rows, [-1])
    place = op.Squeeze(op.NonZero(op.Equal(flat, _UNKNOWN)), [0])
    words = op.Gather(op.Reshape(tokens, [-1]), place)
    changing = class_text(ranges_of(sorted(map(ord, changes(lowercase=True, strip_accents=None)))))
    is_changing = op.RegexFullMatch(words, pattern=f"(?s).*{changing}.*")
    written = op.Compress(words, is_changing, axis=0)
    of_word = {word: number for word, number in known.items() if word.lower() == word} or {"": _NONE}

    def again() -> Tensor:
        lowered = preprocessed(of_rank(written, 1), lowercase=True, strip_accents=None)
        return numbers_of_text(lowered, of_word, _UNKNOWN)

    found = control_flow().If(
        any_is(is_changing),
        then_branch=again,
        else_branch=lambda: op.ConstantOfShape([0], value=np.zeros(1, np.int64)),
    )
    added = op.ScatterElements(flat, op.Compress(place, is_changing, axis=0), of_rank(found, 1))
    return op.Reshape(added, op.Shape(rows), allowzero=1)


# -- the characters for which a word is not enough -------------------------------------------------------


@functools.cache
def _becoming_more() -> frozenset[str]:
    """Characters whose lower case is no single character, of words or of none as they are: an `İ`."""
    lower = changes(lowercase=True, strip_accents=None)
    return frozenset(
        each
        for each, made in lower.items()
        if len(made) > 1 or bool(_WORD.match(each)) != bool(_WORD.match(made))
    )


@functools.cache
def _cased() -> frozenset[str]:
    """Characters of words behind which a sigma is not the last letter: the word alone says so."""
    return frozenset(each for each, kind in sigma_classes().items() if kind and _WORD.match(each))


@functools.cache
def _lowered_before() -> str:
    """Matches texts that have a character of the first kind, or a sigma with none of the second behind it."""
    more = class_text(ranges_of(sorted(map(ord, _becoming_more()))))
    other = class_text(ranges_of(sorted(map(ord, _cased()))), is_negated=True)
    return f"(?s).*(?:{more}|{SIGMA}(?:{other}|$)).*"

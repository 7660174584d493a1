"""Lower case and accents in a model, as Python computes them, without the locales of the machine that runs it.

ASCII is lowered by the runtime. Texts in which other characters change are taken apart into characters, which a table
maps, and put together again; all other texts are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, arange, concatenate, cumsum, take_along_axis
from onnxsmith.sklearn.arrays import any_is, is_equal, where
from onnxsmith.sklearn.control_flow import control_flow
from onnxsmith.sklearn.string_operators import (
    is_text,
    numbers_of_text,
    of_rank,
    single_characters,
    text_of_text,
    tokens,
)
from onnxsmith.sklearn.values import array_of
from onnxsmith.types.characters import (
    FINAL_SIGMA,
    SIGMA,
    changes,
    class_text,
    ranges_of,
    sigma_classes,
)

#: Stands for "as it was" in tables of characters.
_SAME = "\ufdd1"
_PIECES_OF_ASCII = r"[\x00-\x7f]+|[^\x00-\x7f]"
_LAST = np.array([-1], np.int64)
#: For the rule of the final sigma: a character that is neither cased nor looked past.
_ENDS_WORD = 2


def characters_of(texts: Tensor) -> Tensor:
    """The characters of each text in a row, with empty texts behind the shorter ones; one column at least."""
    made = single_characters(with_space(texts))
    return op.Slice(made, np.array([0]), _LAST, np.array([0]))


def with_space(texts: Tensor) -> Tensor:
    """The texts and one more, a space: the runtime has no tokens of no text, nor of texts that are all empty."""
    return op.Concat(texts, np.array([" "], object), axis=0)


def preprocessed(texts: Tensor, *, lowercase: bool, strip_accents: str | None) -> Tensor:
    """Texts in lower case and without accents, as is asked."""
    if lowercase:
        lowered = op.StringNormalizer(
            with_space(texts), case_change_action="LOWER", is_case_sensitive=1, locale="C"
        )
        texts = op.Slice(of_rank(lowered, 1), np.array([0]), _LAST)
    if not lowercase and strip_accents is None:
        return texts
    table = changes(lowercase=lowercase, strip_accents=strip_accents)

    def mapped(some: Tensor) -> Tensor:
        return _mapped(some, table, lowercase=lowercase, strip_accents=strip_accents)

    return where_matching(texts, _changing(table, strip_accents), mapped)


def lowered_where(texts: Tensor, pattern: str) -> Tensor:
    """Texts that a pattern matches in lower case, the others as they are."""
    table = changes(lowercase=True, strip_accents=None)
    return where_matching(
        texts, pattern, lambda some: _mapped(some, table, lowercase=True, strip_accents=None)
    )


def where_matching(texts: Tensor, pattern: str, change: Callable[[Tensor], Tensor]) -> Tensor:
    """The texts with what a function makes of those that a pattern matches whole, if there are any."""
    is_changing = array_of(op.RegexFullMatch(texts, pattern=pattern))

    def changed() -> Tensor:
        some = op.Compress(texts, is_changing.tensor, axis=0)
        place = op.Compress(arange(len_of(texts)).tensor, is_changing.tensor, axis=0)
        return op.ScatterElements(texts, place, of_rank(change(some), 1))

    made = control_flow().If(
        any_is(is_changing.tensor), then_branch=changed, else_branch=lambda: op.Identity(texts)
    )
    return of_rank(made, 1)


def len_of(texts: Tensor) -> Array:
    """How many rows there are, as a number."""
    return array_of(op.Squeeze(op.Shape(texts, start=0, end=1)))


def _changing(table: Mapping[str, str], strip_accents: str | None) -> str:
    """Matches texts in which something changes."""
    if strip_accents == "ascii":
        return r"(?s).*[^\x00-\x7f].*"
    beyond = sorted(ord(each) for each in table if ord(each) > 0x7F)
    return f"(?s).*{class_text(ranges_of(beyond))}.*"


def _mapped(texts: Tensor, table: Mapping[str, str], *, lowercase: bool, strip_accents: str | None) -> Tensor:
    """The changed texts: characters that change are mapped one by one, with all between two of them in one piece."""
    pattern = _PIECES_OF_ASCII if strip_accents == "ascii" else _pieces(table)
    if not lowercase or strip_accents == "ascii":
        return _joined(_changed(tokens(texts, pattern=pattern, fewest=1), table, strip_accents))
    has_sigma = op.RegexFullMatch(texts, pattern=f"(?s).*{SIGMA}.*")

    def with_sigmas() -> Tensor:
        characters = single_characters(texts)
        return op.Identity(_with_final_sigmas(characters, _changed(characters, table, strip_accents)))

    def without() -> Tensor:
        return op.Identity(_changed(tokens(texts, pattern=pattern, fewest=1), table, strip_accents))

    made = control_flow().If(any_is(has_sigma), then_branch=with_sigmas, else_branch=without)
    return _joined(of_rank(made, 2))


def _changed(pieces: Tensor, table: Mapping[str, str], strip_accents: str | None) -> Tensor:
    found = text_of_text(pieces, table, _SAME)
    kept: Any = pieces
    if strip_accents == "ascii":  # what is not ASCII, and becomes nothing that is
        kept = op.Where(op.RegexFullMatch(pieces, pattern=r"(?s)[^\x00-\x7f]"), np.array("", object), pieces)
    return op.Where(is_text(found, _SAME), kept, found)


def _pieces(table: Mapping[str, str]) -> str:
    """Matches a character that changes, or all up to the next one."""
    ranges = ranges_of(sorted(map(ord, table)))
    return f"{class_text(ranges)}|{class_text(ranges, is_negated=True)}+"


def _with_final_sigmas(characters: Tensor, made: Tensor) -> Tensor:
    """Puts the final form where a word ends in a sigma."""
    is_sigma = is_text(characters, SIGMA)
    codes = array_of(numbers_of_text(characters, sigma_classes(), _ENDS_WORD))
    # What the rule does not look past, side by side: of each character, the one before and the one behind it are there.
    is_seen = ~is_equal(codes, 0)
    count = cumsum(is_seen.astype("int64"), axis=1)
    ends = array_of(op.Expand(np.array([[_ENDS_WORD]]), op.Shape(codes.tensor)))
    wide = concatenate([ends[:, :1], ends, ends[:, :1]], axis=1)
    last = ends.shape[1] + 1
    seen = array_of(op.ScatterElements(wide.tensor, where(is_seen, count, last).tensor, codes.tensor, axis=1))
    seen = concatenate([seen[:, :-1], ends[:, :1]], axis=1)
    before = take_along_axis(seen, where(is_seen, count - 1, count), axis=1)
    after = take_along_axis(seen, count + 1, axis=1)
    is_final = is_equal(before, 1) & ~is_equal(after, 1)
    return op.Where(is_sigma & is_final.tensor, np.array(FINAL_SIGMA, object), made)


def _joined(pieces: Tensor) -> Tensor:
    """The pieces of each row as one text: neighbours are joined until one column is left."""

    def joined(_: Tensor, goes_on: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
        shape = op.Shape(current)
        width = op.Slice(shape, np.array([1]), np.array([2]))
        half = op.Div(width + np.array([1]), np.array([2]))
        end = half * np.array([2])
        blank = op.Expand(np.array([[""]], object), shape * np.array([1, 0]) + np.array([0, 1]))
        padded = op.Concat(current, blank, axis=1)
        first = op.Slice(padded, np.array([0]), end, np.array([1]), np.array([2]))
        second = op.Slice(padded, np.array([1]), end, np.array([1]), np.array([2]))
        made = op.StringConcat(first, second)
        return op.Squeeze(half > np.array([1])), made

    begins = op.Squeeze(op.Shape(pieces, start=1, end=2)) > np.array(1)
    whole = control_flow().Loop(None, begins, pieces, body=joined)
    return op.Squeeze(of_rank(whole, 2), np.array([1]))

"""Texts as rows of words or characters, left aligned: the pieces that n-grams are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.target import current_graph
from onnxsmith.numpy import Array, argsort, take_along_axis
from onnxsmith.numpy import any as any_of
from onnxsmith.sklearn.categories import places_of_text
from onnxsmith.sklearn.string_operators import is_text, of_rank, tokens
from onnxsmith.sklearn.text.patterns import TokenPattern
from onnxsmith.sklearn.text.preprocessing import characters_of
from onnxsmith.sklearn.values import array_of
from onnxsmith.types.characters import spaces

_LAST = np.array([-1], np.int64)


class Pieces(NamedTuple):
    """Words or characters of each text; where a row has no more, there is an empty text."""

    texts: Tensor
    #: Whether there is a piece.
    is_there: Array


def words(texts: Tensor, pattern: TokenPattern, stop_words: Collection[str], *, is_aligned: bool) -> Pieces:
    """The tokens of each text; without gaps where they are to be aligned, for n-grams."""
    found = op.Slice(padded_tokens(texts, pattern), np.array([0]), _LAST, np.array([0]))
    if not pattern.is_word:  # where nothing matches there is no column, and what follows counts on one
        found = op.Concat(found, _blank_column(found), axis=1)
    is_there = ~array_of(is_text(found, ""))
    if pattern.kept is not None:
        is_kept = op.RegexFullMatch(found, pattern=pattern.kept)
        is_there = is_there & array_of(is_kept)
    if stop_words:
        is_there = is_there & (places_of_text(found, sorted(stop_words)) < 0)
    elif pattern.kept is None:
        return Pieces(found, is_there)
    return _aligned(Pieces(found, is_there)) if is_aligned else Pieces(found, is_there)


def padded_tokens(texts: Tensor, pattern: TokenPattern) -> Tensor:
    """The tokens of each text, and of one text more: the runtime has no tokens of no text."""
    more = op.Concat(texts, np.array(["a" * pattern.fewest], object), axis=0)
    return tokens(more, pattern=pattern.found, fewest=pattern.fewest)


def _blank_column(pieces: Tensor, text: str = "") -> Tensor:
    shape = op.Shape(pieces) * np.array([1, 0]) + np.array([0, 1])
    return op.Expand(np.array([[text]], object), shape)


def characters(texts: Tensor) -> Pieces:
    """The characters of each text, with one space for two or more characters of white space."""
    found = characters_of(texts)
    is_there = ~array_of(is_text(found, ""))
    is_space = places_of_text(found, spaces()) >= 0
    after = _shifted(is_space, 1)
    before = _shifted(is_space, -1)
    texts_ = op.Where((is_space & after).tensor, np.array(" ", object), found)
    return _aligned(Pieces(texts_, is_there & ~(is_space & before)))


def spaced_words(texts: Tensor) -> Pieces:
    """The characters of each text with one space before, between and behind its words."""
    found = characters_of(texts)
    blank = _blank_column(found, " ")
    wide = op.Concat(blank, found, blank, axis=1)
    # What is behind the end of a text counts as space: the first of it stays.
    is_space = places_of_text(wide, ["", *spaces()]) >= 0
    texts_ = op.Where(is_space.tensor, np.array(" ", object), wide)
    return _aligned(Pieces(texts_, ~(is_space & _shifted(is_space, -1))))


def _shifted(flags: Array, by: int) -> Array:
    """Of each place what stands before it (-1) or behind it (1); nothing at the ends."""
    pads = np.array([0, 1, 0, 0] if by < 0 else [0, 0, 0, 1], np.int64)
    wide = array_of(op.Pad(flags.tensor, pads, np.array(False)))
    return wide[:, :-1] if by < 0 else wide[:, 1:]


def _aligned(pieces: Pieces) -> Pieces:
    return Pieces(*aligned(pieces.texts, pieces.is_there, np.array("", object)))


def aligned(values: Tensor, is_there: Array, blank: np.ndarray[Any, Any]) -> tuple[Tensor, Array]:
    """The values that are there, side by side, with blanks behind them; rows without gaps stay as they are."""

    def closed() -> tuple[Any, Any]:
        order = argsort((~is_there).astype("int64"), axis=1, kind="stable")
        return op.GatherElements(values, order.tensor, axis=1), take_along_axis(
            is_there, order, axis=1
        ).tensor

    def same() -> tuple[Any, Any]:
        return op.Identity(values), op.Identity(is_there.tensor)

    has_gap = any_of(~is_there[:, :-1] & is_there[:, 1:])
    moved, flags = _either(has_gap, closed, same)
    return op.Where(flags, moved, blank), array_of(cast(Tensor, flags))


def _either(condition: Array, then: Callable[[], Any], otherwise: Callable[[], Any]) -> tuple[Any, Any]:
    operators: Any = current_graph().operators
    texts, flags = operators.If(condition.tensor, then_branch=then, else_branch=otherwise)
    return of_rank(texts, 2), of_rank(flags, 2)

r"""Token patterns: a regular expression of Python's as one of RE2's that finds the same tokens, or a refusal.

Classes such as `\w` become the ranges of characters that Python means by them. Boundaries are understood where a token
is a whole word, since RE2 knows only those of ASCII.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from onnxsmith.sklearn.table import NotCovered
from onnxsmith.types.characters import class_text, digit_ranges, space_ranges, word_ranges

_parser: Any = re._parser  # type: ignore[attr-defined]  # the one reader of Python's patterns; checkers do not know it
_MOST_REPEATS = 1000  # RE2 refuses more
_MAX = 0x10FFFF

Ranges = Sequence[tuple[int, int]]
#: Of the reader's: what it found, and what belongs to it, which is another thing for each code.
Item = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """How tokens are found: by a pattern of RE2's, of which those are kept that a second one matches whole."""

    found: str
    fewest: int = 1
    kept: str | None = None
    #: Whether a token may have a space in it.
    has_spaces: bool = False

    @property
    def is_word(self) -> bool:
        r"""True if a token is the longest run of `\w`."""
        return self.found == _words()


@functools.cache
def _words() -> str:
    return f"{class_text(word_ranges())}+"


def token_pattern(text: str) -> TokenPattern:
    """A pattern for the tokens that `re.compile(text).findall` finds; raises `NotCovered` where there is none."""
    refuse = _Refusal(text)
    try:
        parsed = _parser.parse(text)
    except re.error as error:
        raise NotCovered(f"token_pattern {text!r} is no regular expression: {error}") from None
    if parsed.state.groups > 1:
        raise refuse("has a group")
    if parsed.state.flags & ~int(re.UNICODE):
        raise refuse("has flags")
    items = [(str(code), value) for code, value in parsed]
    begins = bool(items) and _is_boundary(items[0])
    ends = len(items) > 1 and _is_boundary(items[-1])
    body = items[int(begins) : len(items) - int(ends)]
    fewest = _fewest_of_word(body)
    if fewest is not None:
        return TokenPattern(_words(), fewest)
    writer = _Writer(refuse)
    written = writer.sequence(body)
    if parsed.getwidth()[0] == 0:
        raise refuse("matches nothing at all, too")
    if not begins and not ends:
        _check_longest(body, parsed.getwidth(), refuse)
        return TokenPattern(written, has_spaces=writer.has_spaces)
    if not (begins and ends and writer.is_of_word):
        raise refuse(r"has a \b, and tokens that are no whole words")
    return TokenPattern(_words(), kept=written)


def _check_longest(items: Iterable[tuple[str, Any]], width: tuple[int, int], refuse: _Refusal) -> None:
    """Refuse patterns of which Python may take a shorter token: the runtime takes the longest."""
    if width[0] == width[1]:
        return
    writer = _Writer(refuse)
    runs = [writer.run_of(code, value) for code, value in items]
    for position, run in enumerate(runs):
        if run.fewest == run.most:
            continue
        for behind in runs[position + 1 :]:
            if behind.members & run.members and behind.members != run.members:
                raise refuse("may end in several places")
            if behind.fewest and not behind.members & run.members:
                break


class _Run(NamedTuple):
    """Characters of one class in a row."""

    members: frozenset[int]
    fewest: int
    most: Any


class _Refusal:
    """Says what is wrong with a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, why: str) -> NotCovered:
        return NotCovered(f"token_pattern {self._text!r} {why}, which the runtime's tokeniser does not know")


def _is_boundary(item: tuple[str, Any]) -> bool:
    return item[0] == "AT" and str(item[1]) == "AT_BOUNDARY"


def _fewest_of_word(items: Iterable[tuple[str, Any]]) -> int | None:
    r"""Of `\w\w+` and the like how many characters there are at least; None for other patterns."""
    fewest, is_open = 0, False
    for code, value in items:
        if code == "MAX_REPEAT" and _is_word(list(value[2])) and value[1] is _parser.MAXREPEAT:
            fewest, is_open = fewest + value[0], True
        elif _is_word([(code, value)]):
            fewest += 1
        else:
            return None
    return fewest if is_open and fewest else None


def _is_word(items: list[tuple[Any, Any]]) -> bool:
    if len(items) != 1 or str(items[0][0]) != "IN":
        return False
    inner = [(str(code), str(value)) for code, value in items[0][1]]
    return inner == [("CATEGORY", "CATEGORY_WORD")]


_CATEGORIES = {
    "CATEGORY_WORD": (word_ranges, False),
    "CATEGORY_NOT_WORD": (word_ranges, True),
    "CATEGORY_SPACE": (space_ranges, False),
    "CATEGORY_NOT_SPACE": (space_ranges, True),
    "CATEGORY_DIGIT": (digit_ranges, False),
    "CATEGORY_NOT_DIGIT": (digit_ranges, True),
}


def _others(ranges: Ranges) -> list[tuple[int, int]]:
    """All characters that are in none of the ranges."""
    found: list[tuple[int, int]] = []
    begin = 0
    for low, high in sorted(ranges):
        if low > begin:
            found.append((begin, low - 1))
        begin = max(begin, high + 1)
    return [*found, (begin, _MAX)] if begin <= _MAX else found


class _Writer:
    """Writes what the parser read as a pattern of RE2's."""

    def __init__(self, refuse: _Refusal) -> None:
        self._refuse = refuse
        self.has_spaces = False
        self.is_of_word = True

    def sequence(self, items: Iterable[Item]) -> str:
        """Items one after the other."""
        return "".join(self._item(str(code), value) for code, value in items)

    def _item(self, code: str, value: Any) -> str:
        if code == "LITERAL":
            return self._class([(value, value)])
        if code == "NOT_LITERAL":
            return self._class(_others([(value, value)]))
        if code == "ANY":
            return self._class(_others([(10, 10)]))
        if code == "IN":
            return self._class(self._set(value))
        if code in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeated(*value) + ("?" if code == "MIN_REPEAT" else "")
        if code == "BRANCH":
            return f"(?:{'|'.join(self.sequence(each) for each in value[1])})"
        if code == "SUBPATTERN" and value[0] is None and not value[1] and not value[2]:
            return f"(?:{self.sequence(value[3])})"
        raise self._refuse(f"has {code.lower().replace('_', ' ')}")

    def run_of(self, code: str, value: Any) -> _Run:
        """An item that is a class of characters, alone or in a row, greedily."""
        if code == "MAX_REPEAT":
            fewest, most, inner = value
            (only, *more) = [(str(kind), each) for kind, each in inner]
            if not more and only[0] != "MAX_REPEAT":
                return self.run_of(*only)._replace(fewest=fewest, most=most)
        ranges = {
            "LITERAL": lambda: [(value, value)],
            "NOT_LITERAL": lambda: _others([(value, value)]),
            "ANY": lambda: _others([(10, 10)]),
            "IN": lambda: self._set(value),
        }.get(code)
        if ranges is None:
            raise self._refuse("may end in several places")
        return _Run(frozenset(each for low, high in ranges() for each in range(low, high + 1)), 1, 1)

    def _repeated(self, fewest: int, most: int, inner: Iterable[Item]) -> str:
        is_open = most is _parser.MAXREPEAT
        if fewest > _MOST_REPEATS or (not is_open and most > _MOST_REPEATS):
            raise self._refuse("repeats more than a thousand times")
        return f"(?:{self.sequence(inner)}){{{fewest},{'' if is_open else most}}}"

    def _set(self, members: Iterable[Item]) -> Ranges:
        found: list[tuple[int, int]] = []
        is_negated = False
        for code, value in members:
            kind = str(code)
            if kind == "NEGATE":
                is_negated = True
            elif kind == "LITERAL":
                found.append((value, value))
            elif kind == "RANGE":
                found.append((value[0], value[1]))
            elif kind == "CATEGORY" and str(value) in _CATEGORIES:
                ranges, is_inverse = _CATEGORIES[str(value)]
                found += _others(ranges()) if is_inverse else ranges()
            else:
                raise self._refuse(f"has {kind.lower().replace('_', ' ')}")
        return _others(found) if is_negated else found

    def _class(self, ranges: Ranges) -> str:
        self.has_spaces = self.has_spaces or any(low <= 32 <= high for low, high in ranges)
        words = word_ranges()
        self.is_of_word = self.is_of_word and all(
            any(low <= begin and end <= high for low, high in words) for begin, end in ranges
        )
        return class_text(ranges)

"""Facts of Python on single characters, worked out when a model needs them: classes, upper and lower case, accents.

The model holds them as ranges and tables, so that it knows what Python knows, whatever version of Unicode and whichever
locales the machine has that runs it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

Case: TypeAlias = Literal["LOWER", "UPPER"]

#: The one letter whose lower case depends on what stands around it.
SIGMA, FINAL_SIGMA = "\u03a3", "\u03c2"


@functools.cache
def _all() -> tuple[str, ...]:
    """Every character that Python knows something of; the others are neither letters nor spaces, and never change."""
    kind = unicodedata.category
    return tuple(each for each in map(chr, range(0x110000)) if kind(each) not in ("Cn", "Co", "Cs"))


def matching(is_it: Callable[[str], object]) -> list[tuple[int, int]]:
    """The ranges of characters for which something holds, both ends included."""
    return ranges_of(ord(each) for each in _all() if is_it(each))


def ranges_of(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers in rising order as ranges, both ends included."""
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


@functools.cache
def word_ranges() -> tuple[tuple[int, int], ...]:
    r"""The characters that `\w` matches in Python."""
    return tuple(matching(re.compile(r"\w").match))


@functools.cache
def space_ranges() -> tuple[tuple[int, int], ...]:
    r"""The characters that `\s` matches in Python."""
    return tuple(matching(str.isspace))


@functools.cache
def digit_ranges() -> tuple[tuple[int, int], ...]:
    r"""The characters that `\d` matches in Python."""
    return tuple(matching(str.isdecimal))


def spaces() -> list[str]:
    r"""The characters that `\s` matches."""
    return [chr(code) for low, high in space_ranges() for code in range(low, high + 1)]


def class_text(ranges: Iterable[tuple[int, int]], *, is_negated: bool = False) -> str:
    """Ranges as a class of a regular expression of RE2's."""
    return "[" + ("^" if is_negated else "") + "".join(_ranges_text(ranges)) + "]"


def _ranges_text(ranges: Iterable[tuple[int, int]]) -> Iterator[str]:
    for low, high in ranges:
        yield f"\\x{{{low:x}}}" if low == high else f"\\x{{{low:x}}}-\\x{{{high:x}}}"


# -- what becomes of a character -------------------------------------------------------------------------


def _stripped(text: str) -> str:
    normalized = unicodedata.normalize("NFKD", text)
    return "".join(each for each in normalized if not unicodedata.combining(each))


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


_ACCENTS: dict[str | None, Callable[[str], str]] = {None: str, "unicode": _stripped, "ascii": _ascii}


@functools.cache
def changes(*, lowercase: bool, strip_accents: str | None) -> dict[str, str]:
    """The text that preprocessing makes of each character that it changes, alone and in any text but for a final sigma.

    Of accents that are stripped to ASCII, what is left out is not listed.
    """
    accents = _ACCENTS[strip_accents]

    def changed(character: str) -> str:
        return accents(character.lower() if lowercase else character)

    found = {each: made for each in _all() if (made := changed(each)) != each}
    return {each: made for each, made in found.items() if made} if strip_accents == "ascii" else found


@functools.cache
def sigma_classes() -> dict[str, int]:
    """For the rule of the final sigma: 1 for cased characters, 0 for those it looks past; all others end a word.

    Python is asked: a sigma is final behind a cased character, and behind one that the rule looks past if a cased one
    stands before that.
    """
    tried = [each for each in _all() if each != "\n"]
    after_letter = _ends_final("A", tried)
    after_space = _ends_final(" ", tried)
    return {
        each: int(is_cased)
        for each, is_final, is_cased in zip(tried, after_letter, after_space, strict=True)
        if is_final
    }


def _ends_final(before: str, tried: list[str]) -> list[bool]:
    lines = "\n".join(f"{before}{each}{SIGMA}" for each in tried).lower().split("\n")
    return [each[-1] == FINAL_SIGMA for each in lines]


# -- what becomes of a character by itself ----------------------------------------------------------------

#: Languages in which a dotted and a dotless letter are two: the upper case of `i` has a dot, too.
_TURKIC = frozenset({"tr", "az"})
_TURKIC_CASE: dict[Case, dict[str, str]] = {
    "LOWER": {"I": "\u0131", "\u0130": "i"},
    "UPPER": {"i": "\u0130", "\u0131": "I"},
}


def simple_case(text: str, case: Case, locale: str) -> str:
    """A text in upper or lower case, each character by itself, as C's `towupper` and `towlower` change it.

    >>> simple_case("Straße", "UPPER", "en_US"), simple_case("Iris", "LOWER", "tr_TR.UTF-8")
    ('STRAßE', 'ıris')
    """
    return text.translate(_translation(case, _is_turkic(locale)))


def simple_changes(case: Case, locale: str) -> dict[str, str]:
    """The character that a case makes of each that it changes, in the words of Unicode its simple mapping.

    >>> simple_changes("UPPER", "en_US")["é"], simple_changes("LOWER", "tr_TR")["I"]
    ('É', 'ı')
    """
    return {chr(code): made for code, made in _translation(case, _is_turkic(locale)).items()}


def changes_ascii_alike(locale: str) -> bool:
    """True if the letters of ASCII have the case in a locale that they have in the locale C."""
    return not _is_turkic(locale)


def _is_turkic(locale: str) -> bool:
    return locale.partition("_")[0].partition("-")[0].lower() in _TURKIC


@functools.cache
def _translation(case: Case, is_turkic: bool) -> dict[int, str]:
    made = {each: _simple(each, case) for each in _all()}
    if is_turkic:
        made |= _TURKIC_CASE[case]
    return {ord(each): after for each, after in made.items() if after != each}


def _simple(character: str, case: Case) -> str:
    """Python has the full mappings, which may be several characters: there the simple one is this, or none."""
    if case == "LOWER":
        return character.lower()[0]  # of an `İ` an `i`, and the dot is left out
    upper = character.upper()
    if len(upper) > 1:
        upper = character.title()  # Greek letters with an iota below have an upper case of one character
    return upper if len(upper) == 1 else character

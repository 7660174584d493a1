"""Facts of Python on single characters, worked out when a vectoriser is converted: classes, lower case, accents.

The model holds them as ranges and tables, so that it knows what Python knows, whatever version of Unicode and whichever
locales the machine has that runs it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

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

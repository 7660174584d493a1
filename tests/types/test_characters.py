"""Characters against Python itself: every character that Python knows is asked for by `re`, `str` and `unicodedata`."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest

from onnxsmith.types import characters

EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
#: Those that have a name and a meaning: the others are neither letters nor spaces.
KNOWN = [each for each in EVERY if unicodedata.category(each) not in ("Cn", "Co", "Cs")]


def _codes(ranges: Any) -> set[int]:
    return {code for low, high in ranges for code in range(low, high + 1)}


@pytest.mark.parametrize(
    ("ranges", "pattern"),
    [
        (characters.word_ranges, r"\w"),
        (characters.space_ranges, r"\s"),
        (characters.digit_ranges, r"\d"),
    ],
)
def test_classes_are_those_of_regular_expressions(ranges: Any, pattern: str) -> None:
    assert _codes(ranges()) == set(map(ord, re.findall(pattern, "".join(EVERY))))
    # Neighbours are one range, and ranges rise.
    assert all(low[1] + 1 < high[0] for low, high in zip(ranges(), ranges()[1:], strict=False))


def test_spaces() -> None:
    assert characters.spaces() == re.findall(r"\s", "".join(EVERY))


def test_ranges_and_their_text() -> None:
    assert characters.ranges_of([1, 2, 3, 5, 7, 8]) == [(1, 3), (5, 5), (7, 8)]
    assert characters.ranges_of([]) == []
    assert characters.class_text([(0x61, 0x7A), (0x20, 0x20)]) == r"[\x{61}-\x{7a}\x{20}]"
    assert characters.class_text([(10, 10)], is_negated=True) == r"[^\x{a}]"


def _without_accents(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def _as_ascii(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text) if each.isascii())


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(
    ("accents", "stripped"), [(None, str), ("unicode", _without_accents), ("ascii", _as_ascii)]
)
def test_what_preprocessing_makes_of_a_character(lowercase: bool, accents: str | None, stripped: Any) -> None:
    made = characters.changes(lowercase=lowercase, strip_accents=accents)
    for each in KNOWN:
        wanted = stripped(each.lower() if lowercase else each)
        if wanted == each or (accents == "ascii" and not wanted):
            assert each not in made
        else:
            assert made[each] == wanted


def test_the_final_sigma() -> None:
    classes = characters.sigma_classes()
    draw = ["a", "Z", "'", "\u0301", ".", " ", "1", "ß", "\u00ad", "-"]
    for first in draw:
        for second in draw:
            text = f"{first}{second}{characters.SIGMA}"
            last = [classes.get(each) for each in (second, first)]
            is_final = last[0] == 1 or (last[0] == 0 and last[1] == 1)
            assert (text.lower()[-1] == characters.FINAL_SIGMA) == is_final, text


@pytest.mark.parametrize(
    ("locale", "is_turkic"),
    [
        ("tr_TR.UTF-8", True),
        ("az-Latn", True),
        ("TR", True),
        ("en_US", False),
        ("C", False),
        ("trv_TW", False),
    ],
)
def test_case_by_locale(locale: str, is_turkic: bool) -> None:
    assert characters.changes_ascii_alike(locale) != is_turkic
    assert characters.simple_case("iIıİ", "UPPER", locale) == ("İIIİ" if is_turkic else "IIIİ")
    assert characters.simple_case("iIıİ", "LOWER", locale) == ("iııi" if is_turkic else "iiıi")


@pytest.mark.parametrize("case", ["UPPER", "LOWER"])
def test_simple_case_is_pythons_where_that_is_one_character(case: Any) -> None:
    made = characters.simple_changes(case, "en_US")
    for each in KNOWN:
        full = each.upper() if case == "UPPER" else each.lower()
        if len(full) == 1:
            assert made.get(each, each) == full
        else:
            assert len(made.get(each, each)) == 1
    assert case != "UPPER" or (made["\u1f80"], made.get("ß")) == ("\u1f88", None)

"""Texts that vectorisers are compared on: many scripts, marks, digits, white space of all kinds, and none at all."""

from __future__ import annotations

import random

import numpy as np

_POOLS = (
    "AaΣσς.'\u0301\u02b0 1İßb:\u00ad-",
    "abcXYZ 123 _",
    "ÄÖÜäöü éÉ ñ",
    "한국어 각 日本語 カタカナ ｶﾀｶﾅ",
    "ΑΒΓΔ ΟΔΟΣ ας σς",
    "ЖЗИ жзи",
    "𝔘𝔫𝔦 𐐀𐐨 😀👍🏽",
    "\t\n\r\u2028\u00a0 \x00",
    "العربية हिन्दी ไทย",
    "ﬁ ﬀ Ⅷ ① ² ½ Å K ẞ ǅ ǆ Ǆ",
)
_WORDS = (
    *("the", "The", "and", "fox", "ΟΔΟΣ", "ΣΟΦΟΣ", "Straße", "STRASSE"),
    *("İstanbul", "naïve", "co-op", "x_1", "42", "a", "日本", "don't"),
)


def made_texts(count: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """So many texts: of words, of one script, of all, of any characters."""
    rng = random.Random(seed)
    found = [_made(rng) for _ in range(count)]
    return np.array(found, dtype=object)


def _made(rng: random.Random) -> str:
    length = rng.choice([0, 1, 2, 5, 30])
    kind = rng.random()
    if kind < 0.3:
        joints = [" ", " ", ", ", "\n", "  \t"]
        return "".join(rng.choice(_WORDS) + rng.choice(joints) for _ in range(length))
    if kind < 0.45:
        codes = (rng.randrange(0x110000) for _ in range(length))
        return "".join(chr(each) for each in codes if not 0xD800 <= each <= 0xDFFF)
    pool = rng.choice(_POOLS) if kind < 0.75 else "".join(_POOLS)
    return "".join(rng.choice(pool) for _ in range(length))

"""Patterns of RE2, which ONNX names as the syntax of regular expressions: what Python's `re` has and RE2 has not.

Where ONNX Runtime refuses a pattern, onnx's reference evaluator would run it, as it takes Python's syntax. So such a
pattern is found before anybody runs it. Patterns that neither takes are left to who runs them.
"""

from __future__ import annotations

import re

#: In this order: texts between \Q and \E, escapes, classes of letters, groups, repetitions. What has no end goes to the
#: end of the pattern, so that none takes long.
_SYNTAX = re.compile(
    r"\\Q.*?(?:\\E|\Z)"
    r"|(?P<escape>\\(?:[0-7]{2,3}|.))"
    r"|(?P<letters>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*(?:\]|\Z))"
    r"|\(\?(?P<group><?[=!]|P=|[>(#])"
    r"|\(\?(?P<flags>[a-zA-Z-]+)[:)]"
    r"|(?P<repeat>[*+?]|\{\d+(?:,\d*)?\})(?P<possessive>\+)?",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[0-7]{2,3}|.)", re.DOTALL)
_GROUPS = {
    "=": "look-ahead",
    "!": "look-ahead",
    "<=": "look-behind",
    "<!": "look-behind",
    "P=": "back-reference",
    ">": "atomic group",
    "(": "condition",
    "#": "comment",
}
_ESCAPED_LETTERS = frozenset("dDwWsSbBAzafnrtvxpPQEC")
_FLAGS = frozenset("imsU-")
_MOST_REPETITIONS = 1000


def missing_in_re2(pattern: str) -> str | None:
    """The first part of a pattern that Python's `re` has and RE2 has not, in words; None where there is none.

    >>> missing_in_re2("(?=a).*"), missing_in_re2("[(?=].*")
    ("look-ahead, '(?='", None)
    """
    for each in _SYNTAX.finditer(pattern):
        what = _missing(each)
        if what is not None:
            return what
    return None


def _missing(part: re.Match[str]) -> str | None:
    text = part[0]
    if part["escape"]:
        return _missing_escape(text)
    if part["letters"]:
        return next((what for each in _ESCAPE.findall(text) if (what := _missing_escape(each))), None)
    if part["group"]:
        return f"{_GROUPS[part['group']]}, '{text}'"
    if part["flags"] and not _FLAGS.issuperset(part["flags"]):
        return f"flags '{part['flags']}'"
    if part["possessive"]:
        return f"possessive repetition, '{text}'"
    counts = re.findall(r"\d+", part["repeat"] or "")
    if any(int(count) > _MOST_REPETITIONS for count in counts):
        return f"more than {_MOST_REPETITIONS} repetitions, '{text}'"
    return None


def _missing_escape(text: str) -> str | None:
    letter = text[1:]
    if len(letter) == 1 and letter in "123456789":
        return f"back-reference, '{text}'"
    if letter.isascii() and letter.isalpha() and letter not in _ESCAPED_LETTERS:
        return f"'{text}'" + (r", which is '\z' there" if letter == "Z" else "")
    return None

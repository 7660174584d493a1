"""The text of an error with its parts in colour, for terminals and for IPython: summaries, gutters, marks."""

from __future__ import annotations

import os
import re
import sys
from typing import Literal

Style = Literal["bold", "red", "green", "blue", "dim"]
_CODES: dict[Style, str] = {"bold": "1", "red": "1;31", "green": "32", "blue": "1;34", "dim": "2"}

_GUTTER = re.compile(r"^( *\d* (?:\||-->|:::|=) ?)(.*)$")
_MARKS = re.compile(r"^(?P<space>\s*)(?P<marks>[\^\-][\^\- ]*[\^\-]|[\^\-])(?P<words>.*)$")


def is_plain() -> bool:
    """True if the user of IPython wants no colours: there, or anywhere (https://no-color.org)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    chosen = str(getattr(shell, "colors", ""))
    return bool(os.environ.get("NO_COLOR")) or chosen.lower() == "nocolor"


def coloured(text: str, style: Style) -> str:
    """Text in a style, as terminals understand it."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def coloured_error(text: str) -> str:
    """The text of an error in its colours."""
    lines: list[str] = []
    is_summary = True
    for line in text.splitlines():
        gutter = _GUTTER.match(line)
        if not line:
            is_summary = True
        elif gutter is not None:
            is_summary = False
            line = coloured(gutter[1], "blue") + _coloured_marks(gutter)
        elif is_summary:
            line = coloured(line, "bold")
        lines.append(line)
    return "\n".join(lines)


def _coloured_marks(gutter: re.Match[str]) -> str:
    marks = _MARKS.match(gutter[2]) if not gutter[1].strip(" |") else None
    if marks is None:
        return gutter[2]
    style: Style = "red" if "^" in marks["marks"] else "blue"
    return marks["space"] + coloured(marks["marks"] + marks["words"], style)

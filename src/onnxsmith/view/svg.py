"""Texts and cards of a still picture, as SVG elements; how wide a text is can only be guessed without a browser."""

from __future__ import annotations

import html
import re
from typing import TypedDict, Unpack

#: A bold text is wider than the same in the usual weight.
_BOLD = 1.16


class TextStyle(TypedDict, total=False):
    """How a text looks, where that is not the usual."""

    anchor: str
    weight: int
    mono: bool
    #: A smaller and paler text, which comes after it however wide the reader's fonts are.
    beside: str


def text_element(x: float, y: float, text: str, size: float, fill: str, **style: Unpack[TextStyle]) -> str:
    """A text."""
    anchor, weight, beside = style.get("anchor"), style.get("weight"), style.get("beside")
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += ' class="m"' if style.get("mono") else ""
    bold = f' font-weight="{weight}"' if weight else ""
    if beside:
        words = f"<tspan{bold}>{escaped(text)}</tspan>"
        words += f'<tspan dx="8" font-size="11" fill="#525c6e">{escaped(beside)}</tspan>'
    else:
        more += bold
        words = escaped(text)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}"{more}>{words}</text>'


def card(
    x: float, y: float, width: float, height: float, radius: float, fill: str, line: str = "#c9ced8"
) -> str:
    """A rectangle with round corners."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{line}"/>'
    )


def escaped(text: str) -> str:
    """A text as XML has it, which has no place for half a surrogate pair, however it is written."""
    return html.escape(text.encode("utf-8", "replace").decode())


def cut(text: str, most: int) -> str:
    """A text of a few characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def text_width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """About how wide a text is: without a browser nobody knows the reader's fonts."""
    if mono:
        return 0.61 * size * len(text)
    narrow = sum(each in "iljtfrI.,:;'|()[]1 " for each in text)
    wide = sum(each in "MWmw×@%" for each in text)
    return size * (0.6 * len(text) - 0.26 * narrow + 0.22 * wide) * (_BOLD if bold else 1.0)


def size_of(text: str) -> int:
    """The longer side of a picture of ours."""
    found = re.search(r'width="(\d+)" height="(\d+)"', text)
    return 1 if found is None else max(map(int, found.groups()))

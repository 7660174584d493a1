"""Python text that `ruff format` leaves as it is: what does not fit on a line is broken at its brackets.

Knows brackets and widths, nothing of ONNX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

#: The width that formatters agree on.
WIDTH = 88
INDENT = "    "
_SIMPLE = re.compile(r"-?[\w.]+")


@dataclass(frozen=True, slots=True)
class Bracketed:
    """`head(item, item)tail`: a call, a list, a tuple, a dictionary, a subscript."""

    head: str
    items: tuple[Text, ...]
    tail: str
    #: Whether the items stand below each other even where one line would do.
    is_open: bool = False

    @property
    def is_subscript(self) -> bool:
        """`weights["name"]`: no list, and no comma behind what is inside."""
        return self.tail == "]" and self.head != "["

    def __str__(self) -> str:
        comma = "," if self.tail.startswith(")") and self.head == "(" and len(self.items) == 1 else ""
        return f"{self.head}{', '.join(map(str, self.items))}{comma}{self.tail}"


@dataclass(frozen=True, slots=True)
class Keyed:
    """`key=value` or `key: value`, whose value may be broken."""

    key: str
    value: Text

    def __str__(self) -> str:
        return f"{self.key}{self.value}"


@dataclass(frozen=True, slots=True)
class Binary:
    """`left + right`"""

    left: Text
    operator: str
    right: Text

    def __str__(self) -> str:
        # Formatters put powers of simple operands close together.
        is_close = (
            self.operator == "**" and _SIMPLE.fullmatch(str(self.left)) and _SIMPLE.fullmatch(str(self.right))
        )
        space = "" if is_close else " "
        return f"{self.left}{space}{self.operator}{space}{self.right}"


@dataclass(frozen=True, slots=True)
class Row:
    """`a, b`: a tuple without parentheses, unless it is too long for a line."""

    items: tuple[Text, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.items))


Text: TypeAlias = str | Bracketed | Keyed | Binary | Row


def call(function: str, items: Sequence[Text]) -> Bracketed:
    """`function(items)`"""
    return Bracketed(f"{function}(", tuple(items), ")")


def listed(items: Sequence[Text]) -> Bracketed:
    """`[items]`"""
    return Bracketed("[", tuple(items), "]")


def dictionary(entries: Sequence[tuple[str, Text]], *, is_open: bool = False) -> Bracketed:
    """`{key: value}`"""
    return Bracketed("{", tuple(Keyed(f"{key}: ", value) for key, value in entries), "}", is_open)


def is_forced_open(text: Text) -> bool:
    """True if a part of the text stands on lines of its own in any case."""
    if isinstance(text, Keyed):
        return is_forced_open(text.value)
    if isinstance(text, Bracketed):
        return text.is_open or any(map(is_forced_open, text.items))
    return False


def lines(prefix: str, text: Text, suffix: str, level: int) -> list[str]:
    """`prefix text suffix` at an indentation, broken where it is too long for one line."""
    margin = INDENT * level
    whole = f"{margin}{prefix}{text}{suffix}"
    if not is_forced_open(text) and _fits(whole):
        return [whole]
    if isinstance(text, Keyed):
        return lines(prefix + text.key, text.value, suffix, level)
    if isinstance(text, Row):
        text = Bracketed("(", text.items, ")", is_open=True)
    if isinstance(text, Binary):
        return _broken_operation(prefix, text, suffix, level)
    if isinstance(text, str) or not text.items:
        return [whole]
    result = [f"{margin}{prefix}{text.head}"]
    if text.is_subscript and len(text.items) == 1:
        return [*result, *lines("", text.items[0], "", level + 1), f"{margin}{text.tail}{suffix}"]
    inner = INDENT * (level + 1) + ", ".join(map(str, text.items))
    is_short = not any(map(is_forced_open, text.items)) and not text.is_open
    if is_short and _fits(inner) and not _is_single_tuple(text) and not _is_stacked(text):
        result.append(inner)
    else:
        for item in text.items:
            result += lines("", item, ",", level + 1)
    result.append(f"{margin}{text.tail}{suffix}")
    return result


def _broken_operation(prefix: str, text: Binary, suffix: str, level: int) -> list[str]:
    """An operation in parentheses of its own; one that is still too long has its operator on a line of its own."""
    margin, inner = INDENT * level, INDENT * (level + 1)
    if isinstance(text.right, Bracketed) and text.right.head == "[":
        return lines(f"{prefix}{text.left} {text.operator} ", text.right, suffix, level)
    middle = [f"{inner}{text}"]
    if not _fits(middle[0]):
        middle = [f"{inner}{text.left}", f"{inner}{text.operator} {text.right}"]
    return [f"{margin}{prefix}(", *middle, f"{margin}){suffix}"]


def _is_single_tuple(text: Bracketed) -> bool:
    return text.head == "(" and len(text.items) == 1


def _is_stacked(text: Bracketed) -> bool:
    """Displays go one element to a line when they are broken; only arguments may share one."""
    return text.head in ("[", "{", "(")


def _fits(line: str) -> bool:
    return len(line) <= WIDTH


def string(text: str) -> str:
    """A string as Python writes it: printable characters as they are, everything else escaped.

    >>> print(string('a"b'), string("it's"))
    'a"b' "it's"
    """
    body = repr(text + '"')[1:-2]  # a double quote inside makes repr choose single ones outside
    single, double = text.count("'"), text.count('"')
    if double > single:
        return f"'{body}'"
    return '"' + body.replace("\\'", "'").replace('"', '\\"') + '"'

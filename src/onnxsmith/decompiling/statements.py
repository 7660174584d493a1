"""Statements as lines: assignments and returns, in parentheses where they are too long."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.decompiling.layout import INDENT, WIDTH, Row, Text, lines
from onnxsmith.decompiling.literals import tuple_of


def assignment(targets: Sequence[str], expression: Text, level: int) -> list[str]:
    """`a, b = expression`"""
    joined = ", ".join(targets)
    if len(targets) > 1:
        start = str(expression).split("(", 1)[0]
        if len(INDENT * level + f"{joined} = {start}(") > WIDTH:
            left = lines("", tuple_of(list(targets)), " = ", level)
            right = lines("", expression, "", level)
            return [*left[:-1], left[-1] + right[0].lstrip(), *right[1:]]
    return lines(f"{joined} = ", expression, "", level)


def returning(texts: Sequence[Text], level: int) -> list[str]:
    """`return a, b`"""
    if len(texts) == 1:
        return lines("return ", texts[0], "", level)
    plain = INDENT * level + "return " + ", ".join(map(str, texts))
    return [plain] if len(plain) <= WIDTH else lines("return ", tuple_of(list(texts)), "", level)


def joined(texts: Sequence[Text]) -> Text:
    """`a, b`, which gets parentheses where it is too long."""
    return texts[0] if len(texts) == 1 else Row(tuple(texts))

"""Reading the text of a symbolic dimension: `2*N+1`, `(N+3)//4`, `max(0,N-2)`.

What is none of these (a name with a blank in it) is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from onnxsmith.schema.inference.bounds import extremum
from onnxsmith.schema.inference.polynomial import (
    ZERO,
    Polynomial,
    TooLarge,
    add,
    constant,
    floordiv,
    mul,
    name,
)

_TOKEN = re.compile(r"\s*([0-9]+|[^\W\d][\w.]*|//|[-+*(),])")


@lru_cache(maxsize=4096)
def parse(source: str) -> Polynomial | None:
    """Read an expression; None for a name that is none (`batch/2`, `a b`)."""
    tokens: list[str] = []
    position, end = 0, len(source.rstrip())
    while position < end:
        match = _TOKEN.match(source, position)
        if match is None:
            return None
        tokens.append(match[1])
        position = match.end()
    reader = _Reader(iter([*tokens, "end of text"]))
    try:
        result = reader.sum()
    except (ValueError, ZeroDivisionError, TooLarge, RecursionError):
        return None
    return result if reader.token == "end of text" else None


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokens = tokens
        self.token = next(tokens)

    def _take(self) -> str:
        token, self.token = self.token, next(self._tokens, "end of text")
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(token)

    def sum(self) -> Polynomial:
        result = self._product()
        while self.token in ("+", "-"):
            sign = 1 if self._take() == "+" else -1
            result = add(result, self._product(), sign)
        return result

    def _product(self) -> Polynomial:
        result = self._unary()
        while self.token in ("*", "//"):
            result = (mul if self._take() == "*" else floordiv)(result, self._unary())
        return result

    def _unary(self) -> Polynomial:
        if self.token == "-":
            self._take()
            return add(ZERO, self._unary(), -1)
        if self.token == "(":
            self._take()
            result = self.sum()
            self._expect(")")
            return result
        token = self._take()
        if token.isdecimal():
            return constant(int(token))
        if token in ("min", "max") and self.token == "(":
            return self._call("min" if token == "min" else "max")
        if token.isidentifier() or token.replace(".", "_").isidentifier():
            return name(token)
        raise ValueError(token)

    def _call(self, kind: Literal["min", "max"]) -> Polynomial:
        self._expect("(")
        result = self.sum()
        while self.token == ",":
            self._take()
            result = extremum(kind, result, self.sum())
        self._expect(")")
        return result

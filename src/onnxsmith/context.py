"""Context variables that have a value for a block. Knows none of them."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class setting(Generic[T]):
    """Sets a context variable, and brings the value of before back behind the block."""

    variable: ContextVar[T]
    value: T
    _token: Token[T] = field(init=False)

    def __enter__(self) -> T:
        self._token = self.variable.set(self.value)
        return self.value

    def __exit__(self, *_: object) -> None:
        self.variable.reset(self._token)

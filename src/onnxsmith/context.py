"""Blocks in which a context variable has a value, or garbage is not collected. Knows none of the variables."""

from __future__ import annotations

import gc
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


class collection_paused:
    """Within the block nothing is collected; only for code of ours that runs none of the user's.

    Python looks through all objects there are again and again while many are made, which can take as long as the work.
    """

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()

"""Names of values and nodes: readable, unique within a model, the same at every run."""

from __future__ import annotations

import re
from collections.abc import Iterable

# `NaN` is one word, and so is `2D`: no break before a capital that ends a name behind such letters.
_WORD_BREAK = re.compile(
    r"(?<=[a-z])(?=[A-Z])(?<!Na(?=N(?![a-z])))|(?<=[0-9])(?=[A-Z])(?!D(?![a-z]))|(?<=[A-Z])(?=[A-Z][a-z])"
)


class Names:
    """Hands out names that were not handed out before.

    >>> names = Names()
    >>> names.unique("x"), names.unique("x"), names.unique("x")
    ('x', 'x_1', 'x_2')
    """

    def __init__(self) -> None:
        #: Names with the number that the next one with a number gets.
        self._taken: dict[str, int] = {}
        #: What each change since the first mark replaced; None while nobody may come back.
        self._undo: list[tuple[str, int | None]] | None = None

    def unique(self, wish: str) -> str:
        """The wished name, or the first free one with a number behind it."""
        taken, undo = self._taken, self._undo
        count = taken.get(wish)
        if undo is not None:
            undo.append((wish, count))
        if count is None:
            taken[wish] = 1
            return wish
        while (name := f"{wish}_{count}") in taken:
            count += 1
        taken[wish] = count + 1
        taken[name] = 1
        if undo is not None:
            undo.append((name, None))
        return name

    def reserve(self, names: Iterable[str]) -> None:
        """Hand out none of these: something else bears them."""
        for name in names:
            if name not in self._taken:
                self._taken[name] = 1
                if self._undo is not None:
                    self._undo.append((name, None))

    def release(self, name: str) -> None:
        """Make a name free again that nothing bears any more."""
        count = self._taken.pop(name, None)
        if self._undo is not None and count is not None:
            self._undo.append((name, count))

    def mark(self) -> int:
        """A state to come back to. What is undone afterwards is paid for, and not what there is."""
        if self._undo is None:
            self._undo = []
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """The state that `mark` gave."""
        assert self._undo is not None  # there is a mark
        while len(self._undo) > mark:
            name, count = self._undo.pop()
            if count is None:
                del self._taken[name]
            else:
                self._taken[name] = count

    def __contains__(self, name: str) -> bool:
        return name in self._taken


_snake_cache: dict[str, str] = {}
#: The names of operators are few; whoever asks for more names than this pays for them.
_SNAKE_LIMIT = 4096


def snake_case(operator_name: str) -> str:
    """`LayerNormalization` as `layer_normalization`; the names of operators are few, so all are remembered.

    >>> snake_case("IsNaN"), snake_case("QLinearConv"), snake_case("Conv2D"), snake_case("STFT")
    ('is_nan', 'q_linear_conv', 'conv2d', 'stft')
    """
    found = _snake_cache.get(operator_name)
    if found is None:
        found = _WORD_BREAK.sub("_", operator_name).lower()
        if len(_snake_cache) < _SNAKE_LIMIT:
            _snake_cache[operator_name] = found
    return found

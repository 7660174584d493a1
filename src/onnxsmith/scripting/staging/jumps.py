"""How a path through statements ends, and what is done at its end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol, cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.flow import Flow
from onnxsmith.scripting.staging.frame import Frame
from onnxsmith.scripting.staging.merge import MISSING
from onnxsmith.scripting.staging.script_values import Held


class Jump(NamedTuple):
    """Where a path goes on: after the block ("next"), after or at the head of a loop, or in the caller."""

    kind: str
    value: Held = None


NEXT, BREAK, CONTINUE = Jump("next"), Jump("break"), Jump("continue")
KINDS = ("next", "return", "break", "continue")


class Side(NamedTuple):
    """The outcome of one side of a branch: a result that must fit the other side's, and variables that may differ."""

    value: Held
    variables: Mapping[str, Held] = MappingProxyType({})

    @property
    def flags(self) -> Mapping[str, Held]:
        """How the path ended, where its leaf has made that data: the result then is what `record` makes of a jump."""
        return cast("Mapping[str, Held]", self.value)


class Leaf:
    """The result at the end of a path. A long one goes on to further statements: it pays to stage them only once."""

    __slots__ = ("_end", "is_long")

    def __init__(self, end: Callable[[Jump], Side], *, is_long: bool = False) -> None:
        self._end = end
        self.is_long = is_long

    def __call__(self, jump: Jump) -> Side:
        return self._end(jump)


#: The end of statements that control leaves only at their end.
NOTHING = Leaf(lambda _: Side(None))
#: The end of a function.
RESULT = Leaf(lambda jump: Side(jump.value))


def record(jump: Jump) -> dict[str, Held]:
    """A jump as data, which can be merged with that of another path."""
    flags: dict[str, Held] = {kind: jump.kind == kind for kind in KINDS}
    return {**flags, "value": jump.value if jump.kind == "return" else MISSING}


# -- The interface of staging for its parts: the function that is staged, and a way to run statements of it
# --


class Stager(Protocol):
    """Stages one call of one function; `function_stager` has the one that there is."""

    frame: Frame
    flow: Flow

    def run(self, statements: Sequence[ast.stmt], leaf: Leaf, start: int = 0) -> Side:
        """Carry out statements; the result is what the leaf makes of the end."""
        ...

    def assign_name(self, name: str, value: UserValue) -> None:
        """Bind a variable; a new value of the graph takes its name."""
        ...

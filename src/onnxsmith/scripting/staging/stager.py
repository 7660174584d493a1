"""The interface of staging for its parts: the function that is staged, and a way to run statements of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.flow import Flow
from onnxsmith.scripting.staging.frame import Frame
from onnxsmith.scripting.staging.jumps import Leaf, Side


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

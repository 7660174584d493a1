"""`If` and `Loop` whose bodies are functions, as the graph that is being recorded takes them, with one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor

_Input: TypeAlias = Tensor | np.ndarray[Any, Any]


class ControlFlow(Protocol):
    """The operators whose attributes are graphs, for bodies that give one result."""

    def If(
        self,
        condition: _Input,
        *,
        then_branch: Callable[[], Tensor],
        else_branch: Callable[[], Tensor],
    ) -> Tensor:
        """The result of one of two functions."""
        ...

    def Loop(
        self,
        count: _Input | None,
        goes_on: _Input,
        start: _Input,
        *,
        body: Callable[..., tuple[Tensor, Tensor]],
    ) -> Tensor:
        """The result of a function that is repeated from the start, as long as it says that it goes on."""
        ...


def control_flow() -> ControlFlow:
    """The operators of the graph that is being recorded."""
    return cast(ControlFlow, current_graph().operators)

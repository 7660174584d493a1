"""Watches functions that are given to `op.Loop`, `op.Scan` and `op.If`.

Only the model knows whether and how often they run. The law is that of a script's own loops and branches: a Python
object that the call would change is put back, and the change is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from onnxsmith.core.bodies import register_body_watch
from onnxsmith.core.value_containers import Wall
from onnxsmith.errors import MutationError
from onnxsmith.scripting.staging.cells import CellValues
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.watch import Path
from onnxsmith.source import PACKAGE_DIRECTORY


def watch_body(function: Callable[..., Any]) -> AbstractContextManager[object]:
    """Watch what a function reaches while it is called once to make a body of it."""
    code = getattr(function, "__code__", None)
    if code is not None and code.co_filename.startswith(PACKAGE_DIRECTORY):
        return nullcontext()  # ours, which change nothing
    return _Watched(function, getattr(function, "__name__", "the body"))


class _Watched:
    """One call of a function."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._name = name
        self._path = Path(None, Reach([(name, function)], ()), None, is_call=False)
        self._cells = CellValues()
        self._wall = Wall()

    def __enter__(self) -> object:
        watched = self._path.__enter__()
        self._wall.__enter__()
        return watched

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: object, /
    ) -> None:
        self._wall.__exit__()
        assigned = CellValues().changed(self._cells)
        self._cells.put_back()
        self._path.__exit__(kind, error, place)
        if error is None and assigned:
            raise MutationError(
                f"'{assigned[0].name}' is assigned in the function '{self._name}', "
                "and only the model knows whether and how often it runs",
                help="return the value, as an output of the body",
            ).locate_at_caller()


register_body_watch(watch_body)

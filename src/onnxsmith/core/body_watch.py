"""Who looks after functions that become bodies of `Loop` and `If`: called once, however often the model runs them.

Knows no Python objects: the module that `registry` names for it registers what watches them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from onnxsmith.registry import load_module

#: Given a function, what is entered while it is called: refuses that the call changes something.
BodyWatch: TypeAlias = Callable[[Callable[..., Any]], AbstractContextManager[object]]

_registered: list[BodyWatch] = []


def register_body_watch(watch: BodyWatch) -> None:
    """Say what watches the functions that become bodies."""
    _registered[:] = [watch]


def watch_body(function: Callable[..., Any]) -> AbstractContextManager[object]:
    """The context to enter while a function is called to make a body of it."""
    if not _registered:
        load_module("body watch")
    return _registered[0](function)

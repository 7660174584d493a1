"""Checks before a call, for operators that would take the process down on some inputs.

A table from operator to check; a check returns what is wrong in plain words, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnxsmith.eager.single_node import Call

Check = Callable[[Sequence[Any]], str | None]


def guard_for(call: Call) -> Check | None:
    """The check for a call, or None when its operator needs none."""
    return None

"""Operators that onnx's reference evaluator gets wrong, written out correctly.

Each says what is wrong and has a test against ONNX's own data or specification. Nothing else belongs here.
"""

from __future__ import annotations

from typing import Any


def operators() -> tuple[type[Any], ...]:
    """The classes to hand to the reference evaluator in place of its own."""
    return ()

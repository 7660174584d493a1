"""Operators on text that onnx's reference evaluator gets wrong, written out correctly."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportIncompatibleMethodOverride=false
# onnx's reference evaluator has no types.

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.types.characters import simple_case

Array: TypeAlias = np.ndarray[Any, Any]
#: Letters beyond ASCII have no case in these locales.
_ASCII_ONLY = frozenset({"C", "POSIX"})


@functools.cache
def text_operators() -> tuple[type[Any], ...]:
    """The classes to hand to the reference evaluator in place of its own."""
    # Imported on first use: it loads a module for each operator.
    from onnx.reference.op_run import OpRun

    class StringNormalizer(OpRun):
        """Its own strips accents, cuts words out of texts, drops empty texts, and changes the process's locale."""

        op_domain = ""

        def _run(
            self,
            x: Array,
            case_change_action: str | None = None,
            is_case_sensitive: int | None = None,
            locale: str | None = None,
            stopwords: Sequence[str] | None = None,
        ) -> tuple[Array]:
            if x.ndim not in (1, 2) or (x.ndim == 2 and len(x) != 1):
                raise ValueError(f"the input has shape {x.shape}, and must be [C] or [1, C]")
            action, place = case_change_action or "NONE", locale or "en_US"
            compared = "NONE" if is_case_sensitive else "LOWER" if action == "NONE" else action
            dropped = {_in_case(each, compared, place) for each in stopwords or ()}
            left = [each for each in x.reshape(-1).tolist() if _in_case(each, compared, place) not in dropped]
            made = np.array([_in_case(each, action, place) for each in left or [""]], object)
            return (made.reshape((1, -1) if x.ndim == 2 else -1),)

    return (StringNormalizer,)


def _in_case(text: str, action: str, locale: str) -> str:
    if action not in ("LOWER", "UPPER"):
        return text
    if locale in _ASCII_ONLY:
        return "".join(each if not each.isascii() else _in_case(each, action, "en_US") for each in text)
    return simple_case(text, action, locale)

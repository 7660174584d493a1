"""The type of targets as scikit-learn names it, a text, where only the model knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnxsmith.errors import TracedValueError


class TargetType:
    """`'binary'`, `'multiclass'` or `'continuous'`: answers whether it is one of them with what the model knows."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def __eq__(self, other: object) -> Any:
        return self._answers.get(other, False) if isinstance(other, str) else False

    def __ne__(self, other: object) -> Any:
        found: Any = self == other
        return not found if isinstance(found, bool) else found == False  # noqa: E712  # of an array

    def __hash__(self) -> int:
        raise TracedValueError("a set looks for the type of targets, which is known only when the model runs")

    def __contains__(self, part: str) -> bool:
        raise TracedValueError("the type of targets is known only when the model runs")


class SomeClasses(str):
    """`'multiclass'`, which may be `'binary'`: code that treats both alike goes on, and none else."""

    __hash__ = str.__hash__
    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        if other in ("binary", "multiclass"):
            raise TracedValueError("how many classes there are is known only when the model runs")
        return str.__ne__(self, other)

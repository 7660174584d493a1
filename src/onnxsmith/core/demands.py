"""Conditions under which code goes on: where one fails, Python or numpy raises an error, and a model computes on.

`demand` stands where an operator or a function would give a number for what Python and numpy refuse. Who stages code
that means what Python means says what becomes of an error that only the model knows to be raised; elsewhere, in
scripts and traces, nobody asks, and a demand costs nothing. Knows no front end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from onnxsmith.context import setting
from onnxsmith.core.value import TensorValue


class Refusal(NamedTuple):
    """An error, and what says where it is the one that is raised; None for wherever none before it is."""

    error: Exception
    where: Callable[[], TensorValue] | None = None


#: A truth value, now or of the model.
Truth: TypeAlias = "bool | TensorValue"


class Demands(Protocol):
    """Who notes what has to hold in the code that is staged."""

    def where(self, fails: TensorValue, refusals: tuple[Refusal, ...]) -> None:
        """The first error that applies is raised where a truth value of the model is true."""

    def unless(self, holds: TensorValue, refusals: tuple[Refusal, ...]) -> None:
        """The first error that applies is raised where a truth value of the model is false."""

    def now(self, error: Exception) -> None:
        """An error is raised for certain where the code comes here; does not return."""


_NOTED: ContextVar[Demands | None] = ContextVar("onnxsmith_demands", default=None)


def noting(demands: Demands | None) -> AbstractContextManager[object]:
    """Notes the demands of the block; with None, they are ignored."""
    return setting(_NOTED, demands)


def is_noted() -> bool:
    """True if somebody notes what is demanded here: else there is no need to find out what holds."""
    return _NOTED.get() is not None


def demand(holds: Callable[[], Truth], *errors: Exception | Refusal) -> None:
    """Something has to hold, or else an error is raised: now, where it is known, or by the model.

    Of several errors the first that applies is raised. `holds` is called only where somebody notes demands.
    """
    _require(holds, errors, wanted=True)


def forbid(fails: Callable[[], Truth], *errors: Exception | Refusal) -> None:
    """`demand` by what must not hold: NaN compares with nothing, so that most functions let it pass."""
    _require(fails, errors, wanted=False)


def _require(truth: Callable[[], Truth], errors: Sequence[Exception | Refusal], *, wanted: bool) -> None:
    demands = _NOTED.get()
    if demands is None:
        return
    found = _known(truth())
    refusals = tuple(each if isinstance(each, Refusal) else Refusal(each) for each in errors)
    if isinstance(found, TensorValue):
        (demands.unless if wanted else demands.where)(found, refusals)
    elif bool(found) is not wanted:
        demands.now(refusals[-1].error)


def _known(truth: Truth) -> Truth:
    """A truth value, now if that is known."""
    if not isinstance(truth, TensorValue):
        return truth
    data = truth.known.data
    return bool(data) if isinstance(data, np.ndarray) and data.size == 1 else truth

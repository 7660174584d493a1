"""Errors that only the model knows to be raised: which one, as a number of the model that control flow carries.

On a path that only the model knows to be taken, `raise` ends the path: the other path says what variables hold, and the
number says which error it was, 0 for none. Who stages a function decides what becomes of the number.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, cast

import numpy as np

from onnxsmith.context import setting
from onnxsmith.core.demands import Refusal, noting
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import TensorValue
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.caught import as_raised
from onnxsmith.scripting.staging.cells import Cells, new_cells
from onnxsmith.source import Span, caller_span
from onnxsmith.types.dtypes import DType

_NAME = "raised"
_NONE = np.array(0, np.int64)


class PathEnded(BaseException):  # no mistake, so that no handler of the code's or of ours takes it for one
    """A path ends with an error that is raised."""


class RaisedError(NamedTuple):
    """An error that some path raises, and where."""

    error: BaseException
    span: Span | None


class Raises:
    """The errors that a function may raise, and the number of the one that it does raise."""

    def __init__(self) -> None:
        self._cells: Cells = new_cells()
        self._cells[_NAME] = 0
        self.errors: list[RaisedError] = []
        #: How deep in subgraphs the function begins.
        self.depth = current_graph().depth

    @property
    def which(self) -> Number | int:
        """The error that is raised on the path that is staged now, counted from 1; 0 for none."""
        return cast("Number | int", self._cells[_NAME])

    @which.setter
    def which(self, which: Number | int) -> None:
        self._cells[_NAME] = which

    def note(self, error: BaseException, span: Span | None) -> None:
        """The path that is staged now raises an error, unless one was raised on it before."""
        before, code = self.which, self._code(error, span)
        if isinstance(before, Number):
            op, given = current_graph().operators, before.as_dtype(DType.INT64)
            is_first = op.Equal(given, np.array(0, np.int64))
            self.which = number(op.Where(is_first, np.array(code, np.int64), given))
        else:
            self.which = before or code

    def note_unless(self, holds: TensorValue, error: BaseException, span: Span | None) -> None:
        """The path that is staged now raises an error where a condition does not hold, and goes on where it does."""
        none, code = np.array(0, np.int64), np.array(self._code(error, span), np.int64)
        self.note_which(current_graph().operators.Where(holds, none, code))

    def _code(self, error: BaseException, span: Span | None) -> int:
        """The number of an error at a place: the body of a loop is staged more than once, and says the same again."""
        for position, (known, where) in enumerate(self.errors):
            if type(known) is type(error) and known.args == error.args and where == span:
                return position + 1
        self.errors.append(RaisedError(error, span))
        return len(self.errors)

    # -- what has to hold where an operator or a function is called: `core.demands` --------------------------

    def unless(self, holds: TensorValue, refusals: tuple[Refusal, ...]) -> None:
        """Where a truth value of the model is false, the first error that applies is raised."""
        with located(span := caller_span()):
            self.note_which(current_graph().operators.Where(holds, _NONE, self._which_of(refusals, span)))

    def where(self, fails: TensorValue, refusals: tuple[Refusal, ...]) -> None:
        """Where a truth value of the model is true, the first error that applies is raised."""
        with located(span := caller_span()):
            self.note_which(current_graph().operators.Where(fails, self._which_of(refusals, span), _NONE))

    def _which_of(self, refusals: tuple[Refusal, ...], span: Span | None) -> TensorValue | np.ndarray:
        """The number of the first error that applies."""
        *others, last = refusals
        code: TensorValue | np.ndarray = np.array(self._code(as_raised(last.error, span), span), np.int64)
        for each in reversed(others):
            assert each.where is not None  # all but the last say where they apply
            own = np.array(self._code(as_raised(each.error, span), span), np.int64)
            code = current_graph().operators.Where(each.where(), own, code)
        return code

    def now(self, error: Exception) -> None:
        """An error is raised for certain on the path that is staged now."""
        _speaks_for_callee = True  # raises what Python or numpy would
        if current_graph().depth > self.depth:
            span = caller_span()
            self.note(as_raised(error, span), span)
            raise PathEnded
        raise error

    @contextmanager
    def of_one_call(self) -> Generator[list[Number | int]]:
        """A block that knows nothing of errors raised before it; the list has the number of its own error at the end.

        What was raised before stands again after it: who calls says what becomes of the block's error.
        """
        before, found = self.which, list[Number | int]()
        self.which = 0
        try:
            yield found
            found.append(self.which)
        finally:
            self.which = before

    def note_which(self, code: TensorValue) -> None:
        """The path that is staged now raises the error of a number, 0 for none, unless one was raised before."""
        before = self.which
        if isinstance(before, Number):
            op, given = current_graph().operators, before.as_dtype(DType.INT64)
            code = op.Where(op.Equal(given, np.array(0, np.int64)), code, given)
        elif before:
            return
        self.which = number(code)

    def note_first(self, codes: TensorValue) -> None:
        """The path that is staged now raises the first error of several turns, given by a vector with 0 for none."""
        op = current_graph().operators
        every = op.Concat(codes, np.zeros(1, np.int64), axis=0)  # there may have been no turn
        is_error = op.Cast(op.Cast(every, to=DType.BOOL), to=DType.INT32)
        self.note_which(op.Gather(every, op.ArgMax(is_error, axis=0, keepdims=0)))

    def not_after(self, goes_on: Number | bool) -> Number | bool:
        """True if a loop goes on: not after an error."""
        which = self.which
        if not isinstance(which, Number) or goes_on is False:
            return goes_on if isinstance(which, Number) or not which else False
        op = current_graph().operators
        is_none: TensorValue = op.Equal(which.as_dtype(DType.INT64), np.array(0, np.int64))
        return number(is_none if goes_on is True else op.And(goes_on.as_dtype(DType.BOOL), is_none))


_OPEN: ContextVar[Raises | None] = ContextVar("onnxsmith_raises", default=None)


def open_raises() -> Raises | None:
    """Those of the function that is staged, if somebody asked for them."""
    return _OPEN.get()


@contextmanager
def collecting_raises() -> Generator[Raises]:
    """Errors on paths that only the model knows to be taken are collected in the block."""
    made = Raises()
    with setting(_OPEN, made), noting(made):
        yield made

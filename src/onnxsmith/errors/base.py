"""The base of all errors: a message, places in the source, help, and a code.

Holds facts; `diagnostics` turns them into text, and the modules beside this one say which mistakes there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from onnxsmith.diagnostics import Label, clipped, display_path, printable, render, wants_full_traceback
from onnxsmith.errors.colours import coloured, coloured_error, is_plain
from onnxsmith.source import (
    Span,
    argument_span,
    caller_frame,
    caller_span,
    is_library,
    position_span,
    traceback_span,
    users_span,
)

#: Which part of a call is wrong: ("input", position) or ("attribute", name). Lets whoever knows the source
#: underline that argument instead of the whole call.
Culprit = tuple[Literal["input"], int] | tuple[Literal["attribute"], str]
#: The same as it is given: a position is that of an input, a name that of an attribute.
GivenCulprit = Culprit | int | str


#: A message quotes names, which in a stranger's model may be as long as they please.
_LONGEST_TEXT = 10_000


class OnnxsmithError(Exception):
    """Base of everything that onnxsmith raises on purpose."""

    __module__ = "onnxsmith.errors"  # where users find it, and what a traceback shows
    code: ClassVar[str] = "C000"
    #: Whether it says what a model cannot do: an eager run raises nothing there, so no `except` may catch it.
    is_refusal: bool = False

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith("onnxsmith.errors."):
            cls.__module__ = "onnxsmith.errors"

    def __init__(
        self,
        message: str,
        *,
        labels: Sequence[Label] = (),
        help: str | None = None,
        culprit: GivenCulprit | None = None,
        needs_values: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.labels = tuple(labels)
        self.help = help
        self.culprit: Culprit | None = (
            ("input", culprit)
            if isinstance(culprit, int)
            else ("attribute", culprit)
            if isinstance(culprit, str)
            else culprit
        )
        #: Whether more could be said if the types of inputs and the values of attributes were known: a function that
        #: is written for any type may still be right for the ones it is called with.
        self.needs_values = needs_values
        #: The node of a finished model that it is about: operator and name.
        self.node: tuple[str, str] | None = None
        #: Further mistakes that were found with this one.
        self.others: tuple[OnnxsmithError, ...] = ()

    def __str__(self) -> str:
        message = clipped(self.message, _LONGEST_TEXT)
        help_text = None if self.help is None else clipped(self.help, _LONGEST_TEXT)
        text = printable(render(f"{message} [{self.code}]", self.labels, help_text))
        return "\n\n".join([text, *(str(each) for each in self.others)])

    def _render_traceback_(self) -> list[str]:
        """The text that IPython shows: the frames of the user's code, and the message in its colours."""
        import traceback  # only IPython asks for this

        frames = [
            each
            for each in traceback.extract_tb(self.__traceback__)
            if wants_full_traceback() or not is_library(each.filename)
        ]
        lines = [
            f'  File "{display_path(each.filename)}", line {each.lineno}, in {each.name}' for each in frames
        ]
        head = f"{type(self).__module__}.{type(self).__qualname__}"
        text = f"{head}: {self}" if is_plain() else f"{coloured(head, 'red')}: {coloured_error(str(self))}"
        return ["Traceback (most recent call last):", *lines, *text.split("\n")]

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are pickled by their arguments; the places and the help are in the state. So an error that
        # crosses a process boundary (multiprocessing, pytest-xdist) says there what it says here.
        return type(self), (self.message,), dict(self.__dict__)

    @property
    def span(self) -> Span | None:
        """Where the mistake stands, when that is known."""
        return self.labels[0].span if self.labels else None

    def locate(self, span: Span | None, text: str = "") -> Self:
        """Say where the mistake stands, unless that is known already."""
        if span is not None and not self.labels:
            self.labels = (Label(span, text),)
        return self

    def locate_at_caller(self) -> Self:
        """Say that the mistake stands at the expression that the user's code is evaluating now.

        Where the wrong argument is known, it alone is underlined.
        """
        if self.is_refusal or self.needs_values:
            _note_refusal(self)
        return self if self.labels else self._locate_culprit(caller_span())

    def locate_in_traceback(self) -> Self:
        """Say that the mistake stands at the innermost expression of the user's that the error came through."""
        if not self.labels:
            self._locate_culprit(traceback_span(self.__traceback__) or caller_span())
        if self.labels:
            first, *others = self.labels
            span = users_span(first.span, self.__traceback__)
            self.labels = self.labels if span is first.span else (Label(span, first.text), *others)
        return self

    def _locate_culprit(self, span: Span | None) -> Self:
        if span is not None and self.culprit is not None:
            span = argument_span(span, self.culprit[1]) or span
        return self.locate(span)

    def also(self, span: Span | None, text: str) -> Self:
        """Add a secondary place: the definition that made this a mistake."""
        if span is not None:
            self.labels = (*self.labels, Label(span, text))
        return self


@dataclass(frozen=True, slots=True)
class SeenRefusal:
    """A refusal that left our code for the code that is recorded, and where the user's own code stands."""

    error: OnnxsmithError
    place: Span | None


#: The refusals of a recording, for `refusals`; None outside of one.
REFUSALS: ContextVar[list[SeenRefusal] | None] = ContextVar("onnxsmith_refusals", default=None)


def _note_refusal(error: OnnxsmithError) -> None:
    seen = REFUSALS.get()
    if seen is None or any(each.error is error for each in seen):
        return
    frame = caller_frame()
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    place = None if frame is None else position_span(frame.f_code, frame.f_lasti, frame.f_lineno)
    seen.append(SeenRefusal(error, place))


class ModelWarning(UserWarning):
    """Something in a given model looks wrong; it is kept as it is."""

    def __str__(self) -> str:
        return printable(super().__str__())


class FallbackWarning(UserWarning):
    """A call or model runs on onnx's reference evaluator, where it was not compared with anything.

    ONNX Runtime has no kernel for it. Where the reference evaluator is known to be right, nothing is said.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class RuntimeSupportWarning(UserWarning):
    """The installed ONNX Runtime gets a model wrong that is saved or checked, or cannot load it.

    `model.for_runtime()` is the model that it gets right. Calls of the model here are right in any case.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


def combined(errors: Sequence[OnnxsmithError]) -> OnnxsmithError:
    """Several independent mistakes as one error; the first leads."""
    first, *others = errors
    first.others = tuple(others)
    return first

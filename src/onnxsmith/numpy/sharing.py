"""Views: arrays that share their elements with another, as numpy's do, on values that are never changed.

A view remembers what it is a part of and how it is taken. Written to, it makes the whole anew with the part replaced,
and hands that to its base. Read, it looks whether the base was written to since, and takes its part again.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.value_containers import MOMENTS, SHARED, is_out_of_reach, note_change
from onnxsmith.errors import TensorAssignmentError
from onnxsmith.numpy.array import Array, Held
from onnxsmith.numpy.holding import Holding, recording
from onnxsmith.source import caller_span

#: Takes a part of what a base holds.
Take: TypeAlias = Callable[[Array], Array]
#: Gives what a base holds, with a part replaced.
PutBack: TypeAlias = Callable[[Array, Array], Array]
#: A numpy array whose elements lie in memory as those of an array would in numpy; what they are means nothing.
Layout: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
#: Takes the same part of a numpy array, to see how that lies.
TakeLayout: TypeAlias = Callable[[Layout], Layout]


@dataclass(slots=True)
class View:
    """The array that another is a part of, how the part is taken, and how it is put back; None where that is not known.

    Whether numpy gives a view or a copy may depend on how the elements lie in memory. Where nobody knows, there is no
    `put_back`: such an array may be read as long as neither it nor its base is written to.
    """

    base: Array
    take: Take
    put_back: PutBack | None
    take_layout: TakeLayout
    #: The base's version that the elements were taken from.
    seen: int

    @property
    def whole(self) -> Array:
        """The base."""
        return self.base

    def refreshed(self, array: Holding) -> Held:
        """The elements of a view as they are now."""
        held = self.base.held  # which may bring its own up to date, first
        del held
        if self.seen != self.base._version:
            if self.put_back is None:
                raise self._unread()
            note_change(array)
            array._value = self.take(detached(self.base)).held
            array._version = next(MOMENTS)
            self.seen = self.base._version
        return array._value

    def _unread(self) -> TensorAssignmentError:
        """The error for reading it after the base was written to, at the write where that is known."""
        if self.base._written_at is None:
            return _unclear("read", "the array that it was made from was written to")
        return _unwritable(f"{SHARED}, and that is read afterwards").locate(self.base._written_at)


def detached(array: Array, *, is_plain: bool | None = None) -> Array:
    """An array with the same elements, which shares them with none."""
    return Array(array.held, array._is_plain if is_plain is None else is_plain)


def view(
    base: Array, take: Take, put_back: PutBack | None, take_layout: TakeLayout, *, is_plain: bool
) -> Array:
    """A part of an array, sharing its elements."""
    made = Array(take(detached(base)).held, is_plain)
    if base.is_number:
        return made.as_number()  # numpy gives another number, and the two have nothing in common
    made._view = View(base, take, put_back, take_layout, base._version)
    made._locked = base._locked
    made._recording = base._recording
    return made


def lies_in_order(array: Array) -> bool:
    """True if numpy would have the elements in memory one after the other, in order."""
    return array._is_plain


def layout_of(array: Array) -> Layout | None:
    """How numpy would have the elements in memory; None where that is not known.

    Asked of numpy itself, and only by who has to tell a view from a copy.
    """
    if array.is_symbolic:
        return None
    if array._is_plain:
        return np.empty(array.shape, array.dtype)
    part = cast("View | None", array._view)
    whole = None if part is None else layout_of(part.base)
    return None if part is None or whole is None else part.take_layout(whole)


def replace(array: Array, new: Array) -> None:
    """Give an array other elements, of the same type and shape; what shares them sees the change."""
    check_writable(array)
    part = cast("View | None", array._view)
    if part is None:
        note_change(array)
        array._value = new.held
        array._version = next(MOMENTS)
        if array._notes_writes:
            array._written_at = caller_span()
        return
    if part.put_back is None:
        raise _unclear("written to", "numpy makes it a view or a copy, depending on how the elements lie")
    part.refreshed(array)
    replace(part.base, part.put_back(detached(part.base), new))
    note_change(array)
    array._value = new.held
    array._version = next(MOMENTS)
    part.seen = part.base._version


def check_writable(array: Holding) -> None:
    """Refuse to write to an array that is locked, or that belongs to another recording."""
    if array._locked is not None:
        raise _unwritable(array._locked).locate_at_caller()
    if array._recording is not recording() or is_out_of_reach(array):
        raise TensorAssignmentError(
            "this array was made outside the function that is being recorded, and that cannot write to it",
            help="copy it inside, x = x.copy(), and return what the caller needs",
        ).locate_at_caller()


def show_until_written(array: Array, owner: Array) -> None:
    """Let an array that shows the elements of another one, or not, refuse to be read once that one is written to."""
    array._view = View(owner, lambda base: base, None, lambda layout: layout, owner._version)
    owner._notes_writes = True


def _unwritable(why: str) -> TensorAssignmentError:
    return TensorAssignmentError(
        f"this array cannot be written to: {why}",
        help="make a new one: x = x + 1, or x = x.copy() before x[i] = v",
    )


def _unclear(done: str, why: str) -> TensorAssignmentError:
    return TensorAssignmentError(
        f"this array cannot be {done}: {why}", help="take a copy where it is made: x.reshape(…).copy()"
    ).locate_at_caller()

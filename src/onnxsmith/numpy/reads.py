"""Elements that numpy code reads or writes and does not use: numpy raises an error where they are not there.

A model leaves out what is not needed, and with it the error. So what the user's code asks for is marked where it is
recorded. Where no result needs any of the elements that one place in the code asks for, the code is recorded once more,
and that place notes whether the element is there (`places`).
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from types import CodeType, FrameType
from typing import NamedTuple, TypeAlias

from onnxsmith.context import setting
from onnxsmith.core.value import Value
from onnxsmith.graphs.records import NodeRecord, ValueRecord
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy.array import Array
from onnxsmith.source import PACKAGE_DIRECTORY, STATEMENT

#: Where code asks for an element: the file, and the lines and columns, from the expression out through its callers.
ReadPlace: TypeAlias = "tuple[tuple[str | int | None, ...], ...]"


class Read(NamedTuple):
    """An element that the user's code asks for: where, the node that takes it, and whether that is in no body."""

    place: ReadPlace
    node: NodeRecord
    is_outermost: bool


@dataclass(slots=True)
class Reads:
    """The elements that the user's code asks for in one recording."""

    #: The places that note whether the element is there.
    noted: frozenset[ReadPlace] = frozenset()
    found: list[Read] = field(default_factory=list[Read])
    _needed: set[NodeRecord] = field(default_factory=set[NodeRecord])

    def close(self, outputs: Sequence[Value]) -> None:
        """The function has ended with these outputs."""
        if self.found:
            self._needed = _needed([each.record for each in outputs if isinstance(each, SymbolicTensor)])

    def unused(self, *, is_pruned: bool) -> frozenset[ReadPlace]:
        """The places whose elements no output needs; without pruning, outermost nodes run nevertheless."""
        run = {
            each.place
            for each in self.found
            if each.node in self._needed or (each.is_outermost and not is_pruned)
        }
        return frozenset(each.place for each in self.found) - run


#: The functions that ask for elements as `x[…]` does.
_FUNCTIONS = frozenset({"take", "take_along_axis"})
_READS: ContextVar[Reads | None] = ContextVar("onnxsmith_reads", default=None)


def collecting_reads(reads: Reads) -> AbstractContextManager[object]:
    """Marks in the block what the user's code reads."""
    return setting(_READS, reads)


def is_noted_read() -> bool:
    """True if the element that is asked for now is one whose absence is to be noted."""
    reads = _READS.get()
    return reads is not None and bool(reads.noted) and _place() in reads.noted


def marked(found: Array) -> Array:
    """The elements that the user's code has asked for; or the array that it has made by writing to places."""
    reads = _READS.get()
    if reads is None or not isinstance(found.held, SymbolicTensor):
        return found
    place = _place()
    node = found.held.record.producer
    if place is not None and node is not None:
        reads.found.append(Read(place, node, found.held.made_in.parent is None))
    return found


def _place() -> ReadPlace | None:
    """The place in the user's code that asks for an element; None where this package asks for itself."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and frame.f_code not in _asking() and not _is_function(frame.f_code):
        frame = frame.f_back
    is_write = frame is not None and frame.f_code is _asking()[1]
    is_function = frame is not None and _is_function(frame.f_code)
    frame = None if frame is None else frame.f_back
    while is_function and frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    found: list[tuple[str | int | None, ...]] = []
    if frame is None or frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        statement = STATEMENT.get()
        if frame is None or not is_write or statement is None:
            return None
        found.append(("write", *astuple(statement)))  # an assignment is staged, and stands in no frame
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE_DIRECTORY):
            found.append(
                (code.co_filename, *next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None)))
            )
        frame = frame.f_back
    return tuple(found)


def _is_function(code: CodeType) -> bool:
    """True for `np.take` and the like, which numpy calls for the user's code."""
    return code.co_name in _FUNCTIONS and code.co_filename.startswith(PACKAGE_DIRECTORY)


def _asking() -> tuple[CodeType, CodeType]:
    """The code of `x[…]` and `x[…] = v`, which the user's code calls."""
    return Array.__getitem__.__code__, Array.__setitem__.__code__


def _needed(outputs: Sequence[ValueRecord]) -> set[NodeRecord]:
    """The nodes that outputs need: of a branch or a loop, for those of its results and its state that are needed."""
    found = set[NodeRecord]()
    seen = set[ValueRecord]()
    #: The state of loops as their bodies see it, and the result of the loop that it becomes.
    states: dict[ValueRecord, ValueRecord] = {}
    left = list(outputs)
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in states:
            left.append(states[value])
        node = value.producer
        if node is None:
            continue
        is_new = node not in found
        found.add(node)
        bodies = list(node.graphs())
        place = next(k for k, each in enumerate(node.outputs) if each is value)
        if (node.domain, node.op_type) == ("", "Loop"):
            (body,) = bodies
            if is_new:
                states.update(zip(body.inputs[2:], node.outputs, strict=False))
                left += [each for each in (*node.inputs[:2], body.outputs[0]) if each is not None]
            left += [each for each in (body.outputs[place + 1], *node.inputs[place + 2 : place + 3]) if each]
            continue
        if is_new:
            left += [each for each in node.inputs if each is not None]
        if (node.domain, node.op_type) == ("", "If"):
            left += [body.outputs[place] for body in bodies]
        elif is_new:
            left += [each for body in bodies for each in body.outputs]
    return found

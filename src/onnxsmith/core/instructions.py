"""The instructions of a frame of the user's, by the source that they stand for: the call that goes on, and its callee.

Python keeps the position of every instruction, so that nothing is read from files: code that is typed at a prompt has
positions, too.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import cast

#: Instructions that read a name.
_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_FROM", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


class Evaluation:
    """The evaluation of a frame now: all instructions of its code, and the one that is carried out."""

    def __init__(self, code: types.CodeType, last: int) -> None:
        self._constants = code.co_consts
        self.every = list(dis.get_instructions(code))
        # A call of a Python function stands in the cache that follows its instruction.
        earlier = [each for each in self.every if each.offset <= last]
        #: None before the first instruction.
        self.now: dis.Instruction | None = earlier[-1] if earlier else None

    def around(self, *kinds: str) -> Iterator[dis.Instruction]:
        """The instructions, of names that begin as one of `kinds`, whose source encloses what is evaluated now."""
        if self.now is not None:
            for each in self.every:
                if each.opname.startswith(kinds) and encloses(each, self.now):
                    yield each

    def callee(self, call: dis.Instruction) -> list[str]:
        """The name that a call begins with, and the attributes that lead from it to the called function."""
        start = _range_of(call)[0]
        before = [each for each in self.every if each.offset < call.offset and _range_of(each)[0] == start]
        names = [each for each in before if each.opname.startswith(_NAMES)]
        if not names:
            return []
        after = [each for each in before if each.offset > names[-1].offset and each.opname in _ATTRIBUTES]
        return [_names_in(names[-1])[0], *(str(each.argval) for each in after)]

    def keywords(self, call: dis.Instruction) -> set[str]:
        """The keywords that a call is given, and those of the calls inside it."""
        found: set[str] = set()
        for each in self.every:
            if each.opname in ("KW_NAMES", "LOAD_CONST") and each.arg is not None and encloses(call, each):
                # `dis` of Python 3.11 does not look up the names of keywords.
                value = self._constants[each.arg]
                if isinstance(value, tuple):
                    found.update(map(str, cast("tuple[object, ...]", value)))
        return found

    def names_read(self) -> Iterator[str]:
        """The names that the expression reads that is evaluated now."""
        if self.now is not None:
            for each in self.every:
                if each.opname.startswith(_NAMES) and encloses(self.now, each):
                    yield from _names_in(each)


def _names_in(instruction: dis.Instruction) -> list[str]:
    """The names that an instruction reads: one, or two from Python 3.13 on."""
    held: object = instruction.argval
    return list(map(str, cast("tuple[object, ...]", held))) if isinstance(held, tuple) else [str(held)]


def encloses(outer: dis.Instruction, inner: dis.Instruction) -> bool:
    """True if the source of one instruction encloses that of another."""
    (start, end), (inner_start, inner_end) = _range_of(outer), _range_of(inner)
    return start <= inner_start and inner_end <= end


def _range_of(instruction: dis.Instruction) -> tuple[tuple[int, int], tuple[int, int]]:
    where = instruction.positions
    if where is None or where.lineno is None or where.col_offset is None:
        return (-1, 0), (-2, 0)  # encloses nothing
    return (where.lineno, where.col_offset), (where.end_lineno or where.lineno, where.end_col_offset or 0)

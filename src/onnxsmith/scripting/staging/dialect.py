"""Dialects: the meaning of code that is not written for tensors, but for another library's objects.

The caller that stages a function passes a list of dialects, which holds for all that is staged from there. They are
asked in order, so that code on one library's objects is code of the next dialect, too. What none of them answers is as
in every script.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Protocol

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.subset import NO_SYNTAX, Syntax
from onnxsmith.scripting.source.outside import is_user_code
from onnxsmith.scripting.staging.script_values import Function, T


class Calls(Protocol):
    """The calls that a dialect can have made of a function."""

    def staged(self, function: Function) -> Function:
        """A function that stages another where it is called."""
        ...

    def called(self, function: Function) -> Function:
        """The function that is called where the code calls one: all dialects are asked, and else it is staged."""
        ...


class Dialect:
    """The meaning of code that is staged in it. A method that a dialect does not have leaves the question to others.

    Each method says how the answers of several dialects go together.
    """

    #: The syntax that scripts cannot contain, and code of this dialect can. Several: what one of them allows.
    syntax: Syntax = NO_SYNTAX
    #: True if Python never runs a function itself that is to be staged, and has dynamic values. Several: if one is so.
    stages_all: bool = False

    def callee(self, function: Function, usual: Function | None, calls: Calls) -> Function | None:
        """The function that is called in the place of another, or None. Several: the first that has one.

        `usual` is the function that a script calls in its place, where that is another than the function.
        """
        return None

    def result(self, value: UserValue) -> UserValue:
        """The result of a call that Python made as it is, for the staged code to compute with.

        Several: each gets what the one before it gave.
        """
        return value

    def is_staged(self, function: types.FunctionType) -> bool | None:
        """True if a function is staged where it is called, False if Python calls it, None to leave it open.

        Several: the first that is not None. Where all are, the user's own functions are staged.
        """
        return None

    def is_open(self, value: UserValue) -> bool:
        """True if a value that is no tensor holds dynamic values. Several: if one of them says so."""
        return False

    def container(self, value: T) -> T | None:
        """The object that is indexed in the place of a value, or None. Several: the first that has one."""
        return None

    def grown(self, items: Sequence[UserValue], taken: Sequence[UserValue]) -> UserValue | None:
        """A list that a loop of the model goes on with, appending what was taken. Several: the first that has one."""
        return None

    def yielded(self, value: UserValue) -> UserValue:
        """The value that a generator function yields, as it is at this moment.

        Several: each gets what the one before it gave.
        """
        return value


class Dialects(Dialect):
    """Dialects as one, which asks them in order. Without any it is the language of scripts."""

    def __init__(self, *dialects: Dialect) -> None:
        self._all = dialects
        self.syntax = NO_SYNTAX.union(*(each.syntax for each in dialects))
        self.stages_all = any(each.stages_all for each in dialects)

    def callee(self, function: Function, usual: Function | None, calls: Calls) -> Function | None:
        for each in self._all:
            found = each.callee(function, usual, calls)
            if found is not None:
                return found
        return None

    def result(self, value: UserValue) -> UserValue:
        for each in self._all:
            value = each.result(value)
        return value

    def is_staged(self, function: types.FunctionType) -> bool:
        for each in self._all:
            found = each.is_staged(function)
            if found is not None:
                return found
        return is_user_code(function)

    def is_open(self, value: UserValue) -> bool:
        return any(each.is_open(value) for each in self._all)

    def container(self, value: T) -> T | None:
        for each in self._all:
            found = each.container(value)
            if found is not None:
                return found
        return None

    def grown(self, items: Sequence[UserValue], taken: Sequence[UserValue]) -> UserValue | None:
        for each in self._all:
            found = each.grown(items, taken)
            if found is not None:
                return found
        return None

    def yielded(self, value: UserValue) -> UserValue:
        for each in self._all:
            value = each.yielded(value)
        return value


#: The dialect of scripts: Python, tensors and operators.
SCRIPTS = Dialects()

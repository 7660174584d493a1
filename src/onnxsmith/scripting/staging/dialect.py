"""Dialects: what the user's code means where it is not written for tensors, but for another library's arrays.

A dialect is handed in by whoever stages a function, and holds for all that is staged from there. What it says of calls
comes before what scripts say of them; what it leaves to others is as in every script.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Protocol

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.subset import NO_SYNTAX, Syntax
from onnxsmith.scripting.source.user_code import is_user_code
from onnxsmith.scripting.staging.script_values import Function, T


class Dialect(Protocol):
    """The meaning of code that is staged in it."""

    @property
    def syntax(self) -> Syntax:
        """The syntax that scripts cannot contain, and code of this dialect can."""
        ...

    @property
    def stages_all(self) -> bool:
        """True if Python never runs a function itself that is to be staged, and is given what only the model knows."""
        ...

    def callee(
        self, function: Function, usual: Function | None, stage: Callable[[Function], Function]
    ) -> Function | None:
        """The function that is called in the place of another; None where the dialect has none.

        `usual` is what a script calls in its place, where that is something else than the function. `stage` gives what
        stages a function where it is called.
        """
        ...

    def result(self, value: UserValue) -> UserValue:
        """The result of a call that Python made as it is, for the staged code to compute with."""
        ...

    def is_staged(self, function: types.FunctionType) -> bool:
        """True if a function is staged where it is called, as the user's own are."""
        ...

    def is_open(self, value: UserValue) -> bool:
        """True if a value that is no tensor holds what only the model knows."""
        ...

    def container(self, value: T) -> T | None:
        """The object that is indexed in the place of a value; None where the dialect has none."""
        ...

    def grown(self, items: Sequence[UserValue], taken: Sequence[UserValue]) -> UserValue | None:
        """A list of numbers that a loop of the model goes on with, appending what was taken; None for all else."""
        ...

    def yielded(self, value: UserValue) -> UserValue:
        """The value that a generator function yields, as it is at this moment."""
        ...


class _Scripts:
    """The dialect of scripts: Python, tensors and operators."""

    syntax = NO_SYNTAX
    stages_all = False

    def callee(
        self, function: Function, usual: Function | None, stage: Callable[[Function], Function]
    ) -> Function | None:
        return None

    def result(self, value: UserValue) -> UserValue:
        return value

    def is_staged(self, function: types.FunctionType) -> bool:
        return is_user_code(function)

    def is_open(self, value: UserValue) -> bool:
        return False

    def container(self, value: T) -> T | None:
        return None

    def grown(self, items: Sequence[UserValue], taken: Sequence[UserValue]) -> UserValue | None:
        return None

    def yielded(self, value: UserValue) -> UserValue:
        return value


SCRIPTS: Dialect = _Scripts()

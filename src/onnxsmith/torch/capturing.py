"""A module as a program of torch.export, with the dimensions that were asked for open as far as the module allows."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Generator
from typing import Any, cast

import torch
from torch.fx.experimental import _config

from onnxsmith.diagnostics import wants_full_traceback
from onnxsmith.torch.caches import register_caches
from onnxsmith.torch.checking import Given
from onnxsmith.torch.conditions import excludes, narrowings, pinned
from onnxsmith.torch.library.kinds import Named, Positional
from onnxsmith.torch.open_time import open_time
from onnxsmith.torch.refusals import explained
from onnxsmith.torch.symbols import environment, hint_of, keep_from, ranges_of
from onnxsmith.torch.unique_shapes import right_unique_shapes
from onnxsmith.torch.wishes import with_torch_dims


def captured(module: torch.nn.Module, given: Given, strict: bool) -> torch.export.ExportedProgram:
    """The program, from the first way of tracing that keeps to what was asked."""
    register_caches()
    shapes = cast("dict[str, Any] | None", with_torch_dims(given.dynamic_shapes))  # or a tuple

    def traced(args: Positional, kwargs: Named | None) -> torch.export.ExportedProgram:
        with torch.no_grad(), open_time(), right_unique_shapes(), given.explicit(module), _quiet():
            return torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=strict)

    example = (given.args, given.kwargs or {})
    larger = given.enlarged()
    program = None
    if larger is not None:
        # Sizes of 0 and 1 are special to much of torch's code, so a dimension stays open best at 2. The module may
        # need what it was given, though: for broadcasting, say.
        with contextlib.suppress(Exception), _any_size():
            program = traced(*larger)
    if program is not None and not excludes(program, example):
        return _settled(program)
    if program is not None:
        # What fixes a size leaves no trace where it is one number, and is known of the larger example alone.
        places = [place for each in narrowings(program, {}, {}) for place in each.places]
        given.decided_at = tuple(dict.fromkeys(places))
    program = None
    try:
        with _any_size():
            program = traced(given.args, given.kwargs)
    except Exception as error:  # torch has many classes for its refusals, some of them Python's
        if given.dynamic_shapes is None:
            _explain(given, error)
            raise
    if program is not None and not pinned(program) and not excludes(program, example):
        return _settled(program)
    try:
        return traced(given.args, given.kwargs)
    except Exception as error:
        _explain(given, error)
        raise


def _explain(given: Given, error: Exception) -> None:
    """Raise an error of ours in the place of torch's, where there is more to say."""
    told = explained(error, given.small)
    if told is not None:
        error.__context__ = None  # what torch met on its way would be shown in hundreds of lines
        raise told from error


def _settled(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program, whose sizes are from here on those that torch's own code has no exceptions for.

    What is left to trace are decompositions, which may ask about sizes only what is true of all of them.
    """
    shape_env = environment(program)
    if shape_env is None:
        return program
    for symbol, (low, high) in ranges_of(program).items():
        hint = hint_of(shape_env, symbol)
        if low < 2 and (high is None or high >= 2) and hint is not None and hint >= 2:
            keep_from(shape_env, symbol, 2)
    return program


@contextlib.contextmanager
def _any_size() -> Generator[None]:
    """Have torch treat sizes of 0 and 1 like others where it can; not every version has that."""
    patch: Callable[..., contextlib.AbstractContextManager[None]] = getattr(_config, "patch")  # noqa: B009  # untyped
    if hasattr(_config, "backed_size_oblivious"):
        with patch(backed_size_oblivious=True):
            yield
    else:
        yield


#: Where torch writes about sizes that it fixes, and the traceback of an operator that fails: we say both in our words.
_LOGGERS = ("torch._export.non_strict_utils", "torch._subclasses.fake_tensor")


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Without what torch writes on standard error before it raises; all of it where full tracebacks are wanted."""
    if wants_full_traceback():
        yield
        return
    loggers = [logging.getLogger(each) for each in _LOGGERS]
    before = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(loggers, before, strict=True):
            each.setLevel(level)

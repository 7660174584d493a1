"""Debuggers: whether one watches this thread, and how it is kept from stopping while a script is staged.

A breakpoint on a line of a script is meant for the run on values. Staging runs the same lines on symbolic tensors,
under frames of ours, when the script is decorated or its model is made: nobody wants to stop there unless they say so.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, cast

#: Set to "staging" to let debuggers stop while a script is staged, and step through our own frames.
DEBUG_VARIABLE = "ONNXSMITH_DEBUG"

_OWN_MODULES = "onnxsmith*"


class _Debugpy(Protocol):
    def trace_this_thread(self, should_trace: bool, /) -> None: ...


class _Monitoring(Protocol):
    """The part of `sys.monitoring` that is used here; Python has it since 3.12."""

    DEBUGGER_ID: int

    def get_tool(self, tool_id: int, /) -> str | None: ...
    def get_local_events(self, tool_id: int, code: types.CodeType, /) -> int: ...
    def set_local_events(self, tool_id: int, code: types.CodeType, events: int, /) -> None: ...


_monitoring = cast("_Monitoring | None", getattr(sys, "monitoring", None))


def wants_staging() -> bool:
    """True if the user asked to step through staging."""
    return os.environ.get(DEBUG_VARIABLE) == "staging"


def is_watched() -> bool:
    """True if a debugger watches this thread; coverage and profilers, which use the same doors, are none."""
    tracer = sys.gettrace()
    if tracer is not None:
        return _bdb_of(tracer) is not None or _is_pydevd(tracer)
    return _monitoring is not None and _monitoring.get_tool(_monitoring.DEBUGGER_ID) is not None


def paused() -> Callable[..., object] | None:
    """Keep a debugger of the standard library's kind from stepping through what we do; give the result to `resume`.

    It steps into whatever Python code runs, the standard library's on our behalf included; debuggers of editors leave
    installed packages out by themselves. Two functions and no context manager: that would be stepped through as well.
    """
    tracer = sys.gettrace()
    debugger = _bdb_of(tracer)
    if debugger is None:
        return None
    sys.settrace(None)
    if wants_staging():
        sys.settrace(tracer)
        return None
    skipped = cast("set[str] | None", getattr(debugger, "skip", None)) or set[str]()
    debugger.__dict__["skip"] = {*skipped, _OWN_MODULES}
    return tracer


def resume(tracer: Callable[..., object] | None) -> None:
    """Let a debugger that was paused go on."""
    if tracer is not None:
        sys.settrace(tracer)  # type: ignore[arg-type]


@contextmanager
def unwatched(code: types.CodeType) -> Generator[None]:
    """Within the block no debugger stops: neither in `code`, which is being staged, nor in what it calls."""
    tracer = paused()
    if tracer is not None:
        try:
            yield
        finally:
            resume(tracer)
        return
    debugpy = cast("_Debugpy | None", sys.modules.get("debugpy"))
    if debugpy is None or not is_watched() or wants_staging():
        yield
        return
    with _without_events(code):
        debugpy.trace_this_thread(False)
        try:
            yield
        finally:
            debugpy.trace_this_thread(True)


@contextmanager
def _without_events(code: types.CodeType) -> Generator[None]:
    """A debugger that uses `sys.monitoring` asks for events of single code objects, whatever the thread."""
    if _monitoring is None or _monitoring.get_tool(_monitoring.DEBUGGER_ID) is None:
        yield
        return
    tool = _monitoring.DEBUGGER_ID
    events = _monitoring.get_local_events(tool, code)
    _monitoring.set_local_events(tool, code, 0)
    try:
        yield
    finally:
        _monitoring.set_local_events(tool, code, events)


def _bdb_of(tracer: Callable[..., object] | None) -> object | None:
    """The debugger of the standard library's kind (pdb, ipdb) that a trace function belongs to."""
    bdb = sys.modules.get("bdb")  # whoever debugs with it has imported it
    owner: object = getattr(tracer, "__self__", None)
    return owner if bdb is not None and isinstance(owner, bdb.Bdb) else None


def _is_pydevd(tracer: Callable[..., object]) -> bool:
    """Return whether a trace function is of the debugger that editors use, compiled or not."""
    module = getattr(tracer, "__module__", None) or type(tracer).__module__
    return "pydevd" in module

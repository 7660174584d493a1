"""A limit to how long a function of the user's runs on arguments that nobody chose: on these its loop may never end."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


class TooLongError(BaseException):  # no Exception: the function may catch these, and go on
    """The function has not come to its end in time."""


def within(seconds: float, function: Callable[[], R]) -> R:
    """Call a function; raises TooLongError in it when the time is over, as soon as Python runs a line of it."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    thread, lock = ctypes.c_ulong(threading.get_ident()), threading.Lock()
    is_over = is_sent = is_here = False

    def end() -> None:
        nonlocal is_sent
        with lock:
            if not is_over:
                is_sent = True
                raise_in(thread, ctypes.py_object(TooLongError))

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        return function()
    except TooLongError:
        is_here = True
        raise
    finally:
        with lock:
            is_over = True
        timer.cancel()
        if is_sent and not is_here:
            # It was sent when the function had ended, and comes with the next line. It is not taken back: Python 3.11
            # would look for it for ever after, and hang where a profiler runs.
            with contextlib.suppress(TooLongError):
                while True:
                    pass

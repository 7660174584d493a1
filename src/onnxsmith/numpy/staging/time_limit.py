"""A limit to how long a function of the user's runs on arguments that nobody chose: on these its loop may never end."""

from __future__ import annotations

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
    is_over = False

    def end() -> None:
        with lock:
            if not is_over:
                raise_in(thread, ctypes.py_object(TooLongError))

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        return function()
    finally:
        with lock:
            is_over = True
        timer.cancel()
        raise_in(thread, None)  # where it came in the moment between the end and this line

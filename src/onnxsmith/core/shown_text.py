"""The text of a symbolic value. People see it; text that flows back into the program is refused.

The eager run has the digits of a number where staging has a name, so that a key, a file name or a comparison made of
the text would be frozen in the model. `print`, `logging`, the message of an error, a traceback and a debugger only show
it. Values call `shown_text` in their `__repr__`, `__str__` and `__format__`; nothing here knows their classes.
"""

from __future__ import annotations

import builtins
import dis
import re
import sys
import types
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import cast

from onnxsmith.context import setting
from onnxsmith.core.instructions import Evaluation, encloses
from onnxsmith.core.message_variables import assigns_message
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import OnnxsmithError, TracedValueError
from onnxsmith.source import has_source, is_library, is_ours

#: Set while text is made that only people see, such as what a script prints.
SHOWING: ContextVar[bool] = ContextVar("onnxsmith_showing", default=False)

#: Packages that show values to people, whoever calls them.
_SHOWING_PACKAGES = frozenset(
    [
        *("logging", "traceback", "warnings", "unittest", "_pytest", "pytest"),
        *("loguru", "structlog", "absl", "rich", "tqdm"),
        *("pdb", "bdb", "cmd", "code", "ipdb", "pudb", "pydevd", "_pydevd_bundle", "debugpy"),
        *("IPython", "ipykernel"),
    ]
)
_LOGGING = frozenset(["debug", "info", "warning", "warn", "error", "critical", "exception", "log"])
_WRITING = frozenset(["write", "writelines", "flush"])
#: Methods whose text is that of a whole object: the one who asked for it decides.
TEXT_METHODS = frozenset(["__repr__", "__str__", "__format__"])
#: Code whose caller may be the one that shows its text. A lambda is a function like any other: who calls the traced
#: function, as in `print(trace(f, …)(x))`, shows another text.
_INSIDE_EXPRESSIONS = TEXT_METHODS | {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}
#: Functions of ours that make text call these on values; all others hand values on to code that is not ours.
_OWN_TEXT = (["repr"], ["str"], ["format"], ["join"])


def showing() -> AbstractContextManager[object]:
    """Marks text that the block makes as text for people."""
    return setting(SHOWING, True)


def shown_text(text: str) -> str:
    """The text of a symbolic value; TracedValueError where the program would go on with it while a model is made."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the caller of the method
    if ACTIVE.get() is None or SHOWING.get() or is_for_people(frame):
        return text
    if frame.f_globals.get("__name__") == "reprlib":
        return _RefusedText(text)
    raise text_error().locate_at_caller()


#: A conversion of `%`: the key of a dict, flags, width and precision, and the letter.
_CONVERSION = re.compile(r"%(\((?P<key>[^)]*)\))?[-#0 +]*\d*(\.\d*)?[hlL]?(?P<letter>[a-zA-Z%])")


def shown_percent(text: str, values: UserValue) -> str:
    """`text % values` for people, with a value that only the model knows as `%s` shows it."""
    waiting = iter(values if isinstance(values, tuple) else (values,))

    def shown(match: re.Match[str]) -> str:
        if match["letter"] == "%":
            return match[0]
        key = match["key"]
        value = next(waiting, None) if key is None else cast("Mapping[str, object]", values).get(key)
        is_symbolic = bool(getattr(value, "is_symbolic", False))
        return ("%s" if key is None else f"%({key})s") if is_symbolic else match[0]

    return _CONVERSION.sub(shown, text) % values


class _RefusedText(str):
    """Text for `reprlib`, which takes an error of `__repr__` for text: it is refused when its length is asked for."""

    __slots__ = ()

    def __len__(self) -> int:
        raise text_error().locate_at_caller()


def text_error() -> OnnxsmithError:
    """The error for text of a value that only the model has."""
    return TracedValueError(
        "Python needs the text of a value that is known only when the model runs",
        help="print it in an eager run; a loop over static_range(…) has Python ints",
    )


def tells_people(function: UserValue) -> bool:
    """True if a function tells people something, as `print` does: of `logging`, or a method of `sys.stdout`."""
    if isinstance(function, types.FunctionType | types.MethodType):
        package = str(function.__module__).partition(".")[0]
        if package in _SHOWING_PACKAGES and function.__name__ in _LOGGING:
            return True
        if (
            _is_logger(getattr(function, "__self__", None))
            and function.__name__.partition("_")[0] in _LOGGING
        ):
            return True  # `warning_once`, which a library has added
        if function.__module__ == "pprint" and function.__name__ in ("pprint", "pp"):
            return True
    elif not isinstance(function, types.BuiltinMethodType):
        return False
    if function is builtins.print or function is warnings.warn:
        return True
    owner: object = getattr(function, "__self__", None)
    return (
        owner is not None and (owner is sys.stdout or owner is sys.stderr) and function.__name__ in _WRITING
    )


def _is_logger(owner: object) -> bool:
    logging = sys.modules.get("logging")  # without it there is none
    return logging is not None and isinstance(owner, logging.Logger | logging.LoggerAdapter)


def _asserts(function: object) -> bool:
    """True for `torch._assert` and `torch._check…`, whose message is that of an error."""
    if not isinstance(function, types.FunctionType) or function.__module__ != "torch":
        return False
    return function.__name__.startswith(("_assert", "_check"))


def is_for_people(frame: types.FrameType | None) -> bool:
    """True if the text that is asked for in a frame is shown by it, or by a frame that it makes the text for."""
    while frame is not None:
        code = frame.f_code
        if is_ours(frame):
            if code.co_name not in TEXT_METHODS and _makes_own_text(frame):
                return True
        elif _is_shown_here(frame) or assigns_message(frame):
            return True
        elif is_library(code.co_filename):
            package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            if package in _SHOWING_PACKAGES or (package == "pprint" and code.co_name == "pprint"):
                return True
        elif code.co_name not in _INSIDE_EXPRESSIONS and has_source(code.co_filename):
            return False
        frame = frame.f_back
    return False


def _makes_own_text(frame: types.FrameType) -> bool:
    """True if a function of ours formats a message: it calls other code on the user's behalf without naming it."""
    evaluation = Evaluation(frame.f_code, frame.f_lasti)
    now = evaluation.now
    if now is None:
        return False
    if now.opname.startswith(("FORMAT", "CONVERT_VALUE")):  # the second is `!r` from Python 3.13 on
        return True
    return now.opname.startswith("CALL") and evaluation.callee(now)[-1:] in _OWN_TEXT


def _is_shown_here(frame: types.FrameType) -> bool:
    """True if the expression that a frame evaluates is part of a call that tells people, or of an error's message."""
    evaluation = Evaluation(frame.f_code, frame.f_lasti)
    return _is_message(evaluation) or any(
        _is_told(frame, evaluation.callee(each)) and not _goes_to_file(evaluation, each)
        for each in evaluation.around("CALL")
    )


def _is_message(evaluation: Evaluation) -> bool:
    """True if what is evaluated is the error of a `raise`, or the message of an `assert`."""
    now = evaluation.now
    if now is None:
        return False
    begin: int | None = None  # of the message of an `assert`: its condition comes before that
    for each in evaluation.every:
        if each.opname == "LOAD_ASSERTION_ERROR" or each.argrepr == "AssertionError":
            begin = each.offset
        elif each.opname == "RAISE_VARARGS":
            if begin is None:
                if encloses(each, now):
                    return True
            elif begin < now.offset < each.offset:
                return True
            begin = None
    return False


def _goes_to_file(evaluation: Evaluation, call: dis.Instruction) -> bool:
    """True if a call of `print` names a file that is not the screen: the program may read it."""
    if "file" not in evaluation.keywords(call):
        return False
    return not any(each.argval in ("stderr", "stdout") and encloses(call, each) for each in evaluation.every)


def _is_told(frame: types.FrameType, callee: list[str]) -> bool:
    if not callee:
        return False
    root, *attributes = callee
    scopes = (frame.f_locals, frame.f_globals, vars(builtins))
    found: object = next((scope[root] for scope in scopes if root in scope), None)
    if isinstance(found, types.ModuleType) and found.__name__ in _SHOWING_PACKAGES and attributes:
        return attributes[-1] in _LOGGING or attributes[-1].startswith(("warn", "print"))
    for name in attributes:
        found = getattr(found, name, None)
    return _asserts(found) or tells_people(cast(UserValue, found))

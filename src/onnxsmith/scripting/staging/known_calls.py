"""Functions of Python that no model can call: they give something else each time, or change something outside of it.

A table by module and name, so that nothing is imported for it. Asked for each call that is staged, and for the calls of
helpers that run as they are, where their code names one of these.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ParamSpec, TypeGuard, TypeVar, cast

import numpy as np

from onnxsmith.errors import LastingChangeError, OnnxsmithError, UnseenStateError
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.source import Span, is_library, position_span

if TYPE_CHECKING:
    from typing import Self

P = ParamSpec("P")
R = TypeVar("R")

_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
#: What gives something else each time, by module.
_VARYING: dict[str, frozenset[str]] = {
    "time": frozenset([*_CLOCKS, *(f"{each}_ns" for each in _CLOCKS)]),
    "datetime": frozenset(["datetime.now", "datetime.utcnow", "datetime.today", "date.today"]),
    "os": frozenset(["urandom", "getrandom", "times"]),
    "uuid": frozenset(["uuid1", "uuid4"]),
    "secrets": frozenset(["randbelow", "token_bytes", "token_hex", "token_urlsafe"]),
    "random": frozenset(["SystemRandom.random", "SystemRandom.getrandbits", "SystemRandom.randbytes"]),
}
#: What changes files, other programs, or Python itself, by module.
_WRITING: dict[str, frozenset[str]] = {
    "os": frozenset(
        [
            "chdir",
            "chmod",
            "chown",
            "kill",
            "link",
            "makedirs",
            "mkdir",
            "mkfifo",
            "popen",
            "putenv",
            "remove",
            "removedirs",
            "rename",
            "renames",
            "replace",
            "rmdir",
            "symlink",
            "system",
            "truncate",
            "unlink",
            "unsetenv",
            "utime",
            "write",
        ]
    ),
    "pathlib": frozenset(
        f"Path.{each}"
        for each in [
            "write_text",
            "write_bytes",
            "touch",
            "mkdir",
            "rmdir",
            "unlink",
            "rename",
            "replace",
            "chmod",
            "symlink_to",
            "hardlink_to",
        ]
    ),
    "shutil": frozenset(
        [
            "copy",
            "copy2",
            "copyfile",
            "copymode",
            "copystat",
            "copytree",
            "move",
            "rmtree",
            "chown",
            "make_archive",
        ]
    ),
    "subprocess": frozenset(
        ["run", "call", "check_call", "check_output", "getoutput", "getstatusoutput", "Popen"]
    ),
    "numpy": frozenset(
        [
            "save",
            "savez",
            "savez_compressed",
            "savetxt",
            "seterr",
            "seterrcall",
            "setbufsize",
            "set_printoptions",
        ]
    ),
    "torch": frozenset(
        ["save", "manual_seed", "set_default_dtype", "set_default_device", "set_grad_enabled"]
    ),
    "sys": frozenset(
        ["setrecursionlimit", "setswitchinterval", "settrace", "setprofile", "set_int_max_str_digits"]
    ),
    "decimal": frozenset(["setcontext"]),
    "locale": frozenset(["setlocale"]),
}
#: Functions that open a file: `mode` comes after it.
_OPENING = frozenset([("io", "open"), ("pathlib", "Path.open"), ("gzip", "open"), ("bz2", "open")])
_MODULES = {"posix": "os", "nt": "os", "_io": "io", "_pyio": "io", "_locale": "locale", "_decimal": "decimal"}
_Function = types.FunctionType | types.MethodType | types.BuiltinFunctionType | type
#: Of which types functions are; numpy has one of its own.
_FUNCTIONS: tuple[type, ...] = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    type,
    type(np.save),
)
#: Last parts of the names in these tables: code that names none of them calls none of them.
NAMES = frozenset(
    [
        *(
            name.rpartition(".")[2]
            for table in (_VARYING, _WRITING)
            for names in table.values()
            for name in names
        ),
        "open",
        "SystemRandom",
        "secrets",
    ]
)

#: The same for those that give something else each time.
VARYING_NAMES = frozenset(
    name.rpartition(".")[2] for module, names in _VARYING.items() if module != "random" for name in names
) | {"SystemRandom"}


def refusal_of(function: Function) -> OnnxsmithError | None:
    """The error for a call of a function that no model can call, whatever it is given."""
    if not _is_function(function):
        return None
    if function.__name__ not in NAMES and not _is_of_system_random(function):
        return None
    key = _key(function)
    if key is not None and _is_of_system_random(function):
        key = "random", f"SystemRandom.{key[1].rpartition('.')[2]}"
    return None if key is None else _refusal(key)


def _refusal(key: tuple[str, str]) -> OnnxsmithError | None:
    module, name = key
    if name in _VARYING.get(module, ()) or name.startswith("SystemRandom."):
        return LastingChangeError(
            f"'{_shown(key)}' gives something else each time, and a model would give the same for ever",
            help="pass the value as an argument; random numbers are op.RandomUniform(…), op.RandomNormal(…)",
        )
    return _writing(key) if name in _WRITING.get(module, ()) else None


def checked(function: Function, replaced: Callable[P, R]) -> Callable[P, R]:
    """The function to call in place of another; one that opens files refuses to open them for writing.

    One that makes a generator of random numbers wants a seed.
    """
    name: object = getattr(function, "__name__", None)  # numpy's functions are of a type of their own
    if name in _SEEDED and str(getattr(function, "__module__", "")).startswith(("numpy.random", "random")):
        return _seeded(str(name), replaced)
    if not _is_function(function) or name != "open":
        return replaced
    if _key(function) not in _OPENING:
        return replaced
    position = 0 if isinstance(function, types.MethodType) else 1

    def open_file(*args: P.args, **kwargs: P.kwargs) -> R:
        mode: object = args[position] if len(args) > position else kwargs.get("mode", "r")
        if isinstance(mode, str) and set(mode) & set("wax+"):
            raise _writing(("io", "open")).locate_at_caller()
        return replaced(*args, **kwargs)

    return open_file


#: What makes a generator of random numbers; without a seed it is another one each time.
_SEEDED = frozenset(
    ["default_rng", "RandomState", "SeedSequence", "PCG64", "MT19937", "Philox", "SFC64", "Random"]
)


def _seeded(name: str, replaced: Callable[P, R]) -> Callable[P, R]:
    def make(*args: P.args, **kwargs: P.kwargs) -> R:
        given: list[object] = [*args, *kwargs.values()]
        if all(each is None for each in given):
            raise LastingChangeError(
                f"'{name}' without a seed gives other numbers each time, and a model would give the same for ever",
                help="give it a seed, or draw before, and pass the numbers as an argument",
            ).locate_at_caller()
        return replaced(*args, **kwargs)

    return make


def _writing(key: tuple[str, str]) -> OnnxsmithError:
    return UnseenStateError(
        f"'{_shown(key)}' changes something outside of the model, which cannot be put back",
        help="do it before or after the model runs, and hand values over",
    )


def _shown(key: tuple[str, str]) -> str:
    module, name = key
    return name if "." in name else f"{module}.{name}"


def _is_function(value: Function) -> TypeGuard[_Function]:
    return isinstance(value, _FUNCTIONS)


def _is_of_system_random(function: _Function) -> bool:
    holder: object = getattr(function, "__self__", None)
    owner = type(holder)
    return owner.__name__ == "SystemRandom" and owner.__module__ == "random"


def _key(function: _Function) -> tuple[str, str] | None:
    """The module and the name of a function in it; None where it has none."""
    module: object = getattr(function, "__module__", None)
    if module is None:  # a method of a class written in C, such as datetime.now
        module = getattr(getattr(function, "__self__", None), "__module__", None)
    return _entry(module, function.__qualname__) if isinstance(module, str) else None


def _entry(module: str, name: str) -> tuple[str, str]:
    """A function as the tables have it: some modules and classes are parts of others."""
    package = module.partition(".")[0]
    # Python 3.13 has some methods of paths in a class below theirs.
    return _MODULES.get(package, package), re.sub(r"^PathBase\.", "Path.", name)


class Guard:
    """Looks at the calls of a helper that runs as it is, and refuses those that no model can make.

    Only calls by the user's own code count: what libraries do inside, such as looking at the clock, is their own. A
    profiler that runs already is left alone; then nothing is refused.
    """

    def __enter__(self) -> Self:
        self._is_on = sys.getprofile() is None
        if self._is_on:
            sys.setprofile(self._look)
        return self

    @staticmethod
    def _look(frame: types.FrameType, event: str, called: object) -> None:
        _look(frame, event, called)

    def __exit__(self, *_: object) -> None:
        if self._is_on:
            sys.setprofile(None)


class ClockGuard(Guard):
    """Refuses only what gives something else each time: where Python runs once, it may write files."""

    @staticmethod
    def _look(frame: types.FrameType, event: str, called: object) -> None:
        _look(frame, event, called, LastingChangeError)


def _look(
    frame: types.FrameType, event: str, called: object, refused: type[OnnxsmithError] = OnnxsmithError
) -> None:
    error: OnnxsmithError | None = None
    is_own = not is_library(frame.f_code.co_filename)
    if event == "c_call" and is_own:
        function = cast(Function, called)
        error = refusal_of(function) or _opening(function)
    elif event == "call" and not is_own:
        error = _of_library(frame)
    if isinstance(error, refused):
        sys.setprofile(None)
        raise error.locate(_own_span(frame))


def _own_span(frame: types.FrameType) -> Span | None:
    """Where the user's code is: here, or further up."""
    here: types.FrameType | None = frame
    while here is not None and is_library(here.f_code.co_filename):
        here = here.f_back
    return None if here is None else position_span(here.f_code, here.f_lasti, here.f_lineno)


def _opening(function: Function) -> OnnxsmithError | None:
    """The error for a function that opens files: its mode cannot be seen from here."""
    key = _key(function) if _is_function(function) else None
    return _writing(key) if key is not None and key in _OPENING else None


def _of_library(frame: types.FrameType) -> OnnxsmithError | None:
    name, caller = frame.f_code.co_qualname, frame.f_back
    is_direct = caller is not None and not is_library(caller.f_code.co_filename)
    # Made by whoever imports `secrets`; its seed does nothing.
    if name == "SystemRandom.seed" or (not is_direct and not name.startswith("SystemRandom.")):
        return None
    return _refusal(_entry(str(frame.f_globals.get("__name__", "")), name))


def are_named(names: Iterable[str]) -> bool:
    """True if code that names these may call one of the functions in the tables."""
    return not NAMES.isdisjoint(names)

"""Watches what a path can reach, where only the model knows whether and how often the path runs.

Staging runs each path once. A Python object that changes on it would have changed once, whatever the model decides:
that is found, put back, and refused. What cannot be put back (an iterator that moves on, a file that is written to) is
refused before it happens. Not seen is what lies outside the process, in C code that tells no state, or in other
threads.
"""

from __future__ import annotations

import ast
import functools
import math
import types
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from typing import ParamSpec, Protocol, TypeGuard, TypeVar, cast

import numpy as np

from onnxsmith.core.captures import ON_CAPTURE, AnyArray
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.errors import LastingChangeError, MutationError, OnnxsmithError, UnseenStateError
from onnxsmith.scripting.analysis.analyze import Analysis
from onnxsmith.scripting.analysis.facts import NO_NAMES, Names, names_in
from onnxsmith.scripting.source.trees import walk
from onnxsmith.scripting.staging.array_pictures import ArrayPicture
from onnxsmith.scripting.staging.code_names import code_names, imported_by
from onnxsmith.scripting.staging.known_calls import Guard, are_named, checked, refusal_of
from onnxsmith.scripting.staging.known_types import is_random
from onnxsmith.scripting.staging.raised import open_raises
from onnxsmith.scripting.staging.reach import (
    Moving,
    Reach,
    chain_of,
    is_harmless,
    pictures_of,
)
from onnxsmith.scripting.staging.script_values import Function, Held
from onnxsmith.scripting.staging.snapshots import Picture, content_of
from onnxsmith.source import PACKAGE_DIRECTORY, Span, caller_span, traceback_span

P = ParamSpec("P")
R = TypeVar("R")

_ABSENT = object()
#: The watches that are open, the innermost last.
_OPEN: ContextVar[tuple[Path, ...]] = ContextVar("onnxsmith_watches", default=())

#: Methods of lists, dicts, sets and deques that change them.
_CHANGING = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "extendleft",
        "fill",
        "insert",
        "intersection_update",
        "partition",
        "pop",
        "popitem",
        "popleft",
        "put",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "setfield",
        "sort",
        "symmetric_difference_update",
        "update",
        "move_to_end",
        "subtract",
    ]
)


class Scope(Protocol):
    """The interface of a function that is being staged: its variables, and those around it."""

    @property
    def analysis(self) -> Analysis: ...
    @property
    def globals(self) -> Mapping[str, object]: ...
    @property
    def closure(self) -> Mapping[str, object]: ...
    @property
    def variables(self) -> Mapping[str, object]: ...
    @property
    def cells(self) -> Mapping[str, object]: ...
    @property
    def outer(self) -> Scope | None: ...
    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        ...


class Captures:
    """The arrays that a script has put into its graph: they stay read-only until all of it is staged.

    The graph shares their memory, so that a change would change what was computed before it.
    """

    def __init__(self) -> None:
        self._locked: list[AnyArray] = []
        self._taken: dict[int, AnyArray] = {}
        self._shared: dict[int, tuple[object, list[Picture]]] = {}
        #: Rows of lists that only the model knows the length of: the model has what is in them.
        self.rows: dict[int, tuple[object, list[Picture]]] = {}
        self._tokens: tuple[Token[Captures | None], Token[Callable[[AnyArray], None] | None]] | None = None

    def __enter__(self) -> object:
        if _CAPTURES.get() is None:  # else this script is part of one that has them
            self._tokens = _CAPTURES.set(self), ON_CAPTURE.set(self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object, /) -> None:
        if self._tokens is None:
            return
        _CAPTURES.reset(self._tokens[0])
        ON_CAPTURE.reset(self._tokens[1])
        for each in _owners_first(self._locked):
            each.flags.writeable = True
        if is_write_error(error):
            raise self._error().locate(traceback_span(error.__traceback__)) from None
        if error is None and any(each.is_changed() for _, held in self._shared.values() for each in held):
            raise _shared_error()
        if error is None and any(each.is_changed() for _, held in self.rows.values() for each in held):
            raise row_error()

    def refuse_change_of(self, value: UserValue) -> None:
        """Refuse that an array is changed, or what may be the same object as another, before it happens."""
        chain = chain_of(value) if isinstance(value, np.ndarray) else [value]
        if any(id(each) in self._taken for each in (value, *chain)):  # also by a view that numpy lets write
            raise self._error().locate_at_caller()
        if id(value) in self._shared:
            raise _shared_error().locate_at_caller()
        if id(value) in self.rows:
            raise row_error().locate_at_caller()

    def is_kept_unchanged(self, value: Held) -> bool:
        """True if an object may not be changed any more."""
        return id(value) in self._shared

    def keep_unchanged(self, value: Held) -> None:
        """From now on an object may not be changed."""
        if isinstance(value, np.ndarray):
            array = cast("AnyArray", value)
            self._take(array)
            self._shared.update((id(each), (each, [])) for each in chain_of(array))
        elif id(value) not in self._shared:
            self._shared[id(value)] = (value, pictures_of(value))

    @staticmethod
    def _error() -> MutationError:
        return MutationError(
            "an array is changed after it was used, and the model has its content only once",
            help="change a copy: w = w.copy()",
        )

    def _take(self, array: AnyArray) -> None:
        for each in chain_of(array):
            self._taken[id(each)] = each
            if each.flags.writeable:
                each.flags.writeable = False
                self._locked.append(each)

    def release(self, array: AnyArray) -> None:
        """Let an array be written to that was read-only for a path, now or when no graph needs it any more."""
        if any(id(each) in self._taken for each in (array, *chain_of(array))):
            self._locked.append(array)
        else:
            array.flags.writeable = True


def _owners_first(arrays: Iterable[AnyArray]) -> list[AnyArray]:
    """Arrays in an order in which numpy lets them be written to again: a view after the array that it shows."""
    return sorted(arrays, key=lambda each: len(chain_of(each)))


#: The arrays of the script that is being staged.
_CAPTURES: ContextVar[Captures | None] = ContextVar("onnxsmith_captures", default=None)


def keep_unchanged(values: Iterable[Held]) -> None:
    """Objects that may be the same as others, which only the model knows, may not be changed any more."""
    captures = _CAPTURES.get()
    if captures is not None:
        for each in values:
            captures.keep_unchanged(each)


def _shared_error() -> MutationError:
    return MutationError(
        "this is changed, and only the model knows whether another variable holds the same object",
        help="change a copy: values = list(values)",
    )


def keep_as_row(row: list[object]) -> None:
    """From now on a list is a row of one that only the model knows the length of, and is not changed by itself."""
    captures = _CAPTURES.get()
    if captures is not None and id(row) not in captures.rows:
        captures.rows[id(row)] = (row, pictures_of(row))


def is_row(value: Held) -> bool:
    """True if a list is a row of one that only the model knows the length of."""
    captures = _CAPTURES.get()
    return captures is not None and id(value) in captures.rows


def kept_rows() -> list[object]:
    """The lists that are such rows."""
    captures = _CAPTURES.get()
    return [] if captures is None else [row for row, _ in captures.rows.values()]


def row_error() -> MutationError:
    """A row is changed where something else may hold it."""
    return MutationError(
        "this is an element of a list that only the model knows the length of, and it is changed while a variable or "
        "another list may hold it",
        help="change it in its place, rows[i][k] = v, where only rows.append([…]) has put in elements and no variable "
        "holds one; or put a new one in: rows[i] = [a, b]",
    )


def is_write_error(error: BaseException | None) -> TypeGuard[ValueError]:
    """True if numpy refused to write to an array."""
    return type(error) is ValueError and "read-only" in str(error)


class _Nothing:
    """A path that reaches nothing which could change."""

    __slots__ = ()

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __contains__(self, value: object) -> bool:
        return False


_NOTHING = _Nothing()


class Path:
    """A path with objects in reach that could change."""

    def __init__(self, frame: Scope | None, reach: Reach, place: ast.AST | None, *, is_call: bool) -> None:
        self._frame = frame
        self._reach = reach
        self._place = place
        self._is_call = is_call
        self._locked: list[AnyArray] = []
        self._token: Token[tuple[Path, ...]] | None = None
        self.is_blind = bool(reach.opaque)
        self.is_guarded = are_named(reach.names)

    def __enter__(self) -> object:
        if self._reach.iterators:
            raise self._moving(self._reach.iterators[0])
        self._token = _OPEN.set((*_OPEN.get(), self))
        for each in self._reach.arrays:
            if each.flags.writeable:
                each.flags.writeable = False
                self._locked.append(each)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object, /) -> None:
        captures = _CAPTURES.get() or Captures()
        for each in _owners_first(self._locked):
            captures.release(each)
        self._locked.clear()
        if self._token is not None:
            _OPEN.reset(self._token)
            self._token = None
        changed = [each for each in self._reach.pictures if each.is_changed()]
        for each in changed:
            each.put_back()
        if is_write_error(error):
            raise self._written(error) from None
        if error is None and changed:
            raise self._changed(changed[0].owner)

    def __contains__(self, value: object) -> bool:
        return value in self._reach

    # -- before it happens -------------------------------------------------------------------------

    def refuse_change_of(self, value: UserValue) -> None:
        """Refuse that an object is changed, before it happens."""
        if value in self._reach:
            error = self._error(self._reach.name_of(value), None)
            if isinstance(value, list) and isinstance(self._place, ast.For | ast.While) and not self._is_call:
                error.help = _COLLECTING
            raise error.locate_at_caller()

    def refuse_unseen(self, values: Iterable[object]) -> None:
        """Refuse that an object is handed on whose changes nobody would see."""
        found = Reach(((str(k), each) for k, each in enumerate(values)), ())
        why = (
            "and a model has no memory from one call to the next"
            if self._is_call
            else "and only the model knows whether and how often this runs"
        )
        for each in self._reach.opaque:
            if each in found:
                raise UnseenStateError(
                    f"'{self._reach.name_of(each)}' is a {type(each).__name__}, whose changes cannot be seen, {why}",
                    help="use it before or after the model runs, and hand values over",
                ).locate_at_caller()

    # -- errors ------------------------------------------------------------------------------------

    def _moving(self, iterator: Moving) -> OnnxsmithError:
        name, root = self._reach.name_of(iterator), self._reach.root_of(iterator)
        kind = type(iterator).__name__.replace("_", " ")
        if self._is_call:
            return LastingChangeError(
                f"'{name}' is a {kind} that outlives the call, and a model has no memory from one call to the next",
                help="take the values out of it before, and pass them as an argument",
            ).locate(self._use_of(root, is_change=False))
        return UnseenStateError(
            f"'{name}' is a {kind}, which moves on when it is used, and only the model knows whether "
            "and how often that happens",
            help=f"take the values out of it before: values = list({name})",
        ).locate(self._use_of(root, is_change=False))

    def _written(self, error: ValueError) -> OnnxsmithError:
        span = traceback_span(error.__traceback__)
        text = "an array that outlives the call" if self._is_call else "an array"
        return self._error(None, text).locate(span).locate(self._span())

    def _changed(self, value: object) -> OnnxsmithError:
        if is_random(type(value)):
            error = (LastingChangeError if self._is_call else MutationError)(
                f"'{self._reach.name_of(value)}' draws random numbers when the model is made, "
                "and every run would have the same",
                help="draw in the model, with op.RandomUniform(shape=[1]), or before, and pass it as an argument",
            )
            return error.locate(self._use_of(self._reach.root_of(value)))
        return self._error(self._reach.name_of(value), None).locate(self._use_of(self._reach.root_of(value)))

    def _error(self, name: str | None, text: str | None) -> OnnxsmithError:
        shown = f"'{name}'" if text is None else text
        if self._is_call:
            return LastingChangeError(
                f"{shown} is changed by this, and a model has no memory from one call to the next",
                help="return the new value, and pass it as an argument to the next call",
            )
        instead = f"assign a new value to a variable instead of changing {shown}"
        if self._holds_state(name):
            instead += "; state in a dataclass is given a new value: s = State(s.total + v), or s = "
            instead += "dataclasses.replace(s, total=…)"
        return MutationError(
            f"{shown} is changed inside this, and only the model knows whether and how often it runs",
            help=instead,
        )

    def _holds_state(self, name: str | None) -> bool:
        """True if a variable holds an object of a class of the user's."""
        if name is None or self._frame is None or name not in self._frame.variables:
            return False
        kind = type(self._frame.variables[name])
        return not kind.__module__.startswith(("builtins", "collections", "numpy"))

    def _span(self) -> Span | None:
        if self._frame is None:  # of a function that is no part of a script: where it is given away
            return caller_span()
        return None if self._place is None else self._frame.span(self._place)

    def _use_of(self, name: str, *, is_change: bool = True) -> Span | None:
        """Where the path first names a variable, in a statement that could change what it stands for."""
        if self._frame is None:
            return self._span()
        first = 0 if self._place is None else getattr(self._place, "lineno", 0)
        found: list[ast.AST] = []
        for node in walk(self._frame.analysis.node):
            if getattr(node, "lineno", 0) < first:
                continue
            if is_change:
                is_use = isinstance(node, _CHANGES) and any(name in each for each in names_in([node]))
            else:
                is_use = isinstance(node, ast.Name) and node.id == name
            if is_use:
                found.append(node)
        if not found or self._place is None:
            return self._span()
        return self._frame.span(min(found, key=_position))


_COLLECTING = (
    "a loop can append tensors of one element type to a list that only one variable holds; otherwise collect with "
    "op.SequenceInsert(…), with x.at[i].set(…) or in op.Scan"
)
#: What can change an object: a call, or a statement that assigns or takes away.
_CHANGES = (ast.Call, ast.AugAssign, ast.Delete, ast.Assign)


def _position(node: ast.AST) -> tuple[int, int, int]:
    """In the order of the source, the smaller first."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return line, column, getattr(node, "end_col_offset", 0)


def watch_path(frame: Scope, names: Names, place: ast.AST | None) -> Path | _Nothing:
    """Watch a path of a function, which names these names."""
    return _watch(frame, values_of(frame, names.variables), names, place, is_call=False)


def watch_call(frame: Scope, arguments: Mapping[str, object]) -> Path | _Nothing:
    """Watch the whole of a script: what outlives the call may not change, since a model has no memory."""
    analysis = frame.analysis
    names = analysis.facts.all_names
    imported = imported_by(analysis.body) if analysis.facts.has_scope else ()  # an import counts as a scope
    values = {**dict(imported), **values_of(frame, names.variables), **arguments}
    return _watch(frame, values, names, analysis.node, is_call=True)


def _watch(
    frame: Scope, values: Mapping[str, object], names: Names, place: ast.AST | None, *, is_call: bool
) -> Path | _Nothing:
    known = frozenset(names.attributes)
    reached = [(name, value) for name, value in values.items() if not is_harmless(value, known)]
    if "globals" in names.variables and "globals" not in values:
        reached.append(("globals()", frame.globals))
    if not reached:
        return _NOTHING
    return Path(frame, Reach(reached, (*names.variables, *names.attributes)), place, is_call=is_call)


class Attempt:
    """The objects that statements reach before they are tried: they are put back if staging takes another way."""

    def __init__(self, frame: Scope, names: Names, most_bytes: float = math.inf) -> None:
        self._raises = open_raises()
        self._which = None if self._raises is None else self._raises.which
        values = values_of(frame, names.variables)
        reached = [(name, each) for name, each in values.items() if not is_harmless(each, names.attributes)]
        reach = Reach(reached, (*names.variables, *names.attributes)) if reached else None
        arrays = () if reach is None else reach.arrays
        #: Whether what it reaches is too much to be copied: nothing is taken back then, and it is not worth a try.
        self.is_too_large = sum(each.nbytes for each in arrays) > most_bytes
        self._pictures: list[Picture] = []
        if reach is not None and not self.is_too_large:
            self._pictures = [*reach.pictures, *map(ArrayPicture, arrays)]

    def take_back(self) -> None:
        """Let everything hold again what it held."""
        if self._raises is not None and self._which is not None:
            self._raises.which = self._which  # of what was staged, no error is raised
        for each in self._pictures:
            if each.is_changed():
                each.put_back()


def values_of(frame: Scope, names: Iterable[str]) -> dict[str, object]:
    """The values of names in a function that is being staged; those of Python itself are left out."""
    found: dict[str, object] = {}
    for name in names:
        value: object = frame.variables.get(name, _ABSENT)
        if value is _ABSENT:
            value = _value_of(frame, name)
        if value is not _ABSENT:
            found[name] = value
    return found


def _value_of(frame: Scope, name: str) -> object:
    here: Scope | None = frame
    while here is not None:
        value = here.variables.get(name, here.cells.get(name, _ABSENT))
        if value is not _ABSENT:
            return value
        if name in here.analysis.local_names:
            return _ABSENT
        value = here.closure.get(name, _ABSENT)
        if value is not _ABSENT:
            return value
        here = here.outer
    return frame.globals.get(name, _ABSENT)


def names_of(*functions: Function) -> Names:
    """The names in the user's code in functions, such as the operands of a conditional expression.

    Functions of ours around it are looked through.
    """
    found = NO_NAMES
    waiting: list[object] = list(functions)
    while waiting:
        each = waiting.pop()
        if isinstance(each, functools.partial):
            partial = cast("functools.partial[object]", each)
            waiting += (partial.func, *partial.args)
        elif isinstance(each, tuple):
            waiting += cast("tuple[object, ...]", each)
        elif isinstance(each, types.FunctionType):
            if each.__code__.co_filename.startswith(PACKAGE_DIRECTORY):
                waiting += (*map(content_of, each.__closure__ or ()), *(each.__defaults__ or ()))
            else:
                names = code_names(each.__code__)
                found = found | Names(names, names)
    return found


# -- while a path is staged --------------------------------------------------------------------------------


def refuse_change(value: UserValue) -> None:
    """Refuse to change an object that lives longer than a path which is being staged."""
    if isinstance(value, Carrier):
        return  # what happens to it is kept in a journal
    for each in reversed(_OPEN.get()):
        each.refuse_change_of(value)
    captures = _CAPTURES.get()
    if captures is not None:
        captures.refuse_change_of(value)


def is_watched(value: object) -> bool:
    """True if an object lives longer than a path which is being staged."""
    return any(value in each for each in _OPEN.get())


def is_kept_unchanged(value: Held) -> bool:
    """True if an object may not be changed any more, for it may be another one's."""
    captures = _CAPTURES.get()
    return captures is not None and captures.is_kept_unchanged(value)


def watched(function: Function, replaced: Function) -> Function:
    """The function called when the user's code calls `function`; refused where it changes what it must not.

    `replaced` is what staging calls in its place.
    """
    error = refusal_of(function)
    if error is not None:
        raise error.locate_at_caller()
    replaced = checked(function, replaced)
    if isinstance(function, types.BuiltinMethodType) and function.__name__ in _CHANGING:
        refuse_change(cast(UserValue, function.__self__))
    watches = _OPEN.get()
    if not watches:
        return replaced
    if any(each.is_guarded for each in watches) and replaced is function and not _is_own(function):
        replaced = functools.partial(call_as_it_is, function)
    blind = [each for each in reversed(watches) if each.is_blind]
    if not blind:
        return replaced
    for each in blind:
        each.refuse_unseen([function])

    def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
        for each in blind:
            each.refuse_unseen([*args, *kwargs.values()])
        return replaced(*args, **kwargs)

    return call


def _is_own(function: Function) -> bool:
    """True if a function is one of this package, such as an operator."""
    module: object = getattr(type(function) if isinstance(function, Value) else function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "onnxsmith"


def call_as_it_is(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call what is not staged; what it calls in turn is looked at where some code names what no model can call."""
    if not any(each.is_guarded for each in _OPEN.get()):
        return function(*args, **kwargs)
    with Guard():
        return function(*args, **kwargs)

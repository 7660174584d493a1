"""Arrays of numpy that variables hold, replaced by tracked arrays: those of one memory together, or none of them.

Which arrays, and before which paths, is decided in `array_aliases`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Value
from onnxsmith.core.value_containers import SHARED, Carrier
from onnxsmith.errors import TensorAssignmentError
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.scripting.staging.closures import has_symbolic
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import parts, rebuilt
from onnxsmith.scripting.staging.tracked_array import TrackedArray
from onnxsmith.scripting.staging.watch import is_kept_unchanged, is_watched, refuse_change

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager


def has_array(value: Held) -> bool:
    """True if an array is in a value, or is the value."""
    return not isinstance(value, Value) and any(True for _ in arrays_of(value))


def arrays_of(value: Held) -> Iterator[Array]:
    """The arrays in a value, and itself if it is one."""
    for each in _leaves(value):
        if isinstance(each, np.ndarray):
            array = each
            if array.ndim and array.dtype.kind in "fiub":
                yield array


def sharing(value: Held, arrays: Sequence[Array]) -> list[Array]:
    """The arrays in a value that may share elements with one of some others."""
    if not arrays:
        return []
    return [each for each in arrays_of(value) if any(np.may_share_memory(each, other) for other in arrays)]


def _others(value: Held) -> Iterator[Held]:
    """All in a value that is no array, and no list, tuple or dict."""
    return (each for each in _leaves(value) if not isinstance(each, np.ndarray))


def _leaves(value: Held) -> Iterator[Held]:
    waiting, seen = [value], set[int]()
    while waiting:
        each = waiting.pop()
        if type(each) not in (list, tuple, dict):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            waiting += (item for _, item in _inner(each))


def _inner(value: Held) -> Sequence[tuple[object, Held]]:
    """The items of lists, tuples and dicts: what can be given a tracked array in the place of another."""
    return (parts(value) or ()) if type(value) in (list, tuple, dict) else ()


def track(stager: Stager, arrays: Sequence[Array]) -> bool:
    """Put tracked arrays in the places of arrays, and of all that share elements with them; or change nothing.

    The result is false where nothing was changed.
    """
    variables = stager.frame.variables
    known = {id(each): each for value in variables.values() for each in arrays_of(value)}
    bases = {id(_base(each)): _base(each) for each in arrays}
    shared = [each for each in known.values() if id(_base(each)) in bases]
    if any(map(is_watched, (*shared, *bases.values()))) or not all(map(_fits, shared)):
        return False
    if _are_held_elsewhere(stager, list(bases.values())):
        return False
    owners: dict[int, TrackedArray] = {}
    places = dict[int, TrackedArray]()
    for each in shared:
        base = _base(each)
        if id(base) not in owners:
            # A copy: what the array is changed to by others is not what the model begins with.
            elements = base.copy() if base.flags.c_contiguous else base.ravel("K").copy()
            is_kept = any(is_kept_unchanged(other) for other in shared if _base(other) is base)
            owners[id(base)] = TrackedArray(
                cast(SymbolicTensor, current_graph().constant(elements)), locked=SHARED if is_kept else None
            )
        owner = owners[id(base)]
        is_base = each is base and base.flags.c_contiguous
        places[id(each)] = owner if is_base else owner.part(_positions(each, base))
    memo: dict[int, Held] = {}
    for name, value in list(variables.items()):
        if any(id(each) in places for each in arrays_of(value)):
            variables[name] = _replaced(value, places, memo)
    return True


def followed(
    stager: Stager, written: ast.expr, value: UserValue, parts_of_write: Sequence[UserValue]
) -> UserValue:
    """The object that an element is assigned to: a tracked array where one of numpy takes a value of the model."""
    frame = stager.frame
    if type(value) is not np.ndarray or frame.run.dialect.stages_all or not has_symbolic(parts_of_write):
        return value
    is_simple = isinstance(written, ast.Name) or (
        isinstance(written, ast.Subscript)
        and isinstance(written.value, ast.Name)
        and isinstance(written.slice, ast.Constant)
    )
    array = value
    if is_simple and has_array(array) and current_graph().depth == frame.depth and track(stager, [array]):
        found = frame.evaluate(written)
        if isinstance(found, TrackedArray):
            return found
    refuse_change(array)
    raise TensorAssignmentError(
        "an array of numpy takes a value here that only the model knows, and what else holds the array is not known",
        help="make a tensor of it, w = op.Identity(w), and a new one of that: w = w.at[i].set(v)",
    ).locate(frame.span(written))


def _are_held_elsewhere(stager: Stager, bases: Sequence[Array]) -> bool:
    """True if something reaches the memory of arrays besides variables, and lists, tuples and dicts in them."""
    frame = stager.frame
    named = frame.analysis.facts.all_names
    held = [(name, each) for name, value in frame.variables.items() for each in _others(value)]
    held += [(each, frame.globals[each]) for each in named.variables if each in frame.globals]
    reach = Reach(held + held_around(frame) + list(frame.given.items()), ("__dict__",))
    if reach.iterators or reach.opaque:
        return True  # nobody can see what those hold
    arrays = [cast("Array", each) for each in reach.objects if isinstance(each, np.ndarray)]
    return any(np.may_share_memory(each, base) for each in arrays for base in bases)


def _base(array: Array) -> Array:
    """The array that owns the memory of another."""
    while isinstance(array.base, np.ndarray):
        array = cast("Array", array.base)
    return array


def _fits(array: Array) -> bool:
    """True if the elements of an array are elements of the one that owns them, which has no gaps."""
    base = _base(array)
    return base.base is None and base.dtype == array.dtype and base.flags.forc and bool(base.size)


def _positions(array: Array, base: Array) -> Array:
    """The positions of an array's elements in memory, laid out as they are."""
    size = base.itemsize
    numbers = np.arange(base.size)
    offset = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // size
    strides = tuple(each // size * numbers.itemsize for each in array.strides)
    return np.lib.stride_tricks.as_strided(numbers[offset:], array.shape, strides)


def _replaced(value: Held, places: Mapping[int, TrackedArray], memo: dict[int, Held]) -> Held:
    """A value with tracked arrays; lists and dicts stay the objects that they are."""
    if isinstance(value, np.ndarray):
        return places.get(id(value), value)
    inner = _inner(value)
    if not inner:
        return value
    if id(value) in memo:
        return memo[id(value)]
    memo[id(value)] = value
    items = [_replaced(each, places, memo) for _, each in inner]
    if isinstance(value, tuple):
        is_same = all(item is each for item, (_, each) in zip(items, inner, strict=True))
        memo[id(value)] = value if is_same else rebuilt(value, items)
    else:
        container = cast("dict[object, Held]", value)
        for (key, _), item in zip(inner, items, strict=True):
            container[key] = item
    return memo[id(value)]


# -- Checks that only some variables hold the elements of an array: then a new array may take its place
# unseen --


class Owners:
    """Who holds what after a statement: given what variables hold then, and other values that are still needed.

    A function's arguments are its caller's. What it has made itself is held by its variables that are still read, by
    what inner functions assign, and by objects that these reach.
    """

    def __init__(
        self, stager: Stager, place: ast.AST | None, variables: Mapping[str, object], *others: object
    ) -> None:
        self._frame = stager.frame
        self._variables = variables
        self._others = others
        self._live = stager.flow.live_wherever(place) if isinstance(place, ast.stmt) else None
        self._reach: Reach | None = None

    def is_alone(self, carrier: Carrier) -> bool:
        """True if nobody holds an object from before, and none shows its values."""
        if self._live is None or carrier.owner is not carrier or carrier.born < self._frame.started:
            return False
        if self._reach is None:
            held = [(name, each) for name, each in self._variables.items() if name in self._live]
            held += [("", each) for each in self._others]
            self._reach = Reach(held + held_around(self._frame), ("__dict__",))
        return carrier not in self._reach


def held_around(frame: Frame) -> list[tuple[str, object]]:
    """The variables that inner functions assign, and those of the functions around this one."""
    found: list[tuple[str, object]] = []
    here: Frame | None = frame
    while here is not None:
        found += (*here.cells.items(), *here.closure.items())
        if here is not frame:
            found += here.variables.items()
        here = here.outer
    return found

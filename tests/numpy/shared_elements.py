"""The law that arrays share their elements where numpy's do: every function, written to its argument or to its result.

The calls are those of `every_argument`, on arrays that lie in memory in three ways. After a write to one of them, all
arguments and results hold what numpy's hold. Where numpy makes a view, a write or the read that follows may be refused;
where it makes a copy, both go on. Writes to all elements in a row (`ravel`) may be refused anywhere.

One in twenty is refused (76 of 1,529 cases of seeds 2611184 and 2611188): calls that another law is about, `ravel`
where the layout in memory decides between a view and a copy, and writes to what is broadcast, as in numpy.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dispatch import array_function
from onnxsmith.scripting.dialects.numpy.callees import replacements
from tests.laws.named import Law, Verdict, verdict_on
from tests.numpy.domains import DOMAINS
from tests.numpy.domains.samples import FLOAT, A, Given
from tests.numpy.every_argument import Call, calls, difference, numpys

#: How an array lies in memory: in order, transposed, and as every second of another.
LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "plain": (lambda x: x, lambda x: x),
    "transposed": (lambda x: x.T.copy(), lambda x: x.T),
    "spread": (lambda x: np.repeat(x, 2, axis=-1) if x.ndim else x, lambda x: x[..., ::2] if x.ndim else x),
}
#: Functions that set the memory layout, which numpy does not dispatch, and the options of their calls.
_LAYING: dict[str, Sequence[dict[str, Any]]] = {
    "asarray": [{"order": each} for each in (None, "C", "F", "A", "K")],
    "asanyarray": [{"order": each} for each in (None, "C", "F", "A", "K")],
    "ascontiguousarray": [{}, {"dtype": "float32"}],
    "asfortranarray": [{}, {"dtype": "float32"}],
    "array": [{"copy": copy, "order": each} for copy in (None, True) for each in ("C", "F", "A", "K")],
    "ndarray.astype": [{"dtype": FLOAT, "copy": False, "order": each} for each in "CFAK"],
}
_SHAPES = ((), (1,), (3,), (0, 3), (1, 3), (3, 1), (2, 3), (1, 1), (2, 1, 3), (2, 3, 2))
#: So many writes in a row are tried of a function that has given a view.
_AFTER_VIEWS = 8
#: Functions whose results numpy leaves open, or that give no arrays.
_OPEN = ("linalg.eigvals", "partition", "unique_values", "result_type", "common_type", "min_scalar_type")


class Write(NamedTuple):
    """A call, how its arrays lie, and which of the arguments or results is written to."""

    call: Call
    layout: str
    is_result: bool
    place: int
    #: Whether all elements are written to in a row, by `ravel`: a view or a copy, as they lie in memory.
    is_flat: bool = False

    def __str__(self) -> str:
        written = f"{'result' if self.is_result else 'argument'} {self.place}{'.ravel()' * self.is_flat}"
        return f"{self.call}, {self.layout}, then a write to {written}"


class _State(NamedTuple):
    arguments: list[Any]
    results: list[Any]


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, Array | np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _arrays(each)


def _made(value: Any, layout: str, *, is_ours: bool) -> Any:
    if isinstance(value, A | Given):
        before, then = LAYOUTS[layout]
        whole = before(value.made())
        return then(xp.asarray(whole) if is_ours else whole.copy())
    if isinstance(value, list | tuple):
        return type(value)(_made(each, layout, is_ours=is_ours) for each in value)
    return value


def _ours(name: str) -> Callable[..., Any]:
    if name == "ndarray.astype":
        return Array.astype
    theirs = numpys(name)
    return (
        replacements()[theirs]
        if name in _LAYING
        else lambda *args, **kwargs: array_function(theirs, args, kwargs)
    )


def _called(write: Write, *, is_ours: bool) -> _State:
    call = write.call
    args = [_made(each, write.layout, is_ours=is_ours) for each in call.args]
    kwargs = {key: _made(each, write.layout, is_ours=is_ours) for key, each in call.kwargs}
    called = _ours(call.name) if is_ours else numpys(call.name)
    result = called(*args, **kwargs)
    return _State(list(_arrays([*args, *kwargs.values()])), list(_arrays(result)))


def _write(state: _State, write: Write) -> None:
    arrays = state.results if write.is_result else state.arguments
    array = arrays[write.place]
    if array.size or not write.is_flat:  # of nothing, there is nothing to be seen
        target = array.ravel() if write.is_flat else array
        target[...] = (np.arange(target.size).reshape(target.shape) * 2 + 7).astype(target.dtype)


def judge(write: Write) -> Verdict:
    """The verdict on one write."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = _called(write, is_ours=False)
            found = _called(write, is_ours=True)
        except Exception:  # what is refused is the matter of another law
            return Verdict("refused", f"{write}: the call is refused")
        arrays = wanted.results if write.is_result else wanted.arguments
        if write.place >= len(arrays):
            return Verdict("equal")
        is_shared = any(
            np.shares_memory(one, other) for one in wanted.arguments for other in wanted.results
        ) or any(a is not b and np.shares_memory(a, b) for a in wanted.results for b in wanted.results)
        try:
            _write(wanted, write)
        except ValueError as error:
            return _refused(write, found, error)
        try:
            _write(found, write)
            told = _told(wanted, found)
        except OnnxsmithError as error:
            kind = "refused" if is_shared or write.is_flat else "wrong"
            return Verdict(kind, f"{write}: {error}")
    return Verdict("equal") if told is None else Verdict("wrong", f"{write}: {told}")


def _refused(write: Write, found: _State, error: ValueError) -> Verdict:
    try:
        _write(found, write)
    except OnnxsmithError:
        return Verdict("equal")
    return Verdict("wrong", f"{write}: numpy raises {error!r}, and here is {found}")


def _told(wanted: _State, found: _State) -> str | None:
    pairs: Sequence[tuple[str, Any, Any]] = [
        *(("argument", one, other) for one, other in zip(wanted.arguments, found.arguments, strict=True)),
        *(
            ("result", one, other)
            for one, other in zip(wanted.results, _same_kind(found.results), strict=True)
        ),
    ]
    for name, one, other in pairs:
        told = difference(one, other)
        if told is not None:
            return f"{name}: {told}"
    return None


def _same_kind(results: list[Any]) -> list[Any]:
    # Numbers are the matter of another law, and numpy's are no arrays here.
    return [each for each in results if not each.is_number]


def writes(call: Call) -> Iterator[Write]:
    """The writes that are tried after a call."""
    for layout in LAYOUTS:
        yield from (Write(call, layout, True, place) for place in (0, 1))
        yield Write(call, layout, False, 0)
        yield Write(call, layout, True, 0, is_flat=True)


def _laying(name: str) -> Iterator[Call]:
    for shape, options in itertools.product(_SHAPES, _LAYING[name]):
        yield Call(name, (A(FLOAT, shape),), tuple(options.items()))


def _gives_views(write: Write) -> bool | None:
    """True if numpy's result shares elements with an argument or another result; None where numpy refuses the call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = _called(write, is_ours=False)
        except Exception:  # what is refused is the matter of another law
            return None
    pairs = itertools.chain(
        itertools.product(made.arguments, made.results), itertools.combinations(made.results, 2)
    )
    return any(np.shares_memory(one, other) for one, other in pairs)


def verdicts(seed: int) -> Iterator[Verdict]:
    """Verdicts on writes after all calls that numpy runs, each function's in an order of the seed's.

    One of each function in turn, and several of a function that has given a view: most functions give copies alone.
    """
    rng = random.Random(seed)
    left: list[list[Write]] = []
    for name in (*_LAYING, *DOMAINS):
        if name in _OPEN:
            continue
        found = _laying(name) if name in _LAYING else calls(name)
        own = [write for call in found for write in writes(call)]
        rng.shuffle(own)
        left.append(own)
    viewing: set[str] = set()
    while left:
        for own in left:
            taken = 0
            while own and taken < (_AFTER_VIEWS if own[0].call.name in viewing else 1):
                write = own.pop()
                gives_views = _gives_views(write)
                if gives_views is None:
                    continue
                if gives_views:
                    viewing.add(write.call.name)
                taken += 1
                yield verdict_on(str(write), partial(judge, write))
        left = [own for own in left if own]


LAW = Law("arrays share their elements where numpy's do, or refuse to be written to", 20_000, verdicts)

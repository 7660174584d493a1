"""The law that numpy's refusals to store a value are ours: element types × values × kinds of stores, all of them.

A value is a number of numpy's, an array without dimensions, or a vector of one. Stores run at once on arrays of ours;
the commonest of them as models, too, and there of Python's numbers as well. Where numpy stores a value, the elements
agree, unless C leaves them open.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict
from tests.numpy.agreement import ALL, INTEGERS

#: Statements that store `v` in `a`, by name.
STORES = {
    "item": "a[0] = v",
    "item of a matrix": "a = a.reshape(2, 1); a[1, 0] = v",
    "row": "a = a.reshape(2, 1); a[0] = v",
    "all": "a[...] = v",
    "slice": "a[1:] = v",
    "fill": "a.fill(v)",
    "places": "a[[0, 1]] = v",
    "mask": "a[np.array([True, False])] = v",
    "list": "a[...] = [v, v]",
    "copyto": "np.copyto(a, v)",
    "put": "np.put(a, [0], v)",
    "putmask": "np.putmask(a, np.array([True, False]), v)",
    "place": "np.place(a, np.array([True, False]), v)",
    "flat": "a.flat = v",
    "diagonal": "a = np.stack([a, a]); np.fill_diagonal(a, v)",
    "insert": "a = np.insert(a, 0, v)",
    "insert list": "a = np.insert(a, 0, [v, v])",
    "pad": "a = np.pad(a, 1, constant_values=v)",
}
#: Stores that are no functions of arrays of ours: numpy's own would make arrays.
_OF_MODELS = {
    "array": "a = np.array([v, v], a.dtype)",
    "grown list": "a = np.array([v for _ in range(len(a))], a.dtype)",
    "iterator": "a = np.fromiter((v for _ in range(len(a))), a.dtype)",
}
#: Those that are tried as models.
RECORDED = ("item", "all", "slice", "fill", "list", "places", "insert", "insert list", "pad", *_OF_MODELS)
FORMS = {
    "number": "w[0]",
    "python": "w[0].item()",
    "sum": "w.sum(dtype=w.dtype)",
    "no dimensions": "w.reshape(())",
    "vector": "w",
}
_VALUES: dict[str, tuple[Any, ...]] = {
    "b": (False, True),
    "i": (1, -1, 127, 128, -129, 300, 40_000, 2**40),
    "u": (1, 128, 300, 2**31, 2**63 + 5),
    "f": (1.5, -1.5, 127.5, 200.0, -200.0, 70_000.0, 1e12, 1e30, np.nan, np.inf, -np.inf),
    "c": (1.5, 1 + 2j, 70_000 + 1j, complex(np.nan, 0)),
}


class Store(NamedTuple):
    """A value of an element type, and how and where it is stored."""

    how: str
    form: str
    given: str
    wanted: str
    value: Any
    is_recorded: bool

    def __str__(self) -> str:
        kind = "model, " if self.is_recorded else ""
        stored = {**STORES, **_OF_MODELS}[self.how]
        return f"{kind}a of {self.wanted}, v = {FORMS[self.form]} of {self.given}({self.value}): {stored}"


@functools.cache
def _function(how: str, form: str) -> Callable[[Any, Any], Any]:
    """A function of plain numpy code that copies an array, and stores a value in it."""
    lines = ["a = a.copy()", f"v = {FORMS[form]}", {**STORES, **_OF_MODELS}[how], "return a"]
    source = "def store(a, w):\n" + "".join(f"    {each}\n" for each in lines)
    name = f"<{how}, {form}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # which staging reads
    names: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), names)  # text of this module
    return names["store"]


@functools.cache
def _model(how: str, form: str) -> Callable[[Any, Any], Any]:
    return xp.jit(_function(how, form))


def stores() -> Iterator[Store]:
    """All stores of values that an element type has."""
    for given, wanted in itertools.product(ALL, ALL):
        for value in _VALUES[np.dtype(given).kind]:
            with np.errstate(all="ignore"):
                try:
                    np.dtype(given).type(value)
                except OverflowError:
                    continue
            for how, form in itertools.product(STORES, [each for each in FORMS if each != "python"]):
                yield Store(how, form, given, wanted, value, False)
            if wanted in INTEGERS and given != wanted:
                # What only the model knows is no complex number of Python's.
                forms = ("number",) if given.startswith("complex") else ("number", "python")
                for how, form in itertools.product(RECORDED, forms):
                    yield Store(how, form, given, wanted, value, True)


def judge(store: Store) -> Verdict:
    """The verdict on one store."""
    kind = np.dtype(store.wanted)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = np.array([np.dtype(store.given).type(store.value)])
        function = _function(store.how, store.form)
        wanted = _outcome(function, np.ones(2, kind), given)
        if store.is_recorded:
            found = _outcome(_model(store.how, store.form), np.ones(2, kind), given)
        else:
            found = _outcome(function, xp.asarray(np.ones(2, kind)), xp.asarray(given))
    if isinstance(wanted, Exception):
        if isinstance(found, OnnxsmithError | type(wanted)):
            return Verdict("equal")
        return Verdict("wrong", f"{store}: numpy raises {wanted!r}, and not {found!r}")
    if isinstance(found, Exception):
        return Verdict("wrong", f"{store}: numpy gives {wanted}, and not {found!r}")
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return Verdict("wrong", f"{store}: {found!r} is not {wanted!r}")
    if _is_open(store, kind) or np.array_equal(np.asarray(found), wanted, equal_nan=kind.kind in "fc"):
        return Verdict("equal")
    return Verdict("wrong", f"{store}: {found!r} is not {wanted!r}")


def _outcome(function: Callable[[Any, Any], Any], a: Any, w: Any) -> Any:
    try:
        return function(a, w)
    except Exception as error:  # numpy has a class for each reason
        return error


def _is_open(store: Store, kind: np.dtype[Any]) -> bool:
    """True if C leaves open what a float becomes as an integer: it is NaN, or outside of the integers."""
    if np.dtype(store.given).kind not in "fc" or kind.kind not in "iu":
        return False
    with np.errstate(all="ignore"):
        real = float(np.real(np.dtype(store.given).type(store.value)))
    return not np.iinfo(kind).min <= real <= np.iinfo(kind).max


def verdicts(seed: int) -> Iterator[Verdict]:
    """Verdicts on all stores, in an order of the seed's."""
    cases = list(stores())
    random.Random(seed).shuffle(cases)
    return map(judge, cases)


LAW = Law(
    "numpy's refusals to store a value are ours, at once and as models, and what it stores is stored alike",
    sum(1 for _ in stores()),
    verdicts,
)

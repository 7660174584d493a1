"""The law that every function gives what numpy gives, for all combinations of arguments from small domains.

The domains stand in `domains`. Values, element types, shapes and the kind of result (an array, or a number) agree, and
what numpy refuses is refused. The enumeration is whole: the seed decides about its order alone.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import random
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dispatch import array_function
from onnxsmith.numpy.registry import FUNCTIONS
from tests.laws.named import Law, Verdict
from tests.numpy.domains import DOMAINS, WRITING
from tests.numpy.domains.samples import ABSENT, BY_NAME, A, Given


class Call(NamedTuple):
    """A call of a function, whose arrays are not made yet."""

    name: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        shown = [*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwargs)]
        return f"np.{self.name}({', '.join(shown)})"


def numpys(name: str) -> Any:
    """The function of numpy under a name with dots."""
    return functools.reduce(getattr, name.split("."), np)


def domain(name: str) -> tuple[tuple[tuple[Any, ...], ...], dict[str, tuple[Any, ...]]]:
    """The positional arguments of a function that takes any number, and the values of its parameters."""
    entry: Mapping[str, Any] = DOMAINS.get(name) or WRITING[name]
    parameters = inspect.signature(numpys(name)).parameters
    named = {
        key: entry.get(key, BY_NAME.get(key, (ABSENT,)))
        for key in (*parameters, *entry)
        if key in entry or key in BY_NAME
    }
    return named.pop("*", ((),)), named


def calls(name: str) -> Iterator[Call]:
    """All calls of a function."""
    positional, named = domain(name)
    parameters = inspect.signature(numpys(name)).parameters
    # Some functions say in their code alone that the first is positional.
    before = [
        key
        for place, (key, each) in enumerate(parameters.items())
        if each.kind is inspect.Parameter.POSITIONAL_ONLY or not place
    ]
    for args in positional:
        for values in itertools.product(*named.values()):
            given = {key: each for key, each in zip(named, values, strict=True) if not _is_absent(each)}
            first = tuple(given.pop(key) for key in before if key in given)
            yield Call(name, (*args, *first), tuple(given.items()))


def _is_absent(value: object) -> bool:
    return isinstance(value, str) and value == ABSENT


def _made(value: Any) -> Any:
    if isinstance(value, A | Given):
        return value.made()
    if isinstance(value, list | tuple):
        return type(value)(map(_made, value))
    return value


def _ours(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return xp.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_ours, value))
    return value


def judge(call: Call) -> Verdict:
    """The verdict on one call."""
    args, kwargs = _made(call.args), {key: _made(each) for key, each in call.kwargs}
    own_args, own_kwargs = _ours(args), {key: _ours(each) for key, each in kwargs.items()}
    theirs = numpys(call.name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted: Any = theirs(*args, **kwargs)
        except Exception as error:  # numpy has a class for each reason
            wanted = error
        try:
            found: Any = array_function(theirs, own_args, own_kwargs)
        except Exception as error:
            found = error
    if isinstance(wanted, Exception):
        if isinstance(found, OnnxsmithError | type(wanted)):
            return Verdict("equal")
        return Verdict("wrong", f"{call}: numpy raises {wanted!r}, and not {found!r}")
    if isinstance(found, Exception):
        # A session that fails is no refusal: nobody decided that.
        if not isinstance(found, OnnxsmithError) or found.code.startswith("R"):
            return Verdict("wrong", f"{call}: {found!r} is no refusal of ours")
        return Verdict("refused", f"{call}: {found}")
    if call.name in WRITING:
        first = next(iter(domain(call.name)[1]))
        wanted, found = _first(args, kwargs, first), _first(own_args, own_kwargs, first)
    if call.name in _SAME_UP_TO:
        wanted, found = (_SAME_UP_TO[call.name](each, kwargs) for each in (wanted, found))
    told = difference(wanted, found)
    return Verdict("equal") if told is None else Verdict("wrong", f"{call}: {told}")


def _in_order(result: Any, kwargs: Mapping[str, Any]) -> Any:
    made = np.sort(np.asarray(result), axis=kwargs.get("axis", -1))
    return xp.asarray(made) if isinstance(result, Array) else made


def _complex_in_order(result: Any, kwargs: Mapping[str, Any]) -> Any:
    # A model cannot have an element type that depends on values: eigenvalues are complex, and in an order of their own.
    made = np.sort(np.round(np.asarray(result).astype(np.complex128), 6), axis=-1)
    return xp.asarray(made) if isinstance(result, Array) else made


#: Functions that leave something open, and what they say nevertheless.
_SAME_UP_TO = {
    "partition": _in_order,
    "unique_values": _in_order,
    "linalg.eigvals": _complex_in_order,
}


def _first(args: Sequence[Any], kwargs: Mapping[str, Any], name: str) -> Any:
    return kwargs[name] if name in kwargs else args[0]


def difference(wanted: Any, found: Any) -> str | None:
    """A result of ours that is none of numpy's, in words; None where there is no difference."""
    if isinstance(wanted, tuple | list):
        if not isinstance(found, tuple | list) or len(found) != len(wanted):
            return f"{found!r} is not {wanted!r}"
        told = (difference(one, other) for one, other in zip(wanted, found, strict=True))
        return next((each for each in told if each is not None), None)
    if not isinstance(wanted, np.ndarray | np.generic):
        return _of_python(wanted, found)
    if not isinstance(found, Array):
        return f"{found!r} is not {wanted!r}"
    if isinstance(wanted, np.generic) != found.is_number:
        return f"{'a number' if found.is_number else 'an array'} of {found!r} is not {wanted!r}"
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype.name}{found.shape} is not {wanted.dtype.name}{wanted.shape}"
    held = np.asarray(found)
    if wanted.dtype.kind not in "fc":
        return None if np.array_equal(held, wanted) else f"{held} is not {wanted}"
    finite = np.abs(wanted[np.isfinite(wanted)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    room = 64 * float(np.finfo(wanted.dtype).eps)
    with np.errstate(all="ignore"):
        same = np.isclose(held, wanted, rtol=room, atol=room * scale, equal_nan=True)
    return None if same.all() else f"{held} is not {wanted}"


def _of_python(wanted: Any, found: Any) -> str | None:
    if isinstance(found, Array):
        # A truth value or a count of Python's is an array without dimensions here.
        found = found.item() if not found.ndim and not isinstance(wanted, np.dtype | type) else found
    same = not isinstance(found, Array) and (found == wanted or (found != found and wanted != wanted))
    return None if same else f"{found!r} is not {wanted!r}"


def verdicts(seed: int) -> Iterator[Verdict]:
    """Verdicts on all calls: one of each function in turn, each function's in an order of the seed's."""
    rng = random.Random(seed)
    left = []
    for name in (*DOMAINS, *WRITING):
        own = list(calls(name))
        rng.shuffle(own)
        left.append(own)
    while left:
        for own in left:
            yield judge(own.pop())
        left = [own for own in left if own]


COUNT = sum(sum(1 for _ in calls(name)) for name in (*DOMAINS, *WRITING))
LAW = Law(
    "every function gives what numpy gives, or refuses as numpy: an enumeration of arguments from small domains",
    COUNT,
    verdicts,
)


#: How many calls of each function its module's tests make.
SAMPLED = 30


def sampled(module: str, count: int) -> Iterator[Call]:
    """Calls of the functions that a module of `onnxsmith.numpy` registers: some of each, spread over all.

    Every other call leaves out some arguments that have a default.
    """
    for name in (*DOMAINS, *WRITING):
        if FUNCTIONS.index.get(name) != module:
            continue
        own, rng = list(calls(name)), random.Random(name)
        # Neighbours in the enumeration differ in the last parameters alone: a random order differs in all.
        rng.shuffle(own)
        defaults = {
            key
            for key, each in inspect.signature(numpys(name)).parameters.items()
            if each.default not in (inspect.Parameter.empty, np._NoValue)  # some such belong together
        }
        for place, call in enumerate(own[:count]):
            left = [
                pair
                for pair in call.kwargs
                if place % 2 == 0 or pair[0] not in defaults or rng.random() < 0.5
            ]
            yield call._replace(kwargs=tuple(left))


def disagreements(
    module: str, refused: Mapping[str, int] = MappingProxyType({}), count: int = SAMPLED
) -> list[str]:
    """What is wrong about sampled calls of a module's functions.

    `refused` says how many of each function may be refused, though numpy gives a result.
    """
    found = [(call.name, judge(call)) for call in sampled(module, count)]
    beyond = Counter(name for name, each in found if each.kind == "refused") - Counter(refused)
    kinds = ("wrong", "refused") if beyond else ("wrong",)
    return [each.text for _, each in found if each.kind in kinds]

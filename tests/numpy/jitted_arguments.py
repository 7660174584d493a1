"""The law that jitted code with open sizes gives what numpy gives, for the calls of `every_argument`.

Arrays become arguments of a function with one call, and all else stands in its text. What is known when that law calls
a function is found out by a model here: sizes, elements, and whether numpy refuses them. What the two do otherwise for
no elements stands in `known_edges`.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict
from tests.numpy.domains import DOMAINS, WRITING
from tests.numpy.domains.samples import A, Given
from tests.numpy.every_argument import Call, calls, difference
from tests.scripting.dialects.numpy.known_edges import DIFFERS, GIVES, REFUSES

_NUMBERS = itertools.count()
#: Values that Python shows as text that means them.
_WRITTEN = (bool, int, str, float, complex, slice, type(None))
#: Rounding decides about a whole number, or numpy leaves the result open.
_LEFT_OUT = ("geomspace", "linalg.eigvals")
_ANY_ORDER = ("partition", "unique_values")


class _Writing:
    """The text of a function with one call, and what it is called with."""

    def __init__(self, call: Call) -> None:
        self.arrays: list[Any] = []
        self.names: dict[str, Any] = {"np": np}
        given = [self._text(each) for each in call.args]
        given += [f"{key}={self._text(each)}" for key, each in call.kwargs]
        places = [f"a{place}" for place in range(len(self.arrays))]
        result = f"np.{call.name}({', '.join(given)})"
        body = f"{result}\n    return a0" if call.name in WRITING else f"return {result}"
        self.text = f"def called({', '.join(places)}):\n    {body}\n"

    def _text(self, value: Any) -> str:
        if isinstance(value, A | Given | np.ndarray):
            self.arrays.append(value if isinstance(value, np.ndarray) else value.made())
            return f"a{len(self.arrays) - 1}"
        if isinstance(value, list | tuple):
            inside = "".join(f"{self._text(each)}, " for each in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside})"
        if type(value) in _WRITTEN and value == value and value not in (np.inf, -np.inf):
            return repr(value)
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def function(self) -> Callable[..., Any]:
        """The function, whose source Python finds."""
        file = f"<jitted arguments {next(_NUMBERS)}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        exec(compile(self.text, file, "exec"), self.names)  # text of this module
        return self.names["called"]


def _outcome(function: Callable[..., Any], arrays: list[Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*copy.deepcopy(arrays))
        except Exception as error:  # numpy has a class for each reason
            return error


def _as_ours(found: Any, wanted: Any) -> Any:
    """Results as `every_argument` compares them: arrays of ours."""
    if isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
        return (
            [_as_ours(*each) for each in zip(found, wanted, strict=True)]
            if len(found) == len(wanted)
            else found
        )
    if not isinstance(found, np.ndarray | np.generic):
        return found
    array = xp.asarray(np.asarray(found))
    return array.as_number() if isinstance(found, np.generic) else array


def judge(call: Call) -> Verdict | None:
    """The verdict on one call; None for one without arrays."""
    written = _Writing(call)
    if not written.arrays or call.name in _LEFT_OUT:
        return None
    function = written.function()
    wanted, found = _outcome(function, written.arrays), _outcome(xp.jit(function), written.arrays)
    of_nothing = any(not each.size for each in written.arrays)
    if isinstance(wanted, Exception):
        if isinstance(found, Exception):
            return (
                Verdict("equal")
                if isinstance(found, OnnxsmithError | type(wanted))
                else _wrong(call, wanted, found)
            )
        is_known = of_nothing and call.name in GIVES
        return Verdict("refused", f"{call}: known") if is_known else _wrong(call, wanted, found)
    if isinstance(found, Exception):
        is_refusal = isinstance(found, OnnxsmithError) and not found.code.startswith("R")
        if is_refusal or call.name in REFUSES:
            return Verdict("refused", f"{call}: {found}")
        return _wrong(call, wanted, found)
    if call.name in _ANY_ORDER:
        axis = dict(call.kwargs).get("axis", -1)
        wanted, found = np.sort(wanted, axis), np.sort(found, axis)
    told = difference(wanted, _as_ours(found, wanted))
    if told is None:
        return Verdict("equal")
    is_known = of_nothing and call.name in DIFFERS
    return Verdict("refused", f"{call}: known") if is_known else Verdict("wrong", f"{call}: {told}")


def _wrong(call: Call, wanted: Any, found: Any) -> Verdict:
    return Verdict("wrong", f"{call}: numpy gives {wanted!r}, and jit {found!r}")


def verdicts(seed: int) -> Iterator[Verdict]:
    """Verdicts on drawn calls: one of each function in turn, each function's in an order of the seed's."""
    rng = random.Random(seed)
    own = {name: list(calls(name)) for name in (*DOMAINS, *WRITING)}
    for each in own.values():
        rng.shuffle(each)
    while own:
        names = list(own)
        rng.shuffle(names)
        for name in names:
            found = judge(own[name].pop())
            if found is not None:
                yield found
            if not own[name]:
                del own[name]


LAW = Law("jitted code with open sizes gives what numpy gives, or refuses as numpy", 1500, verdicts)

"""The law of numbers that Python consumes: a model agrees with the eager run on every size, or the line is refused.

Nothing that is known only when the model runs becomes text, a key or a constant unnoticed. No error is Python's own.

About 70 % of the cases are refused, and have to be: the expressions are ways in which the standard library takes a
number out of the model, and a model has no place for what comes out. 1,469 cases of seed 2611186, 1,024 refused:

- text (one in three: `str(n)`, formats, `json`, `csv`, `hashlib`): ONNX has no operator that writes a number as Python;
- what C code of Python converts to an int, a float or a complex number (one in three: `math.factorial`, `itertools`,
  `struct`, `array`, `datetime`, `cmath`, `statistics`): it takes the bits, and calls nothing that could be recorded;
- truth values inside functions of Python that are not ours to compile (one in eight: `heapq`, `bisect`, `sorted`,
  `statistics.median`): the branch is chosen in code that is run, not read;
- hashes (one in twenty-five: sets, keys of dicts, `functools.lru_cache`, `collections.Counter`): a place in memory;
- combinations with objects of other classes (the rest: `Decimal`, `Fraction`, `timedelta`, a list or text times n).

What has a form in ONNX (arithmetic, `math`, `min`, `max`, `divmod`, `round`, methods of int) is followed.
"""

from __future__ import annotations

import decimal
import fractions
import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, jit, script, trace
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict
from tests.scripting.number_uses import FAMILIES, IMPORTS
from tests.scripting.tensor_uses import SCALARS, SHAPES

#: The numbers that `n` is, one after the other, for one and the same model.
_NUMBERS = (3, 4, 7)
#: The line of the expression in the program that is made of it.
_LINE = 4
#: The file of the functions and classes that expressions use: a refusal inside of one stands there.
_IMPORTS_FILE = "<number uses>"


@dataclass(frozen=True)
class Use:
    """One expression, and what it reads: a size `n`, the shape of `x`, or the value `s` of a scalar tensor."""

    expression: str
    reads: str

    @property
    def name(self) -> str:
        """The variable that the program calls by the name that the expression reads."""
        return {"n": "n = x.shape[0]", "x": "n = None", "s": "s = x.max()"}[self.reads]

    def expected(self, names: dict[str, Any], value: int) -> float:
        """The number that Python computes."""
        x = np.full(value, value, np.float64)
        read = {"n": value, "x": x, "s": float(value)}
        return float(eval(self.measured(names), {**names, **read}))

    def measured(self, names: dict[str, Any]) -> str:
        """The expression as a number: text by its characters, a sequence by its sum."""
        read = {"n": 3, "x": np.full(3, 3.0), "s": 3.0}
        result = eval(self.expression, {**names, **read})
        match result:
            case bool() | np.bool_() | None:
                return f"(1.0 if {self.expression} else 0.0)"
            case str():
                return f"sum(map(ord, {self.expression}))"
            case bytes() | bytearray() | list() | tuple():
                return f"sum({self.expression})"
            case fractions.Fraction() | decimal.Decimal():
                return f"float({self.expression})"
            case _:
                return self.expression

    def source(self, names: dict[str, Any]) -> str:
        """The program."""
        return f"\ndef program(x):\n    {self.name}\n    return x.sum() * 0 + ({self.measured(names)})\n"


_SCRIPT, _JIT, _TRACE, _ARRAYS, _MODEL = "script", "jit", "trace", "xp.jit", "xp.to_model"
#: How a program becomes a model, for each front end.
_STAGED: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    _SCRIPT: lambda function: script(function).to_model(input_types=[FLOAT["N"]]),
    _JIT: lambda function: jit(script(function)),
    _TRACE: lambda function: trace(function, FLOAT["N"]),
    _ARRAYS: xp.jit,
    _MODEL: lambda function: xp.to_model(function, DOUBLE["N"], verify=False),
}


#: Expressions that ask for the class of a number. A trace runs as Python, and cannot answer for another class: there
#: `isinstance(n, int)` says whether a size is known. Scripts and code for numpy answer as the eager run does.
_ASK_FOR_CLASS = (
    *("isinstance(n, int)", "type(n).__name__"),
    *("Asked(n).answer", "Asked(n).later", "Asked(1.0)[n]", "dispatched(n)", "list(kinds([n, 1.5]))[0]"),
)


def cases() -> list[tuple[Use, str]]:
    """Every expression in every front end."""
    return [
        (use, front_end)
        for use in uses()
        for front_end in _STAGED
        if front_end != _TRACE or use.expression not in _ASK_FOR_CLASS
    ]


def uses() -> list[Use]:
    """All expressions."""
    sizes = [Use(each, "n") for family in FAMILIES.values() for each in family]
    return [*sizes, *(Use(each, "x") for each in SHAPES), *(Use(each, "s") for each in SCALARS)]


def _execute(text: str, file: str, names: dict[str, Any]) -> None:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)


def verdict(use: Use, front_end: str) -> Verdict:
    """The verdict on one expression in one front end."""
    names: dict[str, Any] = {"__name__": "generated"}
    _execute(IMPORTS, _IMPORTS_FILE, names)
    text = use.source(names)
    file = f"<number {use.expression}>"
    wanted = [use.expected(names, each) for each in _NUMBERS]
    what = f"{front_end}: {use.expression}"
    dtype = np.float64 if front_end in (_ARRAYS, _MODEL) else np.float32
    _execute(text, file, names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            staged = _STAGED[front_end](names["program"])
            results = [float(np.asarray(staged(np.full(each, each, dtype)))) for each in _NUMBERS]
    except OnnxsmithError as error:
        where = error.span
        is_in_program = where is not None and where.file == file and where.line == _LINE
        if not is_in_program and (where is None or where.file != _IMPORTS_FILE):
            return Verdict("wrong", f"{what}: refused at {where}: {error.message}")
        return Verdict("refused", f"{what}: {error.message}")
    except Exception as error:
        return Verdict("wrong", f"{what}: {type(error).__name__}: {error}")
    if not np.allclose(np.asarray(results, dtype), np.asarray(wanted, dtype), rtol=1e-5, equal_nan=True):
        return Verdict("wrong", f"{what}: {results} instead of {wanted}")
    return Verdict("equal", what)


def _verdicts(seed: int) -> Iterator[Verdict]:
    every = cases()
    random.Random(seed).shuffle(every)  # so that the first of them are of every family
    for use, front_end in every:
        yield verdict(use, front_end)


LAW = Law(
    "A number, shape or scalar that Python consumes has the model's value, or its line is refused: an enumeration.",
    draws=len(cases()),
    verdicts=_verdicts,
)

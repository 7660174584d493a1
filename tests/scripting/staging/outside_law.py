"""The law of what jit reads: a jitted function gives what the function gives, whatever has changed around it since.

It is drawn for scripts and for numpy code, which share the mechanism.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onnxsmith import jit
from onnxsmith import numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict
from tests.scripting.staging.outside_programs import ReadingProgram, reading_program

X = np.array([1.0, 2.0, 3.0], np.float32)


def verdicts(seed: int) -> Iterator[Verdict]:
    """Verdicts on drawn programs: two scripts, and then numpy code."""
    for number in itertools.count(seed * 1_000_003):
        found = verdict(number, is_script=number % 3 != 0)
        if found is not None:
            yield found


def verdict(number: int, *, is_script: bool) -> Verdict | None:
    """The verdict on one program, jitted, after each of its changes; None for one that Python itself cannot run."""
    program = reading_program(number, "@script" if is_script else "@numpy_code")
    text = f"{number} ({'script' if is_script else 'numpy code'}): {program.title}"
    try:
        space = _loaded(program, number)
        space["f"](X)
        target = space["NET"].f if "NET" in space else space["f"]
        fast: Callable[[Any], Any] = jit(target) if is_script else xp.jit(target)
        fast(X)
    except OnnxsmithError as error:
        return Verdict("refused", f"{text}: {error.message}")
    except TypeError:  # a function in a class has become a method
        return None
    for change in program.changes:
        try:
            exec(change, space)
            wanted = space["f"](X)
        except (TypeError, AttributeError, LookupError):  # the change has left nothing to read
            return Verdict("equal")
        try:
            given = fast(X)
        except Exception as error:
            return Verdict("wrong", f"{text}: after {change}: {type(error).__name__}: {error}, not {wanted}")
        if not np.array_equal(np.asarray(given, np.float64), np.asarray(wanted, np.float64), equal_nan=True):
            return Verdict("wrong", f"{text}: after {change}: {given}, not {wanted}")
    return Verdict("equal")


def _loaded(program: ReadingProgram, number: int) -> dict[str, Any]:
    """New modules of a program: their objects are as they are made."""
    spaces: list[dict[str, Any]] = []
    for name, source in (("other_module", program.other), ("reading_program", program.source)):
        file = f"<{name} {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        module = types.ModuleType(name)
        vars(module)["numpy_code"] = lambda function: function
        sys.modules[name] = module  # where the other one and dataclasses look for it
        exec(compile(source, file, "exec"), vars(module))
        spaces.append(vars(module))
    return spaces[1]


LAW = Law("a jitted function gives what the function gives, whatever has changed around it", 1000, verdicts)

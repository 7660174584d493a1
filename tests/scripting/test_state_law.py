"""The law of state: a program that changes Python objects gives the same whoever runs it, or is refused.

A program that is refused has left the objects as they were.
"""

from __future__ import annotations

import collections
import linecache
import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest

from onnxsmith import script
from onnxsmith.errors import OnnxsmithError
from tests.scripting.four_ways import assert_same, compile_and_check, flat, run_reference, run_runtime
from tests.scripting.state_programs import StateProgram, state_program

#: How many programs the suite tries; `python -m tests.scripting.test_state_law 2000` tries more.
_TRIED = 60
#: What a program of this kind may die of by itself: nothing is left in a list, or in an iterator.
_PYTHON_ERRORS = (IndexError, KeyError, StopIteration, TypeError, ValueError, RuntimeError, AttributeError)


class PlainOperators:
    """The operators of these programs, for Python alone."""

    @staticmethod
    def Relu(x: Any) -> Any:  # an operator's name
        return np.maximum(x, np.float32(0))

    @staticmethod
    def If(condition: Any, *, then_branch: Any, else_branch: Any) -> Any:
        return then_branch() if condition else else_branch()


def load(program: StateProgram, seed: int) -> dict[str, Any]:
    """A new module of a program: its objects are as they are made."""
    file = f"<state {seed}>"
    linecache.cache[file] = (len(program.source), None, program.source.splitlines(True), file)
    module = types.ModuleType("generated_program")
    sys.modules[module.__name__] = module  # where a dataclass looks for its module
    exec(compile(program.source, file, "exec"), vars(module))
    return vars(module)


def described(value: Any, seen: dict[int, int] | None = None) -> Any:
    """What can be seen of an object, as plain data: written apart from the code that is tested."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return f"again {seen[id(value)]}"
    seen[id(value)] = len(seen)
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        return kind, value.tolist(), value.flags.writeable
    if isinstance(value, types.GeneratorType):
        return kind, value.gi_frame is not None and (value.gi_frame.f_lasti, repr(value.gi_frame.f_locals))
    if isinstance(value, np.random.Generator):
        return kind, repr(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return kind, repr(value.get_state())
    if hasattr(value, "getstate"):
        return kind, hash(value.getstate())
    if hasattr(value, "getvalue"):
        return kind, value.getvalue(), value.tell()
    if isinstance(value, type | types.FunctionType | types.ModuleType):
        held = {name: each for name, each in vars(value).items() if isinstance(each, list | int)}
        if isinstance(value, types.ModuleType):
            held = {}
        return kind, [(name, described(each, seen)) for name, each in held.items()]
    parts: list[Any] = []
    if isinstance(value, dict):
        parts += [(repr(key), described(each, seen)) for key, each in value.items()]
    elif isinstance(value, list | tuple | collections.deque):
        parts += [described(each, seen) for each in value]
    elif isinstance(value, set):
        parts += sorted(map(repr, value))
    elif hasattr(value, "__next__") and hasattr(value, "__reduce__") and not hasattr(value, "__dict__"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind, repr(value) if kind == "count" else described(value.__reduce__(), seen)
    parts += [(name, described(each, seen)) for name, each in getattr(value, "__dict__", {}).items()]
    slots = getattr(type(value), "__slots__", ())
    parts += [(name, described(getattr(value, name, None), seen)) for name in slots]
    return (kind, parts) if parts else repr(value)


def outcome(seed: int) -> str:
    """What becomes of a program: "equal", "refused", or "skipped" where Python itself fails on it."""
    program = state_program(seed)
    plain = load(program, seed)
    plain["op"] = PlainOperators
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            # A call that gives something else the second time cannot be a model, whatever the first one gives.
            expected = [flat(plain["program"](*_copies(program))) for _ in range(2)]
    except _PYTHON_ERRORS:
        return "skipped"
    module = load(program, seed)
    before = [described(module[name]) for name in program.outside]
    refusal: Exception | None = None
    try:
        made = script(module["program"])
        proto = compile_and_check(made, {})
    except (OnnxsmithError, *_PYTHON_ERRORS) as error:
        refusal = error
    after = [described(module[name]) for name in program.outside]
    assert after == before, f"{refusal!r} left changes: {before} became {after}"
    if refusal is not None:
        return "refused" if isinstance(refusal, OnnxsmithError) else "Python's error"
    eager = script(load(program, seed)["program"])
    for each in expected:
        assert_same(each, flat(eager(*_copies(program))), "eager")
        assert_same(each, run_runtime(proto, program.inputs), "ONNX Runtime")
    assert_same(expected[0], run_reference(proto, program.inputs), "the reference evaluator")
    return "equal"


def _copies(program: StateProgram) -> list[Any]:
    return [np.array(each)[()] for each in program.inputs]


@pytest.mark.parametrize("part", range(4))
def test_state_is_the_same_whoever_runs_a_program_or_is_refused(part: int) -> None:
    outcomes = collections.Counter(outcome(seed) for seed in range(part, _TRIED, 4))
    assert outcomes["refused"] + outcomes["equal"] > _TRIED // 8, outcomes


if __name__ == "__main__":
    first, last = (0, int(sys.argv[1])) if len(sys.argv) == 2 else (int(sys.argv[1]), int(sys.argv[2]))
    tried: collections.Counter[str] = collections.Counter()
    for each in range(first, last):
        try:
            tried[outcome(each)] += 1
        except Exception as wrong:
            tried["WRONG"] += 1
            print(each, type(wrong).__name__, str(wrong).splitlines()[0][:200], flush=True)
    print(dict(tried))

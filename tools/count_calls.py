"""Counts the functions of ours that a call enters, and the files of ours that it visits.

A cached call is the third of its kind. A first call is made in a process of its own, in which one operator has run
before. Lambdas, comprehensions and the top level of modules are no functions here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import onnxsmith
import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from onnxsmith.grad import grad

PACKAGE = f"{Path(onnxsmith.__file__).parent}/"

VECTOR = FLOAT["N"]
_X = np.array([0.5, 1.0, 1.5, 2.0], np.float32)


@dataclass(frozen=True)
class Count:
    """The functions that were entered, each as often as it was, and the files that they are in."""

    functions: tuple[str, ...]
    files: frozenset[str]


def count(call: Callable[[], object]) -> Count:
    """Make a call, and count."""
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            entered.append((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Count(
        tuple(f"{file}: {function}" for file, function in entered), frozenset(file for file, _ in entered)
    )


# ---- the calls ----


def _ten(x: Any) -> Any:
    return op.Atan(op.Tanh(op.Neg(op.Exp(op.Sqrt(op.Abs((x + x) * x - x))) / x)))


def _spread(x: Any) -> Any:
    centred = x - x.mean()
    squares = centred * centred
    return np.sqrt(squares.sum())


@script
def _squares(x: VECTOR):
    return op.ReduceSum(x * x, keepdims=0)


def _script_with_if() -> object:
    @script
    def chosen(x: VECTOR):
        if op.ReduceSum(x, keepdims=0) > 0.0:
            y = x + 1.0
        else:
            y = x - 1.0
        return y * 2.0

    return chosen.to_model()


def _script_with_if_and_for() -> object:
    @script
    def repeated(x: VECTOR, count: onnxsmith.INT64):
        total = x
        for _ in range(count):
            total = total * x + 1.0
        if op.ReduceSum(total, keepdims=0) > 0.0:
            y = total + x
        else:
            y = total - x
        return y * 2.0

    return repeated.to_model()


def _pipeline() -> object:
    from sklearn import linear_model, pipeline, preprocessing  # an extra, for this count alone

    from onnxsmith.sklearn import convert

    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    steps = preprocessing.StandardScaler(), linear_model.LinearRegression()
    return convert(pipeline.make_pipeline(*steps).fit(rows, rows.sum(1)), rows)


def _cached_calls() -> dict[str, Callable[[], object]]:
    jitted, model, gradient = xp.jit(_spread), trace(_ten, VECTOR), grad(_squares)
    return {
        "eager operator": lambda: op.Add(_X, _X),
        "xp.jit": lambda: jitted(_X),
        "Model": lambda: model(_X),
        "grad": lambda: gradient(_X),
    }


def _first_calls() -> dict[str, Callable[[], object]]:
    return {
        "eager Add": lambda: op.Add(_X, _X),
        "@script with if": _script_with_if,
        "@script with if and for": _script_with_if_and_for,
        "xp.jit of three lines": lambda: xp.jit(_spread)(_X),
        "pipeline of two steps": _pipeline,
        "grad of a script": lambda: grad(_squares)(_X),
    }


#: The most functions that a cached call may enter; the most functions, and files, of a first call.
CACHED = {"eager operator": 6, "xp.jit": 12, "Model": 15, "grad": 20}
FIRST = {
    "eager Add": (100, 25),
    "@script with if": (800, 70),
    "@script with if and for": (1800, 95),
    "xp.jit of three lines": (6000, 120),
    "pipeline of two steps": (7000, 130),
    "grad of a script": (2500, 110),
}


def cached(name: str) -> Count:
    """What the third call of a kind enters."""
    call = _cached_calls()[name]
    call()
    call()
    return count(call)


def first(name: str) -> Count:
    """What a first call enters; in a process in which nothing else ran."""
    op.Sub(_X, _X)
    return count(_first_calls()[name])


def _of_child(name: str) -> tuple[int, int]:
    command = [sys.executable, "-m", "tools.count_calls", "--child", name]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(found[0]), int(found[1])


def main(arguments: list[str] | None = None) -> int:
    """Print the counts beside their bars; a missed bar is no failure."""
    parser = argparse.ArgumentParser(prog="python3 dev.py calls", description=__doc__)
    parser.add_argument("--list", metavar="NAME", help="print the functions that a call enters, in order")
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        found = first(options.child)
        print(len(found.functions), len(found.files))
        return 0
    if options.list:
        if options.list not in {*CACHED, *FIRST}:
            parser.error(f"no call {options.list!r}; there are {', '.join((*CACHED, *FIRST))}")
        print("\n".join((cached if options.list in CACHED else first)(options.list).functions))
        return 0
    print("cached call: functions (bar)")
    for name, bar in CACHED.items():
        print(f"  {name:26}{len(cached(name).functions):7,} ({bar:,})")
    print("first call: functions (bar), files (bar)")
    for name, (functions, files) in FIRST.items():
        entered, visited = _of_child(name)
        print(f"  {name:26}{entered:7,} ({functions:,}){visited:7,} ({files:,})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What it costs to decorate functions and make their models, beside onnxscript on the same source."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import NOT_INSTALLED, Bar, Figure, Row, at_most, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "compile"
DESCRIPTION = "decorating a function and making its model, per operator; CPU time, garbage collection on"

PEER = "onnxscript"
#: Functions of a module that is imported, and how many operators each has.
IMPORTED, IMPORTED_SIZE = 500, 10
_OPERATORS = ("Mul", "Add", "Sub", "Max")
#: When the files seem to be written. Those that are written while the process runs are compiled once more, to see
#: whether they were edited after their import; people's files lay there before.
_LONG_AGO = 1e9
_numbers = itertools.count()


@dataclass(frozen=True)
class Program:
    """A program that both can compile: its text for a package, how many operators, what it should reach."""

    name: str
    text: Callable[[str], str]
    size: int
    bar: Bar
    rounds: int = 5


def run(context: Context) -> list[Row]:
    """Straight functions, with control flow, with what is around them, and many of them in a module."""
    straight = [
        Program(f"{size:,} operators", _straight_text(size), size, bar, rounds)
        for size, bar, rounds in (
            (10, ratio_at_most(1 / 3), 9),
            (100, ratio_at_most(0.25), 9),
            (1_000, ratio_at_most(0.25), 5),
            (6_400, ratio_at_most(0.25), 3),
        )
    ]
    rows = [_row(context, each) for each in straight]
    fixed = rows[0].ours * 10 - rows[2].ours * 10
    rows.append(Row("a function, without its operators", fixed / 1000, "ms", bar=at_most(1)))
    flow = [
        Program(
            f"{size:,} statements, a quarter in control flow", _flow_text(size), size, ratio_at_most(0.4), 3
        )
        for size in (200, 2_000)
    ]
    few, many = (_row(context, each) for each in flow)
    linear = Row("2,000 beside 200", many.ours, "µs/op", "200 statements", few.ours, ratio_at_most(1.3))
    rows += [few, many, linear]
    for name, text in (
        ("attribute", _attribute_text),
        ("helper", _helper_text),
        ("captured array", _captured_text),
    ):
        rows.append(_row(context, Program(f"100 operators, {name}", text, 100, ratio_at_most(0.4))))
    rows.append(_import_row(context))
    return rows


def source(package: str, size: int) -> str:
    """A module with one function of `size` operators, one a line."""
    head = ["@script()", 'def function(x: FLOAT["N"], y: FLOAT["N"]):']
    return _module(package, [*head, *_lines(size), "    return x"])


def _module(package: str, lines: Sequence[str]) -> str:
    imports = f"from {package} import FLOAT, INT64, script, opset18 as op"
    return "\n".join([imports, "", *lines, ""])


def _lines(size: int, indent: str = "    ", second: str = "y") -> list[str]:
    return [f"{indent}x = op.{_OPERATORS[k % 4]}(x, {second})" for k in range(size)]


def _straight_text(size: int) -> Callable[[str], str]:
    return lambda package: source(package, size)


def _flow_text(size: int) -> Callable[[str], str]:
    """Sixteen statements, fifteen of them operators, and four in an `if` and a loop, two deep."""
    piece = [
        *_lines(14),
        "    c = op.ReduceMax(x, keepdims=0)",
        "    if op.Greater(c, z):",
        "        x = op.Mul(x, y)",
        "        for i in range(n):",
        "            x = op.Add(x, y)",
        "    else:",
        "        x = op.Sub(x, y)",
        "    z = op.Add(z, z)",
    ]
    head = ["@script()", 'def function(x: FLOAT["N"], y: FLOAT["N"], z: FLOAT, n: INT64):']
    return lambda package: _module(package, [*head, *piece * (size // 20), "    return x"])


def _attribute_text(package: str) -> str:
    head = ["@script()", 'def function(x: FLOAT["N"], y: FLOAT["N"], alpha: float = 0.5):']
    return _module(package, [*head, *_lines(99), "    return op.Elu(x, alpha=alpha)"])


def _helper_text(package: str) -> str:
    helper = [
        "@script()",
        'def helper(x: FLOAT["N"], y: FLOAT["N"]):',
        *_lines(49),
        "    return op.Abs(x)",
        "",
    ]
    head = ["@script()", 'def function(x: FLOAT["N"], y: FLOAT["N"]):']
    return _module(package, [*helper, *head, *_lines(49), "    return helper(x, y)"])


def _captured_text(package: str) -> str:
    """An array from around the function; onnxscript takes one as a constant's value."""
    if package == PEER:
        weight = ["from onnx import numpy_helper", "import numpy as np"]
        weight += ["weight = numpy_helper.from_array(np.ones((64, 64), np.float32))"]
        first = ["    w = op.Constant(value=weight)"]
    else:
        weight, first = ["import numpy as np", "w = np.ones((64, 64), np.float32)"], []
    head = ["@script()", "def function(x: FLOAT[64, 64]):"]
    return _module(package, [*weight, *head, *first, *_lines(100, second="w"), "    return x"])


def _import_text(package: str) -> str:
    functions: list[str] = []
    for k in range(IMPORTED):
        head = ["@script()", f'def function_{k}(x: FLOAT["N"], y: FLOAT["N"]):']
        functions += [*head, *_lines(IMPORTED_SIZE), "    return x", ""]
    return _module(package, functions)


# -- measuring ----------------------------------------------------------------------------------------------------


def _row(context: Context, program: Program) -> Row:
    """One program, compiled by us and by the peer in turns."""
    _check(_compiler("onnxsmith", program.text("onnxsmith"))(), program.size)
    scale = 1e6 / program.size
    ours, theirs = _timed(context, program.text, _compiler, program.rounds)
    return Row(
        program.name,
        ours * scale,
        "µs/op",
        PEER,
        theirs * scale if isinstance(theirs, float) else theirs,
        program.bar,
    )


def _import_row(context: Context) -> Row:
    ours, theirs = _timed(context, _import_text, _importer, 3)
    return Row(
        f"import of {IMPORTED} functions of {IMPORTED_SIZE} operators",
        ours * 1e3,
        "ms",
        PEER,
        theirs * 1e3 if isinstance(theirs, float) else theirs,
        ratio_at_most(0.25),
    )


def _timed(
    context: Context,
    text: Callable[[str], str],
    prepare: Callable[[str, str], Callable[[], object]],
    rounds: int,
) -> tuple[float, Figure]:
    packages = ["onnxsmith", *([PEER] if context.has(PEER) else [])]
    results = time_in_turns(
        {package: prepare(package, text(package)) for package in packages},
        rounds=rounds,
        collect_garbage=True,
        warm_up_calls=1,
    )
    missing = NOT_INSTALLED if context.with_peers else "not asked"
    return results["onnxsmith"], results.get(PEER, missing)


def _importer(package: str, text: str) -> Callable[[], types.ModuleType]:
    """Makes the module anew each time, from a file of its own: nothing may be left from the run before."""
    folder = tempfile.TemporaryDirectory(prefix="onnxsmith-benchmark-")

    def import_once() -> types.ModuleType:
        file = os.path.join(folder.name, f"module_{next(_numbers)}.py")
        Path(file).write_text(text)
        os.utime(file, (_LONG_AGO, _LONG_AGO))  # as a module that lay there before the process began
        module = types.ModuleType("benchmark_module")
        sys.modules[module.__name__] = module  # where onnxscript looks for it
        module.__file__ = file
        exec(compile(text, file, "exec"), module.__dict__)
        return module

    return import_once


def _compiler(package: str, text: str) -> Callable[[], bytes]:
    import_once = _importer(package, text)

    def compile_once() -> bytes:
        module: Any = import_once()
        return module.function.to_model_proto().SerializeToString()

    return compile_once


def _check(serialised: bytes, size: int) -> None:
    """Refuse to measure what is no model of about so many operators."""
    import onnx

    model = onnx.load_from_string(serialised)
    count = len(model.graph.node) + sum(len(each.node) for each in model.functions)
    assert count >= size * 0.75, f"{count} nodes where {size} operators were written"

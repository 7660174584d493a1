"""What it costs to decorate a function and make its model, beside onnxscript on the same source."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most

NAME = "compile"
DESCRIPTION = "decorating a function and making its model, per operator; CPU time"

SIZES = (10, 100, 1_000, 6_400)
_numbers = itertools.count()


def run(context: Context) -> list[Row]:
    """A row for each size: one operator a statement, as a person would write them."""
    rows: list[Row] = []
    for size in SIZES:
        rows += contest(
            context,
            f"{size:,} operators",
            _compiler("onnxsmith", size),
            [
                Peer(
                    "onnxscript",
                    lambda size=size: _compiler("onnxscript", size),
                    package="onnxscript",
                    bar=ratio_at_most(0.25),
                )
            ],
            unit="µs/op",
            per_second=1e6 / size,
            check=_checker(size),
        )
    return rows


def source(package: str, size: int) -> str:
    """A module with one function of `size` operators, one a line."""
    lines = [
        f"from {package} import FLOAT, script, opset18 as op",
        "",
        "@script()",
        'def function(x: FLOAT["N"], y: FLOAT["N"]):',
    ]
    operators = ("Mul", "Add", "Sub", "Max")
    lines += [f"    x = op.{operators[k % 4]}(x, y)" for k in range(size)]
    return "\n".join([*lines, "    return x", ""])


def _compiler(package: str, size: int) -> Callable[[], bytes]:
    text = source(package, size)

    folder = tempfile.TemporaryDirectory(prefix="onnxsmith-benchmark-")

    def compile_once() -> bytes:
        # A file of its own each time: nothing may be left from the run before.
        file = os.path.join(folder.name, f"module_{next(_numbers)}.py")
        Path(file).write_text(text)
        module: Any = types.ModuleType("benchmark_module")
        sys.modules[module.__name__] = module  # where onnxscript looks for it
        module.__file__ = file
        exec(compile(text, file, "exec"), module.__dict__)
        return module.function.to_model_proto().SerializeToString()

    return compile_once


def _checker(size: int) -> Callable[[object], None]:
    def check(serialised: object) -> None:
        import onnx

        assert isinstance(serialised, bytes)
        assert len(onnx.load_from_string(serialised).graph.node) == size

    return check

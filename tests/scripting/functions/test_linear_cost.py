"""What it costs to make models grows with their source, and no faster: counted in calls, which no load changes."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import onnxsmith.numpy as xp

CALLS = {
    "operators": ["x = op.Mul(x, y)"],
    "branches": ["if op.ReduceMax(x, keepdims=0) > z:", "    x = x + y", "else:", "    x = x - y"],
    "loops": ["for i in range(n):", "    x = x + y"],
    "loops in branches": [
        *("if op.ReduceMax(x, keepdims=0) > z:", "    x = op.Mul(x, y)"),
        *("    for i in range(n):", "        x = op.Add(x, y)", "else:", "    x = op.Sub(x, y)"),
    ],
    "branches of Python": ["if FLAG:", "    x = x + y", "else:", "    x = x - y"],
    "unrolled loops": ["for k in (1.0, 2.0):", "    x = x * k"],
    "updates": ["if op.ReduceMax(x, keepdims=0) > z:", "    x += y", "x = x.at[0].set(1.0)"],
    "arrays that change in place": ["a = np.ones(3, np.float32)", "if z > 0:", "    a += 1", "x = x + a"],
}


def calls_of(run: Callable[[], object]) -> int:
    """How many functions are entered, those of C included, and generators continued."""
    count = 0

    def note(_: types.FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.disable()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def compiled(folder: Path, piece: list[str], times: int) -> int:
    name = f"linear_{times}"
    lines = [
        "import numpy as np",
        "from onnxsmith import FLOAT, INT64, script, opset18 as op",
        "FLAG = True",
        "@script()",
        'def function(x: FLOAT["N"], y: FLOAT["N"], z: FLOAT, n: INT64):',
        *(f"    {each}" for each in piece * times),
        "    return x",
    ]
    path = folder / f"{name}.py"
    path.write_text("\n".join(lines) + "\n")
    module = types.ModuleType(name)
    module.__file__ = str(path)
    code = compile(path.read_text(), str(path), "exec")

    def run() -> None:
        exec(code, module.__dict__)
        module.__dict__["function"].to_model()

    return calls_of(run)


@pytest.mark.parametrize("name", CALLS)
def test_calls_grow_with_the_source(name: str, tmp_path: Path) -> None:
    piece = CALLS[name]
    compiled(tmp_path, piece, 3)  # what is done once
    few, more, many = (compiled(tmp_path, piece, times) for times in (6, 12, 36))
    each, each_later = (more - few) / 6, (many - more) / 24
    assert each_later <= 1.25 * each


NUMPY = {
    "expressions": ["x = np.sqrt(x * x + y)"],
    "branches": ["if x.max() > z:", "    x = x + y", "else:", "    x = x - y"],
    "loops": ["for i in range(n):", "    x = x + y * i"],
    "stores": ["w = x * 1.0", "w[0] = 1.0", "if x.max() > z:", "    w[1] = 2.0", "x = x + w"],
}


@pytest.mark.parametrize("name", NUMPY)
def test_calls_grow_with_numpy_code(name: str, tmp_path: Path) -> None:
    def compiled_numpy(times: int) -> int:
        lines = [
            "import numpy as np",
            "def function(x, y, z, n):",
            *(f"    {each}" for each in NUMPY[name] * times),
            "    return x",
        ]
        path = tmp_path / f"numpy_{times}.py"
        path.write_text("\n".join(lines) + "\n")
        module = types.ModuleType(path.stem)
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        x = np.ones(3)
        examples = [x, x, np.array(1.0), np.array(2)]
        return calls_of(lambda: xp.to_model(module.__dict__["function"], *examples, verify=False))

    compiled_numpy(3)
    few, more, many = (compiled_numpy(times) for times in (6, 12, 36))
    each, each_later = (more - few) / 6, (many - more) / 24
    assert each_later <= 1.25 * each

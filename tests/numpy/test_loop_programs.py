"""Generated loops that carry numbers and vectors, with extremes, counters and what was before, give what numpy does."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError

_STATES = ("best", "last", "level")
_SIZES = (0, 1, 2, 17, 64, 70, 130)


def written(seed: int) -> str:
    """The text of a loop over an array, with a handful of steps that carry something."""
    draw = random.Random(seed)

    def number() -> str:
        return draw.choice(
            ["x[i]", "-x[i]", "x[i] * 0.5", "best", "last", "level", "out[i - 1]", "out[i]", "1.0"]
        )

    def condition() -> str:
        comparison = draw.choice([">", ">=", "<", "<="])
        return draw.choice([f"x[i] {comparison} 0", f"{number()} {comparison} {number()}", "i % 3 == 1"])

    lines: list[str] = []
    for _ in range(draw.randint(2, 5)):
        state = draw.choice(_STATES)
        kind = draw.randrange(11)
        value = number()
        if kind == 0:
            lines.append(f"{state} = {draw.choice(['max', 'min'])}({state}, {value})")
        elif kind == 1:
            lines.append(f"{state} = {draw.choice(['max', 'min'])}({value}, {state})")
        elif kind == 2:
            lines += [
                f"if {value} {draw.choice(['>', '<', '>='])} {state}:",
                f"    {state} = {value}",
                "    where = i",
            ]
        elif kind == 3:
            lines += [f"if {condition()}:", f"    {state} = {value}"]
        elif kind == 4:
            lines += [
                f"if {condition()}:",
                "    count += 1",
                "else:",
                f"    count = {draw.choice(['0', 'i', '-1'])}",
            ]
        elif kind == 5:
            lines.append(f"{state} = {draw.choice(['0.5', '0.9', '-0.5'])} * {state} + {value}")
        elif kind == 6:
            added = draw.choice([f" + {value}", ""])
            lines.append(f"out[i] = {draw.choice(['0.5 * ', '-', ''])}out[i - 1]{added}")
        elif kind == 7:
            known = draw.choice(["x[i] > 0", "i % 3 == 1"])
            lines += [
                f"if {known}:",
                f"    {state} = {value}",
                "else:",
                f"    {state} = 0.5 * {state} + x[i] * 2",
            ]
        elif kind == 8:  # a place that is there only where the condition says so
            inner = draw.choice(
                [f"    {state} = 0.9 * {state} * {state} + x[i + 1]", f"    {state} = x[i + 1]"]
            )
            lines += ["if i + 1 < len(x):", inner]
        elif kind == 9:
            lines += ["if x[i] > 0:", "    if i > 1:", f"        {state} = np.tanh({state}) + x[i - 2]"]
            lines += ["    else:", f"        {state} = {value}"]
        else:
            lines.append(f"out[i] = {draw.choice(['np.maximum', 'np.minimum'])}({state}, {value})")
    body = "".join(f"        {line}\n" for line in lines)
    begin = draw.choice(["0", "1"])
    return (
        "def made(x):\n"
        "    out = np.linspace(0.0, 1.0, len(x) + 1)\n"
        f"    best, last, level = {draw.choice(['-np.inf', '0.0', 'np.inf'])}, 0.0, 0.25\n"
        "    count, where = 0, -1\n"
        f"    for i in range({begin}, len(x)):\n{body}"
        "    return out, best, last, level, count, where\n"
    )


def function_of(text: str, name: str) -> Callable[..., Any]:
    """The function that a text defines, with a source that can be read."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["made"]


def check(seed: int) -> bool:
    """Compare the loop with its jitted form; False where it is refused."""
    text = written(seed)
    function = function_of(text, f"<loop {seed}>")
    jitted = xp.jit(function)
    for size in _SIZES:
        x = np.random.default_rng(seed + size).integers(-6, 7, size=size) / 4
        if seed % 3 == 0 and size:
            x[size // 2] = np.nan
        try:
            found = jitted(x)
        except OnnxsmithError:
            return False
        for name, one, other in zip(("out", *_STATES, "count", "where"), function(x), found, strict=True):
            np.testing.assert_allclose(
                other, one, rtol=1e-9, atol=1e-9, err_msg=f"{name} of {size} elements in\n{text}"
            )
    return True


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.filterwarnings("ignore")
def test_a_loop_gives_what_numpy_gives(seed: int) -> None:
    check(seed)

"""The law of optionals: inputs that may be absent when the model runs give what the eager run gives, or are refused.

A program asks whether two inputs are there, computes with them where they are, gives them other values, hands them to
helpers and scripts, and leaves early; on paths that the model decides.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import onnxsmith
from onnxsmith import jit, script
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict

_HEAD = """
from onnxsmith import FLOAT, INT64, script
def plain(v, b):
    if b is None:
        return v
    return v + b if b.sum() > 1.0 else v - b
@script
def typed(v: FLOAT["N"], b: FLOAT["N"] | None = None):
    return v if b is None else v * 0.5 + b
@script
def untyped(v, b):
    return v - 1.0 if b is None else v + b
def program(x: FLOAT["N"], s: FLOAT | None, b: FLOAT["N"] | None, n: INT64):
    y = x * 1.0
"""
_CONDITIONS = (
    *("s is None", "s is not None", "b is None", "b is not None", "s", "not s", "not (b is None)"),
    *("s is not None and s > 1.0", "b is not None and b[0] < y.sum()", "b is None or b.sum() > 2.0"),
    *(
        "s is None or b is None",
        "s is not None and b is not None",
        "0.0 < s < 2.0 if s is not None else n > 0",
    ),
    *("y.sum() > 3.0", "n > 1", "s is not None and s == 0.0", "s and n > 0", "s is None or not s"),
)
_VALUES = (
    *("(s if s is not None else 1.0)", "(s * 2.0 + 1.0 if s is not None else 0.5)"),
    *("(1.0 if s is None else -s)", "(b if b is not None else y)", "(b.sum() if b is not None else 1.0)"),
    *("(b[0] + b.max() if b is not None else 2.0)", "(len(b) * 1.0 if b is not None else 3.0)"),
    *("(float(s) if s is not None else 4.0)", "(max(s, 1.0) if s is not None else 5.0)"),
    *("plain(y, b)", "plain(y, None)", "typed(y, b)", "typed(y)", "untyped(y, b)", "untyped(y, x)"),
    *("(1.0 if s else 2.0)", "(b[::-1] if b is not None else x)", "(2.0 if b is None else b.mean() % 2.0)"),
)
_ASSIGNMENTS = (
    *("s = 2.0", "s = y.sum()", "s = s if s is not None else 3.0", "b = x * 2.0", "b = y"),
    *("b = b if b is not None else y", "s = None", "b = None"),
    "if s is None: s = 1.5",
    "if b is None: b = x + 1.0",
    "if b is not None: b = b * 0.5",
    "if s is not None: s = s + 1.0",
)
_S, _B = (None, 0.0, 1.0, 2.5), (None, np.float32([1, -2, 3]), np.float32([0.5, 0, 0]))


def _block(draw: random.Random, depth: int, pad: str, loops: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.random()
        if depth and kind < 0.35:
            lines.append(f"{pad}if {draw.choice(_CONDITIONS)}:")
            lines += _block(draw, depth - 1, pad + "    ", loops)
            if draw.random() < 0.5:
                lines.append(f"{pad}else:")
                lines += _block(draw, depth - 1, pad + "    ", loops)
        elif depth and kind < 0.45:
            source = draw.choice(("range(n)", "range(2)", "x"))
            lines.append(f"{pad}for i{depth} in {source}:")
            lines += _block(draw, depth - 1, pad + "    ", loops + 1)
        elif kind < 0.52:
            leave = "break" if loops and draw.random() < 0.5 else "return y"
            lines.append(f"{pad}if {draw.choice(_CONDITIONS)}: {leave}")
        elif kind < 0.68:
            lines.append(f"{pad}{draw.choice(_ASSIGNMENTS)}")
        elif kind < 0.74:
            lines += [f"{pad}if b is not None:", f"{pad}    for v in b: y = y + v"]
        else:
            lines.append(f"{pad}y = y {draw.choice('+-*')} {draw.choice(_VALUES)}")
    return lines


def verdict(seed: int) -> Verdict:
    """The verdict on the program of a seed."""
    draw = random.Random(seed)
    text = "\n".join(
        [_HEAD.rstrip(), *_block(draw, 2, "    ", 0), f"    return y + {draw.choice(_VALUES)}", ""]
    )
    file = f"<optionals {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, file, "exec"), names)
    what = f"seed {seed}: {text.partition('INT64):')[2]}"
    x = np.float32([1, -0.5, 2])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            program = script(names["program"])
            model = program.to_model()
        except OnnxsmithError as error:
            return Verdict("refused", f"{what}{type(error).__name__}: {error.message}")
        except Exception as error:
            return Verdict("wrong", f"{what}{type(error).__name__}: {error}")
        forms = {
            "jit": jit(program),
            "model": model,
            "optimized": model.optimize(),
            "decompiled": onnxsmith.recompile(onnxsmith.decompile(model)),
        }
        for s, b in draw.sample([(s, b) for s in _S for b in _B], 4):
            given = x, s, b, np.int64(draw.randrange(3))
            try:
                expected = program(*given)
            except (OnnxsmithError, TypeError):
                continue
            for form, run in forms.items():
                try:
                    got = run(*given)  # type: ignore[operator]
                except Exception as error:
                    return Verdict("wrong", f"{what}{form} on {given}: {type(error).__name__}: {error}")
                if not np.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
                    return Verdict("wrong", f"{what}{form} on {given}: {got} instead of {expected}")
    return Verdict("equal", what)


def _verdicts(seed: int) -> Iterator[Verdict]:
    k = 0
    while True:
        yield verdict(seed * 100_000 + k)
        k += 1


LAW = Law(
    "Inputs that may be absent when the model runs give what the eager run gives in each form, or are refused.",
    draws=500,
    verdicts=_verdicts,
)

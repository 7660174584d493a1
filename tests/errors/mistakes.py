"""Writes scripts with a mistake in them: values of every kind where values of other kinds belong."""

from __future__ import annotations

import random

_HEAD = """import functools
import math
from typing import Optional, Sequence

import numpy as np

from onnxsmith import FLOAT, INT64, graph, opset21 as op, script


class Thing:
    n = 1


def helper(a):
    return a


@graph()
def body(i, c, v):
    return c, v


@script
def other(p: FLOAT["M"]):
    return p * 2


@script
def program(x: FLOAT["N"], n: INT64, s: Sequence[FLOAT["K"]], o: Optional[FLOAT["K"]], alpha: float = 0.5):
    y = x

    def inner(v):
        return v

"""
_VALUES = (
    *("x", "n", "s", "o", "alpha", "len(x)", "x.shape", "x.dtype", "x.sum", "x.at", "x.at[0]"),
    *("None", "'a'", "3.5", "[x, 1]", "{'a': x}", "{1}", "slice(1)", "range(3)", "range(n)", "np.ones(2)"),
    *("inner", "helper", "other", "body", "op.Relu", "(lambda v: v)", "(v for v in [1])", "enumerate(x)"),
    *("Thing()", "Thing", "FLOAT", "FLOAT[3]", "zip(x, x)"),
)
_EXPRESSIONS = (
    *("# + @", "@ @ #", "#[@]", "# < @", "#(@)", "-#", "~#", "abs(#)", "# if @ else x", "# and @", "# in @"),
    *("op.Add(#, @)", "op.Concat(#, @, axis=0)", "op.Cast(x, to=#)", "op.LeakyRelu(x, alpha=#)", "other(#)"),
    *("op.Loop(3, None, #, body=@)", "op.If(x.sum() > 0, then_branch=#, else_branch=@)"),
    *(
        "math.sqrt(#)",
        "float(#)",
        "int(#)",
        "len(#)",
        "list(#)",
        "sum(#)",
        "max(#, @)",
        "range(#)",
        "round(#)",
    ),
    *("[v for v in #]", "sorted(#)", "divmod(#, @)", "isinstance(#, @)", "str(#)", "f'{#}'", "hash(#)"),
    *("x.reshape(#)", "x.sum(#)", "x.astype(#)", "x.at[#].set(@)", "#.foo", "# ** @", "# // @", "x == #"),
    *("np.sum(#)", "np.add(#, @)", "np.ones(2) + #", "functools.reduce(lambda p, q: p + q, #)"),
    *("helper(*#)", "helper(**#)"),
)
_STATEMENTS = (
    "y += #",
    "for v in #:\n        y = y + v",
    "if #:\n        y = @",
    "while #:\n        y = @",
    "a, b = #",
    "y[#] = @",
    "with #:\n        pass",
    "for v in x:\n        y = #",
    "for v in x:\n        if v > 0:\n            y = #\n        else:\n            y = @",
    "if x.sum() > 0:\n        y = #\n    else:\n        y = @",
    "assert #, @",
    "raise #",
    "return #",
    "return #, (@, x)",
    "return # if x.sum() > 0 else @",
)


def mistake(seed: int) -> str:
    """A module with a script `program`, which is most likely wrong."""
    chosen = random.Random(seed)
    form = chosen.choice([f"y = {each}" for each in _EXPRESSIONS] + list(_STATEMENTS))
    first, second = chosen.choice(_VALUES), chosen.choice(_VALUES)
    text = "".join(first if each == "#" else each for each in form)
    if form != "y = @ @ #":
        text = text.replace("@", second)
    else:
        text = f"y = {second} @ {first}"
    return f"{_HEAD}    {text}\n    return y\n"

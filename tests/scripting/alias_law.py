"""The law of aliases: an array under several names, in lists, views and attributes, is followed, or refused.

A program makes arrays of numpy and other names for them, writes to them on paths that the model decides, and returns
all of them. Python itself says what the result is.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, INT64, script
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict

#: How often the loops of a program run, for one and the same model.
_COUNTS = (0, 1, 3)
_HEAD = """
import numpy as np
class Box:
    def __init__(self, a):
        self.a = a
def bump(a):
    a += 1
    return a
def program(x, n):
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
"""


class _Writer:
    """Writes one program."""

    def __init__(self, draw: random.Random, *, is_script: bool) -> None:
        self._draw = draw
        self._is_script = is_script
        #: Expressions that stand for arrays: variables, elements, attributes; and the rank of each.
        self.arrays: dict[str, int] = {"w": 2}
        self._holders = 0

    def program(self) -> str:
        """The text."""
        lines = [self._line(1) for _ in range(self._draw.randrange(1, 4))]
        for _ in range(self._draw.choice([1, 1, 2, 3])):
            lines.append(self._flow(1))
            lines += [self._line(1) for _ in range(self._draw.randrange(0, 4))]
        results = " + ".join(f"{each}.sum() * {k + 1}" for k, each in enumerate(self.arrays))
        return f"{_HEAD}{''.join(lines)}    return x + {results}\n"

    def _flow(self, depth: int) -> str:
        pad = "    " * depth
        heads = ["for i in range(n):", "for i in range(n):", "for i in range(3):", "if n > 1:"]
        if not self._is_script:
            heads.append("if x.sum() > 0:")
        head = self._draw.choice(heads)
        known = dict(self.arrays)  # what a path alone makes is not known after it
        lines = [
            self._flow(depth + 1) if depth < 2 and self._draw.random() < 0.15 else self._line(depth + 1)
            for _ in range(self._draw.randrange(1, 4))
        ]
        if head.startswith("if") and self._draw.random() < 0.4:
            self.arrays = dict(known)
            others = [self._line(depth + 1) for _ in range(self._draw.randrange(1, 3))]
            lines += [f"{pad}else:\n", *others]
        self.arrays = known
        return f"{pad}{head}\n{''.join(lines)}"

    def _line(self, depth: int) -> str:
        makes = [self._alias, self._write, self._rebind, self._give, self._reshape]
        make = self._draw.choices(makes, [8, 10, 2, 4, 1])[0]
        return "".join(f"{'    ' * depth}{each}\n" for each in make().splitlines())

    def _recent(self) -> str:
        """An array: every other time the one that was made last, so that there are views of views."""
        return self._draw.choice([*self.arrays, *[list(self.arrays)[-1]] * len(self.arrays)])

    def _alias(self) -> str:
        source = self._recent()
        rank = self.arrays[source]
        self._holders += 1
        new = f"v{self._holders}"
        kinds = [
            "{0}",
            "[{0}]",
            "({0}, 1)",
            "{{'a': {0}}}",
            "{0}[0]",
            "{0}[1:]",
            "{0}.T",
            "{0}.copy()",
            "{0} + 1",
            "{0}.T + 1",
            "{0}.reshape(-1)",
            "{0}[::-1]",
        ]
        if not self._is_script:
            kinds += ["Box({0})"]
        kind = self._draw.choice(kinds if rank == 2 else [each for each in kinds if each != "{0}[0]"])
        name, ranks = new, {"{0}[0]": rank - 1, "{0}.reshape(-1)": 1}
        if kind.startswith(("[", "(")):
            name = f"{new}[0]"
        elif kind.startswith("{{"):
            name = f"{new}['a']"
        elif kind.startswith("Box"):
            name = f"{new}.a"
        self.arrays[name] = ranks.get(kind, rank)
        return f"{new} = {kind.format(source)}"

    def _write(self) -> str:
        target = self._recent()
        operator, value = self._draw.choice(["+=", "-=", "*="]), self._draw.randrange(1, 4)
        if self._draw.random() < (0.2 if self._is_script else 0.5):
            place = self._draw.choice(["[0]", "[-1]", "[1:]", "[...]"])
            return f"{target}{place} {self._draw.choice([operator, '='])} {value}"
        if self._draw.random() < 0.2:
            return f"bump({target})"
        return f"{target} {operator} {value}"

    def _rebind(self) -> str:
        names = [each for each in self.arrays if each.isidentifier()]
        target = self._draw.choice(names)
        return f"{target} = {target} * 2"

    def _give(self) -> str:
        """An array for a variable that has one, perhaps on one path only."""
        target = self._draw.choice([each for each in self.arrays if each.isidentifier()])
        sources = [each for each, rank in self.arrays.items() if rank == self.arrays[target]]
        first, second, third = self._draw.choices(sources, k=3)
        self.arrays[target] = self.arrays.pop(target)  # as the last
        forms = [
            *[f"{first}"] * 3,
            *[f"{first} if n > 1 else {second}"] * 2,
            f"{first} if n > 1 else {second} if n > 0 else {third}",
            *[f"{first} + 1 if n > 1 else {second} if n > 0 else {third}.T.T"] * 2,
        ]
        given = f"{target} = {self._draw.choice(forms)}"
        return given if self._draw.random() < 0.5 else f"{given}\n{target} += 1"

    def _reshape(self) -> str:
        """An array whose elements numpy may have in the order of columns: reshaped, it is a view or a copy."""
        source, (made, flat) = self._recent(), (f"v{self._holders + 1}", f"v{self._holders + 2}")
        self._holders += 2
        self.arrays |= {made: self.arrays[source], flat: 1}
        expression = self._draw.choice(["{0}.T + 1", "{0}.T * 2", "{0} + {0}", "{0}.T"]).format(source)
        return f"{made} = {expression}\n{flat} = {made}.reshape(-1)\n{self._draw.choice([made, flat])} *= 2"


def _model_of_script(function: Any) -> Callable[..., Any]:
    return script(function).to_model(input_types=[FLOAT["N"], INT64])


def verdict(seed: int) -> Verdict:
    """The verdict on the program of a seed: half of them are scripts, the others are code for numpy."""
    draw = random.Random(seed)
    is_script = draw.random() < 0.5
    text = _Writer(draw, is_script=is_script).program()
    file = f"<aliases {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, file, "exec"), names)
    program = names["program"]
    x = np.float32([1, 2])
    what = f"seed {seed}, {'script' if is_script else 'xp.jit'}:{text}"
    try:
        expected = [program(x.copy(), each) for each in _COUNTS]
    except (IndexError, ValueError, TypeError) as error:
        return Verdict("equal", f"Python itself refuses it: {error}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            staged = _model_of_script(program) if is_script else xp.jit(program)
            results = [
                np.asarray(staged(x.copy(), np.int64(each) if is_script else each)) for each in _COUNTS
            ]
    except OnnxsmithError as error:
        return Verdict("refused", f"{what}{type(error).__name__}: {error.message}")
    except Exception as error:
        return Verdict("wrong", f"{what}{type(error).__name__}: {error}")
    for count, wanted, got in zip(_COUNTS, expected, results, strict=True):
        if not np.allclose(wanted, got, rtol=1e-4):
            return Verdict("wrong", f"{what}n = {count}: {got} instead of {wanted}")
    return Verdict("equal", what)


def _verdicts(seed: int) -> Iterator[Verdict]:
    k = 0
    while True:
        yield verdict(seed * 100_000 + k)
        k += 1


LAW = Law(
    "Arrays under several names, in containers, views and attributes, have Python's elements, or are refused.",
    draws=600,
    verdicts=_verdicts,
)

"""Random functions of numpy, as people write them: loops, branches, views and item assignment, as source text.

A function takes a vector `x`, a vector of whole numbers `k` and a matrix `m`, all of one length `n`, and options with
defaults. It is kept with the sizes at which numpy computes it. Numbers are small multiples of 1/4, so that sums and
products are exact and a comparison does not hang on the last bit.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.numpy.expressions_made import Expressions, Variable

#: Sizes that are tried; a function is kept with those that numpy takes.
SIZES = (0, 1, 2, 5)

_HELPERS = """\
def lead(values, by=1):
    out = np.zeros(len(values))
    if by < len(values):
        out[:-by] = values[by:]
    return out


def count_above(values, level=0.5):
    found = 0
    for each in values:
        if each > level:
            found += 1
    return found


def clamp(value, low=-8, high=8):
    if value < low:
        return low
    elif value > high:
        return high
    return value
"""


@dataclass(frozen=True)
class Made:
    """A function as text, and what numpy gives at each size."""

    seed: int
    source: str
    results: dict[tuple[int, str], Any]


def arguments(size: int, dtype: str) -> tuple[Any, ...]:
    """What a function is called with."""
    draw = np.random.default_rng(size)
    return (
        (draw.integers(-12, 13, size=size) / 4).astype(dtype),
        draw.integers(-4, 5, size=size),
        (draw.integers(-12, 13, size=(size, 3)) / 4).astype(dtype),
    )


class _Making(Expressions):
    """Statements, which bind variables and write to them."""

    def assign(self) -> None:
        rng = self.rng
        kind = rng.choice(("vector", "vector", "part", "matrix", "scalar", "scalar", "truth"))
        known = self.some(kind, "fib", own=True)
        if kind == "vector":
            element = rng.choice("fffiib")
            name = (
                known.name if known is not None and known.element == element and rng.random() < 0.5 else None
            )
            text = self.vector(element)
        elif kind == "part":
            element, text = "f", self.part()
            name = None
        elif kind == "matrix":
            element, text = "f", self.matrix()
            name = known.name if known is not None and rng.random() < 0.5 else None
        elif kind == "scalar":
            element = rng.choice("ffi")
            name = known.name if known is not None and rng.random() < 0.6 and not known.is_counter else None
            text = self.scalar(element)
        else:
            element, text = "b", self.truth()
            name = known.name if known is not None and rng.random() < 0.5 else None
        name = name or self.new("vpmst"[("vector", "part", "matrix", "scalar", "truth").index(kind)])
        self.line(f"{name} = {text}")
        self.bind(Variable(name, kind, element))

    def create(self) -> None:
        rng = self.rng
        name = self.new("v")
        element, text = rng.choice(
            (
                ("f", "np.zeros(n)"),
                ("f", "np.zeros_like(x)"),
                ("f", "np.ones(len(x), dtype=np.float32)"),
                ("i", "np.zeros(n, dtype=int)"),
                ("b", "np.zeros(n, dtype=bool)"),
                ("f", "x.copy()"),
                ("i", "np.array(k)"),
                ("f", "np.empty(x.shape[0])"),
            )
        )
        self.line(f"{name} = {text}")
        if "empty" in text:
            self.line(f"{name}[:] = {self.vector('fi', 1)}")
        self.bind(Variable(name, "vector", element))

    def write(self) -> None:
        rng = self.rng
        target = self.some("vector", "fi", own=True)
        if target is None:
            self.create()
            return
        name, elements = target.name, "i" if target.element == "i" else "fi"
        forms: list[Callable[[], str]] = [
            lambda: f"{name}[{self.place()}] = {self.scalar(elements, 1)}",
            lambda: f"{name}[{self.place()}] = {self.scalar(elements, 1)}",
            lambda: f"{name}[{self.place()}] {rng.choice('+-')}= {self.scalar(elements, 1)}",
            lambda: f"{name}[{self.span()}] = {self.scalar(elements, 1)}",
            lambda: f"{name}[{self.span()}] += {self.scalar(elements, 1)}",
            lambda: f"{name}[1:] = {name}[:-1]",
            lambda: f"{name}[1:] += {self.vector(elements, 1)}[:-1]",
            lambda: f"{name}[{self.mask(1)}] = {self.scalar(elements, 1)}",
            lambda: f"{name}[{self.mask(1)}] += {self.number(elements)}",
            lambda: f"{name} += {self.vector(elements, 1)}",
            lambda: f"{name}[:] = {self.vector(elements, 1)}",
            lambda: f"{name}[{self.vector('i', 2)} % n] = {self.scalar(elements, 1)}",
        ]
        self.line(rng.choice(forms)())

    def view(self) -> None:
        """A view that is written to, or whose base is."""
        target = self.some("vector", "f", own=True)
        if target is None:
            self.create()
            return
        name = self.new("p")
        form = self.rng.choice(("{0}[{1}]", "{0}[{1}]", "{0}.reshape(-1, 1)[:, 0]", "{0}", "{0}[None][0]"))
        self.line(f"{name} = {form.format(target.name, self.span())}")
        self.bind(Variable(name, "part", "f"))
        self.line(
            self.rng.choice(
                (
                    f"{name} += {self.number('f')}",
                    f"{name}[:] = {self.number('f')}",
                    f"{target.name}[{self.place()}] = {self.scalar('f', 1)}",
                    f"{name}[{name} > 0] = {self.number('f')}",
                )
            )
        )

    def matrix_write(self) -> None:
        rng = self.rng
        target = self.some("matrix", own=True)
        if target is None:
            name = self.new("m")
            self.line(f"{name} = {rng.choice(('m.copy()', 'np.zeros((n, 3))', 'np.empty_like(m)'))}")
            self.line(f"{name}[:] = {self.matrix(1)}")
            self.bind(Variable(name, "matrix", "f"))
            return
        name = target.name
        self.line(
            rng.choice(
                (
                    lambda: f"{name}[{self.place()}, {rng.randrange(-3, 3)}] = {self.scalar('f', 1)}",
                    lambda: f"{name}[:, {rng.randrange(3)}] = {self.vector('f', 1)}",
                    lambda: f"{name}[{self.place()}] += {self.number('f')}",
                    lambda: f"{name}[{self.span()}, 1:] -= {self.number('f')}",
                    lambda: f"{name}[{name} > 1] = {self.number('f')}",
                    lambda: f"{name}[{self.place()}, :] = {self.matrix(1)}[{self.place()}]",
                    lambda: f"{name} *= 0.5",
                )
            )()
        )

    def branch(self) -> None:
        with self.block(f"if {self.truth()}:"):
            self.body()
            self.perhaps_jump()
        if self.rng.random() < 0.3:
            with self.block(f"elif {self.truth()}:"):
                self.body()
        if self.rng.random() < 0.5:
            with self.block("else:"):
                self.body()

    def perhaps_jump(self) -> None:
        chance = self.rng.random()
        if self.loops and chance < 0.3:
            self.line(self.rng.choice(("break", "continue")))
        elif chance > 0.85:
            self.has_return = True
            self.line("return v0, m0, s0")

    def loop(self) -> None:
        rng = self.rng
        if self.loops > 1:
            self.write()
            return
        self.loops += 1
        kind = rng.randrange(5)
        name = self.new("i")
        if kind < 2:
            head = rng.choice(
                ("range(n)", "range(len(x))", "range(x.shape[0])", "range(1, n)", "range(n - 1, -1, -1)")
            )
            with self.block(f"for {name} in {head}:"):
                self.bind(Variable(name, "scalar", "i", is_counter=True, is_own=False))
                self.body(written=True)
        elif kind == 2:
            source = self.vector("fi", 1)
            value = self.new("s")
            with self.block(f"for {name}, {value} in enumerate({source}):"):
                self.bind(Variable(name, "scalar", "i", is_counter=True, is_own=False))
                self.bind(Variable(value, "scalar", "f", is_own=False))
                self.body(written=True)
        elif kind == 3:
            first, second = self.new("s"), self.new("s")
            with self.block(f"for {first}, {second} in zip({self.vector('f', 1)}, {self.vector('i', 1)}):"):
                self.bind(Variable(first, "scalar", "f", is_own=False))
                self.bind(Variable(second, "scalar", "i", is_own=False))
                self.body(written=True)
        else:
            count = self.new("c")
            self.line(f"{count} = 0")
            with self.block(f"while {count} < {rng.choice(('n', '3', 'n + 1'))} and {self.truth(1)}:"):
                self.line(f"{count} += 1")
                self.body(written=True)
        self.loops -= 1

    def body(self, written: bool = False) -> None:
        for _ in range(self.rng.randint(1, 2)):
            self.statement(deep=True)
        if written and self.rng.random() < 0.7:
            self.write()

    def statement(self, deep: bool = False) -> None:
        if len(self.lines) > 26:
            self.write()
            return
        weights = (4, 1, 4, 1, 2, 2, 2) if not deep else (4, 0, 5, 1, 1, 2, 1)
        makers = (self.assign, self.create, self.write, self.view, self.matrix_write, self.branch, self.loop)
        self.rng.choices(makers, weights)[0]()

    def result(self) -> str:
        """What the function gives at its end: all that it has by then, unless another return gives something else."""
        if self.has_return:
            return "v0, m0, s0"
        names = [each.name for each in self.scope if each.is_own]
        return "{" + ", ".join(f"'{each}': {each}" for each in names) + "}"


def _written(rng: random.Random) -> str:
    making = _Making(rng)
    making.scope = [
        Variable("x", "vector", "f", is_own=False),
        Variable("k", "vector", "i", is_own=False),
        Variable("m", "matrix", "f", is_own=False),
        Variable("v0", "vector", "f"),
        Variable("m0", "matrix", "f"),
        Variable("s0", "scalar", "f"),
    ]
    for _ in range(rng.randint(3, 7)):
        making.statement()
    if rng.random() < 0.6:
        making.loop()
    vector = rng.choice(("np.zeros(n)", "np.zeros_like(x)", "x.copy()", "x * 2", "np.full(n, 0.5)"))
    matrix = rng.choice(("m.copy()", "np.zeros((n, 3))", "m + 1"))
    head = [
        f"def made(x, k, m, rate={rng.choice(('0.5', '1.5'))}, limit=2):",
        f"    n = {rng.choice(('len(x)', 'x.shape[0]', 'x.size'))}",
        f"    v0 = {vector}",
        f"    m0 = {matrix}",
        f"    s0 = {rng.choice(('0.0', '0', 'x.sum()', '1.5'))}",
    ]
    text = "\n".join([*head, *making.lines, f"    return {making.result()}"])
    return f"import numpy as np\n\n\n{_HELPERS}\n\n{text}\n"


def _by_numpy(source: str) -> dict[tuple[int, str], Any]:
    """What numpy gives at each size and for each element type; what it refuses is left out."""
    names: dict[str, Any] = {}
    exec(compile(source, "<made>", "exec"), names)  # a function that this module wrote
    results: dict[tuple[int, str], Any] = {}
    for size in SIZES:
        for dtype in ("float64", "float32"):
            with warnings.catch_warnings(), np.errstate(all="ignore", invalid="raise"):
                warnings.simplefilter("error")
                try:
                    results[size, dtype] = names["made"](*arguments(size, dtype))
                except Exception:  # numpy has a class for each reason, and any means that it refuses
                    continue
    return results


def make(seed: int) -> Made:
    """The function of a seed: the first that numpy computes at two sizes, the largest among them."""
    rng = random.Random(seed)
    while True:
        source = _written(rng)
        results = _by_numpy(source)
        if len({size for size, _ in results}) > 1 and (SIZES[-1], "float64") in results:
            return Made(seed, source, results)

"""Writes programs whose paths change Python objects: in branches and loops that the model decides, and around them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.scripting.state_objects import HEADER, THINGS, Thing

_CONDITIONS = (
    "x.sum() > 0.0",
    "y.sum() > 3.0",
    "n > 1",
    "x[0] < y.sum()",
    "not (x.sum() > 1.0)",
    "y.max() > 2.0",
)
#: A list that two variables may hold, and what binds them anew.
_SHARED = Thing(
    "[x, x + 1.0]", ("@[0] = y", "@.append(x)", "@[-1] = y + 1.0"), (), ("@[0]", "@[-1]", "len(@)")
)
_BINDINGS = (
    "p = [y, x]",
    "q = p",
    "p = q",
    "q = [x, y]",
    "p, q = q, p",
    "q = [y, x]; p = q",
    "p = q = [x, y, x]",
)
#: What is done with a variable that an inner function assigns, and with a generator that calls it.
_INNER = (
    "step(1.0)",
    "step(k)",
    "m = m + 1.0",
    "m = y.sum()",
    "y = y + m",
    "y = y + (step(1.0) + m)",
    "y = y + (m + step(2.0))",
    "k = k + m",
    "y = y + sum(parts(1.0))",
    "y = y + sum([step(1.0), m, step(1.0)])",
    "y = y + (step(1.0) if y.sum() > 2.0 else m)",
    "for w in parts(1.0): y = y + w",
)
#: What is done with a variable that may be None.
_PERHAPS = (
    "z = y.sum()",
    "z = None",
    "z = k",
    "if z is None: z = x.sum()",
    "if z is None or y.sum() > z: z = y.sum()",
    "if z is not None and z > 1.0: y = y + z",
    "if not (z is None): k = k + z",
    "y = y + (z if z is not None else 1.0)",
    "y = y + (1.0 if z is None else z)",
    "y = y + z",
    "t = z is None",
)


@dataclass(frozen=True)
class StateProgram:
    """A module's text with a function `program`, and arguments for it."""

    source: str
    inputs: tuple[np.ndarray, ...]
    #: The names of the objects that live in the module.
    outside: tuple[str, ...]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.things: list[tuple[str, Thing]] = []
        self.count = 0
        #: Whether objects change only where Python decides; and how many paths that the model decides are open.
        self.is_calm = self.chance(45)
        self.has_shared = self.chance(30)
        self.has_inner = self.chance(40)
        self.has_perhaps = self.chance(35)
        self.paths = 0

    def pick(self, options: Sequence[str]) -> str:
        return self.random.choice(options)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fill(self, which: str) -> str:
        """A statement or expression on one of the program's objects."""
        name, thing = self.random.choice(self.things)
        options: tuple[str, ...] = getattr(thing, which) or thing.looks or thing.expressions
        return self.pick(options).replace("@", name)

    def block(self, depth: int) -> None:
        self.indent += 1
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth)
        if self.loops and self.chance(2 if self.is_calm else 8):
            self.write(f"if {self.pick(_CONDITIONS)}:")
            self.write(f"    {self.pick(['break', 'continue'])}")
        self.indent -= 1

    def statement(self, depth: int) -> None:
        simple = [self.change, self.add, self.look, self.choose, self.both, self.compute]
        if self.is_calm:
            simple = [self.look, self.compute, *([] if self.paths else [self.change, self.change, self.add])]
        if self.has_shared:
            simple += [self.bind, self.bind]
        if self.has_inner:
            simple += [self.inner, self.inner, self.inner]
        if self.has_perhaps:
            simple += [self.perhaps, self.perhaps, self.perhaps]
        nested = [self.branch, self.branch, self.loop, self.loop, self.loop_now, self.early]
        if depth > 0 and self.chance(55):
            write = self.random.choice(nested)
            self.paths += write != self.loop_now
            write(depth - 1)
            self.paths -= write != self.loop_now
        else:
            self.random.choice(simple)()

    def change(self) -> None:
        self.write(self.fill("statements"))

    def bind(self) -> None:
        self.write(self.pick(_BINDINGS))

    def perhaps(self) -> None:
        self.write(self.pick(_PERHAPS))

    def inner(self) -> None:
        self.write(self.pick(_INNER))

    def inner_functions(self) -> None:
        test = self.pick(["v > 1.0", "m > 2.0", *_CONDITIONS])
        lines = ["m = 0.0", "def step(v):", "    nonlocal m", f"    if {test}:", "        m = m + v"]
        if self.chance(30):
            lines.append("        return m * 2.0")
        lines += ["    m = m + 1.0", "    return m", "def parts(v):", "    for j in range(3):"]
        if self.chance(40):
            lines.append(f"        {self.pick(['step(1.0)', self.fill('statements')])}")
        for line in (*lines, "        yield v + j"):
            self.write(line)

    def add(self) -> None:
        self.write(f"{self.pick(['y = y +', 'k = k +', 'k ='])} {self.fill('expressions')}")

    def look(self) -> None:
        self.write(f"{self.pick(['y = y +', 'k = k +'])} {self.fill('looks')}")

    def compute(self) -> None:
        self.write(self.pick(["y = y + x", "y = op.Relu(y)", "y = y - 1.0", "k = k + 1.0", "x = x + 1.0"]))

    def choose(self) -> None:
        a, b = self.fill("expressions"), self.pick(["1.0", "2.0", "3.0"])
        self.write(f"y = y + ({a} if {self.pick(_CONDITIONS)} else {b})")

    def both(self) -> None:
        word, value = self.pick(["and", "or"]), self.fill("expressions")
        test = self.pick([f"({self.pick(_CONDITIONS)}) {word} {value} > 2", f"0.0 < y.sum() < {value}"])
        if self.chance(50):
            self.write(f"if {test}:")
            self.write("    y = y + 1.0")
        else:
            self.write(f"t = {test}")

    def branch(self, depth: int) -> None:
        self.write(f"if {self.pick(_CONDITIONS)}:")
        self.block(depth)
        if self.chance(50):
            self.write("else:")
            self.block(depth)

    def loop(self, depth: int) -> None:
        self.count += 1
        heads = (f"for i{self.count} in range(n):", f"for v{self.count} in x:")
        self.loops += 1
        if self.chance(15):
            self.write(f"c{self.count} = 0")
            self.write("while True:")
            self.write(f"    c{self.count} = c{self.count} + 1")
            self.write(f"    if c{self.count} > {self.pick(['n', '2'])}:")
            self.write("        break")
            self.block(depth)
            self.loops -= 1
            return
        if self.chance(25):
            self.write(f"c{self.count} = 0")
            self.write(f"while c{self.count} < n:")
            self.write(f"    c{self.count} = c{self.count} + 1")
        else:
            self.write(self.pick(heads))
        self.block(depth)
        self.loops -= 1

    def loop_now(self, depth: int) -> None:
        self.count += 1
        items = ["range(3)", "[1.0, 2.0]", *(["parts(1.0)"] if self.has_inner else [])]
        self.write(f"for i{self.count} in {self.pick(items)}:")
        self.loops += 1
        self.block(depth)
        self.loops -= 1

    def early(self, depth: int) -> None:
        self.write(f"if {self.pick(_CONDITIONS)}:")
        if self.chance(50):
            self.block(depth)
        self.write(f"    return {self.result()}")

    def result(self) -> str:
        return f"y, y * {self.shown[0]}, y + {self.shown[1]}, y + k"

    def program(self) -> StateProgram:
        before: list[str] = []
        outside: list[str] = []
        for k in range(self.random.choice([1, 1, 2, 3])):
            thing = self.random.choice(THINGS)
            name = f"o{k}"
            how = self.random.randrange(5, 10) if self.is_calm else self.random.randrange(10)
            if how < 4:
                before.append(f"{name.upper()} = {thing.made}")
                outside.append(name.upper())
                name = name.upper()
            elif how < 5:
                before.append(f"BOX{k} = {{'it': [{thing.made}]}}")
                outside.append(f"BOX{k}")
                name = f"BOX{k}['it'][0]"
            elif how < 6:
                self.write(f"{name} = types.SimpleNamespace(it={thing.made})")
                name = f"{name}.it"
            else:
                self.write(f"{name} = {thing.made}")
                if self.chance(20):
                    self.write(f"{name}_too = {name}")
                    self.things.append((f"{name}_too", thing))
            self.things.append((name, thing))
        if self.has_shared:
            self.write(f"p = {_SHARED.made}")
            self.write(self.pick(["q = p", "q = [x, y]"]))
            self.things += [("p", _SHARED), ("q", _SHARED)]
        if self.has_perhaps:
            self.write("z = None")
        if self.has_inner:
            self.inner_functions()
        self.shown = self.fill("looks"), "m" if self.has_inner else self.fill("looks")
        if self.has_perhaps:
            self.shown = self.shown[0], "(z if z is not None else 7.0)"
        for _ in range(self.random.randint(2, 4) if self.is_calm else self.random.randint(1, 3)):
            self.statement(2)
        if self.chance(15):
            self.write(f"y = helped(y, lambda: {self.fill('expressions')})")
        if not any("y.sum() > " in line or "range(n)" in line for line in self.lines):
            self.branch(1)
        head = "def program(x: FLOAT['N'], n: INT64):\n    y = x * 1.0\n    k = 1.0\n"
        body = "\n".join([*self.lines, f"    return {self.result()}"])
        source = HEADER + "\n".join(before) + "\n\n\n" + head + body + "\n"
        values = [self.random.randint(-3, 4) for _ in range(3)]
        inputs = np.array(values, np.float32), np.array(self.random.randint(0, 3), np.int64)
        return StateProgram(source, inputs, (*outside, "KEPT", "CALLS", "STEP", "Meter"))


def state_program(seed: int) -> StateProgram:
    """The program of a seed."""
    return _Writer(seed).program()

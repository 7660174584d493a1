"""Generates programs: modules with a script in them, and inputs for it.

Every value is an integer or a short binary fraction, and none grows without end, so that four ways to run a program
must give the same bits. What is generated is Python that a person could write; a program may use a variable that has
no value on some path, and then has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.scripting.program_expressions import KINDS, PREFIX, Expressions, Signature

#: The first opset with bitwise operators.
_WITH_BITS = 18
_HEADER = """\
import contextlib

from onnxsmith import FLOAT, INT64, script, static_range, opset{version} as op


"""


@dataclass(frozen=True)
class Program:
    """A module's text with a script `program`, and arguments for it."""

    source: str
    inputs: tuple[Any, ...]
    attributes: dict[str, int]


class _Function(Expressions):
    """Writes one function."""

    def __init__(self, draw: Callable[[Any], Any], helpers: Sequence[Signature], budget: int) -> None:
        super().__init__(draw, helpers)
        self.budget = budget
        self.lines: list[str] = []
        self.indent = 1
        self.returns: tuple[str, ...] = ()
        self.loops = 0

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def target(self, kind: str) -> str:
        if self.chance(12):
            return f"{PREFIX[kind]}{next(self.counter) + 10}"
        return self.pick(self.known[kind])

    def bind(self, kind: str, name: str) -> None:
        if name not in self.known[kind]:
            self.known[kind].append(name)
        if name in self.maybe[kind]:
            self.maybe[kind].remove(name)

    # -- blocks ----------------------------------------------------------------------------------------

    def block(self, depth: int, *, leaves: bool = False) -> bool:
        """Write statements; the result tells whether control leaves in any case."""
        known = {kind: list(names) for kind, names in self.known.items()}
        local_functions = list(self.locals)
        left = False
        for _ in range(self.number(1, 3)):
            if self.statement(depth):
                left = True
                break
        if leaves and not left and self.chance(60):
            left = self.leave()
        for kind in KINDS:
            self.maybe[kind] += [
                each for each in self.known[kind] if each not in known[kind] and each not in self.maybe[kind]
            ]
        self.known, self.locals = known, local_functions
        return left

    def indented(self, depth: int, *, leaves: bool = False) -> bool:
        self.indent += 1
        left = self.block(depth, leaves=leaves)
        self.indent -= 1
        return left

    def leave(self) -> bool:
        if self.loops and self.chance(70):
            self.write(self.pick(["break", "continue"]))
        else:
            self.write(self.result())
        return True

    def result(self) -> str:
        return "return " + ", ".join(self.value(kind, 1) for kind in self.returns)

    def statement(self, depth: int) -> bool:
        self.budget -= 1
        simple = [
            *[self.assign] * 4,
            self.augment,
            self.swap,
            self.unpack,
            self.define,
            self.define_with_loop,
            self.walrus,
            self.collect,
        ]
        nested = [*[self.branch] * 3, *[self.for_loop] * 3, *[self.while_loop] * 2, self.context, self.match]
        if depth <= 0 or self.budget <= 0:
            return bool(self.pick(simple)())
        return bool(self.pick(nested)(depth)) if self.chance(45) else bool(self.pick(simple)())

    # -- simple statements -----------------------------------------------------------------------------

    def assign(self) -> None:
        kind = self.pick(KINDS)
        value = self.value(kind)
        name = self.target(kind)
        if self.chance(10):
            other = self.target(kind)
            self.write(f"{name} = {other} = {value}")
            self.bind(kind, other)
        else:
            self.write(f"{name} = {value}")
        self.bind(kind, name)

    def augment(self) -> None:
        kind = self.pick(["flt", "int", "num"])  # numpy's += changes a vector and all its aliases
        name = self.pick(self.known[kind])
        self.write(f"{name} {self.pick(['+=', '-='])} {self.expression(kind, 1)}")

    def swap(self) -> None:
        kind = self.pick(KINDS)
        a, b = self.pick(self.known[kind]), self.pick(self.known[kind])
        self.write(f"{a}, {b} = {b}, {self.value(kind, 1)}" if a != b else f"{a} = {self.value(kind, 1)}")

    def unpack(self) -> None:
        helpers = [each for each in self.helpers if len(each.returns) == 2]
        if not helpers or self.chance(30):
            kinds, text = ("vec", "flt"), self.expression("pair", 1)
        else:
            helper = self.pick(helpers)
            kinds, text = helper.returns, self.call(helper, 1)
        names = [self.target(kind) for kind in kinds]
        self.write(f"{', '.join(names)} = {text}")
        for kind, name in zip(kinds, names, strict=True):
            self.bind(kind, name)

    def define(self) -> None:
        kind = self.pick(["vec", "flt"])
        name = f"local{next(self.counter)}"
        body = f"a {self.pick('+-')} {self.name('flt')}"
        if self.chance(40):
            body = f"({body} if {self.expression('bit', 1)} else a)"
        if self.chance(50):
            self.write(f"{name} = lambda a: {body}")
        else:
            self.write(f"def {name}(a):")
            self.write(f"    return {body}")
        self.locals.append((name, kind))

    def define_with_loop(self) -> None:
        kind = self.pick(["vec", "flt"])
        name = f"local{next(self.counter)}"
        self.write(f"def {name}(a):")
        self.write(f"    for q in range({self.pick(['2', 'k', self.name('num') + ' % 3'])}):")
        self.write(f"        if {self.expression('bit', 1)}:")
        self.write(f"            {self.pick(['return a + ' + self.name('flt'), 'continue', 'break'])}")
        self.write("        a = a * 2 % 8 + q")
        self.write("    return a")
        self.locals.append((name, kind))

    def walrus(self) -> None:
        kind = self.pick(["flt", "num", "int"])
        name = self.target(kind)
        value = self.value(kind, 1)
        other = self.pick(self.known[kind])
        self.write(f"{other} = ({name} := {value}) + {name}")
        self.bind(kind, name)

    def collect(self) -> None:
        """A list that is filled, then read."""
        name = f"items{next(self.counter)}"
        self.write(f"{name} = [{self.name('flt')}]")
        self.write(f"for q in {self.pick(['range(2)', '(1, 2)', 'static_range(2)'])}:")
        self.write(f"    {name}.append({name}[-1] + q)")
        target = self.target("flt")
        self.write(f"{target} = sum({name}) + {name}[1]")
        self.bind("flt", target)

    # -- statements with blocks ------------------------------------------------------------------------

    def branch(self, depth: int) -> bool:
        test = self.expression("bit", 2) if self.chance(85) else "k > 2"
        if self.chance(10):
            name = self.target("flt")
            test = f"({name} := {self.value('flt', 1)}) > 1"
            self.bind("flt", name)
        self.write(f"if {test}:")
        left = self.indented(depth - 1, leaves=self.chance(30))
        if self.chance(20):
            self.write(f"elif {self.expression('bit', 1)}:")
            left = self.indented(depth - 1, leaves=self.chance(30)) and left
        if self.chance(50):
            self.write("else:")
            return self.indented(depth - 1, leaves=self.chance(30)) and left
        return False

    def context(self, depth: int) -> bool:
        self.write("with contextlib.nullcontext():")
        return self.indented(depth - 1, leaves=self.chance(20))

    def match(self, depth: int) -> bool:
        self.write("match k:")
        self.indent += 1
        self.write(f"case {self.number(0, 2)} | 3:")
        left = self.indented(depth - 1, leaves=self.chance(20))
        self.write("case _:")
        left = self.indented(depth - 1, leaves=self.chance(20)) and left
        self.indent -= 1
        return left

    def for_loop(self, depth: int) -> bool:
        number, element = f"i{next(self.counter) + 10}", f"f{next(self.counter) + 10}"
        names, source, bound = self.pick(self._sources(number, element))
        self.write(f"for {names} in {source}:")
        self.loops += 1
        known = {kind: list(each) for kind, each in self.known.items()}
        for kind, name in bound:
            self.bind(kind, name)
        self.indented(depth - 1, leaves=self.chance(20))
        self.known = known
        for kind, name in bound:
            self.maybe[kind].append(name)
        self.loops -= 1
        return self.otherwise(depth)

    def _sources(self, number: str, element: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """What a loop may run over: the target, the source, and the variables with their kinds."""
        c = self.number
        i, f = ("num", number), ("flt", element)
        return [
            (number, f"range({c(0, 3)})", [i]),
            (number, f"range({c(0, 3)}, {c(0, 3)})", [i]),
            (number, f"range({c(0, 3)}, {-c(0, 3)}, -{c(1, 2)})", [i]),
            (number, f"range({self.expression('num', 1)} % 4)", [i]),
            (number, f"range({self.name('int')} % 4)", [i]),
            (number, f"range(1, {self.name('num')} % 4, 2)", [i]),
            (number, f"reversed(range({self.name('num')} % 3))", [i]),
            (number, "range(k)", [i]),
            (number, f"static_range({c(0, 3)})", [i]),
            (number, "(1, 2)", [i]),
            (element, self.name("vec"), [f]),
            (element, self.name("any"), [f]),
            (f"{number}, {element}", f"enumerate({self.name('vec')})", [i, f]),
            (
                f"{element}, {element}_2",
                f"zip({self.name('vec')}, {self.expression('any', 1)})",
                [f, ("flt", f"{element}_2")],
            ),
            (element, f"[{self.name('flt')}, {self.name('flt')}]", [f]),
        ]

    def while_loop(self, depth: int) -> bool:
        counter, limit = f"w{next(self.counter)}", self.number(1, 3)
        self.write(f"{counter} = 0")
        form = self.number(0, 2)
        if form == 0:
            self.write(f"while {counter} < {limit} and {self.expression('bit', 1)}:")
        elif form == 1:
            self.write(
                f"while ({counter}_f := {self.name('flt')} + {counter}) < {limit + 2} and {counter} < {limit}:"
            )
            self.bind("flt", f"{counter}_f")
        else:
            self.write("while True:")
        self.write(f"    {counter} += 1")
        if form == 2:
            self.write(f"    if {counter} > {limit} or {self.expression('bit', 1)}:")
            self.write("        break")
        self.loops += 1
        self.indented(depth - 1, leaves=self.chance(20))
        self.loops -= 1
        return self.otherwise(depth)

    def otherwise(self, depth: int) -> bool:
        if self.chance(20):
            self.write("else:")
            self.indented(depth - 1, leaves=self.chance(15))
        return False


def _write_function(
    draw: Callable[[Any], Any],
    signature: Signature,
    helpers: Sequence[Signature],
    depth: int,
    budget: int,
    is_annotated: bool = True,
) -> str:
    writer = _Function(draw, helpers, budget)
    writer.returns = signature.returns
    annotation = {"vec": ': FLOAT["N"]', "flt": ": FLOAT", "int": ": INT64"}
    parameters: list[str] = []
    for position, kind in enumerate(signature.parameters):
        name = f"{PREFIX[kind]}{position}"
        writer.known[kind].append(name)
        parameters.append(name + (annotation[kind] if signature.is_script and is_annotated else ""))
    if signature.is_script:
        parameters.append("k: int = 3")
    first = {
        "int": "op.Size(v0)",
        "num": str(writer.number(0, 4)),
        "real": "0.5",
        "bit": f"{writer.known['flt'][0]} > 1",
        "any": "v0[1:]",
        "pair": f"(v0, {writer.known['flt'][0]})",
    }
    writer.write("k0 = k" if signature.is_script else "k = k0 = 3")
    writer.known["num"].append("k0")
    for kind, value in first.items():
        if not writer.known[kind] or kind == "num":
            name = f"{PREFIX[kind]}8"
            writer.write(f"{name} = {value}")
            writer.known[kind].append(name)
    left = False
    for _ in range(writer.number(1, 4)):
        if writer.statement(depth):
            left = True
            break
    if not left:
        writer.write(writer.result())
    head = f"def {signature.name}({', '.join(parameters)}):\n"
    return ("@script()\n" if signature.is_script else "") + head + "\n".join(writer.lines) + "\n"


@st.composite
def programs(draw: Callable[[Any], Any]) -> Program:
    """A program with its arguments."""
    version = draw(st.sampled_from([18, 21, 17, 23]))
    helpers: list[Signature] = []
    parts: list[str] = []
    for position in range(draw(st.integers(0, 2))):
        is_script = draw(st.booleans())
        returns = draw(st.sampled_from([("vec",), ("flt",), ("vec", "flt"), ("flt", "num")]))
        signature = Signature(f"helper{position}", ("vec", "flt"), returns, is_script)
        parts.append(_write_function(draw, signature, helpers, 1, 6, is_annotated=draw(st.booleans())))
        helpers.append(signature)
    results = [kind for kind in KINDS if kind != "pair"]
    returns = tuple(draw(st.lists(st.sampled_from(results), min_size=1, max_size=3)))
    main = Signature("program", ("vec", "vec", "flt", "int"), returns, True)
    parts.append(_write_function(draw, main, helpers, draw(st.integers(1, 3)), 14))
    size = draw(st.integers(1, 3))
    values = st.integers(-4, 4)
    vectors = [np.array(draw(st.lists(values, min_size=size, max_size=size)), np.float32) for _ in range(2)]
    scalars = np.array(draw(values), np.float32), np.array(draw(values), np.int64)
    attributes = {"k": draw(st.integers(0, 4))} if draw(st.booleans()) else {}
    source = "\n\n".join(parts)
    if (
        version < _WITH_BITS
    ):  # an attribute's bits are the model's to take, and there is no operator for it yet
        source = source.replace(" & 3)", " % 4)")
    return Program(_HEADER.format(version=version) + source, (*vectors, *scalars), attributes)

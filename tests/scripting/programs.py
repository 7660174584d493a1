"""Generates programs: modules with a script in them, and inputs for it.

Every value is an integer, also the floats, and none grows without end, so that four ways to run a program must give
the same bits. What is generated is Python that a person could write; a program may use a variable that has no value
on some path, and then has to be refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

#: vector of FLOAT, scalar FLOAT, scalar INT64, Python int, truth value
KINDS = ("vec", "flt", "int", "num", "bit")
_PREFIX = {"vec": "v", "flt": "f", "int": "n", "num": "i", "bit": "b"}

_HEADER = """\
from onnxsmith import FLOAT, INT64, script, static_range, opset{version} as op


"""


@dataclass(frozen=True)
class Program:
    """A module's text with a script `program`, and arguments for it."""

    source: str
    inputs: tuple[Any, ...]
    attributes: dict[str, int]


class _Function:
    """Writes one function."""

    def __init__(self, draw: Callable[[Any], Any], helpers: Sequence[_Signature], budget: int) -> None:
        self.draw = draw
        self.helpers = list(helpers)
        self.budget = budget
        self.lines: list[str] = []
        self.indent = 1
        self.known: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self.maybe: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self.locals: list[tuple[str, str]] = []  # nested functions: name, kind
        self.counter = itertools.count()
        self.returns: tuple[str, ...] = ()
        self.loops = 0

    # -- choices ---------------------------------------------------------------------------------------

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        # 0 is what shrinking tries first: the simpler program.
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    # -- expressions -----------------------------------------------------------------------------------

    def name(self, kind: str) -> str:
        if self.maybe[kind] and self.chance(4):
            return self.pick(self.maybe[kind])
        return self.pick(self.known[kind])

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.chance(25):
            return self.atom(kind)
        forms: list[Callable[[int], str]] = getattr(self, f"_{kind}_forms")()
        return self.pick(forms)(depth - 1)

    def atom(self, kind: str) -> str:
        if kind in ("num", "flt") and self.chance(25):
            return str(self.draw(st.integers(0, 4))) + (".0" if kind == "flt" and self.chance(50) else "")
        if kind == "bit" and self.chance(10):
            return self.pick(["True", "False"])
        return self.name(kind)

    def choice(self, kind: str, depth: int) -> str:
        parts = [self.expression(kind, depth), self.expression("bit", depth), self.expression(kind, depth)]
        if kind == "flt":  # two literals would be a Python number, which is another kind
            parts[0] = self.name("flt")
        return "({} if {} else {})".format(*parts)

    def _vec_forms(self) -> list[Callable[[int], str]]:
        e = self.expression
        forms: list[Callable[[int], str]] = [
            lambda d: f"({e('vec', d)} {self.pick('+-')} {e('vec', d)})",
            lambda d: f"({e('vec', d)} {self.pick('+-')} {self.name('flt')})",
            lambda d: f"({e('vec', d)} * {e('num', d)} % 8)",
            lambda d: f"({self.name('flt')} * {e('vec', d)} % 16.0)",
            lambda d: f"(-{self.name('vec')})",
            lambda d: f"abs({e('vec', d)})",
            lambda d: f"{self.name('vec')}[::-1]",
            lambda d: f"op.Relu({e('vec', d)})",
            lambda d: f"op.Where({e('vec', d)} > {e('vec', d)}, {e('vec', d)}, {e('vec', d)})",
            lambda d: self.choice("vec", d),
        ]
        return [*forms, *self._calls("vec")]

    def _flt_forms(self) -> list[Callable[[int], str]]:
        e = self.expression
        return [
            lambda d: f"({e('vec', d)} % 8).sum()",
            lambda d: f"{self.name('vec')}[0]",
            lambda d: f"{self.name('vec')}[-1]",
            lambda d: f"{self.name('vec')}[{e('num', d)} % len({self.name('vec')})]",
            lambda d: f"({self.name('flt')} {self.pick('+-')} {e('flt', d)})",
            lambda d: f"({self.name('flt')} * {e('num', d)} % 8)",
            lambda d: f"{e('vec', d)}.max()",
            lambda d: f"(-{self.name('flt')})",
            lambda d: self.choice("flt", d),
            *self._calls("flt"),
        ]

    def _int_forms(self) -> list[Callable[[int], str]]:
        e = self.expression
        return [
            lambda d: f"(({e('int', d)} + {e('num', d)}) % 9)",
            lambda d: f"({e('int', d)} - {e('int', d)})",
            lambda d: f"({e('int', d)} * {e('num', d)} % 7)",
            lambda d: f"({e('int', d)} // {self.draw(st.integers(1, 3))})",
            lambda d: self.choice("int", d),
        ]

    def _num_forms(self) -> list[Callable[[int], str]]:
        e = self.expression
        return [
            lambda d: f"(({e('num', d)} + {e('num', d)}) % 9)",
            lambda d: f"({e('num', d)} - {e('num', d)})",
            lambda d: f"({e('num', d)} * {e('num', d)} % 7)",
            lambda d: f"({e('num', d)} // {self.draw(st.integers(1, 3))})",
            lambda d: f"len({self.name('vec')})",
            lambda d: f"{self.name('vec')}.shape[0]",
            lambda d: f"int({e('int', d)})",
            lambda d: self.choice("num", d),
        ]

    def _bit_forms(self) -> list[Callable[[int], str]]:
        e = self.expression

        def chained(d: int) -> str:
            kind = self.pick(["num", "flt", "int"])
            return f"({e(kind, 0)} {self.compare()} {self.name(kind)} {self.compare()} {e(kind, 0)})"

        return [
            lambda d: f"({self.name('flt')} {self.compare()} {e('flt', d)})",
            lambda d: f"({e('num', d)} {self.compare()} {e('num', d)})",
            lambda d: f"({self.name('int')} {self.compare()} {e('num', d)})",
            lambda d: f"({e('vec', d)} > {self.name('flt')}).{self.pick(['all', 'any'])}()",
            lambda d: f"({e('bit', d)} {self.pick(['and', 'or'])} {e('bit', d)})",
            lambda d: f"(not {e('bit', d)})",
            chained,
            lambda d: f"({e('num', d)} in (1, 2, {e('num', d)}))",
            lambda d: self.choice("bit", d),
        ]

    def compare(self) -> str:
        return self.pick(["<", "<=", ">", ">=", "==", "!="])

    def _calls(self, kind: str) -> list[Callable[[int], str]]:
        forms: list[Callable[[int], str]] = []
        for helper in self.helpers:
            if helper.returns == (kind,):
                forms.append(lambda d, helper=helper: self.call(helper, d))
        forms += [
            lambda d, local=local: f"{local}({self.name(kind)})" for local, of in self.locals if of == kind
        ]
        return forms

    def call(self, helper: _Signature, depth: int) -> str:
        arguments = [
            self.name(kind) if kind == "flt" else self.expression(kind, depth) for kind in helper.parameters
        ]
        if helper.is_script:
            value = "k" if self.chance(50) else str(self.draw(st.integers(0, 4)))
            if value == "k" or self.chance(50):
                arguments.append(f"k={value}")
        return f"{helper.name}({', '.join(arguments)})"

    # -- statements ------------------------------------------------------------------------------------

    def target(self, kind: str) -> str:
        if self.chance(12):
            return f"{_PREFIX[kind]}{next(self.counter) + 10}"
        return self.pick(self.known[kind])

    def bind(self, kind: str, name: str) -> None:
        if name not in self.known[kind]:
            self.known[kind].append(name)
        if name in self.maybe[kind]:
            self.maybe[kind].remove(name)

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression to assign: a float variable is never a Python number."""
        text = self.expression(kind, depth)
        if kind == "flt" and text.replace(".", "").isdigit():
            return f"{self.name('flt')} + {text}"
        return text

    def block(self, depth: int, *, leaves: bool = False) -> bool:
        """Write statements; the result tells whether control leaves in any case."""
        known = {kind: list(names) for kind, names in self.known.items()}
        local_functions = list(self.locals)
        left = False
        for _ in range(self.draw(st.integers(1, 3))):
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
            self.assign,
            self.assign,
            self.assign,
            self.augment,
            self.swap,
            self.unpack,
            self.define,
            self.walrus,
        ]
        nested = [self.branch, self.branch, self.for_loop, self.for_loop, self.while_loop]
        if depth <= 0 or self.budget <= 0:
            return bool(self.pick(simple)())
        return bool(self.pick(nested)(depth)) if self.chance(45) else bool(self.pick(simple)())

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
        if not helpers:
            return self.assign()
        helper = self.pick(helpers)
        text = self.call(helper, 1)
        names = [self.target(kind) for kind in helper.returns]
        self.write(f"{', '.join(names)} = {text}")
        for kind, name in zip(helper.returns, names, strict=True):
            self.bind(kind, name)
        return None

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

    def walrus(self) -> None:
        kind = self.pick(["flt", "num", "int"])
        name = self.target(kind)
        value = self.value(kind, 1)
        other = self.pick(self.known[kind])
        self.write(f"{other} = ({name} := {value}) + {name}")
        self.bind(kind, name)

    def branch(self, depth: int) -> bool:
        test = self.expression("bit", 2) if self.chance(85) else "k > 2"
        self.write(f"if {test}:")
        left = self.indented(depth - 1, leaves=self.chance(30))
        if self.chance(20):
            self.write(f"elif {self.expression('bit', 1)}:")
            left = self.indented(depth - 1, leaves=self.chance(30)) and left
        if self.chance(50):
            self.write("else:")
            return self.indented(depth - 1, leaves=self.chance(30)) and left
        return False

    def for_loop(self, depth: int) -> bool:
        c = lambda: self.draw(st.integers(0, 3))  # noqa: E731
        number, element = f"i{next(self.counter) + 10}", f"f{next(self.counter) + 10}"
        forms: list[tuple[str, str, list[tuple[str, str]]]] = [
            (number, f"range({c()})", [("num", number)]),
            (number, f"range({c()}, {c()})", [("num", number)]),
            (number, f"range({c()}, {-c()}, -{self.draw(st.integers(1, 2))})", [("num", number)]),
            (number, f"range({self.expression('num', 1)} % 4)", [("num", number)]),
            (number, f"range({self.name('int')} % 4)", [("num", number)]),
            (number, f"range(1, {self.name('num')} % 4, 2)", [("num", number)]),
            (number, "range(k)", [("num", number)]),
            (number, f"static_range({c()})", [("num", number)]),
            (number, "(1, 2)", [("num", number)]),
            (element, self.name("vec"), [("flt", element)]),
            (f"{number}, {element}", f"enumerate({self.name('vec')})", [("num", number), ("flt", element)]),
            (f"{element}, {element}_2", f"zip({self.name('vec')}, {self.expression('vec', 1)})",
             [("flt", element), ("flt", f"{element}_2")]),
            (element, f"[{self.name('flt')}, {self.name('flt')}]", [("flt", element)]),
        ]  # fmt: skip
        names, source, bound = self.pick(forms)
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

    def while_loop(self, depth: int) -> bool:
        counter, limit = f"w{next(self.counter)}", self.draw(st.integers(1, 3))
        self.write(f"{counter} = 0")
        form = self.draw(st.integers(0, 2))
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


@dataclass(frozen=True)
class _Signature:
    name: str
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    is_script: bool


def _write_function(
    draw: Callable[[Any], Any],
    signature: _Signature,
    helpers: Sequence[_Signature],
    depth: int,
    budget: int,
    is_annotated: bool = True,
) -> str:
    writer = _Function(draw, helpers, budget)
    writer.returns = signature.returns
    annotation = {"vec": ': FLOAT["N"]', "flt": ": FLOAT", "int": ": INT64"}
    parameters: list[str] = []
    for position, kind in enumerate(signature.parameters):
        name = f"{_PREFIX[kind]}{position}"
        writer.known[kind].append(name)
        parameters.append(name + (annotation[kind] if signature.is_script and is_annotated else ""))
    if signature.is_script:
        parameters.append("k: int = 3")
        writer.known["num"].append("k0")
        writer.write("k0 = k")
    else:
        writer.write("k = k0 = 3")
        writer.known["num"].append("k0")
    if not writer.known["flt"]:
        writer.write(f"f8 = {writer.known['vec'][0]}[0]")
        writer.known["flt"].append("f8")
    if not writer.known["vec"]:
        writer.write("raise NotImplementedError")
    if not writer.known["int"]:
        writer.write("n8 = op.Size(v0)")
        writer.known["int"].append("n8")
    writer.write(f"i8 = {draw(st.integers(0, 4))}")
    writer.known["num"].append("i8")
    writer.write(f"b8 = {writer.known['flt'][0]} > 1")
    writer.known["bit"].append("b8")
    left = False
    for _ in range(draw(st.integers(1, 4))):
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
    version = draw(st.sampled_from([18, 21, 17]))
    helpers: list[_Signature] = []
    parts: list[str] = []
    for position in range(draw(st.integers(0, 2))):
        is_script = draw(st.booleans())
        returns = draw(st.sampled_from([("vec",), ("flt",), ("vec", "flt"), ("flt", "num")]))
        signature = _Signature(f"helper{position}", ("vec", "flt"), returns, is_script)
        parts.append(_write_function(draw, signature, helpers, 1, 6, is_annotated=draw(st.booleans())))
        helpers.append(signature)
    returns = tuple(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)))
    main = _Signature("program", ("vec", "vec", "flt", "int"), returns, True)
    parts.append(_write_function(draw, main, helpers, draw(st.integers(1, 3)), 14))
    size = draw(st.integers(1, 3))
    values = st.integers(-4, 4)
    vectors = [np.array(draw(st.lists(values, min_size=size, max_size=size)), np.float32) for _ in range(2)]
    scalars = np.array(draw(values), np.float32), np.array(draw(values), np.int64)
    attributes = {"k": draw(st.integers(0, 4))} if draw(st.booleans()) else {}
    return Program(_HEADER.format(version=version) + "\n\n".join(parts), (*vectors, *scalars), attributes)

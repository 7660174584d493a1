"""Writes the expressions of generated programs, by the kind of value that they give."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

#: vector of FLOAT, vector of another length, scalar FLOAT, scalar INT64, Python int, Python float, truth value,
#: a tuple of a vector and a scalar
KINDS = ("vec", "any", "flt", "int", "num", "real", "bit", "pair")
PREFIX = {"vec": "v", "any": "z", "flt": "f", "int": "n", "num": "i", "real": "r", "bit": "b", "pair": "p"}

Form = Callable[[int], str]


@dataclass(frozen=True)
class Signature:
    """A function that a program may call."""

    name: str
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    is_script: bool


class Expressions:
    """Draws expressions of the variables that are known."""

    def __init__(self, draw: Callable[[Any], Any], helpers: Sequence[Signature]) -> None:
        self.draw = draw
        self.helpers = list(helpers)
        self.known: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self.maybe: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self.locals: list[tuple[str, str]] = []  # nested functions: name, kind
        self.counter = itertools.count()

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        # 0 is what shrinking tries first: the simpler program.
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def name(self, kind: str) -> str:
        if self.maybe[kind] and self.chance(4):
            return self.pick(self.maybe[kind])
        return self.pick(self.known[kind])

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.chance(25):
            return self.atom(kind)
        return self.pick(getattr(self, f"_{kind}_forms")())(depth - 1)

    def atom(self, kind: str) -> str:
        if kind in ("num", "flt") and self.chance(25):
            return str(self.number(0, 4)) + (".0" if kind == "flt" and self.chance(50) else "")
        if kind == "real" and self.chance(40):
            return self.pick(["0.5", "1.0", "1.25", "-2.5"])
        if kind == "bit" and self.chance(10):
            return self.pick(["True", "False"])
        return self.name(kind)

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression to assign: a float variable is never a Python number."""
        text = self.expression(kind, depth)
        if kind == "flt" and text.replace(".", "").isdigit():
            return f"{self.name('flt')} + {text}"
        return text

    def choice(self, kind: str, depth: int) -> str:
        parts = [self.expression(kind, depth), self.expression("bit", depth), self.expression(kind, depth)]
        if kind == "flt":  # two literals would be a Python number, which is another kind
            parts[0] = self.name("flt")
        return "({} if {} else {})".format(*parts)

    # -- forms: what an expression of a kind may look like ---------------------------------------------

    def _vec_forms(self) -> list[Form]:
        e = self.expression
        forms: list[Form] = [
            lambda d: f"({e('vec', d)} {self.pick('+-')} {e('vec', d)})",
            lambda d: f"({e('vec', d)} {self.pick('+-')} {self.name('flt')})",
            lambda d: f"({e('vec', d)} * {e('num', d)} % 8)",
            lambda d: f"({self.name('flt')} * {e('vec', d)} % 16.0)",
            lambda d: f"({e('vec', d)} + {e('real', d)})",
            lambda d: f"(-{self.name('vec')})",
            lambda d: f"abs({e('vec', d)})",
            lambda d: f"{self.name('vec')}[::-1]",
            lambda d: f"op.Relu({e('vec', d)})",
            lambda d: f"op.Where({e('vec', d)} > {e('vec', d)}, {e('vec', d)}, {e('vec', d)})",
            lambda d: f"sum([{e('vec', d)}, {e('vec', d)}])",
            lambda d: f"{self.name('pair')}[0]",
            lambda d: self.choice("vec", d),
        ]
        return [*forms, *self._calls("vec")]

    def _any_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"op.Concat({self.name('any')}[:3], {self.name('vec')}, axis=0)",
            lambda d: f"({e('any', d)} * 2 % 8)",
            lambda d: f"{self.name('any')}[1:]",
            lambda d: f"{self.name('any')}[: {e('num', d)} % 4]",
            lambda d: f"{self.name('any')}[::-1]",
            lambda d: f"({e('any', d)} + {self.name('flt')})",
            lambda d: f"{self.name('vec')} + 0",
            lambda d: self.choice("any", d),
        ]

    def _flt_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"({e('vec', d)} % 8).sum()",
            lambda d: f"({e('any', d)} % 8).sum()",
            lambda d: f"{self.name('vec')}[0]",
            lambda d: f"{self.name('vec')}[-1]",
            lambda d: f"{self.name('vec')}[{e('num', d)} % len({self.name('vec')})]",
            lambda d: f"({self.name('flt')} {self.pick('+-')} {e('flt', d)})",
            lambda d: f"({self.name('flt')} * {e('num', d)} % 8)",
            lambda d: f"({self.name('flt')} + {e('real', d)})",
            lambda d: f"max({self.name('flt')}, {e('flt', d)})",
            lambda d: f"sum({self.name('flt')} * k for k in range({self.number(1, 3)}))",
            lambda d: f"{e('vec', d)}.max()",
            lambda d: f"(-{self.name('flt')})",
            lambda d: f"{self.name('pair')}[1]",
            lambda d: self.choice("flt", d),
            *self._calls("flt"),
        ]

    def _int_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"(({e('int', d)} + {e('num', d)}) % 9)",
            lambda d: f"({e('int', d)} - {e('int', d)})",
            lambda d: f"({e('int', d)} * {e('num', d)} % 7)",
            lambda d: f"({e('int', d)} // {self.number(1, 3)})",
            lambda d: self.choice("int", d),
        ]

    def _num_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"(({e('num', d)} + {e('num', d)}) % 9)",
            lambda d: f"({e('num', d)} - {e('num', d)})",
            lambda d: f"({e('num', d)} * {e('num', d)} % 7)",
            lambda d: f"({e('num', d)} // {self.number(1, 3)})",
            lambda d: f"({e('num', d)} & 3)",
            lambda d: f"len({self.name('vec')})",
            lambda d: f"{self.name('any')}.shape[0]",
            lambda d: f"int({e('int', d)})",
            lambda d: f"int({e('real', d)})",
            lambda d: f"min({e('num', d)}, {e('num', d)})",
            lambda d: f"({e('num', d)} or {e('num', d)})",
            lambda d: self.choice("num", d),
        ]

    def _real_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"(({e('real', d)} + {e('real', d)}) % 16)",
            lambda d: f"({e('real', d)} - {e('num', d)})",
            lambda d: f"(({e('num', d)} % 16) / 2)",
            lambda d: f"(round({e('real', d)} * 4) / 8)",
            lambda d: f"(-{e('real', d)})",
            lambda d: f"abs({e('real', d)})",
            lambda d: f"float({e('num', d)})",
            lambda d: self.choice("real", d),
        ]

    def _bit_forms(self) -> list[Form]:
        e = self.expression

        def chained(d: int) -> str:
            kind = self.pick(["num", "flt", "int", "real"])
            return f"({e(kind, 0)} {self.compare()} {self.name(kind)} {self.compare()} {e(kind, 0)})"

        return [
            lambda d: f"({self.name('flt')} {self.compare()} {e('flt', d)})",
            lambda d: f"({e('num', d)} {self.compare()} {e('num', d)})",
            lambda d: f"({self.name('int')} {self.compare()} {e('num', d)})",
            lambda d: f"({e('real', d)} {self.compare()} {e('num', d)})",
            lambda d: f"({e('vec', d)} > {self.name('flt')}).{self.pick(['all', 'any'])}()",
            lambda d: f"({e('bit', d)} {self.pick(['and', 'or'])} {e('bit', d)})",
            lambda d: f"(not {e('bit', d)})",
            chained,
            lambda d: f"({e('num', d)} in (1, 2, {e('num', d)}))",
            lambda d: f"any([{e('bit', d)}, {e('bit', d)}])",
            lambda d: self.choice("bit", d),
        ]

    def _pair_forms(self) -> list[Form]:
        e = self.expression
        return [
            lambda d: f"({e('vec', d)}, {self.value('flt', d)})",
            lambda d: f"({self.name('pair')}[0] + 1, {self.name('flt')})",
            lambda d: self.choice("pair", d),
        ]

    def compare(self) -> str:
        return self.pick(["<", "<=", ">", ">=", "==", "!="])

    # -- calls -----------------------------------------------------------------------------------------

    def _calls(self, kind: str) -> list[Form]:
        forms: list[Form] = []
        for helper in self.helpers:
            if helper.returns == (kind,):
                forms.append(lambda d, helper=helper: self.call(helper, d))
        forms += [
            lambda d, local=local: f"{local}({self.name(kind)})" for local, of in self.locals if of == kind
        ]
        return forms

    def call(self, helper: Signature, depth: int) -> str:
        arguments = [
            self.name(kind) if kind == "flt" else self.expression(kind, depth) for kind in helper.parameters
        ]
        if helper.is_script:
            value = "k" if self.chance(50) else str(self.number(0, 4))
            if value == "k" or self.chance(50):
                arguments.append(f"k={value}")
        return f"{helper.name}({', '.join(arguments)})"

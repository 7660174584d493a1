"""Random expressions of numpy, as text: vectors, masks, matrices and numbers of the variables that there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variable:
    """What a name holds: a `vector` of `n` elements, a `part` of any length, a `matrix`, a `scalar` or a `truth`."""

    name: str
    kind: str
    #: f, i or b: floating point, whole numbers, truth values.
    element: str
    #: Whether it is a loop's counter, which stays below n and is not assigned to.
    is_counter: bool = False
    #: Whether it may be written to: not an argument.
    is_own: bool = True


@dataclass
class Expressions:
    """The lines of a function so far, the variables that they bind, and expressions of these."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    scope: list[Variable] = field(default_factory=list[Variable])
    indent: int = 1
    loops: int = 0
    names: int = 0
    has_return: bool = False

    # -- text ------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """One line more, where the function stands."""
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines inside a statement."""
        self.line(head)
        self.indent += 1
        outer = list(self.scope)
        yield
        self.indent -= 1
        # What a branch or a loop bound for the first time is not known to be there after it.
        self.scope = [each for each in self.scope if any(each.name == other.name for other in outer)]

    def new(self, prefix: str) -> str:
        """A name that is not taken."""
        self.names += 1
        return f"{prefix}{self.names}"

    def bind(self, variable: Variable) -> None:
        """Let a name hold something."""
        self.scope = [each for each in self.scope if each.name != variable.name] + [variable]

    # -- what is there ---------------------------------------------------------------------------------

    def some(self, kind: str, elements: str = "fib", own: bool = False) -> Variable | None:
        """One of the variables of a kind; None where there is none."""
        found = [
            each
            for each in self.scope
            if each.kind == kind and each.element in elements and (each.is_own or not own)
        ]
        return self.rng.choice(found) if found else None

    def counter(self) -> str | None:
        """The counter of a loop around; None where there is none."""
        found = [each.name for each in self.scope if each.is_counter]
        return self.rng.choice(found) if found else None

    def place(self) -> str:
        """An index that fits a vector of n elements, wherever there is one."""
        i = self.counter()
        forms = ["0", "-1", "n - 1", "n // 2", "int(abs(s0)) % n"]
        if i is not None:
            forms += [i, i, i, i, f"{i} - 1", f"({i} + 1) % n", f"n - 1 - {i}", f"-{i} - 1", f"{i} // 2"]
        return self.rng.choice(forms)

    def span(self) -> str:
        """A slice of a vector."""
        i = self.counter()
        forms = ["1:", ":-1", "::2", "::-1", "n // 2:", ":n // 2", "1:-1", "-2:", "1::2", ":"]
        if i is not None:
            forms += [f":{i}", f"{i}:", f"{i}:{i} + 2", f":{i} + 1", f"max(0, {i} - 1):{i} + 1", f"{i}::2"]
        return self.rng.choice(forms)

    # -- expressions -----------------------------------------------------------------------------------

    def vector(self, elements: str = "fi", depth: int = 0) -> str:
        """A vector of n elements."""
        rng = self.rng
        if elements == "b":
            return self.mask(depth)
        known = self.some("vector", elements)
        if known is not None and (depth > 1 or rng.random() < 0.4):
            return known.name
        deeper = depth + 1
        forms: list[Callable[[], str]] = [
            lambda: f"({self.vector(elements, deeper)} {rng.choice('+-')} {self.vector(elements, deeper)})",
            lambda: f"({self.vector(elements, deeper)} {rng.choice('+-')} {self.scalar(elements, deeper)})",
            lambda: (
                f"np.where({self.mask(deeper)}, {self.vector(elements, deeper)}, {self.number(elements)})"
            ),
            lambda: f"np.abs({self.vector(elements, deeper)})",
            lambda: (
                f"np.{rng.choice(('maximum', 'minimum'))}({self.vector(elements, deeper)}, {self.number(elements)})"
            ),
            lambda: f"{self.vector(elements, deeper)}[::-1]",
            lambda: f"np.{rng.choice(('sort', 'cumsum'))}({self.vector(elements, deeper)})",
            lambda: f"np.roll({self.vector(elements, deeper)}, {rng.choice((1, -1, 2))})",
            lambda: f"np.clip({self.vector(elements, deeper)}, -3, 3)",
        ]
        if "i" in elements:
            forms += [
                lambda: "np.arange(n)",
                lambda: f"({self.vector('i', deeper)} {rng.choice(('//', '%'))} {rng.choice((2, 3))})",
                lambda: f"np.argsort({self.vector('fi', deeper)}, kind='stable')",
                lambda: f"{self.vector('f', deeper)}.astype(int)",
            ]
        if "f" in elements:
            forms += [
                lambda: f"({self.vector('fi', deeper)} / {rng.choice((2, 4, '2.0'))})",
                lambda: f"({self.vector('f', deeper)} * {rng.choice(('0.5', '2', '-1', 'rate'))})",
                lambda: "np.zeros(n)",
                lambda: f"np.full(n, {self.number('f')})",
                lambda: f"m[:, {rng.randrange(3)}]",
                lambda: f"{self.matrix(deeper)}.{rng.choice(('sum', 'max', 'min'))}(axis=1)",
                lambda: f"({self.matrix(deeper)} @ np.array([1.0, 0.5, -1.0]))",
                lambda: f"lead({self.vector('fi', deeper)})",
                lambda: f"np.linspace(0, n - 1, n)[{self.vector('i', deeper)} * 0]",
                lambda: f"{self.vector('i', deeper)}.astype(x.dtype)",
            ]
        return rng.choice(forms)()

    def mask(self, depth: int = 0) -> str:
        """A vector of n truth values."""
        rng = self.rng
        deeper = depth + 1
        known = self.some("vector", "b")
        if known is not None and (depth > 1 or rng.random() < 0.4):
            return known.name
        forms: list[Callable[[], str]] = [
            lambda: (
                f"({self.vector('fi', deeper)} {rng.choice(('>', '<', '>=', '!=', '=='))} {self.number('fi')})"
            ),
            lambda: f"({self.vector('fi', deeper)} > {self.vector('fi', deeper)})",
        ]
        if depth < 2:
            forms += [
                lambda: f"({self.mask(deeper)} {rng.choice('&|^')} {self.mask(deeper)})",
                lambda: f"~{self.mask(deeper)}",
                lambda: f"np.isin(k, [1, {rng.randrange(-3, 4)}])",
                lambda: f"(m > 0).{rng.choice(('any', 'all'))}(axis=1)",
            ]
        return rng.choice(forms)()

    def matrix(self, depth: int = 0) -> str:
        """A matrix of n rows and three columns."""
        rng = self.rng
        known = self.some("matrix")
        if known is not None and (depth > 0 or rng.random() < 0.4):
            return known.name
        return rng.choice(
            (
                lambda: f"(m {rng.choice('+-')} {self.number('f')})",
                lambda: f"(m + {self.vector('f', depth + 1)}[:, None])",
                lambda: "(m - m.mean(axis=1, keepdims=True))",
                lambda: "np.zeros((n, 3))",
                lambda: "np.stack([x, x * 2, -x], axis=1)",
                lambda: f"m[{self.vector('i', depth + 1)} % n]",
                lambda: "m[::-1, ::-1]",
                lambda: f"np.where(m > {self.number('f')}, m, 0)",
                lambda: "np.outer(k, [1, 2, 3])",
            )
        )()

    def part(self) -> str:
        """A vector of any length."""
        return self.rng.choice(
            (
                lambda: f"{self.vector('fi', 1)}[{self.span()}]",
                lambda: f"{self.vector('fi', 1)}[{self.mask(1)}]",
                lambda: f"np.diff({self.vector('fi', 1)})",
                lambda: f"np.flatnonzero({self.mask(1)})",
                lambda: f"np.unique({self.vector('fi', 1)})",
                lambda: f"np.concatenate([{self.vector('fi', 1)}, {self.vector('fi', 1)}[{self.span()}]])",
                lambda: f"{self.matrix(1)}.{self.rng.choice(('sum', 'max', 'min'))}(axis=0)",
                lambda: f"{self.matrix(1)}[{self.place()}]",
            )
        )()

    def number(self, elements: str) -> str:
        """A number that is written out."""
        if "f" in elements and self.rng.random() < 0.6:
            return self.rng.choice(("0.5", "-1.5", "0.25", "2.0", "rate", "limit"))
        return self.rng.choice(("0", "1", "2", "-1", "3"))

    def scalar(self, elements: str = "fi", depth: int = 0) -> str:
        """A single number."""
        rng = self.rng
        known = self.some("scalar", elements)
        if known is not None and (depth > 1 or rng.random() < 0.4):
            return known.name
        if depth > 2:
            return self.number(elements)
        deeper = depth + 1
        forms: list[Callable[[], str]] = [
            lambda: self.number(elements),
            lambda: f"{self.vector(elements, 2)}[{self.place()}]",
            lambda: f"{self.vector(elements, 2)}[{self.place()}]",
            lambda: f"{self.vector(elements, deeper)}.sum()",
            lambda: f"np.{rng.choice(('max', 'min', 'sum'))}({self.vector(elements, deeper)})",
            lambda: f"({self.scalar(elements, deeper)} {rng.choice('+-')} {self.scalar(elements, deeper)})",
            lambda: (
                f"{rng.choice(('min', 'max'))}({self.scalar(elements, deeper)}, {self.scalar(elements, deeper)})"
            ),
            lambda: f"abs({self.scalar(elements, deeper)})",
            lambda: (
                f"({self.scalar(elements, deeper)} if {self.truth(deeper)} else {self.scalar(elements, deeper)})"
            ),
            lambda: f"clamp({self.scalar(elements, deeper)})",
        ]
        if "i" in elements:
            forms += [
                lambda: "n",
                lambda: f"len({self.part()})",
                lambda: f"count_above({self.vector('fi', deeper)}, {self.number('f')})",
                lambda: f"np.argmax({self.vector('fi', deeper)})",
                lambda: f"np.count_nonzero({self.mask(deeper)})",
                lambda: f"int({self.scalar('fi', deeper)})",
                lambda: f"({self.scalar('i', deeper)} {rng.choice(('//', '%'))} {rng.choice((2, 3))})",
                lambda: f"{self.mask(deeper)}.sum()",
            ]
        if "f" in elements:
            forms += [
                lambda: f"({self.scalar('fi', deeper)} / {rng.choice((2, 4))})",
                lambda: f"{self.vector('f', deeper)}.mean()",
                lambda: f"float({self.scalar('fi', deeper)})",
                lambda: f"{self.matrix(deeper)}[{self.place()}, {rng.randrange(-3, 3)}]",
                lambda: f"({self.scalar('f', deeper)} * 0.5)",
                lambda: f"np.dot({self.vector('f', 2)}, x)",
            ]
        return rng.choice(forms)()

    def truth(self, depth: int = 0) -> str:
        """A single truth value."""
        rng = self.rng
        deeper = depth + 1
        known = self.some("truth")
        i = self.counter()
        forms: list[Callable[[], str]] = [
            lambda: (
                f"{self.scalar('fi', deeper)} {rng.choice(('>', '<', '<=', '!='))} {self.scalar('fi', deeper)}"
            ),
            lambda: f"{self.scalar('fi', deeper)} > {self.number('fi')}",
            lambda: f"{self.scalar('fi', deeper)} > {self.number('fi')}",
            lambda: f"np.{rng.choice(('any', 'all'))}({self.mask(deeper)})",
            lambda: f"{self.mask(1)}[{self.place()}]",
            lambda: f"n {rng.choice(('> 2', '% 2 == 0', '== 1'))}",
            lambda: "len(x) > 1",
        ]
        if known is not None:
            forms += [lambda: known.name, lambda: f"not {known.name}"]
        if i is not None:
            forms += [lambda: f"{i} % 2 == 0", lambda: f"{i} > 0", lambda: f"x[{i}] > {self.number('f')}"]
        if depth < 2:
            forms += [lambda: f"({self.truth(deeper)} {rng.choice(('and', 'or'))} {self.truth(deeper)})"]
        return rng.choice(forms)()

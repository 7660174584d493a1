"""Generates programs with control flow whose gradients torch knows: one text, run as a script and on torch's tensors.

Everything is smooth and bounded, in double precision, so that gradients agree closely. Loops run as often as an
argument, a state or a condition says; states are vectors, matrices, single numbers, and vectors that grow.
"""

from __future__ import annotations

import linecache
import random
import zlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from onnxsmith import DOUBLE, INT64, script
from onnxsmith import opset21 as op

#: How many elements vectors have; matrices are square.
SIZE = 3
_HEAD = "def program(x: DOUBLE['N'], m: DOUBLE['N', 'N'], s: DOUBLE, n: INT64):\n"
_KINDS = ("vector", "matrix", "number", "growing")


@dataclass(frozen=True)
class Program:
    """The text of a function that gives one number, and its arguments; the first three have gradients."""

    source: str
    inputs: tuple[Any, ...]

    def as_script(self) -> Any:
        """The function as a script."""
        return script(_defined(self.source, {"op": op, "DOUBLE": DOUBLE, "INT64": INT64}))

    def on_torch(self) -> Any:
        """The function on torch's tensors."""
        annotation = {0: None}
        names = {"op": _TORCH, "DOUBLE": {"N": 0, ("N", "N"): 0}, "INT64": annotation}
        return _defined(self.source, names)


def _defined(source: str, names: dict[str, Any]) -> Any:
    file = f"<program {zlib.crc32(source.encode())}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "generated", **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


def _summed(x: torch.Tensor, axes: Any = None, keepdims: int = 1) -> torch.Tensor:
    return x.sum() if axes is None else x.sum(dim=tuple(axes), keepdim=bool(keepdims))


#: The operators that programs call, on torch's tensors.
_TORCH = SimpleNamespace(
    Tanh=torch.tanh,
    Sin=torch.sin,
    Sigmoid=torch.sigmoid,
    Exp=torch.exp,
    Sqrt=torch.sqrt,
    Abs=torch.abs,
    Log=torch.log,
    ReduceSum=_summed,
    ReduceMean=lambda x, keepdims: x.mean(),
    ReduceMax=lambda x, keepdims: x.amax(),
    MatMul=torch.matmul,
    Where=torch.where,
    Transpose=lambda x: x.T,
    Softmax=lambda x, axis: torch.softmax(x, axis),
    Concat=lambda *xs, axis: torch.cat(xs, axis),
    CumSum=lambda x, axis: torch.cumsum(x, axis),
    Gather=lambda x, k, axis=0: x[int(k)] if not torch.is_tensor(k) or k.ndim == 0 else x[k],
)


class _Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        #: The variables of each kind, and of whole numbers that count turns.
        self.known: dict[str, list[str]] = {
            "vector": ["x", "v"],
            "matrix": ["m", "a"],
            "number": ["s", "t"],
            "growing": ["g"],
        }
        self.turns: list[str] = []
        self.loops = 0

    def pick(self, choices: Any) -> Any:
        return self.random.choice(list(choices))

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def constant(self) -> str:
        return f"{self.random.uniform(0.3, 1.4):.2f}"

    # -- expressions -----------------------------------------------------------------------------------

    def expression(self, kind: str, depth: int = 2) -> str:
        """A value of a kind, of the size of its arguments or smaller."""
        if depth == 0 or self.chance(20):
            return self.pick(self.known[kind])
        inner = depth - 1
        made = {
            "vector": self._vector,
            "matrix": self._matrix,
            "number": self._number,
            "growing": self._growing,
        }
        return str(made[kind](inner))

    def _common(self, kind: str, inner: int) -> str:
        e = self.expression
        own = self.pick(self.known[kind])
        return str(
            self.pick(
                [
                    f"op.{self.pick(['Tanh', 'Sin', 'Sigmoid'])}({e(kind, inner)})",
                    f"op.Tanh({e(kind, inner)} * {self.constant()} + {e('number', inner)})",
                    f"op.Sin({e(kind, inner)} - {e('number', inner)} * {self.constant()})",
                    f"({e(kind, inner)} * op.Sigmoid({e('number', inner)}))",
                    f"op.Log({own} * {own} + 1.5)",
                ]
            )
        )

    def _vector(self, inner: int) -> str:
        e = self.expression
        rows = f"{self.pick(self.known['matrix'])}[{self._index()}]"
        return str(
            self.pick(
                [
                    self._common("vector", inner),
                    self._common("vector", inner),
                    f"op.Tanh({e('vector', inner)} + {e('vector', inner)})",
                    f"({e('vector', inner)} * op.Sigmoid({e('vector', inner)}))",
                    f"op.Tanh(op.MatMul({e('matrix', inner)}, {e('vector', inner)}))",
                    f"op.Softmax({e('vector', inner)}, axis=0)",
                    f"op.Where({e('vector', 0)} > {e('number', 0)}, {e('vector', inner)}, op.Sin({e('vector', 0)}))",
                    rows,
                    f"op.Sin(op.CumSum({e('vector', inner)}, 0))",
                ]
            )
        )

    def _matrix(self, inner: int) -> str:
        e = self.expression
        return str(
            self.pick(
                [
                    self._common("matrix", inner),
                    f"op.Tanh(op.MatMul({e('matrix', inner)}, {e('matrix', inner)}))",
                    f"op.Sin({e('matrix', inner)} * {e('vector', inner)})",
                    f"op.Transpose({e('matrix', inner)})",
                ]
            )
        )

    def _number(self, inner: int) -> str:
        e = self.expression
        kind = self.pick(["vector", "matrix", "growing"])
        choices = [
            self._common("number", inner),
            f"op.ReduceMean({e(kind, inner)}, keepdims=0)",
            f"op.Sin(op.ReduceSum({e(kind, inner)}, keepdims=0))",
            f"op.ReduceMax({e('vector', inner)}, keepdims=0)",
            f"op.Tanh({e('vector', 0)}[{self._index()}] * {e('number', inner)})",
        ]
        return str(self.pick(choices))

    def _growing(self, inner: int) -> str:
        e = self.expression
        choices = [
            self._common("growing", inner),
            f"op.Sin(op.CumSum({self.pick(self.known['growing'])}, 0))",
        ]
        if self.loops < 2:
            choices.append(f"op.Concat({e('growing', 0)}, {e('vector', inner)}, axis=0)")
        return str(self.pick(choices))

    def _index(self) -> str:
        return (
            f"{self.pick(self.turns)} % {SIZE}"
            if self.turns and self.chance(70)
            else str(self.pick(range(SIZE)))
        )

    def condition(self) -> str:
        choices = [
            f"{self.expression('number', 1)} > {self.random.uniform(-0.5, 0.5):.2f}",
            f"op.ReduceMean({self.expression('vector', 1)}, keepdims=0) < {self.expression('number', 0)}",
        ]
        if self.turns:
            choices.append(f"{self.pick(self.turns)} {self.pick(['>', '<', '=='])} {self.pick(range(3))}")
        return str(self.pick(choices))

    # -- statements ------------------------------------------------------------------------------------

    def assign(self) -> None:
        kind = self.pick(_KINDS)
        name = self.pick([each for each in self.known[kind] if each not in ("x", "m", "s")])
        self.write(f"{name} = {self.expression(kind)}")

    def block(self, depth: int) -> None:
        known = {kind: list(names) for kind, names in self.known.items()}
        turns = list(self.turns)
        self.indent += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        self.indent -= 1
        self.known, self.turns = known, turns

    def statement(self, depth: int) -> None:
        if depth == 0 or self.chance(50):
            self.assign()
        else:
            self.pick(
                [self.branch, self.branch, self.count_loop, self.count_loop, self.while_loop, self.rows]
            )(depth)

    def branch(self, depth: int) -> None:
        self.write(f"if {self.condition()}:")
        self.block(depth - 1)
        if self.loops and self.chance(15):
            self.write(f"    {self.pick(['break', 'continue'])}")
        if self.chance(25):
            self.write(f"elif {self.condition()}:")
            self.block(depth - 1)
        if self.chance(60):
            self.write("else:")
            self.block(depth - 1)

    def count_loop(self, depth: int) -> None:
        turn = self.fresh("i")
        times = self.pick(["n", "n", "3", "1", "n - 1", *self.turns])
        self.write(f"for {turn} in range({times}):")
        self.turns.append(turn)
        self.inside_loop(depth)
        self.turns.remove(turn)

    def rows(self, depth: int) -> None:
        """A loop over the rows of a matrix."""
        row = self.fresh("r")
        self.write(f"for {row} in {self.pick(self.known['matrix'])}:")
        self.known["vector"].append(row)
        self.inside_loop(depth)
        self.known["vector"].remove(row)

    def while_loop(self, depth: int) -> None:
        turn = self.fresh("k")
        self.write(f"{turn} = n - n")
        self.write(f"while {turn} < {self.pick(['3', 'n'])} and {self.condition()}:")
        self.turns.append(turn)
        self.indent += 1
        self.write(f"{turn} = {turn} + 1")
        self.indent -= 1
        self.inside_loop(depth)
        self.turns.remove(turn)

    def inside_loop(self, depth: int) -> None:
        self.loops += 1
        self.block(depth - 1)
        self.loops -= 1

    def finished(self) -> Program:
        self.write("v = op.Tanh(x)")
        self.write("a = op.Sin(m)")
        self.write("t = op.Sin(s)")
        self.write("g = op.Sin(x)")
        for _ in range(self.random.randint(3, 5)):
            self.statement(3)
        if not any(line.lstrip().startswith(("if", "for", "while")) for line in self.lines):
            self.count_loop(3)
        sums = [f"op.ReduceSum(op.Sin({each}), keepdims=0)" for each in ("v", "a", "g")]
        self.write(f"return {' + '.join(sums)} + op.Sin(t)")
        numbers = np.random.default_rng(self.random.randrange(2**32))
        inputs = (
            numbers.standard_normal(SIZE),
            numbers.standard_normal((SIZE, SIZE)),
            np.array(numbers.standard_normal()),
            np.int64(self.pick([0, 1, 2, 2, 3, 3])),
        )
        return Program(_HEAD + "\n".join(self.lines) + "\n", inputs)


def program(seed: int) -> Program:
    """The program of a number, always the same one."""
    return _Writer(seed).finished()

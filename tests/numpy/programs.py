"""Random programs on arrays: views of views, copies, and writes of every kind, as lines of Python.

A program is made while numpy runs it, so that each line fits the arrays that exist by then. `m` is the namespace that
it computes with: numpy, or ours.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
#: Makes a line of a program, or None where it does not fit.
Maker = Callable[["Making"], "str | None"]

_STARTS = ((2, 3, 4), (3, 4), (6,), (1, 5), (2, 1, 3), (4, 4))
#: How many of the lines that numpy refuses stay, as the last line of a program.
_REFUSALS = 0.15
_DTYPES = ("float64", "float32", "int64", "int32", "complex128", "complex64", "bool")


@dataclass
class Program:
    """Lines to run after `v0` is there, the names they make, and what numpy says to it."""

    start: Array
    lines: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=lambda: ["v0"])
    #: What every array is at the end; None where numpy refuses the last line.
    results: list[Array] | None = None

    @property
    def text(self) -> str:
        """The program, to look at."""
        start = f"v0 = np.array({self.start.tolist()!r}, '{self.start.dtype}')"
        return "\n".join([start, *self.lines])


class Making:
    """A program that is being made: the arrays that numpy has by now, and a source of chance."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        shape = self.rng.choice(_STARTS)
        dtype = self.rng.choice(_DTYPES)
        start = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        if start.dtype.kind == "c":
            start = (start + 1j * start[..., ::-1]).astype(dtype)
        self.program = Program(start.copy())
        self.names: dict[str, Any] = {"m": np, "np": np, "v0": start}

    def some(self, least: int = 0, kinds: str = "biufc") -> str | None:
        """One of the arrays, with enough dimensions."""
        found = [
            each
            for each in self.program.names
            if np.ndim(self.names[each]) >= least and np.asarray(self.names[each]).dtype.kind in kinds
        ]
        return self.rng.choice(found) if found else None

    def of(self, name: str) -> Array:
        """What it is by now."""
        return np.asarray(self.names[name])

    def new(self) -> str:
        """A name that is not there yet."""
        return f"v{len(self.program.names)}"

    def add(self, line: str) -> bool:
        """Run a line with numpy, and keep it; False where numpy refuses it, which may end the program."""
        before = set(self.names)
        self.program.lines.append(line)
        try:
            execute(line, self.names)
        except Exception:  # numpy has a class for each reason, and any means that it refuses
            if self.rng.random() < _REFUSALS:
                return False
            self.program.lines.pop()
            return True
        made = [each for each in self.names if each not in before and each[0] == "v" and each[1:].isdigit()]
        self.program.names += sorted(made, key=lambda each: int(each[1:]))
        return True


def execute(line: str, names: dict[str, Any]) -> None:
    """Run a line of a program."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(line, names)  # a program that the functions below wrote


def make(seed: int) -> Program:
    """The program of a seed."""
    making = Making(seed)
    count = making.rng.randint(4, 12)
    while len(making.program.lines) < count:
        line = making.rng.choice(making.rng.choices((VIEWS, COPIES, WRITES), (5, 2, 5))[0])(making)
        if line is not None and not making.add(line):
            return making.program
    making.program.results = [np.array(making.names[each]) for each in making.program.names]
    return making.program


# -- indices -------------------------------------------------------------------------------------------------


def _bound(rng: random.Random, size: int) -> str:
    return "" if rng.random() < 0.4 else str(rng.randint(-size - 1, size + 1))


def _slice(rng: random.Random, size: int) -> str:
    step = rng.choice(("", "", "", ":-1", ":2", ":-2", ":1"))
    return f"{_bound(rng, size)}:{_bound(rng, size)}{step}"


def _basic(rng: random.Random, shape: tuple[int, ...]) -> str:
    parts: list[str] = []
    axes = list(shape)[: rng.randint(0, len(shape))]
    for size in axes:
        if rng.random() < 0.25:
            parts.append("None")
        parts.append(str(rng.randrange(-size, size)) if size and rng.random() < 0.35 else _slice(rng, size))
    if rng.random() < 0.3 or not parts:
        parts.insert(rng.randint(0, len(parts)), "...")
        # What stands after it is about the last dimensions.
        place = parts.index("...")
        after = [each for each in parts[place + 1 :] if each != "None"]
        if after:
            parts[place + 1 :] = [_slice(rng, each) for each in shape[len(shape) - len(after) :]]
    return ", ".join(parts)


def _fancy(rng: random.Random, shape: tuple[int, ...]) -> str | None:
    if not shape or 0 in shape:
        return None
    places = [rng.randrange(-shape[0], shape[0]) for _ in range(rng.randint(1, 4))]
    forms = [str(places), f"np.array({places})", f"[{places}]"]
    if len(shape) > 1:
        others = [rng.randrange(-shape[1], shape[1]) for _ in places]
        forms += [
            f"{places}, {others}",
            f":, {others}",
            f"{places}, {_slice(rng, shape[1])}",
            f"..., {[rng.randrange(shape[-1]) for _ in places]}",
            f"{rng.randrange(shape[0])}, {others}",
        ]
    return rng.choice(forms)


# -- views ---------------------------------------------------------------------------------------------------


def _view(text: str, least: int = 0, kinds: str = "biufc") -> Maker:
    """A line with `X` for an array, `A` for one of its axes."""

    def made(making: Making) -> str | None:
        name = making.some(least, kinds)
        if name is None:
            return None
        rank = making.of(name).ndim
        line = text.replace("X", name)
        while "A" in line:
            if not rank:
                return None
            line = line.replace("A", str(making.rng.randrange(-rank, rank)), 1)
        return f"{making.new()} = {line}"

    return made


def _part(making: Making) -> str | None:
    name = making.some()
    assert name is not None
    return f"{making.new()} = {name}[{_basic(making.rng, making.of(name).shape)}]"


def _shapes(rng: random.Random, size: int) -> str:
    if not size:
        return rng.choice(("(-1,)", "(0,)", "(2, 0)"))
    factors: list[int] = []
    rest = size
    for _ in range(rng.randint(0, 2)):
        factor = rng.choice([each for each in range(1, rest + 1) if rest % each == 0])
        factors.append(factor)
        rest //= factor
    shape = [*factors, rest]
    rng.shuffle(shape)
    if rng.random() < 0.4:
        shape[rng.randrange(len(shape))] = -1
    return str(tuple(shape))


def _reshape(making: Making) -> str | None:
    name = making.some()
    assert name is not None
    rng = making.rng
    shape = _shapes(rng, making.of(name).size)
    form = rng.choice(("{0}.reshape({1})", "m.reshape({0}, {1})", "{0}.reshape({1}, order='F')"))
    return f"{making.new()} = {form.format(name, shape)}"


def _transpose(making: Making) -> str | None:
    name = making.some(1)
    if name is None:
        return None
    order = list(range(making.of(name).ndim))
    making.rng.shuffle(order)
    return f"{making.new()} = m.transpose({name}, {tuple(order)})"


def _broadcast(making: Making) -> str | None:
    name = making.some()
    assert name is not None
    shape = (making.rng.randint(1, 3), *making.of(name).shape)
    return f"{making.new()} = m.broadcast_to({name}, {shape})"


def _split(making: Making) -> str | None:
    name = making.some(1)
    if name is None:
        return None
    shape = making.of(name).shape
    axis = making.rng.randrange(len(shape))
    count = len(making.program.names)
    if shape[axis] % 2 == 0 and making.rng.random() < 0.5:
        return f"v{count}, v{count + 1} = m.split({name}, 2, axis={axis})"
    return f"v{count}, v{count + 1} = m.split({name}, [1], axis={axis})"


def _unpack(making: Making) -> str | None:
    name = making.some(2)
    if name is None or making.of(name).shape[0] not in (1, 2, 3):
        return None
    count = len(making.program.names)
    names = [f"v{count + each}" for each in range(making.of(name).shape[0])]
    return f"{', '.join(names)}, = {name}"


VIEWS: tuple[Maker, ...] = (
    _part,
    _part,
    _part,
    _part,
    _reshape,
    _reshape,
    _transpose,
    _broadcast,
    _split,
    _unpack,
    _view("X.T"),
    _view("m.ravel(X)"),
    _view("X.ravel()"),
    _view("m.ravel(X, order='F')"),
    _view("m.reshape(X, -1, order='A')"),
    _view("X.squeeze()"),
    _view("m.expand_dims(X, A)"),
    _view("X[None]"),
    _view("m.swapaxes(X, A, A)"),
    _view("m.moveaxis(X, A, A)"),
    _view("X.real"),
    _view("X.imag", kinds="c"),
    _view("m.real(X)", kinds="c"),
    _view("m.diagonal(X)", 2),
    _view("X.diagonal(1)", 2),
    _view("m.flip(X, A)"),
    _view("m.flip(X)"),
    _view("m.asarray(X)"),
    _view("X[...]"),
    _view("X"),
    _view("X.astype(X.dtype, copy=False)"),
    _view("m.atleast_2d(X)"),
    _view("m.rot90(X)", 2),
    _view("m.fliplr(X)", 2),
    _view("m.rollaxis(X, A)", 1),
)


# -- copies --------------------------------------------------------------------------------------------------


def _taken(making: Making) -> str | None:
    name = making.some(1)
    index = None if name is None else _fancy(making.rng, making.of(name).shape)
    return None if index is None else f"{making.new()} = {name}[{index}]"


def _astype(making: Making) -> str | None:
    name = making.some()
    assert name is not None
    dtype = making.rng.choice(_DTYPES)
    copy = making.rng.choice(("", ", copy=False"))
    return f"{making.new()} = {name}.astype('{dtype}'{copy})"


def _added(making: Making) -> str | None:
    first, second = making.some(), making.some()
    assert first is not None
    assert second is not None
    return f"{making.new()} = {first} {making.rng.choice('+*')} {second}"


COPIES: tuple[Maker, ...] = (
    _taken,
    _taken,
    _astype,
    _added,
    _view("X.copy()"),
    _view("m.copy(X)"),
    _view("X.flatten()"),
    _view("X.flatten(order='F')"),
    _view("X + 1"),
    _view("np.abs(X)", kinds="biuf"),
    _view("np.negative(X)", kinds="iufc"),
    _view("np.concatenate([X, X])", 1),
    _view("np.where(X > 3, X, 0)", kinds="biuf"),
    _view("m.sum(X, axis=A)", 1),
    _view("X.sum()"),
    _view("m.roll(X, 1)"),
    _view("m.sort(X, axis=A)", 1),
    _view("X[X > 2]", kinds="biuf"),
    _view("m.zeros_like(X)"),
    _view("m.asarray(X, dtype='float64')"),
    _view("m.asarray(X, copy=True)"),
    _view("m.array(X)"),
)


# -- writes --------------------------------------------------------------------------------------------------


def _value(making: Making, shape: tuple[int, ...]) -> str:
    rng = making.rng
    kind = rng.randrange(4)
    if kind == 0 and shape:
        return f"np.arange({shape[-1]})"
    if kind == 1 and shape and shape[-1] < 8:
        return str([rng.randrange(9) for _ in range(shape[-1])])
    fitting = [
        each
        for each in making.program.names
        if len(making.of(each).shape) <= len(shape)
        and all(a in (1, b) for a, b in zip(making.of(each).shape[::-1], shape[::-1], strict=False))
    ]
    if kind == 2 and fitting:
        return rng.choice(fitting)
    return rng.choice((str(rng.randrange(9)), f"{rng.randrange(9)}.5", "True", "np.float32(3)"))


def _written(making: Making, index: str | None, name: str) -> str | None:
    if index is None:
        return None
    try:
        part = np.asarray(eval(f"{name}[{index}]", making.names))  # of an index that is made above
    except Exception:  # numpy has a class for each reason, and any means that it refuses
        return f"{name}[{index}] = 1"
    return f"{name}[{index}] = {_value(making, part.shape)}"


def _set_part(making: Making) -> str | None:
    name = making.some(1)
    return None if name is None else _written(making, _basic(making.rng, making.of(name).shape), name)


def _set_taken(making: Making) -> str | None:
    name = making.some(1)
    return None if name is None else _written(making, _fancy(making.rng, making.of(name).shape), name)


def _set_masked(making: Making) -> str | None:
    name = making.some(1, "biuf")
    if name is None:
        return None
    value = making.rng.choice(("0", "7", "2.5", f"{name}[{name} > 3]", f"{name}[{name} > 3] + 1"))
    return f"{name}[{name} > 3] = {value}"


def _line(text: str, least: int = 1, kinds: str = "biufc") -> Maker:
    """A line with `X` for an array, `Y` for another, and `A` for an axis."""

    def made(making: Making) -> str | None:
        name, other = making.some(least, kinds), making.some(0, kinds)
        if name is None or other is None:
            return None
        array = making.of(name)
        line = text.replace("X", name).replace("Y", other)
        line = line.replace("A", str(making.rng.randrange(array.ndim)) if array.ndim else "0")
        return line.replace("K", str(making.rng.randrange(max(1, array.shape[0] if array.ndim else 1))))

    return made


def _add_at(making: Making) -> str | None:
    name = making.some(1, "iufc")
    if name is None or not making.of(name).shape[0]:
        return None
    size = making.of(name).shape[0]
    places = [making.rng.randrange(-size, size) for _ in range(making.rng.randint(1, 5))]
    return f"m.add.at({name}, {places}, {making.rng.randrange(1, 5)})"


WRITES: tuple[Maker, ...] = (
    _set_part,
    _set_part,
    _set_part,
    _set_taken,
    _set_taken,
    _set_masked,
    _add_at,
    _line("X += 1"),
    _line("X *= 2"),
    _line("X += Y"),
    _line("X -= Y", 1, "iufc"),
    _line("X += X.T"),
    _line("X[1:] = X[:-1]"),
    _line("X[:-1] = X[1:]"),
    _line("X[1:] += X[:-1]"),
    _line("X[...] = X[::-1]"),
    _line("X[...] = X * 2"),
    _line("X[K] = X[0]"),
    _line("X[K] += 5"),
    _line("X[()] = 3"),
    _line("m.add(X, Y, out=X)"),
    _line("m.multiply(X, 2, out=X[::-1])"),
    _line("np.negative(X, out=X)", 1, "iufc"),
    _line("m.cumsum(X, axis=A, out=X)"),
    _line("m.add(X, 1, out=X, where=X > 2)", 1, "iuf"),
    _line("m.copyto(X, Y)"),
    _line("m.copyto(X, 4)"),
    _line("m.copyto(X, Y, where=X > 1)", 1, "biuf"),
    _line("np.copyto(X, X[::-1])"),
    _line("X.sort()", 1, "biuf"),
    _line("X.sort(axis=A)", 1, "biuf"),
    _line("X.fill(6)"),
    _line("m.put(X, [0, -1], [5, 6])"),
    _line("m.fill_diagonal(X, 8)", 2),
    _line("m.putmask(X, X > 2, 3)", 1, "biuf"),
    _line("for row in X: row += 1", 2),
    _line("for row in X: row[...] = Y"),
    _line("X.real = 2"),
    _line("X.imag = 1", 1, "c"),
    _line("X.real += 1", 1, "c"),
    _line("X.T[0] = 4"),
    _line("X.reshape(-1)[0] = 9"),
    _line("X.ravel()[-1] = 9"),
    _line("X[X.shape[0] // 2] = 1"),
)

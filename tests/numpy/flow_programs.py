"""Makes programs of numpy code with control flow that data decide: branches, loops, jumps, views, writing in place.

A program is the source of a function of `m`, numpy or ours, and of arrays. All its variables have a value from the
start and keep their kind (a vector as long as `x`, a part of one, a matrix, a number), so that numpy runs nearly all
programs; which arrays share their elements changes all the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

VECTORS = ("a", "b", "c", "e")
PARTS = ("p", "q")
#: Vectors that hold an array of their own, in programs in which any do.
OWN = ("b", "e")
MATRICES = ("d", "f")
NUMBERS = ("s", "t")
#: What all programs return.
RESULTS = (*VECTORS, *PARTS, *MATRICES, *NUMBERS, "out")
_RETURN = f"return {', '.join(RESULTS[:-1])}, m.asarray(out)"
DTYPES = ("float64", "float64", "float32", "int64", "complex128")


@dataclass
class Making:
    """A program while it is made."""

    rng: random.Random
    dtype: str
    lines: list[str] = field(default_factory=list[str])
    #: Names of loop counters that are in scope, which are places of vectors.
    counters: list[str] = field(default_factory=list[str])
    depth: int = 1
    loops: int = 0
    #: Whether any variable may come to hold the array of another; else two hold their own, and get new ones.
    is_tangled: bool = True
    budget: int = 14
    count: int = 0

    def put(self, line: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + line)

    def new(self, kind: str) -> str:
        """A name that no other line has."""
        self.count += 1
        return f"{kind}{self.count}"

    def pick(self, names: tuple[str, ...]) -> str:
        """One of some names."""
        return self.rng.choice(names)

    @property
    def vector(self) -> str:
        """A variable that holds a vector."""
        return self.pick(VECTORS)

    @property
    def place(self) -> str:
        """A place of a vector that is not empty."""
        options = ["0", "-1", *self.counters, *self.counters]
        return self.rng.choice(options)

    @property
    def number(self) -> str:
        """A number: known, an element, or a variable."""
        known = str(self.rng.randint(-3, 6))
        return self.rng.choice([known, known, f"{self.vector}[{self.place}]", self.pick(NUMBERS)])

    @property
    def condition(self) -> str:
        """Something that data decide."""
        rng = self.rng
        real = ".real" if self.dtype.startswith("complex") else ""
        options: list[Callable[[], str]] = [
            lambda: f"{self.vector}.sum(){real} > {rng.randint(-4, 9)}",
            lambda: f"{self.vector}[{self.place}]{real} > {rng.randint(-3, 5)}",
            lambda: f"({self.vector}{real} > {rng.randint(0, 6)}).any()",
            lambda: f"x.shape[0] > {rng.randint(0, 4)}",
            lambda: f"k[{rng.randint(0, 1)}] > {rng.randint(-1, 3)}",
            lambda: f"{self.pick(NUMBERS)}{real} > {rng.randint(-2, 4)}",
            lambda: f"not {self.vector}[0]{real} < {rng.randint(-2, 4)}",
            lambda: f"{self.vector}[0]{real} > 0 and k[0] < {rng.randint(0, 3)}",
            lambda: f"{self.vector}[0]{real} > 2 or k[1] < {rng.randint(0, 3)}",
        ]
        if self.counters:
            options += [lambda: f"{self.rng.choice(self.counters)} > {rng.randint(0, 2)}"] * 2
        return rng.choice(options)()


# -- lines ---------------------------------------------------------------------------------------------------


def _rebinding(making: Making) -> None:
    """A variable gets another array."""
    rng, vector, number = making.rng, making.vector, making.number
    other = making.vector
    shared = [vector, f"{vector}[::-1]", f"{vector}[:]", f"{making.pick(MATRICES)}[:, {rng.randint(0, 1)}]"]
    shared += [f"({vector} if {making.condition} else {other})"]
    value = rng.choice(
        [
            *(shared if making.is_tangled else ()),
            f"{vector} + {other}",
            f"{vector} - {number}",
            f"{vector} * 2",
            f"{vector}.copy()",
            "m.zeros(x.shape[0], dtype)",
            f"m.where({vector} == {other}, {vector}, {number})",
            f"({vector} + 1 if {making.condition} else {other} * 2)",
            f"m.roll({vector}, 1)",
        ]
    )
    making.put(f"{making.vector if making.is_tangled else making.pick(OWN)} = {value}")


def _part(making: Making) -> None:
    if not making.is_tangled:
        _write(making)
        return
    vector = making.vector
    value = making.rng.choice(
        [f"{vector}[1:]", f"{vector}[:-1]", f"{vector}[::2]", f"{vector}[1:].copy()", vector]
    )
    making.put(f"{making.pick(PARTS)} = {value}")


def _write_part(making: Making) -> None:
    part, number = making.pick(PARTS), making.number
    making.put(
        making.rng.choice(
            [f"{part}[...] = {number}", f"{part} += {number}", f"{part} *= 2", f"{part}[:1] = {number}"]
        )
    )


def _write(making: Making) -> None:
    rng, vector, other, number, place = making.rng, making.vector, making.vector, making.number, making.place
    real = ".real" if making.dtype.startswith("complex") else ""
    making.put(
        rng.choice(
            [
                f"{vector}[{place}] = {number}",
                f"{vector}[{place}] = {number}",
                f"{vector}[{place}] += {number}",
                f"{vector}[{place}] = {other}[{making.place}] + {number}",
                f"{vector} += {other}",
                f"{vector} += {number}",
                f"{vector} *= 2",
                f"{vector} -= {other}",
                f"{vector}[...] = {other}",
                f"{vector}[1:] = {other}[:-1]",
                f"{vector}[:1] = {number}",
                f"{vector}[{vector}{real} > 3] = {number}",
                f"m.add({vector}, {other}, out={vector})",
                f"{vector}[{vector}{real} > 2] += {number}",
                f"{vector}[[0, -1]] = {other}[[-1, 0]]",
                f"{vector}[[0]] *= {number}",
                f"m.multiply({vector}, 2, out={other})",
                f"{vector}[::-1][0] = {number}",
                f"pair[{rng.randint(0, 1)}][{place}] = {number}",
                f"held['v'] += {number}",
                f"{vector}.fill({number})",
                f"{vector}[:] = {vector}[::-1]",
                f"m.copyto({vector}, {other})",
            ]
        )
    )


def _write_matrix(making: Making) -> None:
    rng, matrix, number, place = making.rng, making.pick(MATRICES), making.number, making.place
    making.put(
        rng.choice(
            [
                f"{matrix}[{place}] = {number}",
                f"{matrix}[{place}, {rng.randint(0, 1)}] = {number}",
                f"{matrix}[:, {rng.randint(0, 1)}] = {making.vector}",
                f"{matrix}[{place}] += {number}",
                f"{matrix} += {number}",
                f"{matrix}.T[0] = {making.vector}",
                f"{matrix} *= 2",
                f"{matrix}[{place}, 0] = {making.vector}[{making.place}]",
            ]
        )
    )


def _matrix(making: Making) -> None:
    if not making.is_tangled:
        _write_matrix(making)
        return
    matrix, other = making.pick(MATRICES), making.pick(MATRICES)
    value = making.rng.choice(
        [other, f"{other} + 1", f"{other}.copy()", f"{other}[::-1]", f"{other} * {making.vector}[:, None]"]
    )
    making.put(f"{matrix} = {value}")


def _number(making: Making) -> None:
    rng, name, other, vector = making.rng, making.pick(NUMBERS), making.pick(NUMBERS), making.vector
    making.put(
        rng.choice(
            [
                f"{name} = {other} + {vector}[{making.place}]",
                f"{name} = {vector}.sum()",
                f"{name} = {vector}[{making.place}]",
                f"{name} += {making.number}",
                f"{name} = {other} * 2",
                f"{name} = {name} if {making.condition} else {other}",
                f"{name} = {other} - {making.number}",
            ]
        )
    )


def _alias(making: Making) -> None:
    if not making.is_tangled:
        making.put("b, e = e, b")
        return
    making.put(
        making.rng.choice(
            [
                f"pair = [{making.vector}, {making.vector}]",
                f"held = {{'v': {making.vector}}}",
                f"{making.vector}, {making.vector} = {making.vector}, {making.vector}",
                f"{making.vector} = pair[{making.rng.randint(0, 1)}]",
                "a, b = b, a",
                "c, e = e, c + 1",
            ]
        )
    )


def _append(making: Making) -> None:
    """In a loop, a list gets longer."""
    if not making.loops:
        _number(making)
        return
    making.put(f"out.append({making.vector}[{making.place}])")


def _call(making: Making) -> None:
    shared = [f"{making.vector} = put({making.vector}, {making.number})"]
    shared += [f"{making.vector} = chosen({making.vector}, {making.vector})"]
    making.put(
        making.rng.choice(
            [
                *(shared if making.is_tangled else ()),
                f"put({making.vector}, {making.number})",
                f"{making.pick(NUMBERS)} = {making.pick(NUMBERS)} + total({making.vector})",
                "touch()",
            ]
        )
    )


def _block(making: Making, most: int = 3) -> None:
    making.depth += 1
    for _ in range(making.rng.randint(1, most)):
        statement(making)
    making.depth -= 1


def _if(making: Making) -> None:
    making.put(f"if {making.condition}:")
    _block(making)
    for word in ("elif", "else"):
        if making.rng.random() < (0.15 if word == "elif" else 0.5):
            making.put(f"elif {making.condition}:" if word == "elif" else "else:")
            _block(making)


def _jump(making: Making) -> None:
    """A way out of a loop, or out of the function, that data decide."""
    rng = making.rng
    making.put(f"if {making.condition}:")
    making.depth += 1
    if rng.random() < 0.5:
        rng.choice((_write, _rebinding, _number))(making)
    options = ["break", "continue"] if making.loops else []
    making.put(rng.choice([*options, *options, _RETURN]))
    making.depth -= 1


def _for(making: Making) -> None:
    rng = making.rng
    counter = making.new("i")
    known = counter
    kind = rng.randrange(5)
    if kind == 0:
        making.put(f"for {counter} in range(2):")
        known = ""
    elif kind == 1:
        making.put(f"for {counter} in range(x.shape[0]):")
    elif kind == 2:
        making.put(f"for {counter} in range(1, x.shape[0]):")
    elif kind == 3:
        row = making.new("row")
        making.put(f"for {row} in {making.pick(MATRICES)}:")
        making.depth += 1
        making.put(
            rng.choice(
                [f"{row} *= 2", f"{row}[0] = {making.number}", f"s = s + {row}[1]", f"{row}[:] = {row}[::-1]"]
            )
        )
        making.depth -= 1
        known = ""
    else:
        making.put(f"for {counter}, value in enumerate({making.vector}):")
    if known:
        making.counters.append(known)
    making.loops += 1
    _block(making)
    making.loops -= 1
    if known:
        making.counters.remove(known)
    if rng.random() < 0.1:
        making.put("else:")
        _block(making, 1)


def _while(making: Making) -> None:
    counter = making.new("n")
    making.put(f"{counter} = 0")
    making.put(f"while {counter} < {making.rng.randint(1, 4)} and ({making.condition}):")
    making.depth += 1
    making.put(f"{counter} += 1")
    making.depth -= 1
    making.loops += 1
    _block(making)
    making.loops -= 1


_PLAIN = (
    *(_rebinding,) * 4,
    *(_write,) * 7,
    *(_write_part,) * 2,
    *(_part,) * 2,
    *(_write_matrix,) * 2,
    _matrix,
    *(_number,) * 3,
    _alias,
    _call,
    _append,
)


def statement(making: Making) -> None:
    """One statement, with what is inside it."""
    rng = making.rng
    making.budget -= 1
    if making.depth < 4 and making.budget > 0 and rng.random() < 0.5:
        rng.choice((_if, _if, _for, _for, _while, _jump))(making)
    else:
        rng.choice(_PLAIN)(making)


_HEAD = """\
def put(v, w):
    v[0] = w
    return v


def chosen(v, w):
    if v.sum(){real} > 3:
        return v
    return w


def total(v):
    result = 0
    for each in v:
        result = result + each
    return result


def program({parameters}):
    x = {given}
    dtype = "{dtype}"
    a = x * 1
    b = {b}
    c = m.zeros(x.shape[0], dtype)
    e = {e}
    p = {p}
    q = a[:1]
    d = m.stack([a, x * 2], 1)
    f = {f}
    s = x[0]
    t = {t}
    pair = [a, c]
    held = {{"v": {held}}}
    out = []

    def touch():
        c[0] = c[0] + 1
"""


def make(seed: int) -> tuple[str, str]:
    """The source of a program, with `{parameters}` and `{given}` to be filled in, and its element type."""
    rng = random.Random(seed)
    dtype = rng.choice(DTYPES)
    making = Making(rng, dtype, is_tangled=rng.random() < 0.4)
    head = _HEAD.format(
        parameters="{parameters}",
        given="{given}",
        dtype=dtype,
        real=".real" if dtype.startswith("complex") else "",
        b=rng.choice(["a", "a[::-1]", "a.copy()", "a + 1"][0 if making.is_tangled else 2 :]),
        e=rng.choice(["a", "c", "a[:]", "c + 2"][0 if making.is_tangled else 3 :]),
        p=rng.choice(["a[1:]", "c[:-1]", "a[::2]"]),
        f=rng.choice(["d", "d + 1", "d[::-1]"]),
        t=rng.choice(["x.sum()", "x[-1]", "s"]),
        held=rng.choice(["b", "e"]) if making.is_tangled else "c",
    )
    for _ in range(rng.randint(3, 6)):
        statement(making)
    making.put(_RETURN)
    return head + "\n".join(making.lines) + "\n", dtype


def inputs(seed: int) -> Iterator[tuple[int, int]]:
    """Sizes to run a program on, and a seed for the elements of each."""
    for position, size in enumerate((1, 2, 3, 5, 3)):
        yield size, seed * 10 + position

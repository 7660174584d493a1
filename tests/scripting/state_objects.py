"""Python objects that programs change: how each is made, changed, and looked at.

Every expression gives a small whole number, so that four ways to run a program must give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thing:
    """A kind of object; `@` stands for what it is called in a program."""

    #: An expression that makes one, of the module's own classes and functions.
    made: str
    #: Statements that change it, and expressions that change it and give a number.
    statements: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    #: Expressions that give a number and change nothing.
    looks: tuple[str, ...] = ()


THINGS = (
    Thing(
        "[]",
        ("@.append(y)", "@.append(x + 1.0)", "@.append(y)"),
        ("(@.append(y) or 1.0)",),
        ("len(@)", "(@[-1] if len(@) > 0 else 1.0)"),
    ),
    Thing(
        "[1.0, 2.0, 3.0]",
        (
            "@.append(4.0)",
            "@[0] = 5.0",
            "@.pop()",
            "@.extend([1.0])",
            "@.insert(0, 2.0)",
            "@.reverse()",
            "@[1:] = []",
        ),
        ("@.pop()", "(@.append(1.0) or 2.0)"),
        ("len(@)", "sum(@)", "@[0]", "@[-1]"),
    ),
    Thing(
        "{'a': {'n': 1.0}, 'b': [[0.0]]}",
        (
            "@['a']['n'] = 5.0",
            "@['b'][0].append(1.0)",
            "@['b'][0][0] = 3.0",
            "@.setdefault('c', []).append(1)",
        ),
        ("(@['a'].update(n=7.0) or 1.0)", "@['b'][0].pop()"),
        ("@['a']['n']", "len(@['b'][0])", "len(@)"),
    ),
    Thing(
        "[[0.0], ([1.0], {2: [3.0]})]",
        ("@[0][0] = 4.0", "@[1][0].append(2.0)", "@[1][1][2][0] = 7.0"),
        ("@[1][0].pop()",),
        ("@[0][0]", "len(@[1][0])", "@[1][1][2][0]"),
    ),
    Thing(
        "collections.defaultdict(int)",
        ("@['k'] += 1", "@['j'] = 3"),
        ("@['z']", "(@.update(q=1) or 1)"),
        ("len(@)", "@.get('k', 0)"),
    ),
    Thing(
        "collections.OrderedDict(a=1.0, b=2.0)",
        ("@.move_to_end('a')", "@['a'] = 3.0"),
        ("@.popitem()[1]",),
        ("@[list(@)[0]]", "len(@)"),
    ),
    Thing(
        "collections.Counter('aab')", ("@.update('ab')", "@['c'] += 2"), ("@.pop('a')",), ("@['a']", "len(@)")
    ),
    Thing("{1, 2, 3}", ("@.add(7)", "@.discard(1)", "@.clear()"), ("(@.add(9) or 1)",), ("len(@)", "sum(@)")),
    Thing(
        "collections.deque([1.0, 2.0, 3.0], maxlen=4)",
        ("@.rotate(1)", "@.append(5.0)", "@.popleft()"),
        ("@.popleft()", "@.pop()"),
        ("@[0]", "len(@)"),
    ),
    Thing(
        "[1, 4, 2, 8]",
        ("heapq.heappush(@, 0)", "heapq.heapify(@)", "random.Random(1).shuffle(@)"),
        ("heapq.heappop(@)", "heapq.heapreplace(@, 6)"),
        ("@[0]", "len(@)"),
    ),
    Thing(
        "iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])",
        ("next(@)",),
        ("next(@)", "next(@, 9.0)", "sum(itertools.islice(@, 2))"),
        ("@.__length_hint__()",),
    ),
    Thing("made_generator()", ("next(@)",), ("next(@)", "next(@, 9)"), ("len(list(@))",)),
    Thing("(v * 2 for v in [1, 2, 3, 4, 5])", ("next(@, None)",), ("next(@, 3)",), ("sum(@)",)),
    Thing("itertools.count(1)", ("next(@)",), ("next(@)",), ("next(@)",)),
    Thing("itertools.cycle([1.0, 3.0])", ("next(@)",), ("next(@)",), ("next(@)",)),
    Thing(
        "zip([1, 2, 3, 4, 5], itertools.count())",
        ("next(@, None)",),
        ("next(@, (7, 7))[0]",),
        ("len(list(@))",),
    ),
    Thing("map(float, [1, 2, 3, 4, 5])", ("next(@, None)",), ("next(@, 5.0)",), ("sum(@)",)),
    Thing("enumerate([5, 6, 7, 8])", ("next(@, None)",), ("next(@, (7, 7))[0]",), ("len(list(@))",)),
    Thing("random.Random(3)", ("@.seed(4)", "@.random()"), ("@.randint(1, 5)", "@.choice([1, 2, 3])")),
    Thing("np.random.default_rng(3)", ("@.random()", "@.shuffle([1, 2, 3])"), ("int(@.integers(1, 5))",)),
    Thing("np.random.RandomState(3)", ("@.rand()",), ("int(@.randint(1, 5))",)),
    Thing("seeded(random)", ("random.random()",), ("random.randint(1, 5)", "@.randint(1, 5)")),
    Thing("seeded(np.random)", ("np.random.rand()",), ("int(np.random.randint(1, 5))",)),
    Thing(
        "np.zeros(3, np.float32)",
        (
            "@[0] = 1.0",
            "@[...] = 2.0",
            "@.fill(3.0)",
            "np.add(@, 1, out=@)",
            "@[1:][0] = 2.0",
            "@.T[2] = 4.0",
            "np.copyto(@, 5.0)",
        ),
        ("(@.fill(2.0) or 1.0)", "(@.put([0], [3.0]) or 1.0)"),
        ("float(@.sum())", "float(@[0])", "@", "@ * 2.0"),
    ),
    Thing(
        "np.arange(6, dtype=np.float32).reshape(2, 3)[1]",
        ("@[0] = 1.0", "@.base[3] = 9.0", "@.sort()", "@[::-1].sort()"),
        ("(@.fill(2.0) or 1.0)",),
        ("float(@.sum())", "float(@.base.sum())", "@"),
    ),
    Thing("bytearray(b'abc')", ("@.append(1)", "@[0] = 7", "@.clear()"), ("@.pop()",), ("len(@)", "sum(@)")),
    Thing("array.array('i', [1, 2, 3])", ("@.append(1)", "@[0] = 7"), ("@.pop()",), ("len(@)", "@[0]")),
    Thing("memoryview(bytearray(b'abc'))", ("@[0] = 7",), (), ("@[0]",)),
    Thing(
        "io.StringIO('abcdef')",
        ("@.write('xy')", "@.seek(2)", "@.truncate(1)"),
        ("len(@.read(2))", "@.write('z')"),
        ("len(@.getvalue())", "@.tell()"),
    ),
    Thing(
        "io.BytesIO(b'abcdef')",
        ("@.write(b'xy')", "@.seek(2)"),
        ("len(@.read(2))",),
        ("len(@.getvalue())", "@.tell()"),
    ),
    Thing(
        "Meter()",
        (
            "@.tick()",
            "setattr(@, 'n', 5)",
            "vars(@)['n'] = 6",
            "@.keep.append(1)",
            "@.add_total()",
            "@.set_twice(8)",
            "@()",
            "@.inner.tick()",
            "@.nudge(y)",
        ),
        (
            "@.tick()",
            "@.counted",
            "@.add_total()",
            "@()",
            "@[1]",
            "len(@)",
            "(3 in @) + 1",
            "next(@)",
            "@.pull()",
        ),
        ("@.n", "Meter.total", "len(@.keep)", "@.twice", "@.inner.n", "len(Meter.shared)"),
    ),
    Thing(
        "Slotted()",
        ("@.tick()", "setattr(@, 'n', 5)", "@.keep.append(1)"),
        ("@.tick()",),
        ("@.n", "len(@.keep)"),
    ),
    Thing("Record(1.0, [2.0])", ("@.bump()", "@.items.append(1.0)"), ("@.bump()",), ("@.n", "len(@.items)")),
    Thing(
        "types.SimpleNamespace(n=1, keep=[1])",
        ("@.keep.append(1)", "setattr(@, 'n', 4)", "@.__dict__.update(n=9)"),
        ("@.keep.pop()",),
        ("@.n", "len(@.keep)"),
    ),
    Thing(
        "Stack([1.0, 2.0, 3.0])",
        ("@.push(4.0)", "@.append(5.0)"),
        ("@.push(6.0)", "@.pop()"),
        ("len(@)", "@.pushed", "@[-1]"),
    ),
    Thing("remember", ("@(1)",), ("@(1)", "@(2)")),
    Thing("numbered", ("@()",), ("@()",), ("@.n",)),
    Thing("bump", ("@()",), ("@()",), ("bumped()",)),
    Thing("make_counter()", ("@()",), ("@()",)),
    Thing("decorated", ("@(1.0)",), ("@(1.0)", "@(2.0)"), ("len(CALLS)",)),
    Thing("Meter.add_class", ("@()",), ("@()",), ("Meter.total",)),
    Thing("KEPT.append", ("@(1)",), ("(@(2) or 1)",), ("len(KEPT)",)),
    Thing("functools.partial(KEPT.insert, 0)", ("@(1)",), ("(@(2) or 1)",), ("len(KEPT)",)),
    Thing("(lambda: KEPT.append(1) or len(KEPT))", ("@()",), ("@()",), ("len(KEPT)",)),
    Thing("contextvars.ContextVar('v', default=1)", ("@.set(5)",), ("(@.set(2) and 1)",), ("@.get()",)),
    Thing(
        "collections.UserList([1.0, 2.0, 3.0])",
        ("@.append(4.0)", "@[0] = 5.0"),
        ("@.pop()",),
        ("len(@)", "@[0]"),
    ),
    Thing(
        "collections.ChainMap({'a': 1}, {'b': 2})",
        ("@['c'] = 4", "@.maps.append({})"),
        ("(@.update(a=3) or 1)",),
        ("len(@)", "@['a']"),
    ),
    Thing("queue.SimpleQueue()", ("@.put(1)",), ("(@.put(2) or 1)",), ("@.qsize()",)),
)

#: What every program begins with.
HEADER = """\
import array, collections, contextvars, dataclasses, functools, heapq, io, itertools, queue, random, types

import numpy as np

from onnxsmith import FLOAT, INT64, opset18 as op

KEPT = [1]
CALLS = []
STEP = 0


class Meter:
    total = 0
    shared = []

    def __init__(self, deep=True):
        self.n = 1
        self.keep = [1]
        self.pending = iter([4, 5, 6, 7, 8, 9])
        self.inner = Meter(deep=False) if deep else None

    def tick(self):
        self.n += 1
        return self.n

    def add_total(self):
        type(self).total += 1
        Meter.shared.append(1)
        return Meter.total

    @classmethod
    def add_class(cls):
        cls.total += 1
        return cls.total

    def set_twice(self, value):
        self.twice = value

    def nudge(self, y):
        if y.sum() > 1.0:
            self.n = self.tick()
        return y

    def pull(self):
        return next(self.pending)

    @property
    def twice(self):
        return self.n * 2

    @twice.setter
    def twice(self, value):
        self.n = value // 2

    @property
    def counted(self):
        self.n += 1
        return self.n

    def __call__(self):
        return self.tick()

    def __getitem__(self, key):
        return self.tick()

    def __len__(self):
        return self.tick()

    def __contains__(self, key):
        return self.tick() > 2

    def __bool__(self):
        return True

    def __next__(self):
        return self.tick()

    def __iter__(self):
        return self


class Slotted:
    __slots__ = ("keep", "n", "unset")

    def __init__(self):
        self.n = 1
        self.keep = []

    def tick(self):
        self.n += 1
        self.unset = 1
        return self.n


@dataclasses.dataclass
class Record:
    n: float
    items: list

    def bump(self):
        self.n = self.n + 1.0
        return self.n


class Stack(list):
    pushed = 0

    def push(self, value):
        self.append(value)
        self.pushed += 1
        return self.pushed


def made_generator():
    count = 1
    while count < 9:
        yield count
        count += 1


def remember(value, seen=[]):
    seen.append(value)
    return len(seen)


def numbered():
    numbered.n += 1
    return numbered.n


numbered.n = 0


def bump():
    global STEP
    STEP += 1
    return STEP


def bumped():
    return STEP


def make_counter():
    count = 0

    def counter():
        nonlocal count
        count += 1
        return count

    return counter


def counted(function):
    @functools.wraps(function)
    def wrapped(*args):
        CALLS.append(1)
        return function(*args) + len(CALLS)

    return wrapped


@counted
def decorated(value):
    return value * 2


def seeded(module):
    module.seed(7)
    return module


def helped(y, thing):
    if y.sum() > 2.0:
        thing()
        y = y + 1.0
    return y


"""

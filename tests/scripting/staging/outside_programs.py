"""Programs that read state around them in a drawn way, and statements that change this state in a drawn way.

A program is a chain of containers around a leaf, a root that holds the chain, and a reader that computes with the leaf.
Each part is a line of a table here; a change is made at a drawn depth of the chain.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

#: Imports and classes of every program.
PRELUDE = """
import abc, collections.abc, contextvars, dataclasses, enum, functools, operator, os, string, types, typing, weakref
import numpy as np
from onnxsmith import FLOAT, script

class Box:
    def __init__(self, k): self.k = k
class Wide(Box):
    z = 1.0
class Slots:
    __slots__ = ("k",)
    def __init__(self, k): self.k = k
@dataclasses.dataclass
class Data:
    k: object
@dataclasses.dataclass(frozen=True)
class Frozen:
    k: object
class Prop:
    def __init__(self, v): self._v = v
    @property
    def k(self): return self._v
class Lazy:
    def __init__(self, v): self.held = {"k": v}
    def __getattr__(self, name): return self.held[name]
class Items:
    def __init__(self, v): self.held = [v]
    def __getitem__(self, place): return self.held[place]
class Calls:
    def __init__(self, v): self.v = v
    def __call__(self): return self.v
    def get(self): return self.v
class Own(dict):
    pass
Pair = collections.namedtuple("Pair", "k z")
class Cached:
    def __init__(self, v): self.v = v
    @functools.cached_property
    def k(self): return self.v
class Given:
    _v = None
    k = property(operator.attrgetter("_v"))
    def __init__(self, v): self._v = v
class Partial:
    def __init__(self, v): self.v = v
    def get(self, n): return self.v
    k = functools.partialmethod(get, 1)
class Dispatched:
    def __init__(self, v): self.v = v
    @functools.singledispatchmethod
    def k(self, n): return self.v
class Described:
    held = weakref.WeakKeyDictionary()
    def __get__(self, owner, kind=None): return self.held[owner]
    def __set__(self, owner, v): self.held[owner] = v
class HasDescribed:
    k = Described()
    def __init__(self, v): self.k = v
class Float(float):
    pass
class Text(str):
    pass
class OwnArray(np.ndarray):
    pass
class Meta(type):
    @property
    def k(cls): return cls.v
def with_attribute(made, v):
    made.k = v
    return made
def enumeration(v):
    class Color(enum.Enum):
        A = Box(v)
        B = 0
    return Color
def counted(v):
    class Count(enum.IntEnum):
        A = 1
        B = 2
    Count.A.k = v
    return Count
def meta_class(v):
    return Meta("Made", (), {"v": v})
class Abstract(abc.ABC):
    @abc.abstractmethod
    def get(self): pass
class Structural(typing.Protocol):
    def get(self): pass
def derived(v, base):
    class Made(base):
        def get(self, name="k"): return self.k
        def __getitem__(self, name): return self.k
        def __iter__(self): return iter("k")
        def __len__(self): return 1
    Made.k = v  # an abstract class asks what it is given for attributes
    return Made()
class Bare:
    pass
class InOrder(Bare):
    __match_args__ = ("k",)
class Empty:
    def __len__(self): return 0
    def __getitem__(self, place):
        if place > 1: raise IndexError
        return 1.0
def fresh(base):
    return type("Fresh", (base,), {})()
@dataclasses.dataclass(slots=True)
class Slotted:
    k: object
class Typed(typing.NamedTuple):
    k: object
def lazy_module(v):
    made = types.ModuleType("settings")
    made.held = {"k": v}
    made.__getattr__ = lambda name: made.held[name]
    return made
def cell(v):
    def get(): return v
    def put(new):
        nonlocal v
        v = new
    get.put = put
    return get
def named_class(v):
    class Named:
        k = v
    return Named
def sub_class(v):
    class Base:
        k = v
    class Sub(Base):
        pass
    return Sub
def module(v):
    made = types.ModuleType("settings")
    made.k = v
    return made
def matched(value):
    match value:
        case object(k=held):
            return held
def matched_in_order(value):
    kind = type(value)
    match value:
        case kind(held):
            return held
def variable(v):
    made = contextvars.ContextVar("variable")
    made.set(v)
    return made
"""


@dataclass(frozen=True)
class Part:
    """A container, or a leaf: how it is made of what it holds, read, and changed in place."""

    build: str
    read: tuple[str, ...]
    changes: tuple[str, ...]


#: `{v}` is what a container holds, `{p}` how the container is written.
CONTAINERS = {
    "dict": Part(
        '{{"a": {v}, "b": 0.5}}', ('{p}["a"]', '{p}.get("a", 1.0)'), ('{p}["a"] = {v}', "{p}.update(a={v})")
    ),
    "own dict": Part("Own(a={v})", ('{p}["a"]',), ('{p}["a"] = {v}', '{p}.pop("a"); {p}["a"] = {v}')),
    "ordered": Part("collections.OrderedDict(a={v})", ('{p}["a"]',), ('{p}["a"] = {v}',)),
    "default": Part("collections.defaultdict(float, a={v})", ('{p}["a"]',), ('{p}["a"] = {v}',)),
    "chain map": Part(
        "collections.ChainMap({{}}, dict(a={v}))", ('{p}["a"]',), ('{p}.maps[1]["a"] = {v}', '{p}["a"] = {v}')
    ),
    "list": Part("[0.5, {v}]", ("{p}[1]", "{p}[-1]"), ("{p}[1] = {v}", "{p}[:] = [1.0, {v}]")),
    "tuple": Part("(0.5, {v})", ("{p}[1]",), ()),
    "deque": Part(
        "collections.deque([0.5, {v}])", ("{p}[1]",), ("{p}[1] = {v}", "{p}.pop(); {p}.append({v})")
    ),
    "box": Part(
        "Box({v})",
        ("{p}.k", 'getattr({p}, "k")', 'vars({p})["k"]', 'operator.attrgetter("k")({p})'),
        ("{p}.k = {v}", 'setattr({p}, "k", {v})', '{p}.__dict__["k"] = {v}'),
    ),
    "wide": Part("Wide({v})", ("{p}.k",), ("{p}.k = {v}", "del {p}.k; {p}.k = {v}")),
    "slots": Part("Slots({v})", ("{p}.k", 'getattr({p}, "k")'), ("{p}.k = {v}",)),
    "data": Part("Data({v})", ("{p}.k",), ("{p}.k = {v}",)),
    "frozen": Part("Frozen({v})", ("{p}.k",), ('object.__setattr__({p}, "k", {v})',)),
    "space": Part("types.SimpleNamespace(k={v})", ("{p}.k",), ("{p}.k = {v}",)),
    "property": Part("Prop({v})", ("{p}.k",), ("{p}._v = {v}",)),
    "getattr": Part(
        "Lazy({v})", ("{p}.k",), ('{p}.held["k"] = {v}', "{p}.held = dict(k={v})", "{p}.k = {v}")
    ),
    "getitem": Part("Items({v})", ("{p}[0]",), ("{p}.held[0] = {v}", "{p}.held = [{v}]")),
    "called": Part("Calls({v})", ("{p}()", "{p}.get()"), ("{p}.v = {v}",)),
    "named tuple": Part("Pair({v}, 0.5)", ("{p}.k", "{p}[0]"), ()),
    "cell": Part("cell({v})", ("{p}()",), ("{p}.put({v})",)),
    "class": Part("named_class({v})", ("{p}.k", "{p}().k"), ("{p}.k = {v}", 'setattr({p}, "k", {v})')),
    "base class": Part("sub_class({v})", ("{p}.k", "{p}().k"), ("{p}.__base__.k = {v}", "{p}.k = {v}")),
    "of a class": Part(
        "sub_class({v})()", ("{p}.k",), ("type({p}).k = {v}", "type({p}).__base__.k = {v}", "{p}.k = {v}")
    ),
    "module": Part("module({v})", ("{p}.k",), ("{p}.k = {v}",)),
    "partial": Part("functools.partial(Box, {v})", ("{p}().k",), ()),
    "proxy": Part("types.MappingProxyType(dict(a={v}))", ('{p}["a"]',), ()),
    "method": Part("Calls({v}).get", ("{p}()",), ("{p}.__self__.v = {v}",)),
    "variable": Part("variable({v})", ("{p}.get()",), ("{p}.set({v})",)),
    "enumeration": Part(
        "enumeration({v})",
        ("{p}.A.value.k", '{p}["A"].value.k', "[each.value for each in {p}][0].k", "next(iter({p})).value.k"),
        ("{p}.A.value.k = {v}", "{p}.A._value_ = Box({v})"),
    ),
    "member": Part("counted({v}).A", ("{p}.k",), ("{p}.k = {v}",)),
    "cached property": Part(
        "Cached({v})", ("{p}.k",), ("{p}.v = {v}; vars({p}).pop('k', None)", "vars({p})['k'] = {v}")
    ),
    "property of operator": Part("Given({v})", ("{p}.k", 'operator.attrgetter("k")({p})'), ("{p}._v = {v}",)),
    "partial method": Part("Partial({v})", ("{p}.k()",), ("{p}.v = {v}",)),
    "dispatched method": Part("Dispatched({v})", ("{p}.k(1)",), ("{p}.v = {v}",)),
    "descriptor": Part("HasDescribed({v})", ("{p}.k",), ("{p}.k = {v}",)),
    "own float": Part("with_attribute(Float(1.0), {v})", ("{p}.k",), ("{p}.k = {v}",)),
    "own text": Part('with_attribute(Text("a"), {v})', ("{p}.k",), ("{p}.k = {v}",)),
    "own array": Part("with_attribute(np.ones(2).view(OwnArray), {v})", ("{p}.k",), ("{p}.k = {v}",)),
    "property of a class": Part("meta_class({v})", ("{p}.k",), ("{p}.v = {v}",)),
    "abstract": Part("derived({v}, Abstract)", ("{p}.get()", "{p}.k"), ("type({p}).k = {v}",)),
    "protocol": Part("derived({v}, Structural)", ("{p}.get()",), ("type({p}).k = {v}",)),
    "abstract mapping": Part(
        "derived({v}, collections.abc.Mapping)", ('{p}["k"]', '{p}.get("k")'), ("type({p}).k = {v}",)
    ),
    "data in slots": Part("Slotted({v})", ("{p}.k",), ("{p}.k = {v}",)),
    "typed tuple": Part("Typed({v})", ("{p}.k", "{p}[0]"), ()),
    "matched": Part("with_attribute(Bare(), {v})", ("matched({p})",), ("{p}.k = {v}",)),
    "matched in order": Part("with_attribute(InOrder(), {v})", ("matched_in_order({p})",), ("{p}.k = {v}",)),
    "module with getattr": Part(
        "lazy_module({v})", ("{p}.k",), ('{p}.held["k"] = {v}', "{p}.held = dict(k={v})", "{p}.k = {v}")
    ),
}
#: `{n}` is a number that no leaf has had.
LEAVES = {
    "float": Part("{n}", ("{p}",), ()),
    "int": Part("int({n})", ("{p}",), ()),
    "text": Part('"a" * int({n})', ("len({p})",), ()),
    "array": Part(
        "np.array([{n}, 2, 3], np.float32)",
        ("{p}", "{p}[0]"),
        ("{p}[0] = {n}", "{p}.fill({n})", "np.add({p}, {n}, out={p})"),
    ),
    "view": Part(
        "np.array([[{n}, 2, 3]], np.float32)[0]", ("{p}",), ("{p}[0] = {n}", "{p}.base[0, 0] = {n}")
    ),
    "nan": Part("np.array([np.nan, {n}, 3], np.float32)", ("{p}",), ("{p}[1] = {n}",)),
    "matrix": Part(
        "np.full((2, 3), {n}, np.float32)", ("{p}.sum(axis=0)", "{p}[1]"), ("{p}[1, 2] = {n}", "{p}[1] = {n}")
    ),
    "large": Part(
        "np.full(9000, {n}, np.float32)", ("{p}[:3]",), ("{p}.fill({n})", "np.add({p}, {n}, out={p})")
    ),
    "strided": Part("np.full((200, 90), {n}, np.float32)[::2, ::2]", ("{p}[0, :3]",), ("{p}[...] = {n}",)),
    "numbers": Part(
        "[1.0, {n}]",
        ("sum({p})", "len({p}) + {p}[-1]", "max({p})"),
        ("{p}.append({n})", "{p}.insert(0, {n})", "{p}[0] = {n}", "{p}.extend([{n}, 1.0])"),
    ),
    "set": Part(
        "{{1.0, {n}}}", ("float(max({p}))", "len({p})"), ("{p}.add({n})", "{p}.clear(); {p}.add({n})")
    ),
    "keys": Part("dict.fromkeys([1.0, {n}], 0.0)", ("sum({p})", "max({p}.keys())"), ("{p}[{n}] = 1.0",)),
    "bytes": Part("bytearray([int({n})])", ("{p}[0]",), ("{p}[0] = int({n})",)),
    "choice": Part("{n}", ("(2.0 if {p} % 2 == 0 else 5.0)",), ()),
    "flags": Part(
        'enum.Flag("Flags", "A B")',
        ("({p}.A | {p}.B).value", "len({p})"),
        ("({p}.A | {p}.B)._value_ = int({n})",),
    ),
    "template": Part(
        'string.Template("a" * int({n}))', ("len({p}.template)",), ('{p}.template = "b" * int({n})',)
    ),
    "absent": Part("dict()", ('(1.0 if "a" in {p} else 3.0)', '{p}.get("a", 1.0)'), ('{p}["a"] = {n}',)),
    "no method": Part(
        "fresh(Empty)",
        (
            "(2.0 if {p} else 3.0)",
            "sum({p})",
            "(4.0 if {n} in {p} else 5.0)",
            "(6.0 if callable({p}) else 7.0)",
        ),
        (
            "type({p}).__bool__ = lambda self: True",
            "type({p}).__iter__ = lambda self: iter([{n}])",
            "type({p}).__contains__ = lambda self, value: True",
            "type({p}).__call__ = lambda self: 1.0",
        ),
    ),
    "field of a text": Part(
        "with_attribute(Bare(), {n})",
        ('float("{{0.k}}".format({p}))', 'float("{{v.k!s}}".format(v={p}))'),
        ("{p}.k = {n}",),
    ),
    "no attribute": Part(
        "Box({n})",
        ('getattr({p}, "more", 1.0)', '(1.0 if hasattr({p}, "more") else {p}.k)'),
        ("{p}.more = {n}",),
    ),
}
#: Where the chain begins: code of the program, how the reader writes it, how a change writes and binds it.
ROOTS = {
    "global": ("ROOT = {v}\n", "ROOT", "ROOT", "ROOT = {v}"),
    "globals()": ("ROOT = {v}\n", 'globals()["ROOT"]', "ROOT", "ROOT = {v}"),
    "other module": ("", "other.ROOT", "other.ROOT", "other.ROOT = {v}"),
    "self": (
        "class Net:\n    def __init__(self): self.root = {v}\n{method}\nNET = Net()\n",
        "self.root",
        "NET.root",
        "NET.root = {v}",
    ),
    "class of self": (
        "class Net:\n    root = {v}\n{method}\nNET = Net()\n",
        "self.root",
        "Net.root",
        "Net.root = {v}",
    ),
    "default": (
        "def given(root={v}): return root\n",
        "given()",
        "given.__defaults__[0]",
        "given.__defaults__ = ({v},)",
    ),
    "default of a keyword, in its dict": (
        "def given(*, root={v}): return root\n",
        "given()",
        "given.__kwdefaults__['root']",
        "given.__kwdefaults__['root'] = {v}",
    ),
    "default by name": (
        "def given(*, root={v}): return root\n",
        "given()",
        'given.__kwdefaults__["root"]',
        "given.__kwdefaults__ = dict(root={v})",
    ),
    "attribute of a function": (
        "def given(): pass\ngiven.root = {v}\n",
        "given.root",
        "given.root",
        "given.root = {v}",
    ),
    "variable": ("get = cell({v})\n", "get()", "get()", "get.put({v})"),
}
#: How the script reads it: code before it, its body. `{r}` computes with the leaf, `{s}` is the decorator of scripts.
READERS = {
    "direct": ("", "return x * ({r})"),
    "assigned": ("", "v = {r}\n    return x + v"),
    "helper": ("def helper(x{and_self}): return x * ({r})\n", "return helper(x{give_self})"),
    "value": ("def helper({only_self}): return {r}\n", "return x * helper({only_self})"),
    "two helpers": (
        "def inner({only_self}): return {r}\ndef helper(x{and_self}): return x + inner({only_self})\n",
        "return helper(x{give_self}) * 2.0",
    ),
    "lambda": ("helper = lambda x{and_self}: x * ({r})\n", "return helper(x{give_self})"),
    "comprehension": ("", "return x * sum([1.0 * ({r}) for _ in range(2)])"),
    "inner function": ("", "def inner(y):\n        return y * ({r})\n    return inner(x)"),
    "branch": ("", "if float(np.sum({r})) > 4.0:\n        x = x + 1.0\n    return x * ({r})"),
    "script": ("{s}\ndef helper(x: FLOAT['N']): return x * ({r})\n", "return helper(x) + 1.0"),
}


@dataclass(frozen=True)
class ReadingProgram:
    """The source of two modules with a function `f`, the statements that change what it reads, and a title."""

    title: str
    source: str
    other: str
    changes: tuple[str, ...]


def reading_program(seed: int, decorator: str) -> ReadingProgram:
    """A drawn program; `decorator` stands above the function."""
    random_ = random.Random(seed)
    numbers = iter(random_.sample(range(2, 200), 60))
    chain = [random_.choice(list(CONTAINERS)) for _ in range(random_.randint(0, 3))]
    leaf = random_.choice(list(LEAVES))
    root = random_.choice(list(ROOTS))
    reader = random_.choice(list(READERS))
    is_method = "{method}" in ROOTS[root][0]
    if reader == "script" and (is_method or not decorator.startswith("@script")):
        reader = "helper"

    def built(depth: int) -> str:
        """The chain from a depth on, with a number of its own."""
        made = LEAVES[leaf].build.format(n=float(next(numbers)))
        for name in reversed(chain[depth:]):
            made = CONTAINERS[name].build.format(v=made)
        return made

    reads = [random_.choice(CONTAINERS[name].read) for name in chain]

    def written(start: str, depth: int) -> str:
        for read in reads[:depth]:
            start = read.format(p=start)
        return start

    head, code, held, bind = ROOTS[root]
    computed = random_.choice(LEAVES[leaf].read).format(p=written(code, len(chain)), n=float(next(numbers)))
    before, body = READERS[reader]
    words = {
        "r": computed,
        "s": "@script",
        "and_self": ", self" if is_method else "",
        "give_self": ", self" if is_method else "",
        "only_self": "self" if is_method else "",
    }
    before, body = before.format(**words), body.format(**words)
    other = f"{PRELUDE}\nROOT = {built(0)}\n"
    if is_method:
        method = "\n".join(
            f"    {line}" for line in f"{decorator}\ndef f(self, x: FLOAT['N']):\n    {body}".splitlines()
        )
        source = f"{PRELUDE}{before}{head.format(v=built(0), method=method)}def f(x): return NET.f(x)\n"
    else:
        whole = f"{decorator}\ndef f(x: FLOAT['N']):\n    {body}\n"
        source = f"{PRELUDE}import other_module as other\n{head.format(v=built(0))}{before}{whole}"

    def change() -> str:
        depth = random_.randint(0, len(chain) + 1)
        if depth == 0:
            return bind.format(v=built(0))
        if depth <= len(chain):
            ways = CONTAINERS[chain[depth - 1]].changes
            value = built(depth)
        else:
            ways, value = LEAVES[leaf].changes, ""
        if not ways:
            return bind.format(v=built(0))
        return random_.choice(ways).format(p=written(held, depth - 1), v=value, n=float(next(numbers)))

    title = f"{root} > {' > '.join([*chain, leaf])}, {reader}"
    return ReadingProgram(title, source, other, tuple(change() for _ in range(3)))

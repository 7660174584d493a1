"""Pictures of Python objects: what one holds now, to tell later whether it has changed, and to put it back.

A picture is of one object and looks no further; `reach` goes from one object to the next. Items are compared by
identity: an object that is changed inside has a picture of its own, and `==` of the user's could do anything.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import operator
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import ClassVar, Generic, TypeAlias, TypeVar, cast

import numpy as np

_ABSENT = object()
_ALL = slice(None)
#: Something that an object holds, and what it is found by there: a position, a name, a key, or nothing.
Part: TypeAlias = tuple[Hashable, object]
# The methods of these types are called by name, so that those of a user's subclass are not.
_List = list[object]
_Dict = dict[Hashable, object]
_OrderedDict = collections.OrderedDict[Hashable, object]
_Set = set[Hashable]
_ORDERED: type = collections.OrderedDict
_Words = np.ndarray[tuple[int], np.dtype[np.uint32]]


def _are_same(a: Iterable[object], b: Iterable[object]) -> bool:
    """True if two rows of the same length hold the same objects."""
    return all(map(operator.is_, a, b))


class Picture(ABC):
    """The content of an object when the picture was taken."""

    __slots__ = ("owner",)
    #: Whether a part is reached only by code that names it: an attribute is, an element is not.
    has_names: ClassVar[bool] = False

    def __init__(self, owner: object) -> None:
        self.owner = owner

    @abstractmethod
    def is_changed(self) -> bool:
        """True if it holds something else now."""

    def check(self) -> Callable[[], bool]:
        """A function that says what `is_changed` says, for calls that are made to cost little."""
        return self.is_changed

    @abstractmethod
    def put_back(self) -> None:
        """Let it hold again what it held."""

    def parts(self) -> Iterable[Part]:
        """The parts that it held, each with its key."""
        return ()

    def name_of_part(self, name: str, key: Hashable) -> str:
        """How the user would write a part, given how they write the object."""
        return f"{name}[{key!r}]".replace("'", '"')


class ListPicture(Picture):
    """A list: its elements."""

    __slots__ = ("_items",)

    def __init__(self, owner: list[object]) -> None:
        super().__init__(owner)
        self._items: list[object] = _List.__getitem__(owner, _ALL)  # not what a subclass says

    def is_changed(self) -> bool:
        """True if there are others, or as many in another order."""
        now = cast("list[object]", self.owner)
        return _List.__len__(now) != len(self._items) or not _are_same(self._items, _List.__iter__(now))

    def put_back(self) -> None:
        """All elements."""
        _List.__setitem__(cast("list[object]", self.owner), _ALL, self._items)

    def parts(self) -> Iterable[Part]:
        """The elements by position."""
        return enumerate(self._items)


class DequePicture(Picture):
    """A deque: its elements."""

    __slots__ = ("_items",)

    def __init__(self, owner: collections.deque[object]) -> None:
        super().__init__(owner)
        self._items = list(owner)

    def is_changed(self) -> bool:
        """True if there are others, or as many in another order."""
        now = cast("collections.deque[object]", self.owner)
        return len(now) != len(self._items) or not _are_same(self._items, now)

    def put_back(self) -> None:
        """All elements."""
        now = cast("collections.deque[object]", self.owner)
        now.clear()
        now.extend(self._items)

    def parts(self) -> Iterable[Part]:
        """The elements by position."""
        return enumerate(self._items)


class DictPicture(Picture):
    """A dict: its keys, in order, and its values."""

    __slots__ = ("_items", "_keys", "_read_keys", "_read_values", "_values")

    def __init__(self, owner: dict[Hashable, object]) -> None:
        super().__init__(owner)
        # An ordered dict has an order of its own.
        own = cast("type[_Dict]", _ORDERED if isinstance(owner, _ORDERED) else _Dict)
        self._read_keys: Callable[[_Dict], Iterable[Hashable]] = own.keys
        self._read_values: Callable[[_Dict], Iterable[object]] = own.values
        self._keys = tuple(own.keys(owner))
        self._values = tuple(own.values(owner))
        self._items = list(zip(self._keys, self._values, strict=True))

    def is_changed(self) -> bool:
        """True if there are other keys or values, or the keys have another order."""
        now = cast("_Dict", self.owner)
        return (
            _Dict.__len__(now) != len(self._keys)
            or not _are_same(self._read_values(now), self._values)
            or not _are_same(self._read_keys(now), self._keys)
        )

    def put_back(self) -> None:
        """All items, in their order."""
        if isinstance(self.owner, _ORDERED):
            ordered = cast("_OrderedDict", self.owner)
            _OrderedDict.clear(ordered)
            for key, value in self._items:
                _OrderedDict.__setitem__(ordered, key, value)
            return
        plain = cast("_Dict", self.owner)
        _Dict.clear(plain)
        for key, value in self._items:
            _Dict.__setitem__(plain, key, value)

    def parts(self) -> Iterable[Part]:
        """The values by key; a key that can change is one, too."""
        for key, value in self._items:
            yield key, value
            yield key, key


class SetPicture(Picture):
    """A set: its members."""

    __slots__ = ("_items",)

    def __init__(self, owner: set[Hashable]) -> None:
        super().__init__(owner)
        self._items = _Set.copy(owner)

    def is_changed(self) -> bool:
        """True if there are other members."""
        return set(map(id, self._items)) != set(map(id, _Set.__iter__(cast("_Set", self.owner))))

    def put_back(self) -> None:
        """All members."""
        owner = cast("_Set", self.owner)
        _Set.clear(owner)
        _Set.update(owner, self._items)

    def parts(self) -> Iterable[Part]:
        """The members."""
        return ((each, each) for each in self._items)

    def name_of_part(self, name: str, key: Hashable) -> str:
        """A member has no name of its own."""
        return name


class BufferPicture(Picture):
    """Bytes that can be changed: a bytearray, an array of the array module, a memoryview."""

    __slots__ = ("_content",)

    def __init__(self, owner: bytearray | array.array[int] | memoryview) -> None:
        super().__init__(owner)
        self._content = owner.tobytes() if not isinstance(owner, bytearray) else bytes(owner)

    def is_changed(self) -> bool:
        """True if there are other bytes."""
        owner = cast("bytearray | memoryview", self.owner)
        return (bytes(owner) if isinstance(owner, bytearray) else owner.tobytes()) != self._content

    def put_back(self) -> None:
        """All bytes."""
        owner = self.owner
        if isinstance(owner, bytearray):
            owner[:] = self._content
        elif isinstance(owner, memoryview):
            cast("memoryview", owner).cast("B")[:] = self._content
        else:
            values = cast("array.array[int]", owner)
            values[:] = array.array(values.typecode, self._content)


class AttributesPicture(Picture):
    """The attributes of an object or a module; where scripts that are methods are kept is none of the user's."""

    __slots__ = ("_held", "_items")
    has_names: ClassVar[bool] = True

    def __init__(self, owner: object, held: dict[str, object]) -> None:
        super().__init__(owner)
        self._held = held
        self._items = dict(held)

    def is_changed(self) -> bool:
        """True if there are other attributes or values; a cached property may be worked out."""
        before, now = self._items, self._held
        for name, value in now.items():
            if before.get(name, _ABSENT) is not value and not self._is_cached(name):
                return True
        return any(name not in now for name in before)

    def _is_cached(self, name: str) -> bool:
        return name not in self._items and isinstance(
            getattr(type(self.owner), name, None), functools.cached_property
        )

    def put_back(self) -> None:
        """All attributes."""
        for name in [each for each in self._held if each not in self._items]:
            del self._held[name]
        self._held.update(self._items)

    def parts(self) -> Iterable[Part]:
        """The values by name."""
        return self._items.items()

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`m.n`"""
        return f"{name}.{key}"


class SlotsPicture(Picture):
    """The slots of an object."""

    __slots__ = ("_items", "_slots")
    has_names: ClassVar[bool] = True

    def __init__(self, owner: object, slots: Mapping[str, types.MemberDescriptorType]) -> None:
        super().__init__(owner)
        self._slots = slots
        self._items = {name: self._read(slot) for name, slot in slots.items()}

    def _read(self, slot: types.MemberDescriptorType) -> object:
        try:
            return slot.__get__(self.owner)
        except AttributeError:
            return _ABSENT

    def is_changed(self) -> bool:
        """True if a slot holds something else."""
        return any(self._read(slot) is not self._items[name] for name, slot in self._slots.items())

    def put_back(self) -> None:
        """All slots."""
        for name, slot in self._slots.items():
            before = self._items[name]
            if before is not _ABSENT:
                slot.__set__(self.owner, before)
            elif self._read(slot) is not _ABSENT:
                slot.__delete__(self.owner)

    def parts(self) -> Iterable[Part]:
        """The values by name."""
        return ((name, value) for name, value in self._items.items() if value is not _ABSENT)

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`m.n`"""
        return f"{name}.{key}"


class ClassPicture(Picture):
    """A class: its attributes, and the order in which it and its bases are searched for them."""

    __slots__ = ("_bases", "_items", "_named", "_order", "_size")
    has_names: ClassVar[bool] = True

    def __init__(self, owner: type) -> None:
        super().__init__(owner)
        self._items = dict(vars(owner))
        self._size = len(self._items)
        self._bases, self._order = owner.__bases__, owner.__mro__
        #: What is compared, where that is not all of it.
        self._named: BindingsPicture | None = None

    def narrowed(self, names: Collection[str]) -> ClassPicture:
        """The picture of the attributes that have one of these names, and of those that Python itself asks for."""
        owner = cast(type, self.owner)
        made = ClassPicture(owner)
        made._named = BindingsPicture(owner, vars(owner), {*filter(_is_special, self._items), *names})
        return made

    def is_changed(self) -> bool:
        """True if there are other attributes, values or bases."""
        owner = cast(type, self.owner)
        if owner.__mro__ is not self._order:
            return True
        if self._named is None:
            return bool(self._changed())
        if self._named.is_changed():
            return True
        space = vars(owner)
        return len(space) != self._size and any(
            name not in self._items for name in filter(_is_special, space)
        )

    def _changed(self) -> list[str]:
        now = vars(cast(type, self.owner))
        names = {**self._items, **now}
        return [
            name
            for name in names
            if now.get(name, _ABSENT) is not self._items.get(name, _ABSENT) and name not in _NO_ATTRIBUTES
        ]

    def put_back(self) -> None:
        """All attributes, and the bases."""
        owner = cast(type, self.owner)
        if owner.__mro__ is not self._order:
            owner.__bases__ = self._bases
        for name in self._changed():
            if name in self._items:
                type.__setattr__(owner, name, self._items[name])
            else:
                type.__delattr__(owner, name)

    def parts(self) -> Iterable[Part]:
        """The values by name, but for a cache of `enum`: it grows by `Flag.A | Flag.B`."""
        return ((name, value) for name, value in self._items.items() if name != "_value2member_map_")

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`Meter.total`"""
        return f"{cast(type, self.owner).__name__}.{key}"


def _is_special(name: str) -> bool:
    """True for an attribute of a class that Python itself asks for, whatever code names: `__bool__`."""
    return name.startswith("__") and name not in _NO_ATTRIBUTES


#: What Python itself keeps in a class, and changes as it likes.
_NO_ATTRIBUTES = ("__abstractmethods__", "_abc_impl", "__weakref__", "__dict__", "__slotnames__")


class BindingsPicture(Picture):
    """The objects that names stand for in a namespace: the globals that code names.

    A jitted function checks one in every call, so that a look at all of its names is a few calls of C.
    """

    __slots__ = ("_absent", "_items", "_take", "_values", "space")

    def __init__(self, owner: object, space: Mapping[str, object], names: Collection[str]) -> None:
        super().__init__(owner)
        self.space = space
        self._items = {name: space[name] for name in names if name in space}
        self._absent = frozenset(names) - self._items.keys()
        found = list(self._items)
        found += found[:1]  # of one name `itemgetter` gives no tuple
        self._take: Callable[[object], tuple[object, ...]] | None = None
        self._values: tuple[object, ...] = ()
        if found:
            self._take = cast("Callable[[object], tuple[object, ...]]", operator.itemgetter(*found))
            self._values = self._take(space)

    @property
    def names(self) -> Collection[str]:
        """The names that are compared, those that stand for nothing included."""
        return self._absent.union(self._items)

    def is_changed(self) -> bool:
        """True if a name stands for something else, stands for nothing any more, or stands for something now."""
        space, take = self.space, self._take
        try:
            if take is not None and not all(map(operator.is_, take(space), self._values)):
                return True
        except KeyError:
            return True
        return bool(self._absent) and not space.keys().isdisjoint(self._absent)

    def check(self) -> Callable[[], bool]:
        """Of one name, which is what most jitted scripts read, a single lookup: a fifth of the time."""
        space: object = self.space
        if len(self._items) != 1 or self._absent or type(space) is not dict:
            return self.is_changed
        find = cast("dict[str, object]", space).get
        (name, value), *_ = self._items.items()
        return lambda: find(name, _ABSENT) is not value

    def put_back(self) -> None:
        """All names."""
        space = cast("dict[str, object]", self.space)
        space.update(self._items)
        for name in self._absent:
            space.pop(name, None)

    def parts(self) -> Iterable[Part]:
        """The values by name."""
        return self._items.items()

    def name_of_part(self, name: str, key: Hashable) -> str:
        """A name is written as it is."""
        return str(key)


class FunctionPicture(Picture):
    """A function: its code, its defaults, and the variables of the functions around it."""

    __slots__ = ("_cells", "_code", "_defaults", "_named")

    def __init__(self, owner: types.FunctionType) -> None:
        super().__init__(owner)
        self._code, self._defaults = owner.__code__, (owner.__defaults__, owner.__kwdefaults__)
        self._named = dict[str, object](owner.__kwdefaults__ or {})
        self._cells = [(cell, content_of(cell)) for cell in owner.__closure__ or ()]

    def is_changed(self) -> bool:
        """True if its code, a default or a variable around it is another object."""
        function = cast("types.FunctionType", self.owner)
        given, named = self._defaults
        if (
            function.__code__ is not self._code
            or function.__defaults__ is not given
            or function.__kwdefaults__ is not named
            or (named and [*map(id, named.values())] != [*map(id, self._named.values())])
        ):
            return True
        return bool(self._cells) and any(content_of(cell) is not before for cell, before in self._cells)

    def check(self) -> Callable[[], bool]:
        """Without defaults by keyword and variables around it there are three objects to look at."""
        function, code = cast("types.FunctionType", self.owner), self._code
        given, named = self._defaults
        if named or self._cells:
            return self.is_changed
        return lambda: (
            code is not function.__code__
            or given is not function.__defaults__
            or named is not function.__kwdefaults__
        )

    def put_back(self) -> None:
        """Code, defaults and variables."""
        function = cast("types.FunctionType", self.owner)
        function.__code__ = self._code
        function.__defaults__, function.__kwdefaults__ = self._defaults
        (function.__kwdefaults__ or {}).update(self._named)
        for cell, before in self._cells:
            if before is not _ABSENT:
                cell.cell_contents = before
            elif content_of(cell) is not _ABSENT:
                del cell.cell_contents

    def parts(self) -> Iterable[Part]:
        """Defaults by parameter, variables by name."""
        code = self._code
        given, named = self._defaults
        last = code.co_argcount
        yield from zip(code.co_varnames[last - len(given or ()) : last], given or (), strict=False)
        yield from (named or {}).items()
        for name, (_, value) in zip(code.co_freevars, self._cells, strict=True):
            if value is not _ABSENT:
                yield name, value

    def name_of_part(self, name: str, key: Hashable) -> str:
        """A variable is written as it is."""
        return str(key)


def content_of(cell: types.CellType) -> object:
    """The content of a cell; a value of its own where it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


class VariablePicture(Picture):
    """A context variable that has a value, or a default; setting it to its default is as good as not setting it."""

    __slots__ = ("_value",)

    def __init__(self, owner: contextvars.ContextVar[object]) -> None:
        super().__init__(owner)
        self._value = owner.get()

    def is_changed(self) -> bool:
        """True if it has another value."""
        return cast("contextvars.ContextVar[object]", self.owner).get() is not self._value

    def put_back(self) -> None:
        """The value."""
        cast("contextvars.ContextVar[object]", self.owner).set(self._value)

    def parts(self) -> Iterable[Part]:
        """The value."""
        return [("get", self._value)]

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`mode.get()`"""
        return f"{name}.{key}()"


#: A state as an object tells it.
S = TypeVar("S")


class StatePicture(Picture, Generic[S]):
    """An object that tells its state itself, and takes it back: random generators, StringIO."""

    __slots__ = ("_read", "_state", "_write")

    def __init__(self, owner: object, read: Callable[[], S], write: Callable[[S], object]) -> None:
        super().__init__(owner)
        self._read, self._write = read, write
        self._state = read()

    def is_changed(self) -> bool:
        """True if it tells another state."""
        return not _is_equal_state(self._read(), self._state)

    def put_back(self) -> None:
        """The state."""
        self._write(self._state)


def _is_equal_state(a: S, b: S) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(cast("_Words", a), cast("_Words", b)))
    if isinstance(a, dict) and isinstance(b, dict):
        first, second = cast("dict[str, object]", a), cast("dict[str, object]", b)
        return first.keys() == second.keys() and all(_is_equal_state(first[k], second[k]) for k in first)
    return a is b or a == b


class Holder(Picture):
    """An object that always holds the same others: a tuple, a method, a partial."""

    __slots__ = ("_held",)

    def __init__(self, owner: object, held: Iterable[Part]) -> None:
        super().__init__(owner)
        self._held = held

    def is_changed(self) -> bool:
        """Never."""
        return False

    def put_back(self) -> None:
        """There is nothing to put back."""

    def parts(self) -> Iterable[Part]:
        """The parts that it holds."""
        return self._held

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`t[0]`, or the variable that is held; what has no key is called as its holder is."""
        if isinstance(key, int):
            return f"{name}[{key}]"
        return key if isinstance(key, str) else name


class KindPicture(Holder):
    """The class of an object, which code may exchange: `cell.__class__ = Wider`."""

    __slots__ = ("_kind",)

    def __init__(self, owner: object) -> None:
        super().__init__(owner, [(None, type(owner))])
        self._kind = type(owner)

    def is_changed(self) -> bool:
        """True if the object is one of another class."""
        return type(self.owner) is not self._kind

    def put_back(self) -> None:
        """The class."""
        self.owner.__class__ = self._kind

"""Pictures of Python objects: what one holds now, to tell later whether it has changed, and to put it back.

A picture is of one object and looks no further; `reach` goes from one object to the next. Items are compared by
identity: an object that is changed inside has a picture of its own, and `==` of the user's could do anything.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import io
import operator
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Generic, TypeAlias, TypeVar, cast

import numpy as np

from onnxsmith.scripting.staging.script_values import T

if TYPE_CHECKING:
    import random

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

    __slots__ = ("_items",)

    def __init__(self, owner: dict[Hashable, object]) -> None:
        super().__init__(owner)
        self._items = self._read()

    def _read(self) -> list[Part]:
        if isinstance(self.owner, _ORDERED):  # which has an order of its own
            ordered = cast("_OrderedDict", self.owner)
            return list(_OrderedDict.items(ordered))
        return list(_Dict.items(cast("_Dict", self.owner)))

    def is_changed(self) -> bool:
        """True if there are other keys or values, or the keys have another order."""
        now = self._read()
        if len(now) != len(self._items):
            return True
        return not all(a is b and x is y for (a, x), (b, y) in zip(now, self._items, strict=True))

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
    """A class: its attributes."""

    __slots__ = ("_items",)
    has_names: ClassVar[bool] = True

    def __init__(self, owner: type) -> None:
        super().__init__(owner)
        self._items = dict(vars(owner))

    def is_changed(self) -> bool:
        """True if there are other attributes or values."""
        return bool(self._changed())

    def _changed(self) -> list[str]:
        now = vars(cast(type, self.owner))
        names = {**self._items, **now}
        return [
            name
            for name in names
            if now.get(name, _ABSENT) is not self._items.get(name, _ABSENT)
            and name not in ("__abstractmethods__", "_abc_impl", "__weakref__", "__dict__")
        ]

    def put_back(self) -> None:
        """All attributes."""
        for name in self._changed():
            if name in self._items:
                type.__setattr__(cast(type, self.owner), name, self._items[name])
            else:
                type.__delattr__(cast(type, self.owner), name)

    def parts(self) -> Iterable[Part]:
        """The values by name."""
        return self._items.items()

    def name_of_part(self, name: str, key: Hashable) -> str:
        """`Meter.total`"""
        return f"{cast(type, self.owner).__name__}.{key}"


class BindingsPicture(Picture):
    """The objects that names stand for in a namespace: the globals that code names."""

    __slots__ = ("_items", "_space")

    def __init__(self, owner: object, space: dict[str, object], names: Collection[str]) -> None:
        super().__init__(owner)
        self._space = space
        self._items = {name: space.get(name, _ABSENT) for name in names}

    def is_changed(self) -> bool:
        """True if a name stands for something else."""
        get = self._space.get
        return any(get(name, _ABSENT) is not value for name, value in self._items.items())

    def put_back(self) -> None:
        """All names."""
        for name, value in self._items.items():
            if value is not _ABSENT:
                self._space[name] = value
            else:
                self._space.pop(name, None)

    def parts(self) -> Iterable[Part]:
        """The values by name."""
        return ((name, value) for name, value in self._items.items() if value is not _ABSENT)

    def name_of_part(self, name: str, key: Hashable) -> str:
        """A name is written as it is."""
        return str(key)


class FunctionPicture(Picture):
    """A function: its defaults, and the variables of the functions around it."""

    __slots__ = ("_cells", "_defaults")

    def __init__(self, owner: types.FunctionType) -> None:
        super().__init__(owner)
        self._defaults = (owner.__defaults__, owner.__kwdefaults__)
        self._cells = [(cell, content_of(cell)) for cell in owner.__closure__ or ()]

    def is_changed(self) -> bool:
        """True if a default or a variable around it is another object."""
        function = cast("types.FunctionType", self.owner)
        defaults = (function.__defaults__, function.__kwdefaults__)
        return not _are_same(defaults, self._defaults) or any(
            content_of(cell) is not before for cell, before in self._cells
        )

    def put_back(self) -> None:
        """Defaults and variables."""
        function = cast("types.FunctionType", self.owner)
        function.__defaults__, function.__kwdefaults__ = self._defaults
        for cell, before in self._cells:
            if before is not _ABSENT:
                cell.cell_contents = before
            elif content_of(cell) is not _ABSENT:
                del cell.cell_contents

    def parts(self) -> Iterable[Part]:
        """Defaults by parameter, variables by name."""
        function = cast("types.FunctionType", self.owner)
        code = function.__code__
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


#: A state as an object tells it.
S = TypeVar("S")


class StatePicture(Picture, Generic[S]):
    """An object that tells its state itself, and takes it back: random generators, StringIO, context variables."""

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
        return bool(
            np.array_equal(
                cast("np.ndarray[tuple[int], np.dtype[np.uint32]]", a),
                cast("np.ndarray[tuple[int], np.dtype[np.uint32]]", b),
            )
        )
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


# -- objects that tell their state -------------------------------------------------------------------------


def picture_of_random(owner: random.Random) -> StatePicture[tuple[object, ...]]:
    """A generator of the random module."""
    return StatePicture(owner, owner.getstate, owner.setstate)


def picture_of_bits(owner: np.random.BitGenerator) -> StatePicture[Mapping[str, object]]:
    """A picture of the source of bits of numpy's generators."""

    def write(state: Mapping[str, object]) -> None:
        owner.state = state

    return StatePicture(owner, lambda: owner.state, write)


def picture_of_text(owner: io.StringIO | io.BytesIO) -> StatePicture[tuple[object, ...] | None]:
    """A file in memory: its content and position."""

    def read() -> tuple[object, ...] | None:
        return None if owner.closed else cast("tuple[object, ...]", owner.__getstate__())

    def write(state: tuple[object, ...] | None) -> None:
        if state is not None and not owner.closed:
            getattr(owner, "__setstate__")(state)  # noqa: B009  # which the stubs do not know

    return StatePicture(owner, read, write)


def picture_of_variable(owner: contextvars.ContextVar[T]) -> StatePicture[T]:
    """A context variable that has a value, or a default; setting it to its default is as good as not setting it."""
    return StatePicture(owner, owner.get, owner.set)

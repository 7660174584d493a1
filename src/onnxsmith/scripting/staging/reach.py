"""Objects that code can reach from its names, and so could change: a walk over Python objects that runs none of them.

Each object is visited once. An attribute is followed only where some code that is reached names it; what cannot change
(numbers, text, tensors, operators), libraries and their classes are not looked into.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import gc
import io
import operator
import os
import sys
import types
import weakref
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
)
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.captures import AnyArray
from onnxsmith.core.value_containers import Carrier
from onnxsmith.scripting.analysis.facts import Names
from onnxsmith.scripting.staging import shared_state, snapshots
from onnxsmith.scripting.staging.array_pictures import ArrayPicture
from onnxsmith.scripting.staging.code_names import BY_TEXT, code_names, imported_by_code
from onnxsmith.scripting.staging.known_types import (
    HARMLESS_MODULES,
    is_iterator,
    is_known_to_be_pure,
    is_library_class,
    is_library_module,
    is_plain,
    is_script,
    is_staged,
    is_torch_generator,
    is_torch_tensor,
    is_vectorized,
    names_its_attributes,
)
from onnxsmith.scripting.staging.plain_outside import HoldsFunction, Script
from onnxsmith.scripting.staging.snapshots import Picture
from onnxsmith.source import is_library

if TYPE_CHECKING:
    import random


class Staged(Protocol):
    """An object of staging through which the user's code reaches variables: a function defined inside a script."""

    def reached(self) -> tuple[Names, Mapping[str, object]]:
        """The names in its code, and the values of variables that it can read."""
        ...


#: What moves on when it is used.
Moving: TypeAlias = "Iterator[object] | Coroutine[object, object, object] | AsyncIterator[object]"
#: Random generators of numpy, and what they take their bits from.
NumpyRandom: TypeAlias = "np.random.Generator | np.random.RandomState | np.random.BitGenerator"

#: Methods that run when an object is made: by code that names the class, or asks an object for it.
_MAKING = frozenset(["__init__", "__new__", "__post_init__", "__init_subclass__"])
_CLASS_OF_OBJECT = ("type", "cls", "__class__")


@functools.lru_cache(maxsize=2048)
def _slots_of(kind: type) -> Mapping[str, types.MemberDescriptorType]:
    return {
        name: slot
        for base in reversed(kind.__mro__)
        if "__slots__" in vars(base)
        for name, slot in vars(base).items()
        if isinstance(slot, types.MemberDescriptorType)
    }


# -- the walk ----------------------------------------------------------------------------------------------


class Reach:
    """All that is reached from some variables by code that names some names.

    A script that is called is watched by itself; with `has_scripts` it is looked into, as any other function is.
    """

    def __init__(
        self, variables: Iterable[tuple[str, object]], names: Iterable[str], *, has_scripts: bool = False
    ) -> None:
        self._has_scripts = has_scripts
        self.pictures: list[Picture] = []
        #: Arrays that can be made read-only for a while, each after the one whose memory it shows.
        self.arrays: list[AnyArray] = []
        #: Iterators and generators with something left.
        self.iterators: list[Moving] = []
        #: Objects of C code whose state nobody can read: files, cursors.
        self.opaque: list[object] = []
        #: id -> the object, and how it was reached: from which picture, under which key. It keeps all alive.
        self._seen: dict[int, tuple[object, Picture | None, Hashable]] = {}
        #: id of an array whose memory others show -> one of those: it has a name, and the array may have none.
        self._views: dict[int, AnyArray] = {}
        self._waiting: list[object] = []
        self._names: set[str] = set()
        self._unnamed: dict[str, list[tuple[object, Picture, Hashable]]] = {}
        self._libraries: list[types.ModuleType] = []
        self._has_any_name = False
        self._add_names(names)
        for name, value in variables:
            self._meet(value, None, name)
        self._walk()
        if self._seen:
            self._add_libraries()
            self._add_shared_state()

    @property
    def names(self) -> Iterable[str]:
        """The names in all code that is reached."""
        return self._names

    @property
    def has_any_name(self) -> bool:
        """True if code that is reached may read attributes that it does not name."""
        return self._has_any_name

    @property
    def objects(self) -> Iterable[object]:
        """All that was reached, but for what cannot change."""
        return [each for each, _, _ in self._seen.values()]

    def __contains__(self, value: object) -> bool:
        return id(value) in self._seen

    def name_of(self, value: object) -> str:
        """How the user's code would write an object that was reached."""
        if isinstance(value, type):
            return value.__name__
        if id(value) not in self._seen:
            value = self._views[id(value)]
        keys: list[tuple[Picture | None, Hashable]] = []
        while True:
            _, picture, key = self._seen[id(value)]
            keys.append((picture, key))
            if picture is None:
                break
            value = picture.owner
        name = ""
        for picture, key in reversed(keys):
            name = str(key) if picture is None else picture.name_of_part(name, key)
        return name

    def root_of(self, value: object) -> str:
        """The variable through which an object was reached."""
        while (picture := self._seen[id(value)][1]) is not None:
            value = picture.owner
        return str(self._seen[id(value)][2])

    def _meet(self, value: object, picture: Picture | None, key: Hashable) -> None:
        kind = type(value)
        if not is_plain(kind) and id(value) not in self._seen:
            self._seen[id(value)] = (value, picture, key)
            self._waiting.append(value)

    def _add_names(self, names: Iterable[str]) -> None:
        new = set(names) - self._names
        self._names |= new
        if self._has_any_name:
            return
        if new & BY_TEXT:
            self._has_any_name = True
            new = set(self._unnamed)
        for name in new:
            for value, picture, key in self._unnamed.pop(name, ()):
                self._meet(value, picture, key)

    def _walk(self) -> None:
        while self._waiting:
            value = self._waiting.pop()
            for picture in self._pictures_of(value):
                self.pictures.append(picture)
                if picture.has_names and names_its_attributes(type(value)):
                    self._meet_named(picture)
                else:
                    for key, part in picture.parts():
                        if not is_plain(type(part)):
                            self._meet(part, picture, key)

    def _meet_named(self, picture: Picture) -> None:
        """Parts that are reached by name: now, or when code is met that names them."""
        for key, part in picture.parts():
            if is_plain(type(part)):
                continue
            names = (str(key),)
            if names[0] in _MAKING and isinstance(picture.owner, type):
                names = (picture.owner.__name__, *_CLASS_OF_OBJECT)
            is_special = names[0].startswith("__") and names[0].endswith("__") and len(names) == 1
            if self._has_any_name or is_special or not self._names.isdisjoint(names):
                self._meet(part, picture, key)
                continue
            for name in names:
                self._unnamed.setdefault(name, []).append((part, picture, key))

    def _add_libraries(self) -> None:
        """Adds what code names of libraries: the objects behind names, and lists and dicts such as `sys.path`."""
        for module in self._libraries:
            space = vars(module)
            names = [each for each in space if each in self._names]
            picture = snapshots.BindingsPicture(module, space, names)
            self.pictures.append(picture)
            for name in names:
                state = os.environ if space[name] is os.getenv else space[name]
                if type(state) in STATE_OF_LIBRARIES:
                    self._meet(state, picture, f"{module.__name__}.{name}")
        self._walk()

    def _add_shared_state(self) -> None:
        """Random generators and settings of modules, which functions of libraries use without naming them."""
        met = [each for each, _, _ in self._seen.values()]
        for name, generator in shared_state.shared_generators(met):
            self._meet(generator, None, name)
        self._walk()
        settings = shared_state.picture_of_decimal(self._names)
        if settings is not None:
            self._seen.setdefault(id(settings.owner), (settings.owner, None, "decimal"))
            self.pictures.append(settings)

    # -- one object --------------------------------------------------------------------------------

    def _pictures_of(self, value: object) -> Iterable[Picture]:
        kind = type(value)
        if kind is dict and "__builtins__" in cast("dict[str, object]", value):
            return [_Globals(value, cast("dict[str, object]", value))]
        look = _LOOKS.get(kind)
        if look is not None:
            return look(self, value)
        if kind in weakref.ProxyTypes:  # any question is one to the object, which may be gone
            return ()
        if isinstance(value, Carrier):  # what happens to it is kept in a journal
            return [snapshots.Holder(value, [(None, value.owner)])] if value.owner is not value else ()
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, np.ndarray):
            elements = self._array(cast("AnyArray", value))
            return elements if is_library_class(kind) else [*elements, *self._instance(cast(object, value))]
        if is_staged(kind):
            names, variables = cast(Staged, value).reached()
            self._add_names((*names.variables, *names.attributes))
            return [
                snapshots.Holder(
                    value, [(each, variables[each]) for each in variables if each in self._names]
                )
            ]
        if isinstance(value, HoldsFunction):
            return _holds_function(self, value)
        if is_vectorized(kind):
            return [snapshots.Holder(value, [(None, getattr(value, "pyfunc", None))])]
        if is_script(kind):
            return _script(cast(Script, value), has_all=self._has_scripts)
        if is_torch_tensor(kind):
            return [shared_state.TorchPicture(cast(shared_state.TorchTensor, value)), *self._instance(value)]
        if is_torch_generator(kind):
            return [shared_state.picture_of_torch_generator(cast(shared_state.TorchGenerator, value))]
        if kind.__module__.startswith("numpy.random"):
            return _of_numpy_random(cast("NumpyRandom", value))
        if "random" in sys.modules and isinstance(value, sys.modules["random"].Random):
            if isinstance(value, sys.modules["random"].SystemRandom):  # it has no state: the system's is used
                return self._instance(value)
            return [shared_state.picture_of_random(cast("random.Random", value)), *self._instance(value)]
        if isinstance(value, io.StringIO | io.BytesIO):
            return [shared_state.picture_of_text(value)]
        if isinstance(value, io.IOBase):
            self.opaque.append(value)
            return ()
        if is_iterator(kind):
            return self._generator(cast("Iterator[object]", value))
        return self._instance(value)

    def _instance(self, value: object) -> Iterable[Picture]:
        """An object of a class: what its class adds to object, one picture each."""
        kind = type(value)
        found: list[Picture] = []
        for base, make in _CONTAINERS.items():
            if isinstance(value, base):
                found.append(make(value))
                break
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict:
            found.append(snapshots.AttributesPicture(value, cast("dict[str, object]", attributes)))
        slots = _slots_of(kind)
        if slots:
            found.append(snapshots.SlotsPicture(value, slots))
        if not is_library_class(kind):
            found.append(snapshots.KindPicture(value))
        elif not found and not is_known_to_be_pure(kind):
            self.opaque.append(value)
        return found

    def _class(self, value: type) -> Iterable[Picture]:
        if is_library_class(value):
            return ()
        held: list[snapshots.Part] = [(None, base) for base in (type(value), *value.__mro__[1:])]
        members = cast("Mapping[object, object]", vars(value).get("_value2member_map_", {}))
        held += [(None, each) for each in members.values()]  # of an enumeration, those of no name included
        self._add_names(getattr(value, "__match_args__", ()))  # `case Point(0, y)` reads these attributes
        return [snapshots.ClassPicture(value), snapshots.Holder(value, held)]

    def _function(self, function: types.FunctionType) -> Iterable[Picture]:
        if function.__code__.co_filename == _FUNCTOOLS:
            return [snapshots.Holder(function, _dispatched(function))]
        found: list[Picture] = [snapshots.FunctionPicture(function)]
        if function.__dict__:
            found.append(snapshots.AttributesPicture(function, function.__dict__))
        if not is_library(function.__code__.co_filename):
            names = code_names(function.__code__)
            self._add_names(names)
            space = function.__globals__
            # What Python itself puts there (`__loader__`) leads to all modules.
            bound = [each for each in space if not each.startswith("__")] if "globals" in names else names
            found.append(snapshots.BindingsPicture(function, space, bound))
            imported = list(imported_by_code(function.__code__))
            if imported:
                found.append(snapshots.Holder(function, imported))
        return found

    def _module(self, module: types.ModuleType) -> Iterable[Picture]:
        if is_library_module(module.__name__):
            self._libraries.append(module)
            return ()
        return [snapshots.AttributesPicture(module, module.__dict__)]

    def _array(self, value: AnyArray) -> Iterable[Picture]:
        chain = chain_of(value)
        if not chain:
            return [ArrayPicture(value)]
        self.arrays += chain
        self._views.update((id(each), value) for each in chain[:-1])
        if value.dtype != object:
            return ()
        return [snapshots.Holder(value, enumerate(cast("list[object]", value.ravel().tolist())))]

    def _generator(self, value: Moving) -> Iterable[Picture]:
        if _has_more(value):
            self.iterators.append(value)
        return ()


class _Globals(snapshots.AttributesPicture):
    """The dict of `globals()`. Of its values only containers are looked into: code that wants others names them."""

    __slots__ = ()

    def parts(self) -> Iterable[snapshots.Part]:
        """The containers by name."""
        return [(name, each) for name, each in super().parts() if type(each) in STATE_OF_LIBRARIES]


#: Where the decorators stand that remember what they have found out.
_FUNCTOOLS = functools.singledispatch.__code__.co_filename


def _dispatched(function: types.FunctionType) -> Iterable[snapshots.Part]:
    """The parts of a function of `functools`, such as one that `singledispatch` made; its cache is no state."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = [(name, snapshots.content_of(cell)) for name, cell in cells]
    return [(name, each) for name, each in held if not isinstance(each, weakref.WeakKeyDictionary)]


def chain_of(value: AnyArray) -> list[AnyArray]:
    """An array after those whose memory it shows; none where numpy would not let it be written to again.

    Whether memory of another library may be written to, numpy cannot say.
    """
    chain = [value]
    while isinstance(chain[-1].base, np.ndarray):
        chain.append(cast("AnyArray", chain[-1].base))
    is_known = type(chain[-1].base).__name__ in ("NoneType", "bytes", "bytearray", "memoryview", "mmap")
    return chain[::-1] if is_known else []


def _has_more(iterator: Moving) -> bool:
    """True if an iterator is not at its end."""
    for frame in ("gi_frame", "cr_frame", "ag_frame"):
        if hasattr(iterator, frame):
            return getattr(iterator, frame) is not None
    left = getattr(iterator, "__length_hint__", None)
    is_exact = type(iterator).__module__ == "builtins"
    return not is_exact or left is None or left() > 0


def _script(value: Script, *, has_all: bool = False) -> list[Picture]:
    """A script that is staged in the place of its call; any other is watched by itself, unless all are wanted."""
    function = getattr(value, "function", None)
    fixed = getattr(value, "fixed_arguments", None)
    is_part = has_all or fixed or getattr(value, "is_inline", False)
    if not isinstance(function, types.FunctionType) or not is_part:
        return []
    held = [(name, each) for name, each in cast("Mapping[str, object]", fixed or {}).items()]
    return [snapshots.Holder(value, [(None, function), *held])]


def _held_by(*attributes: str) -> Callable[[Reach, object], Iterable[Picture]]:
    def look(_: Reach, value: object) -> Iterable[Picture]:
        return [snapshots.Holder(value, [(None, getattr(value, each, None)) for each in attributes])]

    return look


#: By the attribute in which jitted numpy code, a gradient and a jitted script hold the function that they run.
_holds_function = _held_by("__wrapped__", "differentiated", "script")


def _elements(_: Reach, value: Iterable[object]) -> Iterable[Picture]:
    return [snapshots.Holder(value, enumerate(value))]


def _target(_: Reach, value: weakref.ref[object]) -> Iterable[Picture]:
    return [snapshots.Holder(value, [(None, value())])]


def _behind(_: Reach, value: object) -> Iterable[Picture]:
    """The dict behind a read-only view, which its owner may change; that of a class is looked at with the class."""
    referents = cast("list[object]", gc.get_referents(value))
    owners = [cast("dict[Hashable, object]", each) for each in referents if type(each) is dict]
    is_of_class = bool(owners) and "__module__" in owners[0]
    items = owners[0].items() if is_of_class else [(None, each) for each in owners]
    return [snapshots.Holder(value, cast("Iterable[tuple[Hashable, object]]", items))]


def _of_numpy_random(value: NumpyRandom) -> Iterable[Picture]:
    """A generator of numpy's; its module takes long to import, and is not needed for it."""
    if hasattr(value, "bit_generator"):
        return [snapshots.Holder(value, [(None, cast("np.random.Generator", value).bit_generator)])]
    if hasattr(value, "get_state"):
        old = cast("np.random.RandomState", value)
        return [snapshots.StatePicture(old, functools.partial(old.get_state, legacy=False), old.set_state)]
    if hasattr(value, "random_raw"):
        return [shared_state.picture_of_bits(cast("np.random.BitGenerator", value))]
    return ()


def _variable(reach: Reach, variable: contextvars.ContextVar[object]) -> Iterable[Picture]:
    try:
        variable.get()
    except LookupError:  # once it has a value, it cannot be without one again
        reach.opaque.append(variable)
        return ()
    return [snapshots.VariablePicture(variable)]


def _environment(_: Reach, value: MutableMapping[str, str]) -> Iterable[Picture]:
    return [shared_state.picture_of_environment(value)]


def _names_in(reach: Reach, value: operator.attrgetter[object] | operator.methodcaller) -> Iterable[Picture]:
    """A function of `operator` that reads attributes: their names are state of its own, which no code shows."""
    given = cast("tuple[object, tuple[object, ...]]", value.__reduce__())[1]
    reach._add_names(  # pyright: ignore[reportPrivateUsage]
        part for each in given if isinstance(each, str) for part in each.split(".")
    )
    return [snapshots.Holder(value, enumerate(given))]


def _nothing(_: Reach, value: object) -> Iterable[Picture]:
    return ()


_NO_ITEMS: dict[str, object] = {}
#: How an object of exactly this type is looked into.
_LOOKS: dict[type, Callable[[Reach, Any], Iterable[Picture]]] = {
    types.FunctionType: Reach._function,  # pyright: ignore[reportPrivateUsage]
    types.ModuleType: Reach._module,  # pyright: ignore[reportPrivateUsage]
    types.GeneratorType: Reach._generator,  # pyright: ignore[reportPrivateUsage]
    types.CoroutineType: Reach._generator,  # pyright: ignore[reportPrivateUsage]
    types.AsyncGeneratorType: Reach._generator,  # pyright: ignore[reportPrivateUsage]
    types.MethodType: _held_by("__func__", "__self__"),
    types.BuiltinMethodType: _held_by("__self__"),
    types.MethodWrapperType: _held_by("__self__"),
    property: _held_by("fget", "fset", "fdel"),
    staticmethod: _held_by("__func__"),
    classmethod: _held_by("__func__"),
    functools.partial: _held_by("func", "args", "keywords"),
    functools.partialmethod: _held_by("func", "args", "keywords"),
    functools.cached_property: _held_by("func"),
    type(functools.lru_cache(len)): _held_by("__wrapped__"),
    types.MappingProxyType: _behind,
    type(_NO_ITEMS.keys()): _behind,
    type(_NO_ITEMS.values()): _behind,
    type(_NO_ITEMS.items()): _behind,
    tuple: _elements,
    frozenset: _elements,
    weakref.ref: _target,
    contextvars.ContextVar: _variable,
    operator.attrgetter: _names_in,
    operator.methodcaller: _names_in,
    type(os.environ): _environment,
    object: _nothing,
}
#: What code changes where a library keeps it.
STATE_OF_LIBRARIES = frozenset([list, dict, set, collections.deque, type(os.environ)])
#: What a class of the user's, too, may be a kind of.
_CONTAINERS: dict[type, Callable[[object], Picture]] = {
    list: lambda value: snapshots.ListPicture(cast("list[object]", value)),
    dict: lambda value: snapshots.DictPicture(cast("dict[Hashable, object]", value)),
    set: lambda value: snapshots.SetPicture(cast("set[Hashable]", value)),
    collections.deque: lambda value: snapshots.DequePicture(cast("collections.deque[object]", value)),
    bytearray: lambda value: snapshots.BufferPicture(cast(bytearray, value)),
    array.array: lambda value: snapshots.BufferPicture(cast("array.array[int]", value)),
    memoryview: lambda value: snapshots.BufferPicture(cast(memoryview, value)),
    tuple: lambda value: snapshots.Holder(value, enumerate(cast("tuple[object, ...]", value))),
}


def pictures_of(value: object) -> list[Picture]:
    """Pictures of a list, a dict or an object alone, not of what it holds."""
    found = [make(value) for base, make in _CONTAINERS.items() if isinstance(value, base)]
    attributes = getattr(value, "__dict__", None)
    if type(attributes) is dict:
        found.append(snapshots.AttributesPicture(value, cast("dict[str, object]", attributes)))
    return found


def is_harmless(value: object, names: frozenset[str]) -> bool:
    """True if code that names a value, and `names` besides, can change nothing through it.

    A quick look, so that a path of operators costs nothing.
    """
    kind = type(value)
    if is_plain(kind) or issubclass(kind, Carrier):
        return True
    if kind is types.BuiltinFunctionType:
        owner = cast("types.BuiltinFunctionType", value).__self__
        return owner is None or type(owner) is types.ModuleType
    if isinstance(value, types.ModuleType):
        package = value.__name__.partition(".")[0]
        if package == "numpy":
            return "random" not in names and value.__name__ != "numpy.random"
        return package in HARMLESS_MODULES and not _names_state_of(value, names)
    if isinstance(value, type):
        return is_library_class(value)
    if kind is tuple:
        return all(
            is_plain(type(each)) or isinstance(each, Carrier) for each in cast("tuple[object, ...]", value)
        )
    return is_script(kind) and not _script(cast(Script, value))


def _names_state_of(module: types.ModuleType, names: frozenset[str]) -> bool:
    """True if code that names `names` may reach a list or dict that a library keeps."""
    space = vars(module)
    return any(type(space.get(name)) in STATE_OF_LIBRARIES for name in names)

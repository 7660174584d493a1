"""The lazy registry: a table that decorators fill, and whose modules are imported when an entry is first looked up.

Which module registers which key stands in the package's `lazy_index`, which `dev.py indexes` generates of what the
modules register. `dev.py check` fails where the two differ. Knows none of the entries. `exports` does the same for the
public names of a package, and `load_module` for the few modules of a higher layer that a lower one needs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Hashable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Literal, TypeAlias, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Registry(dict[K, V]):
    """A dict whose entries are imported on first lookup. Asking for its keys imports none of them.

    `package` has the modules that register entries, and `name` is the table of its `lazy_index`.
    """

    def __init__(self, package: str, name: str) -> None:
        super().__init__()
        self.package = package
        self.name = name
        self._index: Mapping[K, str] | None = None

    @property
    def index(self) -> Mapping[K, str]:
        """Key -> the module that registers it, named from the package on."""
        if self._index is None:
            found: Mapping[K, str] = getattr(importlib.import_module(f"{self.package}.lazy_index"), self.name)
            self._index = found
        return self._index

    def register(self, key: K, value: V) -> None:
        """Add an entry; a key that has one already is an error."""
        if super().__contains__(key):
            raise ValueError(f"{key} is registered twice in {self.name} of {self.package}")
        self[key] = value

    def __missing__(self, key: K) -> V:
        module = self.index[key]
        importlib.import_module(f"{self.package}.{module}")
        if not super().__contains__(key):
            raise KeyError(key)
        return self[key]

    def get(self, key: K, default: V | None = None) -> V | None:  # pyright: ignore[reportIncompatibleMethodOverride]  # no other default is used
        """The entry of a key, or the default."""
        found = super().get(key)
        return self[key] if found is None and key in self.index else default if found is None else found

    #: The entry of a key if its module is imported, else the default. dict's own method: it imports nothing.
    loaded = dict[K, V].get

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self.index

    def __iter__(self) -> Iterator[K]:
        return iter(dict.fromkeys([*self.index, *super().__iter__()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    # `dict`'s own views show what is loaded so far.

    def keys(self) -> KeysView[K]:  # pyright: ignore[reportIncompatibleMethodOverride]  # a view, as dict's
        """All keys."""
        return KeysView(self)

    def values(self) -> ValuesView[V]:  # pyright: ignore[reportIncompatibleMethodOverride]  # a view, as dict's
        """All entries."""
        return ValuesView(self)

    def items(self) -> ItemsView[K, V]:  # pyright: ignore[reportIncompatibleMethodOverride]  # a view, as dict's
        """All keys with their entries."""
        return ItemsView(self)


def exports(
    package: str, modules: Mapping[str, str], check: Callable[[str], object] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose public names are imported on first use: name -> its module.

    `check` is called with a name before it is imported, and may raise.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if check is not None:
            check(name)
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: list(modules)


#: What a layer needs of one above it.
Role: TypeAlias = Literal["default target", "model runtime", "version converter", "body watch"]

_MODULES: dict[Role, str] = {}


def register_module(role: Role, module: str) -> None:
    """Say which module plays a role; importing it must register what it brings."""
    _MODULES[role] = module


def load_module(role: Role) -> None:
    """Import the module of a role."""
    importlib.import_module(_MODULES[role])

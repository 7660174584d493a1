"""The stub of `onnxsmith.numpy`: its names are loaded when they are first asked for, and checkers see them here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from onnxsmith.numpy.names import public_names, value_of

#: The modules of the namespace that have names of their own.
PARTS = ("fft", "linalg", "random", "special")
_TITLE = '"""What type checkers see of `onnxsmith.numpy{part}`."""\n\n'


def array_stub(header: str) -> str:
    """The text of `numpy/__init__.pyi`."""
    names: dict[str, Any] = {name: value_of(name) for name in public_names()}
    lines = [f"from onnxsmith.numpy import {part} as {part}\n" for part in PARTS]
    others: list[str] = []
    for name, value in sorted(names.items()):
        if isinstance(value, type) and issubclass(value, np.generic):
            lines.append(f"from numpy import {value.__name__} as {name}\n")
        elif callable(value) and hasattr(value, "nin"):
            others.append(f"{name}: _Ufunc\n")
        elif callable(value):
            line, other = _imported(name, value)
            lines.append(line)
            others.append(other)
        else:
            others.append(f"{name}: {'None' if value is None else type(value).__name__}\n")
    lines.append("from onnxsmith.numpy.ufunc import Ufunc as _Ufunc\n")
    return header + _TITLE.format(part="") + "".join(sorted(lines)) + "\n" + "".join(others)


def part_stub(header: str, part: str) -> str:
    """The text of `numpy/linalg.pyi` and its like."""
    module = importlib.import_module(f"onnxsmith.numpy.{part}")
    functions: dict[str, Any] = {name: getattr(module, name) for name in dir(module)}
    made = [(name, _place(each)) for name, each in sorted(functions.items())]
    imported = [_imported(name, functions[name]) for name, place in made if place is not None]
    lines, renamed = [each[0] for each in imported], "".join(each[1] for each in imported)
    rest = [name for name, place in made if place is None]
    title = header + _TITLE.format(part=f".{part}")
    if not rest:
        return title + "".join(sorted(lines)) + "\n" + renamed
    head = "from collections.abc import Callable\n\nfrom onnxsmith.numpy.array import Array as _Array\n"
    others = "".join(f"{name}: Callable[..., _Array]\n" for name in rest)
    return title + head + "".join(sorted(lines)) + "\n" + others


def _place(value: Callable[..., object]) -> str | None:
    """The module that a function can be imported from under its own name."""
    module = importlib.import_module(value.__module__)
    return (
        value.__module__
        if _unwrapped(value) in [_unwrapped(each) for each in vars(module).values()]
        else None
    )


def _unwrapped(value: object) -> object:
    """What stands in a module, of what the namespace has."""
    return inspect.unwrap(value) if callable(value) else None


def _imported(name: str, value: Callable[..., object]) -> tuple[str, str]:
    """How a stub imports a function; and what it says besides, where it has another name there."""
    module = importlib.import_module(value.__module__)
    own = next(key for key, each in vars(module).items() if _unwrapped(each) is _unwrapped(value))
    if own == name:
        return f"from {value.__module__} import {own} as {name}\n", ""
    # Checkers take an import under another name for a private one.
    return f"from {value.__module__} import {own} as _{name}\n", f"{name} = _{name}\n"

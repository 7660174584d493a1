"""Values of the names of the namespace: constants, element types, and functions, which are loaded one by one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy import creation as creation
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dtypes import DTYPES
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS, public

#: Functions that make models of numpy code, with the modules of the dialect that have them.
STAGING = {
    "jit": "onnxsmith.scripting.dialects.numpy.jit",
    "stage": "onnxsmith.scripting.dialects.numpy.inside",
    "to_model": "onnxsmith.scripting.dialects.numpy.models",
    "vectorize": "onnxsmith.scripting.dialects.numpy.vectorize",
}
#: The versions of the standard whose names are there.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_CONSTANTS: dict[str, Any] = {
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
    "newaxis": None,
    "pi": np.pi,
    "euler_gamma": np.euler_gamma,
}
_PLAIN: dict[str, Any] = {
    "Array": Array,
    **_CONSTANTS,
    **{each.name: each.type for each in DTYPES},
    "__array_api_version__": VERSIONS[-1],
}


@public("_namespace")
def namespace(api_version: str | None) -> ModuleType:
    """The module that arrays belong to."""
    if api_version not in (None, *VERSIONS):
        raise AttributeValueError(f"the Array API is there in {', '.join(VERSIONS)}, not in {api_version!r}")
    return importlib.import_module("onnxsmith.numpy")


def public_names() -> list[str]:
    """The names of the namespace itself, without those of its parts."""
    return [*_PLAIN, *STAGING, *UFUNCS, *filter(_is_public, FUNCTIONS)]


def _is_public(name: str) -> bool:
    """True if a name of the tables is one of the namespace itself."""
    return "." not in name and (not name.startswith("_") or name.startswith("__"))


def value_of(name: str) -> Any:
    """The value of a name of the namespace; KeyError for one that is not there."""
    if name in _PLAIN:
        return _PLAIN[name]
    if name in STAGING:
        return getattr(importlib.import_module(STAGING[name]), name)
    if not _is_public(name):
        raise KeyError(name)
    return UFUNCS[name] if name in UFUNCS else FUNCTIONS[name]


def part(prefix: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a part of the namespace: `linalg` has the function `linalg.solve` as `solve`."""

    def get(name: str) -> Any:
        try:
            return FUNCTIONS[f"{prefix}.{name}"]
        except KeyError:
            text = f"module 'onnxsmith.numpy.{prefix}' has no attribute {name!r}"
            raise AttributeError(text) from None

    def names() -> list[str]:
        return sorted(each.removeprefix(f"{prefix}.") for each in FUNCTIONS if each.startswith(f"{prefix}."))

    return get, names

"""Types of objects that are checked for changes, and types that are passed over: tables of Python and of libraries.

Asks types only, never objects: no code of the user's runs.
"""

from __future__ import annotations

import collections
import functools
import io
import sys
import threading
import types
from typing import cast

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.scripting.staging.plain_outside import HoldsFunction
from onnxsmith.source import is_library

#: Types whose values never change, and hold nothing that does.
_PLAIN: tuple[type, ...] = (
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    np.generic,
    np.dtype,
    np.ufunc,
    Value,
    types.CodeType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GenericAlias,
    types.UnionType,
)
#: Those of which a class of the user's may be a kind, with attributes of its own.
_WITH_ATTRIBUTES: tuple[type, ...] = (int, float, complex, str, bytes, np.generic)
#: Packages whose objects are taken not to change: they are logs, or C code with ways of its own to be changed.
_LEFT_ALONE = frozenset(
    [
        "onnxsmith",
        "onnx",
        "onnx_ir",
        "onnxruntime",
        "torch",
        "jax",
        "tensorflow",
        "logging",
        "threading",
        "_thread",
        "re",
        "datetime",
        "decimal",
        "_decimal",
        "fractions",
        "typing",
        "pathlib",
        "uuid",
        "numpy",
        "ml_dtypes",
        "ctypes",
        "zoneinfo",
        "ipaddress",
        "abc",
        "_abc",
    ]
)
#: Modules that change nothing when they are called, apart from what they are given.
HARMLESS_MODULES = frozenset(
    [
        "numpy",
        "math",
        "cmath",
        "operator",
        "functools",
        "itertools",
        "collections",
        "typing",
        "dataclasses",
        "enum",
        "heapq",
        "bisect",
        "copy",
        "contextlib",
        "fractions",
        "decimal",
        "statistics",
        "numbers",
        "re",
        "string",
        "types",
        "onnxsmith",
        "onnx",
        "ml_dtypes",
        "abc",
        "io",
        "builtins",
        "warnings",
        "logging",
        "textwrap",
        "array",
        "sys",
        "os",
    ]
)
#: Library classes that add no attributes of their own to a class of the user's, by module or themselves.
#: Those of `enum` do: `value` reads `_value_`, `len(Color)` reads `_member_names_`.
_STATELESS_BASES = frozenset(["builtins", "typing", "abc", "collections.abc"])
_CONTAINER_BASES = (collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)


@functools.lru_cache(maxsize=2048)
def _home(kind: type) -> str:
    """The module of a class; a class written in C may have something else than text there."""
    name = cast(object, kind.__module__)
    return name if isinstance(name, str) else ""


def is_library_module(name: str) -> bool:
    """True if a module belongs to Python itself or something installed."""
    module = sys.modules.get(name)
    if module is None:
        return False
    file = getattr(module, "__file__", None)
    return name in sys.builtin_module_names or (isinstance(file, str) and is_library(file))


@functools.lru_cache(maxsize=2048)
def is_library_class(kind: type) -> bool:
    """True if a class belongs to Python itself or something installed, and not to the user's program."""
    return kind.__flags__ & _IS_HEAP_TYPE == 0 or is_library_module(_home(kind))


_IS_HEAP_TYPE = 1 << 9


@functools.lru_cache(maxsize=2048)
def is_plain(kind: type) -> bool:
    """True if objects of a type can be passed over: they do not change, or are left alone."""
    if Carrier in kind.__mro__:  # not `issubclass`, after which a checker knows less of the type
        return False
    if issubclass(kind, _PLAIN):
        # A number or text of the user's own class has attributes besides: a member of IntEnum is one.
        return not issubclass(kind, _WITH_ATTRIBUTES) or is_library_class(kind)
    if _home(kind).startswith("numpy.random") or np.ndarray in kind.__mro__:
        return False
    if type in kind.__mro__:  # its objects are classes, of the user's program if they are no library's
        return False
    if threading.local in kind.__mro__ or is_vectorized(kind):
        return False
    is_of_torch = is_torch_tensor(kind) or is_torch_generator(kind) or is_torch_layer(kind)
    is_seen = is_staged(kind) or is_script(kind) or is_of_torch or issubclass(kind, HoldsFunction)
    package = _home(kind).partition(".")[0]
    return package in _LEFT_ALONE and not is_iterator(kind) and not is_seen


def is_vectorized(kind: type) -> bool:
    """True if a type is `np.vectorize` or ours, whose objects hold a function of the user's."""
    return np.vectorize in kind.__mro__


@functools.lru_cache(maxsize=2048)
def is_torch_tensor(kind: type) -> bool:
    """True if a type is that of PyTorch's tensors, or a kind of it."""
    return any(base.__name__ == "Tensor" and base.__module__ == "torch" for base in kind.__mro__)


@functools.lru_cache(maxsize=2048)
def is_torch_layer(kind: type) -> bool:
    """True if a type is a kind of PyTorch's modules, which hold tensors."""
    return any(
        base.__name__ == "Module" and base.__module__ == "torch.nn.modules.module" for base in kind.__mro__
    )


@functools.lru_cache(maxsize=2048)
def is_torch_generator(kind: type) -> bool:
    """True if a type is that of PyTorch's random generators."""
    return kind.__name__ == "Generator" and kind.__module__.partition(".")[0] == "torch"


@functools.lru_cache(maxsize=2048)
def is_staged(kind: type) -> bool:
    """True if a type is one of staging's own, through which the user's code reaches variables."""
    return _home(kind).startswith("onnxsmith.") and hasattr(kind, "reached")


@functools.lru_cache(maxsize=2048)
def is_script(kind: type) -> bool:
    """True if a type is that of scripts."""
    return _home(kind).startswith("onnxsmith.") and hasattr(kind, "to_model")


@functools.lru_cache(maxsize=2048)
def is_iterator(kind: type) -> bool:
    """True if a type goes through values, with a position that only Python itself can move."""
    return hasattr(kind, "__next__") and is_library_class(kind) and not issubclass(kind, io.IOBase)


def is_known_to_be_pure(kind: type) -> bool:
    """True if objects of C code without attributes only compute: descriptors, `operator.itemgetter`.

    Those of scikit-learn (trees, losses) hold what fitting found; predicting does not change them.
    """
    if _home(kind).partition(".")[0] == "sklearn":
        return True
    return hasattr(kind, "__get__") or kind.__module__ in ("builtins", "types", "operator", "_operator")


@functools.lru_cache(maxsize=2048)
def names_its_attributes(kind: type) -> bool:
    """True if all code that reads the attributes of a class's objects is the user's, and so is seen."""
    return not any(
        is_library_class(base) and base.__module__ not in _STATELESS_BASES and base not in _CONTAINER_BASES
        for base in kind.__mro__
    )


@functools.lru_cache(maxsize=2048)
def is_random(kind: type) -> bool:
    """True if a type is that of generators of random numbers: Python's, numpy's, PyTorch's."""
    if is_torch_generator(kind):
        return True
    return any(_home(base).startswith(("random", "numpy.random")) for base in kind.__mro__)

"""Types that are checked for changes, and types that are passed over: every entry of the tables, and who is asked."""

from __future__ import annotations

import abc
import collections
import enum
import fractions
import importlib.util
import io
import re
import threading
import types
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from onnxsmith.scripting.staging import known_types
from onnxsmith.scripting.staging.known_types import (
    HARMLESS_MODULES,
    is_iterator,
    is_known_to_be_pure,
    is_library_class,
    is_library_module,
    is_plain,
    is_script,
    is_vectorized,
    names_its_attributes,
)

T = TypeVar("T")
#: Packages that need not be there.
OPTIONAL = {"jax", "tensorflow", "torch", "onnxruntime"}


class Plain:
    pass


class Number(int):
    pass


class Colour(enum.IntEnum):
    RED = 1


class OwnGeneric(Generic[T]):
    pass


class OwnAbstract(abc.ABC):  # noqa: B024  # nothing is abstract in it
    pass


class OwnDict(dict[str, int]):
    pass


class OwnDeque(collections.deque[int]):
    pass


class OwnThread(threading.Thread):
    pass


@pytest.mark.parametrize("name", sorted((known_types._LEFT_ALONE | HARMLESS_MODULES) - OPTIONAL))
def test_every_module_of_the_tables_is_one(name: str) -> None:
    assert importlib.util.find_spec(name) is not None


def test_modules_that_need_not_be_there() -> None:
    assert known_types._LEFT_ALONE >= OPTIONAL
    assert not HARMLESS_MODULES & OPTIONAL


@pytest.mark.parametrize(
    "value",
    [
        *(None, ..., NotImplemented, True, 1, 1.0, 1j, "a", b"a", range(1), slice(1)),
        *(
            np.int8(1),
            np.dtype("int8"),
            np.add,
            re.compile("a"),
            fractions.Fraction(1, 2),
            list[int],
            int | str,
        ),
        *((lambda: None).__code__, str.join, int.__add__, dict.__dict__["fromkeys"]),
        *(type.__dict__["__abstractmethods__"], types.FunctionType.__dict__["__closure__"], threading.Lock()),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_passed_over(value: object) -> None:
    assert is_plain(type(value))


@pytest.mark.parametrize(
    "kind",
    [
        *(
            list,
            dict,
            set,
            bytearray,
            Plain,
            Number,
            Colour,
            np.ndarray,
            np.random.Generator,
            threading.local,
        ),
        *(np.vectorize, np.nditer, collections.deque),
    ],
)
def test_what_is_looked_at(kind: type) -> None:
    assert not is_plain(kind)


@pytest.mark.parametrize(
    ("function", "yes", "no"),
    [
        (is_vectorized, [np.vectorize], [np.ndarray]),
        (is_iterator, [type(iter([])), enumerate, np.nditer], [list, Plain, io.StringIO]),
        (is_library_class, [int, collections.OrderedDict, np.ndarray], [Plain, Colour]),
        (is_known_to_be_pure, [property, types.FunctionType, slice], [Plain, np.ndarray]),
        (names_its_attributes, [Plain, OwnGeneric, OwnAbstract, OwnDict, OwnDeque], [OwnThread, Colour]),
        (is_script, [], [Plain, int]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_questions(function: Any, yes: list[type], no: list[type]) -> None:
    assert all(map(function, yes))
    assert not any(map(function, no))


@pytest.mark.parametrize(
    ("name", "is_one"), [("sys", True), ("json", True), ("numpy", True), (__name__, False), ("nosuch", False)]
)
def test_modules_of_libraries(name: str, is_one: bool) -> None:
    importlib.import_module("json")
    assert is_library_module(name) == is_one

"""Functions that no model can call: each entry of the tables is a function of Python's, and its call is refused."""

from __future__ import annotations

import functools
import gzip
import importlib
import importlib.util
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import LastingChangeError, OnnxsmithError, UnseenStateError
from onnxsmith.scripting.staging import known_calls
from onnxsmith.scripting.staging.known_calls import (
    NAMES,
    VARYING_NAMES,
    ClockGuard,
    Guard,
    are_named,
    checked,
    refusal_of,
)

VARYING = [(module, name) for module, names in known_calls._VARYING.items() for name in sorted(names)]
WRITING = [(module, name) for module, names in known_calls._WRITING.items() for name in sorted(names)]
#: What tests may do without.
OPTIONAL = {"torch"}


def function_of(module: str, name: str) -> Any:
    if module in OPTIONAL and importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    if module == "random":  # of an object, whose class has no such function of its own
        return getattr(random.SystemRandom(), name.rpartition(".")[2])
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


@pytest.mark.parametrize(("module", "name"), VARYING, ids=str)
def test_what_gives_something_else_each_time_is_refused(module: str, name: str) -> None:
    error = refusal_of(function_of(module, name))
    assert isinstance(error, LastingChangeError)
    assert f"'{name if '.' in name else f'{module}.{name}'}' gives something else each time" in str(error)
    assert name.rpartition(".")[2] in NAMES
    assert module == "random" or name.rpartition(".")[2] in VARYING_NAMES


@pytest.mark.parametrize(("module", "name"), WRITING, ids=str)
def test_what_changes_something_outside_is_refused(module: str, name: str) -> None:
    error = refusal_of(function_of(module, name))
    assert isinstance(error, UnseenStateError)
    assert f"'{name if '.' in name else f'{module}.{name}'}' changes something outside" in str(error)
    assert name.rpartition(".")[2] in NAMES
    assert name.rpartition(".")[2] not in VARYING_NAMES


def save(path: str) -> None:
    """A function of the user's that has the name of one in the table."""


@pytest.mark.parametrize("function", [len, np.sum, np.load, save, Path.exists, "open", random.random])
def test_others_are_not(function: Any) -> None:
    assert refusal_of(function) is None


def test_names_of_code() -> None:
    assert are_named(["x", "urandom"])
    assert are_named(["open"])
    assert are_named(["SystemRandom"])
    assert are_named(["secrets"])
    assert not are_named(["x", "load"])
    assert "SystemRandom" in VARYING_NAMES


@pytest.mark.parametrize("opener", [open, Path.open, gzip.open])
@pytest.mark.parametrize("mode", ["w", "a", "x", "r+", "wb"])
def test_files_are_not_opened_for_writing(opener: Any, mode: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(UnseenStateError):
        checked(opener, opener)(path, mode)
    with pytest.raises(UnseenStateError):
        checked(opener, opener)(path, mode=mode)
    if opener is Path.open:
        with pytest.raises(UnseenStateError):
            checked(path.open, path.open)(mode)
    assert not path.exists()


@pytest.mark.parametrize("opener", [open, Path.open, gzip.open])
def test_files_are_opened_for_reading(opener: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with (gzip.open if opener is gzip.open else open)(path, "wb") as file:
        file.write(b"abc")
    for given in ((), ("rb",)):
        if opener is Path.open:
            with checked(path.open, path.open)(*given) as file:
                assert len(file.read()) == 3
        with checked(opener, opener)(path, *given) as file:
            assert len(file.read()) == 3


@pytest.mark.parametrize("name", sorted(known_calls._SEEDED))
def test_generators_want_a_seed(name: str) -> None:
    maker = random.Random if name == "Random" else getattr(np.random, name)
    made = checked(maker, maker)
    with pytest.raises(LastingChangeError, match=f"'{name}' without a seed"):
        made()
    with pytest.raises(LastingChangeError):
        made(None)
    assert made(7) is not None


def test_what_is_called_as_it_is() -> None:
    assert checked(len, len) is len
    assert checked(Path.exists, Path.exists) is Path.exists


def _clock() -> float:
    return importlib.import_module("time").time()


def _made(path: Path) -> None:
    path.mkdir()


def _written(path: Path) -> None:
    path.write_bytes(b"abc")


def _opened(path: Path) -> None:
    open(path).close()


@pytest.mark.parametrize(
    ("guard", "helper", "error"),
    [
        (Guard, lambda path: _clock(), LastingChangeError),
        (ClockGuard, lambda path: _clock(), LastingChangeError),
        (Guard, _made, UnseenStateError),
        (ClockGuard, _made, None),
        (Guard, _written, UnseenStateError),
        (Guard, _opened, UnseenStateError),
        (Guard, lambda path: random.SystemRandom().random(), LastingChangeError),
        (Guard, lambda path: len("abc"), None),
    ],
)
def test_calls_of_a_helper(
    guard: Any, helper: Any, error: type[OnnxsmithError] | None, tmp_path: Path
) -> None:
    path = tmp_path / "made"
    if error is None:
        with guard():
            helper(path)
        return
    with pytest.raises(error) as caught, guard():
        helper(path)
    assert "test_known_calls.py" in str(caught.value)
    assert not path.exists()

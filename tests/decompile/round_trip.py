"""From the text of a decompiled module to the model it makes: written to a file, imported, its `model` taken.

Runs the module as a user would; what the model is compared with is the tests'.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import linecache
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import onnx

import onnxsmith

_COUNTER = itertools.count()


class RoundTrip(NamedTuple):
    """What a model was decompiled to, and what that gave."""

    text: str
    proto: onnx.ModelProto


@contextlib.contextmanager
def imported(path: Path) -> Generator[ModuleType]:
    """A module from its file; forgotten when the block ends."""
    name = f"decompiled_{next(_COUNTER)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    was_writing = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.dont_write_bytecode = was_writing
        del sys.modules[name]
        linecache.cache.pop(str(path), None)


def write(text: str, folder: Path) -> Path:
    """The module in a file, each character as it is in the text."""
    path = folder / "decompiled.py"
    path.write_bytes(text.encode())
    return path


def proto_of_file(path: Path) -> onnx.ModelProto:
    """The model that a module makes."""
    with imported(path) as module:
        return module.model.proto


def compile_text(text: str) -> onnx.ModelProto:
    """The model that the text of a module makes."""
    with tempfile.TemporaryDirectory(prefix="decompiled-") as folder:
        return proto_of_file(write(text, Path(folder)))


def round_trip(model: Any, **options: Any) -> RoundTrip:
    """Decompile, import, and take the model."""
    text = onnxsmith.decompile(model, **options)
    return RoundTrip(text, compile_text(text))


def through_folder(model: onnx.ModelProto, folder: Path, weights: Any) -> onnx.ModelProto:
    """Decompile to a folder and take the model; to leave weights where they are, they are first put in a file."""
    given: Any = model
    if weights == "external":
        given = folder / "given.onnx"
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        onnx.save_model(copy, given, save_as_external_data=True, location="given.data", size_threshold=0)
    return proto_of_file(Path(onnxsmith.decompile_to(given, folder, weights=weights)))


def first_difference(one: str, other: str) -> str | None:
    """The first line in which two texts differ, in words; None when they are equal to the byte."""
    if one == other:
        return None
    pairs = itertools.zip_longest(one.split("\n"), other.split("\n"))
    for number, (was, now) in enumerate(pairs, 1):
        if was != now:
            return f"line {number} was {was!r} and is {now!r}"
    raise AssertionError("texts that differ have lines that differ")

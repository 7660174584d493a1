"""Models in the forms that users give: a path, bytes, an open file, or a ModelProto. It makes no `Model` of them."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, cast

import onnx

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, UnreadableModelError
from onnxsmith.graphs import files


class ReadableFile(Protocol):
    """A file that is open for reading bytes."""

    def read(self) -> bytes:
        """The rest of it."""
        ...


#: A model that is no `Model` of ours yet, nor one of onnx-ir.
Unread: TypeAlias = str | os.PathLike[str] | bytes | onnx.ModelProto | ReadableFile


class GivenModel(NamedTuple):
    """A model that was given, as a proto."""

    proto: onnx.ModelProto
    #: The model's name in errors.
    called: str
    #: The file that it was read from, beside which its weights may lie.
    place: Path | None


def read_given(given: Unread | Hashable) -> GivenModel | None:
    """The model that was given; None where this is no form of a model. Raises UnreadableModelError for damaged ones."""
    if isinstance(given, onnx.ModelProto):
        return GivenModel(given, "the ModelProto", None)
    if isinstance(given, str | os.PathLike):
        proto, place = files.read(cast("str | os.PathLike[str]", given))
        return GivenModel(proto, repr(str(place)), place)
    if isinstance(given, bytes | bytearray | memoryview):
        return _of_bytes(cast("bytes", given), "the model in these bytes", None)
    # Of a class, and not of an object: an object may say that it has every attribute.
    if callable(getattr(type(given), "read", None)):
        return _of_open_file(cast("ReadableFile", given))
    return None


def _of_open_file(given: ReadableFile) -> GivenModel:
    name = getattr(given, "name", None)
    place = Path(name) if isinstance(name, str) and os.path.isfile(name) else None
    called = "the model in this file" if place is None else repr(str(place))
    try:
        content = cast(object, given.read())
    except UnicodeDecodeError:  # it is open as text
        content = ""
    except (OSError, ValueError) as error:  # a ValueError where it is closed
        raise UnreadableModelError(
            f"cannot read {called}: {error}", help="give the path, or open(path, 'rb')"
        ) from None
    if not isinstance(content, bytes | bytearray | memoryview):
        raise UnreadableModelError(
            f"{called} was opened as text, and a model is bytes", help="give the path, or open(path, 'rb')"
        )
    return _of_bytes(cast("bytes", content), called, place)


def _of_bytes(content: bytes, called: str, place: Path | None) -> GivenModel:
    return GivenModel(files.parse(memoryview(content), called), called, place)


def no_model(given: Unread | Hashable, verb: str, culprit: int) -> CallError:
    """The error for what is no model in any form."""
    advice = "a model is a Model, a path, the bytes of a file, an open file, a ModelProto or an onnx-ir model"
    if hasattr(type(given), "to_model"):
        advice = "make a model of it first: .to_model()"
    elif callable(given):
        advice = "trace(function, FLOAT['N']) makes a model of a function"
    return CallError(f"{verb} takes a model, not {described_type(type(given))}", help=advice, culprit=culprit)

"""Arrays that come from a command line, and that go to a terminal, to JSON, or to files."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from onnxsmith.cli.report import Usage
from onnxsmith.cli.streams import STANDARD_INPUT, STREAM, read_input
from onnxsmith.cli.type_text import read_value
from onnxsmith.diagnostics import clipped
from onnxsmith.errors import ModelWriteError
from onnxsmith.graphs.existing_files import refuse
from onnxsmith.graphs.files import save_bytes
from onnxsmith.graphs.model import Port
from onnxsmith.graphs.trial_inputs import Draw, can_be_made
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

Array = np.ndarray[Any, np.dtype[Any]]

#: JSON holds the elements of an array up to this many.
_MOST_ELEMENTS = 1000


def make_input(port: Port, text: str, sizes: Mapping[str, int], draw: Draw) -> Any:
    """The value of an input: made up, a literal, or from a file."""
    if text in ("random", "zeros", "ones"):
        return _made_up(port, text, sizes, draw)
    if text == STREAM:
        return _from_file(port, io.BytesIO(read_input()), STANDARD_INPUT, "")
    value = read_value(text)
    if not isinstance(value, str):
        return value
    path, _, key = (text, "", "") if _is_file(text) else text.rpartition(":")
    if not path:
        path, key = text, ""
    if not _is_file(path):
        shown = clipped(repr(text), 200)
        raise Usage(
            f"--input {port.name}: there is no file {shown}; or say random, zeros, ones, or a literal"
        )
    return _from_file(port, path, path, key)


def _is_file(text: str) -> bool:
    """True if a text names a file; one that is too long to be a name does not."""
    try:
        return os.path.isfile(Path(text))
    except (OSError, ValueError):
        return False


def _from_file(port: Port, content: str | io.BytesIO, path: str, key: str) -> Array:
    try:
        loaded: Any = np.load(content, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Usage(f"--input {port.name}: {path} cannot be read as an array: {error}") from None
    if isinstance(loaded, np.ndarray):
        return cast(Array, loaded)
    names = list(loaded.files)
    if key not in names and len(names) == 1 and not key:
        key = names[0]
    if key not in names:
        raise Usage(f"--input {port.name}: {path} holds {', '.join(names)}; say which: {path}:{names[0]}")
    return loaded[key]


def _made_up(port: Port, how: str, sizes: Mapping[str, int], draw: Draw) -> Array:
    kind = port.type
    if not isinstance(kind, TensorType) or kind.dtype is None:
        raise Usage(f"--input {port.name}: a {kind.described} cannot be made up; give a file")
    if kind.shape is None:
        raise Usage(f"--input {port.name}: its shape is open, so it cannot be made up; give a file")
    shape = tuple(each if isinstance(each, int) else _named_size(port, each, sizes) for each in kind.shape)
    if not can_be_made(shape):
        raise Usage(f"--input {port.name}: {kind!r} is too large to be made up; give a file")
    if how == "random":
        lowest = int(math.prod(shape) == 1)  # it may be how often a loop runs
        return draw.elements(kind.dtype, shape, integers=(lowest, 10))
    return (
        np.full(shape, "a", object)
        if kind.dtype is DType.STRING
        else np.full(shape, how == "ones").astype(kind.dtype.numpy)
    )


def _named_size(port: Port, name: str | None, sizes: Mapping[str, int]) -> int:
    called = "?" if name is None else name
    if called not in sizes:
        raise Usage(f"--input {port.name} is {port.type!r}; say how large {called} is: --dim '{called}=4'")
    return sizes[called]


def shown(name: str, value: Any) -> str:
    """An output for people."""
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return "\n".join(
            [f"{name}: {len(items)} values", *(shown(f"{name}[{k}]", v) for k, v in enumerate(items))]
        )
    if not isinstance(value, np.ndarray):
        return f"{name}: {value!r}"
    array = cast(Array, value)
    text = np.array2string(array, separator=", ", threshold=200, max_line_width=100)
    return f"{name}: {array.dtype} of shape {array.shape}\n{text}"


def readable(value: Any) -> dict[str, Any]:
    """An output for JSON."""
    if isinstance(value, list | tuple):
        return {"elements": [readable(each) for each in cast("Sequence[Any]", value)]}
    if not isinstance(value, np.ndarray):
        return {"value": value if value is None else str(value)}
    array = cast(Array, value)
    content: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape)}
    is_number = array.dtype.kind in "fiu" or array.dtype.kind == "V"
    if is_number and array.size:
        wide = array.astype(np.float64)
        content |= {"min": _finite(wide.min()), "max": _finite(wide.max()), "mean": _finite(wide.mean())}
    if array.size <= _MOST_ELEMENTS:
        content["values"] = _plain(array.astype(np.float64) if array.dtype.kind == "V" else array)
    return content


def _plain(array: Array) -> Any:
    if array.dtype.kind == "c":
        return [str(each) for each in array.reshape(-1).tolist()]
    if array.dtype.kind != "f":
        return array.tolist()
    return _without_nan(array.tolist())


def _without_nan(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, list):
        return [_without_nan(each) for each in cast("list[Any]", value)]
    return _finite(value)


def _finite(value: Any) -> float | str:
    return float(value) if math.isfinite(value) else str(float(value))


#: Windows opens a device instead of a file of such a name, with any ending.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))]
)


class OutputFolder:
    """A folder that outputs are written to; other files there are left alone, unless they may be replaced."""

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self.folder = folder
        self.overwrite = overwrite
        self._taken: set[str] = set()

    def save(self, name: str, value: Any) -> list[Path]:
        """Write an output as .npy, of a sequence each element."""
        if isinstance(value, list | tuple):
            items = cast("Sequence[Any]", value)
            return [path for k, each in enumerate(items) for path in self.save(f"{name}.{k}", each)]
        place = self.folder / f"{self._file_name(name)}.npy"
        array = np.asarray(value)
        content = io.BytesIO()
        np.save(content, array.astype(str) if array.dtype == object else array, allow_pickle=False)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.overwrite and os.path.exists(place) and place.read_bytes() != content.getvalue():
                raise refuse(place, "holds something else", "write to another folder")
        except OSError as error:
            if isinstance(error, ModelWriteError):
                raise
            raise ModelWriteError(f"cannot write {str(place)!r}: {error.strerror or error}") from None
        save_bytes(content.getvalue(), place)
        return [place]

    def _file_name(self, name: str) -> str:
        """A name in a model is data, and leads nowhere else; two that look alike in a file system stay two."""
        wish = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".")[:200] or "output"
        if wish.partition(".")[0].lower() in _DEVICES:
            wish = f"_{wish}"
        found, count = wish, 1
        while found.lower() in self._taken:
            count += 1
            found = f"{wish}_{count}"
        self._taken.add(found.lower())
        return found

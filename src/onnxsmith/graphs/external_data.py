"""Weights that a model keeps in another file: which file a model may name, and what is wrong with one that it names.

A model comes from a stranger, so it reads only from its own folder, and from a folder that the user names
(`data_root`): download caches keep the data elsewhere, behind links.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, cast

import onnx

from onnxsmith.claims import check_folder
from onnxsmith.diagnostics import clipped
from onnxsmith.errors import ExternalDataError
from onnxsmith.graphs.lazy_ir import ir

#: No system takes a longer path.
_LONGEST_PATH = 32_768

#: A folder, for programs whose code one cannot change; the same as `data_root` around everything.
ROOT_VARIABLE = "ONNXSMITH_DATA_ROOT"

_root: ContextVar[Path | None] = ContextVar("onnxsmith_data_root", default=None)


@contextlib.contextmanager
def data_root(folder: str | os.PathLike[str]) -> Generator[None]:
    """Where models may read data from, besides their own folders: in this block, links into `folder` are followed.

    Download caches keep a model's files behind links; name the cache:

    >>> from onnxsmith import data_root
    >>> with data_root("."):
    ...     pass  # onnxsmith.load("snapshots/main/model.onnx")
    """
    check_folder("data_root", folder)
    token = _root.set(Path(folder).resolve())
    try:
        yield
    finally:
        _root.reset(token)


def _named_root() -> Path | None:
    named = os.environ.get(ROOT_VARIABLE)
    return _root.get() or (Path(named).resolve() if named else None)


class Found(NamedTuple):
    """A data file: how long it is, and where, if it only may be read because the user named a root."""

    size: int
    trusted: Path | None


class External(NamedTuple):
    """A tensor that lies in a file, and how another one is put into its place."""

    tensor: ir.ExternalTensor
    replace: Callable[[ir.TensorProtocol], None]


def external_tensors(graphs: Iterable[ir.Graph]) -> Iterator[External]:
    """The tensors of these graphs that lie in files: initializers, and attributes of nodes."""
    for graph in graphs:
        for value in graph.initializers.values():
            if isinstance(value.const_value, ir.ExternalTensor):
                yield External(value.const_value, _into_value(value))
        for node in graph:
            for attribute in list(node.attributes.values()):
                if attribute.is_ref():
                    continue
                if attribute.type == ir.AttributeType.TENSOR and isinstance(
                    attribute.value, ir.ExternalTensor
                ):
                    yield External(attribute.value, _into_attribute(node, attribute))
                elif attribute.type == ir.AttributeType.TENSORS:
                    for position, each in enumerate(cast("tuple[Any, ...]", attribute.value)):
                        if isinstance(each, ir.ExternalTensor):
                            yield External(each, _into_attribute(node, attribute, position))


def _into_value(value: ir.Value) -> Callable[[ir.TensorProtocol], None]:
    def replace(tensor: ir.TensorProtocol) -> None:
        value.const_value = tensor

    return replace


def _into_attribute(
    node: ir.Node, attribute: ir.Attr, position: int | None = None
) -> Callable[[ir.TensorProtocol], None]:
    def replace(tensor: ir.TensorProtocol) -> None:
        value: Any = tensor
        if position is not None:
            held = cast("tuple[Any, ...]", node.attributes[attribute.name].value)
            value = (*held[:position], tensor, *held[position + 1 :])
        node.attributes[attribute.name] = ir.Attr(
            attribute.name, attribute.type, value, doc_string=attribute.doc_string
        )

    return replace


def attach(tensors: Iterable[External], folder: Path) -> None:
    """Say where external data lies, and check that it does; nothing of it is read."""
    files: dict[str, Found] = {}
    for each in tensors:
        tensor = each.tensor
        location = str(cast(Any, tensor).location)
        called = f"the external data of {tensor.name!r}"
        if location not in files:
            files[location] = _find(called, location, folder)
        found = files[location]
        length = tensor.nbytes if tensor.length is None else tensor.length
        _check_range(called, location, found.size, tensor.offset or 0, length, tensor.nbytes)
        tensor.base_dir = str(folder)
        if found.trusted is not None:
            # By its full path: onnx-ir reads no other file through links.
            each.replace(
                ir.ExternalTensor(
                    found.trusted,
                    tensor.offset,
                    tensor.length,
                    tensor.dtype,
                    shape=tensor.shape,
                    name=tensor.name,
                    doc_string=tensor.doc_string,
                )
            )


def refuse(names: Iterable[tuple[str | None, str]], called: str) -> None:
    """A model that lies in no folder has no data beside it; what it names is somebody's file."""
    for name, location in names:
        raise ExternalDataError(
            f"{called} keeps the weight {name!r} in the file {location!r}, and does not say beside what that lies",
            help="load the model's file with onnxsmith.load(path), or the proto with onnx.load(path), which reads both",
        )


def embed(tensors: Iterable[onnx.TensorProto], folder: Path | None, called: str) -> None:
    """Read external data into the protos themselves, for a model that is kept as one."""
    for tensor in tensors:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        entries = {each.key: each.value for each in tensor.external_data}
        location = entries.get("location", "")
        if folder is None:
            refuse([(tensor.name, location)], called)
            continue
        what = f"the external data of {tensor.name!r}"
        found = _find(what, location, folder)
        offset, length = _number(what, entries, "offset"), _number(what, entries, "length")
        length = found.size - (offset or 0) if length is None else length
        _check_range(what, location, found.size, offset or 0, length, length)
        with open(found.trusted or folder / location, "rb") as file:
            file.seek(offset or 0)
            content = file.read(length)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = content


def check_entries(tensor: onnx.TensorProto) -> None:
    """Refuse a place in a file that is no number, before onnx-ir reads it."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        entries = {each.key: each.value for each in tensor.external_data}
        for key in ("offset", "length"):
            _number(f"the external data of {tensor.name!r}", entries, key)


def _number(called: str, entries: dict[str, str], key: str) -> int | None:
    text = entries.get(key)
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise ExternalDataError(
            f"{called} has no {key}: {clipped(text, 40)!r} is no number of bytes",
            help="get the model again, whole",
        )
    return int(text)


def _check_range(called: str, location: str, size: int, offset: int, length: int, wanted: int) -> None:
    end = offset + length
    if offset < 0 or length < 0 or end > size or length < wanted:
        raise ExternalDataError(
            f"{called} does not fit: it ends at byte {end} of {location!r}, which has {size}",
            help="get the file again, whole",
        )


def _find(called: str, location: str, folder: Path) -> Found:
    """The file that a model names, if it may; raises ExternalDataError where it may not, or where there is none."""
    if not location or "\0" in location or len(location) > _LONGEST_PATH:
        named = clipped(location, 100)
        raise ExternalDataError(f"{called} names no file: {named!r}", help="get the model again, whole")
    named = folder / location
    base = folder.resolve()
    # By its words first, from the whole path of the folder: "." is a part of every relative path.
    words = Path(os.path.abspath(named))
    is_within = not Path(location).is_absolute() and words.is_relative_to(os.path.abspath(folder))
    if not is_within:
        raise ExternalDataError(
            f"{called} points outside the model's folder: {location!r}",
            help="a model reads data only beside itself; put the data there, and let the model name it without a path",
        )
    try:
        place = named.resolve()
        # Readers open the location as it stands; a Path leaves out "/" at its end, and folders that ".." goes back on.
        if not os.path.isfile(place) or not os.path.isfile(os.path.join(folder, location)):
            raise ExternalDataError(
                f"{called} is missing: there is no file {location!r} beside the model",
                help="a model and its data file are moved together",
            )
        state = place.stat()
    except (OSError, RuntimeError) as error:  # a name that is too long, links that go round
        raise ExternalDataError(f"{called} cannot be read: {location!r}: {error}") from None
    if place.is_relative_to(base) and state.st_nlink == 1:
        return Found(state.st_size, None)
    root = _named_root()
    if root is not None and place.is_relative_to(root):
        return Found(state.st_size, place)
    is_inside = place.is_relative_to(base)
    what = "has several names (hard links)" if is_inside else f"is a link to {str(place)!r}"
    raise ExternalDataError(
        f"{called} may be somebody else's file: {location!r} {what}",
        help="links are followed only into a folder that you name, such as the cache it was downloaded to:\n"
        f"with onnxsmith.data_root(folder): …, or {ROOT_VARIABLE}=folder",
    )

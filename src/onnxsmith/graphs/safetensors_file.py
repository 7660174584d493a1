"""Reading and writing safetensors files without copying what is in them.

A file is a length, a header in JSON, and the bytes of all tensors. What the format has no element type for lies there
as bytes, with its ONNX type in the file's metadata; a tensor that equals another one lies there once.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from onnxsmith.errors import ModelWriteError, WeightError
from onnxsmith.graphs import existing_files, files
from onnxsmith.graphs.identity import storage_key
from onnxsmith.graphs.ir_types import dimensions_of, ir_dtype
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.mapped_data import mapped_file
from onnxsmith.types.dtypes import DType

#: The format's own name for an element type.
_NAMES = {
    DType.FLOAT: "F32",
    DType.DOUBLE: "F64",
    DType.FLOAT16: "F16",
    DType.BFLOAT16: "BF16",
    DType.INT8: "I8",
    DType.INT16: "I16",
    DType.INT32: "I32",
    DType.INT64: "I64",
    DType.UINT8: "U8",
    DType.UINT16: "U16",
    DType.UINT32: "U32",
    DType.UINT64: "U64",
    DType.BOOL: "BOOL",
    DType.FLOAT8E4M3FN: "F8_E4M3",
    DType.FLOAT8E5M2: "F8_E5M2",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
#: A header longer than this is not one of ours, nor of anybody who means well.
_LONGEST_HEADER = 100_000_000
_METADATA = "__metadata__"
#: Metadata keys: the ONNX type of a tensor that lies there as bytes, and the tensor that another one equals.
_TYPE_PREFIX = "onnx.type:"
_SAME_PREFIX = "onnx.same:"
#: What those who write a file note in it.
_NOTE_PREFIX = "onnx.note:"
#: A tensor that is called like the metadata lies under another name.
_ESCAPE = "onnx.tensor:"


def write(
    tensors: Mapping[str, ir.TensorProtocol],
    place: Path,
    *,
    overwrite: bool,
    notes: Mapping[str, str] | None = None,
    is_synced: bool = False,
) -> None:
    """Write tensors to a file, whole or not at all, each straight from where it lies.

    A file that is there and holds something else is left alone, unless `overwrite` is True: ModelWriteError. `notes` go
    into the metadata of the file. With `is_synced` the file is on the disk before it takes its name.
    """
    header, kept = _header(tensors)
    header[_METADATA].update({_NOTE_PREFIX + name: text for name, text in (notes or {}).items()})
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    is_kept = os.path.exists(place) and not overwrite
    size = 8 + len(text) + sum(tensor.nbytes for tensor in kept)
    if is_kept and place.stat().st_size != size:  # known before anything is written
        raise _other_weights(place)
    with files.replacing(place, is_synced=is_synced) as temporary:
        with open(temporary, "wb") as file:
            file.write(struct.pack("<Q", len(text)))
            file.write(text)
            for tensor in kept:
                _write(tensor, file)
        if is_kept and not existing_files.are_same(temporary, place):
            raise _other_weights(place)


def _other_weights(place: Path) -> ModelWriteError:
    return existing_files.refuse(
        place,
        "holds other weights: another program's, or edited ones",
        "write to another folder, or under another name",
    )


def _write(tensor: ir.TensorProtocol, file: BinaryIO) -> None:
    begun = file.tell()
    files.write_tensor(tensor, file)
    if file.tell() - begun != tensor.nbytes:
        raise WeightError(f"the weight {tensor.name!r} is not as long as its type says")


def _header(tensors: Mapping[str, ir.TensorProtocol]) -> tuple[dict[str, Any], list[ir.TensorProtocol]]:
    header: dict[str, Any] = {}
    metadata: dict[str, str] = {"format": "onnx"}
    kept: list[ir.TensorProtocol] = []
    first_of: dict[Any, str] = {}
    offset = 0
    for name, tensor in tensors.items():
        key = _ESCAPE + name if name == _METADATA or name.startswith("onnx.") else name
        content = storage_key(tensor)
        if content in first_of:
            metadata[_SAME_PREFIX + name] = first_of[content]
            continue
        first_of[content] = key
        dtype = DType(int(tensor.dtype))
        shape, size = list(dimensions_of(tensor)), tensor.nbytes
        spelled = _NAMES.get(dtype)
        if spelled is None:
            metadata[_TYPE_PREFIX + key] = json.dumps([dtype.name, shape])
            spelled, shape = "U8", [size]
        header[key] = {"dtype": spelled, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
        kept.append(tensor)
    return {_METADATA: metadata, **header}, kept


def read(place: Path) -> dict[str, ir.TensorProtocol]:
    """The tensors of a file, by name; their content is mapped, and read when it is first used."""
    from onnxsmith.graphs.mapped_tensor import MappedTensor  # with onnx-ir, which is heavy

    header, begin, size = _read_header(place)
    mapped = mapped_file(str(place))
    metadata = _metadata(header)
    header.pop(_METADATA, None)
    found: dict[str, ir.TensorProtocol] = {}
    by_key: dict[str, ir.TensorProtocol] = {}
    for key, entry in header.items():
        name = key.removeprefix(_ESCAPE)
        tensor = _tensor(place, name, entry, metadata.get(_TYPE_PREFIX + key), begin, size)
        by_key[key] = found[name] = MappedTensor(tensor, mapped)
    for key, same in metadata.items():
        if key.startswith(_SAME_PREFIX) and same in by_key:
            found[key.removeprefix(_SAME_PREFIX)] = by_key[same]
    return found


def read_notes(place: Path) -> dict[str, str]:
    """The notes of a file, as they were given when it was written."""
    metadata = _metadata(_read_header(place)[0])
    return {
        key.removeprefix(_NOTE_PREFIX): text for key, text in metadata.items() if key.startswith(_NOTE_PREFIX)
    }


def size_of(place: Path) -> int:
    """How many bytes a file has, as its header says it; one that is longer holds something else, too."""
    header, begin, _ = _read_header(place)
    ends = [
        int(entry["data_offsets"][1])
        for key, entry in header.items()
        if key != _METADATA  # of tensors that `read` has found to be right
    ]
    return begin + max(ends, default=0)


def _metadata(header: Mapping[str, Any]) -> dict[str, str]:
    """The metadata of a header; a file is data, and may hold anything in its place."""
    found: object = header.get(_METADATA)
    if not isinstance(found, dict):
        return {}
    entries = cast("dict[str, object]", found)
    return {key: text for key, text in entries.items() if isinstance(text, str)}


def _read_header(place: Path) -> tuple[dict[str, Any], int, int]:
    try:
        with open(place, "rb") as file:
            size = place.stat().st_size
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(size, _LONGEST_HEADER):
                raise ValueError
            header = json.loads(file.read(length))
            if not isinstance(header, dict):
                raise ValueError
    except OSError as error:
        raise WeightError(
            f"cannot read {place.name!r}: {error.strerror or error}",
            help="a module and its file of weights are moved together",
        ) from None
    except (ValueError, struct.error, RecursionError):
        raise WeightError(
            f"{place.name!r} is not a safetensors file, or only part of one", help="get the file again, whole"
        ) from None
    return cast("dict[str, Any]", header), 8 + length, size


def _tensor(
    place: Path, name: str, entry: Mapping[str, Any], onnx_type: str | None, begin: int, size: int
) -> ir.ExternalTensor:
    try:
        dtype, shape = _DTYPES[entry["dtype"]], entry["shape"]
        first, last = entry["data_offsets"]
        if onnx_type is not None:
            spelled, shape = json.loads(onnx_type)
            dtype = DType[spelled]
        tensor = ir.ExternalTensor(
            place.name,
            begin + int(first),
            int(last) - int(first),
            ir_dtype(dtype),
            shape=ir.Shape([int(each) for each in shape]),
            name=name,
            base_dir=place.parent,
        )
    except (KeyError, TypeError, ValueError):
        raise WeightError(f"{place.name!r} does not say what its tensor {name!r} is: {entry!r}") from None
    if not (0 <= first <= last and begin + last <= size and last - first == tensor.nbytes):
        raise WeightError(
            f"the tensor {name!r} does not fit into {place.name!r}", help="get the file again, whole"
        )
    return tensor

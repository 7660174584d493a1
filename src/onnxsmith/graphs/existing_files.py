"""Files that exist already where something is to be written: whose they are, and whether they may be replaced.

A file that a user names may be replaced if it is of the kind that is written. A file whose name we make up beside it
may not, unless it holds just what is to be written, or belongs to what is replaced.
"""

from __future__ import annotations

import os
from pathlib import Path

import onnx

from onnxsmith.errors import ModelWriteError, OnnxsmithError
from onnxsmith.graphs import files, raw

_CHUNK = 1 << 20


def refuse(place: Path, why: str, instead: str) -> ModelWriteError:
    """The error for a file that is there already and stays as it is."""
    return ModelWriteError(
        f"{str(place)!r} is there already, and {why}",
        help=f"pass overwrite=True to replace it (--force on the command line), or {instead}",
    )


def are_same(one: Path, other: Path) -> bool:
    """True if two files hold the same bytes."""
    if one.stat().st_size != other.stat().st_size:
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        while True:
            content = first.read(_CHUNK)
            if content != second.read(_CHUNK):
                return False
            if not content:
                return True


def check_data_file(data: Path, model: Path) -> None:
    """Refuse to write weights over a file that is not the data of the model that is being replaced."""
    if os.path.exists(data) and data.name not in _data_files(model):
        raise refuse(
            data,
            f"{str(model)!r} does not keep its weights in it",
            'name another file, external_data="other.data"',
        )


def _data_files(model: Path) -> set[str]:
    """The files that the model at this place keeps weights in; none when there is no model."""
    if not os.path.isfile(model):
        return set()
    try:
        proto, _ = files.read(model)
    except OnnxsmithError:
        return set()
    return {
        entry.value
        for tensor in raw.tensors_of(proto)
        if tensor.data_location == onnx.TensorProto.EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    }


def check_model_file(place: Path) -> None:
    """Refuse to write a model over a file that holds something else; nothing is lost with an empty one."""
    if os.path.isfile(place) and place.stat().st_size and not is_model(place):
        raise refuse(place, "holds no model", "name another file")


def is_model(place: Path) -> bool:
    """True if a file holds an ONNX model."""
    try:
        files.read(place)
    except OnnxsmithError:
        return False
    return True

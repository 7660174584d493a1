"""Whether a file is still the one that a tensor was found in. Opens no file."""

from __future__ import annotations

import os
from typing import TypeAlias, cast

import onnx_ir as ir

#: Device, number, size and time of a file.
Stamp: TypeAlias = tuple[int, int, int, int]

_STAMP = "onnxsmith.stamp"


def mark(tensor: ir.ExternalTensor, seen: dict[str, Stamp | None]) -> None:
    """Remember which file a tensor lies in; `seen` knows the files of the tensors before."""
    path = str(tensor.path)
    if path not in seen:
        seen[path] = stamp(path)
    tensor.meta[_STAMP] = seen[path]


def stamp(path: str) -> Stamp | None:
    """What tells a file from another one that takes its place; None when there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def marked(tensor: ir.ExternalTensor) -> Stamp | None:
    """The stamp of a tensor's file when the model was read; None when the tensor was made otherwise."""
    return cast("dict[str, Stamp]", tensor.meta).get(_STAMP)

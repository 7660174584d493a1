"""Checks that a file is still the one that a tensor was found in. Opens no file."""

from __future__ import annotations

import os
from typing import NamedTuple, cast

from onnxsmith.graphs.lazy_ir import ir

_STAMP = "onnxsmith.stamp"


class Stamp(NamedTuple):
    """The identity of a file: another file in its place, or a changed one, has another stamp."""

    #: Device and number.
    file: tuple[int, int]
    size: int
    time: int


def mark(tensor: ir.ExternalTensor, found: Stamp | None) -> None:
    """Remember which file a tensor lies in."""
    tensor.meta[_STAMP] = found


def stamp(file: str | int) -> Stamp | None:
    """The stamp of a file, by path or by the number of an open one; None when there is none."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return Stamp((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)


def marked(tensor: ir.ExternalTensor) -> Stamp | None:
    """The stamp of a tensor's file when the model was read; None when the tensor was made otherwise."""
    return cast("dict[str, Stamp]", tensor.meta).get(_STAMP)

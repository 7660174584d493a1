"""Files with weights, which are mapped when a tensor is found in them: another file in the place is not read.

A write puts a new file in the place of the old one, which lives on as long as it is mapped. Mapping costs nothing but
addresses: what is not used is not read.
"""

from __future__ import annotations

import mmap
import sys
from typing import NamedTuple

from onnxsmith.graphs import stamps


class MappedFile(NamedTuple):
    """A file as it was when it was found."""

    stamp: stamps.Stamp | None
    #: None where it could not be mapped: it is empty, or the system lets nobody replace what is mapped.
    content: mmap.mmap | None


def mapped_file(path: str) -> MappedFile:
    """Map a file; nothing of it is read."""
    try:
        with open(path, "rb") as file:
            stamp = stamps.stamp(file.fileno())
            # Windows would not let the file be replaced as long as the model lives.
            is_mapped = stamp is not None and stamp.size > 0 and sys.platform != "win32"
            return MappedFile(
                stamp, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if is_mapped else None
            )
    except OSError:
        return MappedFile(stamps.stamp(path), None)

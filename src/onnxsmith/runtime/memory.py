"""How much memory there is, and what to say when a result would need more."""

from __future__ import annotations

import functools
import math
import os

from onnxsmith.types.dtypes import DType


@functools.cache
def usable_memory() -> int:
    """How many bytes this process may use: the machine's memory, or less where a container says so."""
    limits = (
        [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [1 << 62]
    )
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as file:
                limits.append(int(file.read()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(limits)


def memory_objection(shape: tuple[int, ...], dtype: DType) -> str | None:
    """What to say when a result of this shape cannot fit into memory; None when it may.

    >>> memory_objection((2, 3), DType.FLOAT)
    >>> memory_objection((2**40, 2**10), DType.FLOAT)[:53]
    'the result, float32 of shape (1099511627776, 1024), t'
    """
    needed = math.prod(shape) * dtype.numpy.itemsize
    if needed <= usable_memory():
        return None
    return f"the result, {dtype.spelling} of shape {shape}, takes {needed / 2**30:,.0f} GB, more than there is memory"

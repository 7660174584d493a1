"""Types as the lines of a graph carry them: `f32 1×64×56×56`."""

from __future__ import annotations

from functools import lru_cache

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType

_SHORT_WORDS = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))
_LONGEST = 60


@lru_cache(maxsize=64)
def short_dtype(dtype: DType) -> str:
    """An element type in a few letters.

    >>> short_dtype(DType.FLOAT), short_dtype(DType.BFLOAT16), short_dtype(DType.UINT8), short_dtype(DType.BOOL)
    ('f32', 'bf16', 'u8', 'bool')
    """
    name = dtype.spelling
    for word, short in _SHORT_WORDS:
        if name.startswith(word):
            return short + name[len(word) :]
    return name


def short_type(kind: AnyValueType) -> str:
    """A type as a line carries it; empty where nothing is known.

    >>> from onnxsmith import FLOAT, INT64
    >>> short_type(FLOAT["N", 4]), short_type(INT64), short_type(INT64[...])
    ('f32 N×4', 'i64 scalar', 'i64')
    """
    if isinstance(kind, TensorType):
        dtype = "" if kind.dtype is None else short_dtype(kind.dtype)
        if kind.shape is None:
            return dtype
        dimensions = "×".join("?" if each is None else str(each) for each in kind.shape)
        return clipped(printable(f"{dtype} {dimensions or 'scalar'}".strip()), _LONGEST)
    if isinstance(kind, SequenceType):
        return f"[{short_type(kind.element)}]"
    if isinstance(kind, OptionalType):
        return f"{short_type(kind.element)}?"
    return clipped(printable(repr(kind)), _LONGEST)

"""Values as the Python that makes them again: what the examples of operators begin with."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import numpy as np

#: Values as examples hold them.
Value = object

_WIDTH = 88
#: Element types that numpy has not, by the name that ml_dtypes gives them.
_NATIVE = frozenset("fiubcOUST")
_CONSTANT = re.compile(r"(?<![\w.])(nan|inf)(?!\w)")


def literal(value: Value) -> str:
    """An expression of the value; it uses `np` and, for types that numpy has not, `ml_dtypes`."""
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return _array(np.asarray(value))
    if isinstance(value, list):
        items = ",\n    ".join(literal(each).replace("\n", "\n    ") for each in value)
        flat = f"[{items}]"
        return flat if "\n" not in flat and len(flat) <= _WIDTH else f"[\n    {items},\n]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return f"[{', '.join(literal(each) for each in value)}]"
    if isinstance(value, float):
        return _named_constants(_short(value))
    return repr(value)


def _short(value: float) -> str:
    """An attribute is a float32 in the file: its shortest text, not that of the double it was read as."""
    return str(float(str(np.float32(value)))) if np.isfinite(value) else repr(value)


def _array(value: np.ndarray) -> str:
    kind = value.dtype.kind
    if kind in "OUST":
        return f"np.array({_nested(_texts(value.tolist()))}, dtype=object)"
    dtype = _dtype(value.dtype)
    if value.size == 0:
        return f"np.zeros({value.shape}, dtype={dtype})"
    if kind not in _NATIVE or value.dtype.name in ("float16",):
        # ml_dtypes: numpy prints their elements in many ways; their floats are exact in Python's.
        plain = value.astype(np.float32) if _is_float(value) else value.astype(np.int64)
        return f"np.array({_numbers(plain)}, dtype={dtype})"
    return f"np.array({_numbers(value)}, dtype={dtype})"


def _is_float(value: np.ndarray) -> bool:
    return np.issubdtype(value.dtype, np.floating) or "float" in value.dtype.name


def _numbers(value: np.ndarray) -> str:
    """The elements as nested lists: rows below each other, as many numbers in a line as it holds."""
    return _rows(value, len("x = np.array("))


def _rows(value: np.ndarray, indent: int) -> str:
    if value.ndim == 0:
        return _named_constants(str(value.item()))
    if value.ndim == 1:
        words = [_element(each) for each in value]
        flat = f"[{', '.join(words)}]"
        if len(flat) + indent <= _WIDTH:
            return flat
        lines = textwrap.wrap(
            ", ".join(words), _WIDTH - indent, break_long_words=False, break_on_hyphens=False
        )
        return "[" + ("\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [_rows(each, indent + 1) for each in value]
    flat = f"[{', '.join(rows)}]"
    if "\n" not in flat and len(flat) + indent <= _WIDTH and value.ndim == 2 and value.size <= 4:
        return flat
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def _element(value: np.generic) -> str:
    """The shortest text that gives the element again."""
    return _named_constants(str(value))


def _named_constants(text: str) -> str:
    return _CONSTANT.sub(r"np.\1", text)


def _texts(value: Value) -> Value:
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return value.decode() if isinstance(value, bytes) else str(value)


def _nested(value: Value) -> str:
    if not isinstance(value, list):
        return repr(value)
    return f"[{', '.join(map(_nested, value))}]"


def _dtype(dtype: np.dtype) -> str:
    if dtype.kind == "b":
        return "bool"
    return f"np.{dtype.name}" if dtype.kind in _NATIVE else f"ml_dtypes.{dtype.name}"


def element_count(value: Value) -> int:
    """How many elements a reader would have to look at."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, list | tuple):
        return sum(map(element_count, value))
    return 1


def needed_modules(texts: Iterator[str]) -> list[str]:
    """The modules that expressions name."""
    whole = "\n".join(texts)
    return [name for name in ("ml_dtypes", "np") if re.search(rf"\b{name}\.", whole)]

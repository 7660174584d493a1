"""The functions of numpy that are not there for our arrays, and why."""

from __future__ import annotations

_DATES = "ONNX has no dates"
_FILES = "it writes files; np.asarray(x) gives it the elements"
_TEXT = "it makes text; np.asarray(x) gives it the elements"
_MEMORY = "arrays of ours have no memory that others share"
_REAL = "whether its result is real depends on values"

#: Name in numpy -> the reason.
REFUSED: dict[str, str] = {
    "array2string": _TEXT,
    "array_repr": _TEXT,
    "array_str": _TEXT,
    "busday_count": _DATES,
    "busday_offset": _DATES,
    "datetime_as_string": _DATES,
    "einsum_path": "ONNX Runtime chooses the order of sums itself",
    "is_busday": _DATES,
    "isnat": _DATES,
    "may_share_memory": _MEMORY,
    "poly": _REAL,
    "printoptions": _TEXT,
    "real_if_close": "the element type would depend on values",
    "roots": _REAL,
    "save": _FILES,
    "savetxt": _FILES,
    "savez": _FILES,
    "savez_compressed": _FILES,
    "shares_memory": _MEMORY,
}

"""The functions of numpy that are not there for our arrays, and why."""

from __future__ import annotations

_DATES = "ONNX has no dates"
_FILES = "it writes files; np.asarray(x) gives it the elements"
_TEXT = "it makes text; np.asarray(x) gives it the elements"
_MEMORY = "arrays of ours have no memory that others share"
_VALUES = "how many elements it gives depends on values in a way that no operator has"

#: Name in numpy -> the reason.
REFUSED: dict[str, str] = {
    "apply_along_axis": "it calls a Python function for each row",
    "apply_over_axes": "it calls a Python function for each axis",
    "array2string": _TEXT,
    "array_repr": _TEXT,
    "array_str": _TEXT,
    "busday_count": _DATES,
    "busday_offset": _DATES,
    "common_type": "element types alone decide it: xp.result_type",
    "datetime_as_string": _DATES,
    "einsum_path": "ONNX Runtime chooses the order of sums itself",
    "is_busday": _DATES,
    "isnat": _DATES,
    "may_share_memory": _MEMORY,
    "min_scalar_type": "the element type would depend on values",
    "packbits": "ONNX has no arrays of bits; use shifts",
    "place": "it repeats values by how many places a mask has; use xp.where",
    "poly": "whether its result is real depends on values",
    "polydiv": _VALUES,
    "printoptions": _TEXT,
    "real_if_close": "the element type would depend on values",
    "roots": _VALUES,
    "save": _FILES,
    "savetxt": _FILES,
    "savez": _FILES,
    "savez_compressed": _FILES,
    "shares_memory": _MEMORY,
    "trim_zeros": _VALUES,
    "unpackbits": "ONNX has no arrays of bits; use shifts",
}

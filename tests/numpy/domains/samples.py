"""Arrays and numbers that small domains are made of, and the domains of parameters by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class A:
    """An array: an element type, a shape, and which of the fixed patterns of elements it has."""

    dtype: str
    shape: tuple[int, ...] = ()
    pattern: str = "mixed"

    def made(self) -> np.ndarray[Any, Any]:
        """A new array of these elements."""
        count = int(np.prod(self.shape))
        flat = _PATTERNS[self.pattern](count)
        kind = np.dtype(self.dtype)
        if kind.kind == "c":
            flat = flat + 1j * flat[::-1]
        elif kind.kind == "b":
            flat = flat % 2
        elif kind.kind in "iu":
            flat = np.trunc(flat) if kind.kind == "i" else np.abs(np.trunc(flat))
        return flat.astype(kind).reshape(self.shape)

    def __repr__(self) -> str:
        return f"{self.pattern} {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Given:
    """An array of elements that are written out."""

    text: str

    def made(self) -> np.ndarray[Any, Any]:
        """A new array of these elements."""
        return eval(f"np.array({self.text})", {"np": np})  # text of this module

    def __repr__(self) -> str:
        return f"array({self.text})"


def _mixed(count: int) -> np.ndarray[Any, Any]:
    return np.resize(np.array([3.0, -1.0, 2.5, 0.0, 7.0, 2.5, -4.0, 1.0, 1.0, 6.0, -0.5]), count)


_PATTERNS: dict[str, Any] = {
    "mixed": _mixed,
    "rising": lambda count: np.arange(count) * 1.5 - 1,
    "positions": lambda count: np.resize(np.array([1, 0, 2]), count) * 1.0,
    "few": lambda count: np.resize(np.array([1, 0, 1, 1, 0]), count) * 1.0,
    "positive": lambda count: np.resize(np.array([1.0, 3.0, 2.0, 5.0, 4.0, 1.0]), count),
    "nan": lambda count: np.resize(np.array([3.0, np.nan, 2.5, 0.0, np.inf, 2.5, np.nan]), count),
    "zeros": lambda count: np.resize(np.array([0.0, 0.0, 3.0, 0.0, 1.0, 0.0]), count),
}

#: The parameter is left out of the call.
ABSENT = "<absent>"

FLOAT, INT = "float64", "int64"
#: Arrays of every rank up to 3, of sizes 0 to 3, and of every kind of element type.
ANY = (
    A(FLOAT),
    A(INT, (3,)),
    A("float32", (0,)),
    A(FLOAT, (2, 3)),
    A("bool", (3, 1)),
    A("complex128", (2, 2)),
    A("int8", (2, 3, 2)),
    A(FLOAT, (0, 3)),
    A("uint8", (1, 0, 2)),
    A("float16", (1,)),
)
#: The same without complex numbers, and with NaN.
REAL = (
    A(FLOAT, (), "nan"),
    A(INT, (3,)),
    A("float32", (0,)),
    A(FLOAT, (2, 3), "nan"),
    A("bool", (3, 1)),
    A("int16", (2, 2)),
    A("float32", (2, 3, 2), "nan"),
    A(FLOAT, (3, 0)),
    A("float16", (1,)),
)
#: A few for functions with many other parameters.
FEW = (A(INT, (3,)), A(FLOAT, (2, 3)), A("float32", (2, 0)), A("bool", ()), A("complex64", (2, 1, 2)))
FEW_REAL = (
    A(INT, (3,)),
    A(FLOAT, (2, 3), "nan"),
    A("float32", (2, 0)),
    A("bool", ()),
    A("float32", (2, 1, 2)),
)
#: Where results are written: of their shape or not, and of element types that they go into or not.
OUTPUTS = (ABSENT, A(FLOAT, (2, 3)), A(INT, (3,)), A("float32", (1, 2, 3)), A("bool", (3, 1)), A(FLOAT, (3,)))
VECTORS = (
    A(INT, (3,)),
    A(FLOAT, (2,)),
    A("float32", (0,)),
    A("bool", (1,)),
    A("complex128", (3,)),
    A("uint8", (2,)),
)
MATRICES = (
    A(FLOAT, (2, 2)),
    A(INT, (3, 3)),
    A("float32", (0, 0)),
    A(FLOAT, (2, 3)),
    A(FLOAT, (2, 2, 2)),
    A("complex128", (2, 2)),
    A(FLOAT, (3,)),
    A(FLOAT, (0, 2)),
    A("bool", (2, 2)),
    A(FLOAT, (0, 2, 2)),
)
PAIRS = (
    A(INT, (3,)),
    A(FLOAT, (2, 3)),
    A("float32", (1,)),
    A("bool", (0,)),
    A("complex64", (3, 3)),
    A(FLOAT),
    A("int8", (3, 2)),
)
MASKS = (A("bool", (3,)), A("bool", (2, 3)), A(INT, (2,)), A("bool", ()), A("bool", (0,)))

AXIS = (None, 0, 1, -1, -2, 2, -4)
AXES = (ABSENT, None, 0, 1, -1, -2, 2, (0,), (0, 1), (-1, 0), (), (0, 0), (1, 2))
BOTH = (False, True)
DTYPES = (None, "float32", INT, "complex64", "bool")
NORMS = (None, "ortho", "forward", "backward", "odd")

#: Values of parameters by name, where the entry of a function says nothing else.
BY_NAME: dict[str, tuple[Any, ...]] = {
    "axis": AXIS,
    "keepdims": BOTH,
    "dtype": (ABSENT, "float32", INT),
    "k": (-4, -1, 0, 1, 3),
    "offset": (-3, -1, 0, 1, 2),
    "axis1": (0, 1, -1, 2),
    "axis2": (0, 1, -1, -2),
    "equal_nan": BOTH,
    "endpoint": BOTH,
    "norm": NORMS,
    "UPLO": ("L", "U", "l", "x"),
    "increasing": BOTH,
    "include_initial": BOTH,
    "assume_unique": (False,),
    "invert": BOTH,
    "rowvar": BOTH,
    "right": BOTH,
    "order": (ABSENT,),
}

#: Shapes, and what is none.
SHAPES = (0, 2, (), (0,), (2, 3), [1, 2], (1, 0, 2), -1, (2, -1), 2.0, "a", None)
#: Arrays that are joined.
LISTS = (
    (A(INT, (3,)), A(FLOAT, (3,))),
    (A(FLOAT, (2, 3)),),
    (A(FLOAT, (2, 3)), A("float32", (1, 3))),
    (A("bool"), A(INT)),
    (A(FLOAT, (0,)), A(INT, (2,))),
    (A("int8", (2, 2, 1)), A("complex64", (2, 2, 1))),
    (),
    (A(FLOAT, (2,)), A(FLOAT, (2, 1))),
    (A(FLOAT, (2, 1)), A(FLOAT, (2, 3)), A(FLOAT, (2, 0))),
)

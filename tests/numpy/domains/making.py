"""Domains of functions that make arrays, and of those of element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.numpy.domains.samples import ABSENT, ANY, BOTH, FLOAT, INT, SHAPES, A

#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    # -- creation
    "arange": {
        "*": (
            (3,),
            (0,),
            (-1,),
            (1, 4),
            (4, 1),
            (1, 4, 2),
            (4, 0, -1),
            (0, 1, 0.3),
            (2.5,),
            (1, 2, 0),
            (0, 3, -1),
            (1.5, 4),
            (),
            (1j,),
            *((0, A(each)) for each in ("float16", "float32", FLOAT, "int8")),
            *((A(each), 5, 0.5) for each in ("float16", "float32")),
        ),
        "dtype": (ABSENT, "float32", INT, "uint8", "bool"),
    },
    "linspace": {
        "start": (0, 1.5, A(FLOAT, (2,)), 1j, A("float16"), A("float32", (2,))),
        "stop": (3, -1.0, A(INT, (2, 1)), 1, A("float16", (2,)), A("float32")),
        "num": (0, 1, 2, 5, -1, 2.0),
        "retstep": BOTH,
        "dtype": (ABSENT, INT, "float32"),
        "axis": (0, -1, 1),
    },
    "logspace": {
        "start": (0, 1.5, A(FLOAT, (2,)), A("float16"), A("float32", (2,))),
        "stop": (3, -1.0, A("float16", (2,)), A("float32")),
        "num": (0, 1, 3),
        "base": (ABSENT, 2, A("float32"), A("float16", (2,))),
        "dtype": (ABSENT, INT, "float32"),
        "axis": (0, -1),
    },
    "geomspace": {
        "start": (1, 1.5, -2, 0, A("float16"), A("float32", (2,), "positive")),
        "stop": (3, 8.0, -4, 1000, A("float16", (2,), "positive"), A("float32")),
        "num": (0, 1, 2, 4),
        "dtype": (ABSENT, INT, "float32"),
        "axis": (0, -1),
    },
    **{
        name: {"shape": SHAPES, "dtype": (ABSENT, None, "float32", "bool", int, "odd")}
        for name in ("zeros", "ones")
    },
    "full": {
        "shape": SHAPES[:8],
        "fill_value": (
            *(1, 2.5, True, 1j, [1, 2], A(FLOAT, (2, 1)), 300, float("nan")),
            *(A("float16"), A("float32", (1,))),
        ),
        "dtype": (ABSENT, "float32", "int8", "bool"),
    },
    **{
        name: {"a": ANY, "dtype": (ABSENT, "int8"), "shape": (None, 2, (0, 2), ())}
        for name in ("zeros_like", "ones_like")
    },
    "full_like": {
        "a": ANY,
        "fill_value": (1, 2.5, 300, 1j, [1, 2], A(FLOAT, (3,))),
        "dtype": (ABSENT, "float32"),
        "shape": (None, (2, 3)),
    },
    "eye": {"N": (0, 1, 3, -1), "M": (None, 0, 2, 4), "dtype": (ABSENT, INT, "bool")},
    "identity": {"n": (0, 1, 3, -1), "dtype": (ABSENT, INT)},
    "tri": {"N": (0, 1, 3, -1), "M": (None, 0, 2, 4), "dtype": (ABSENT, INT, "bool")},
    "meshgrid": {
        "*": (
            (),
            (A(FLOAT, (3,)),),
            (A(FLOAT, (3,)), A(INT, (2,))),
            (A(FLOAT, (2, 2)), A(INT, (1,))),
            (A(FLOAT), A(INT, (0,))),
            (A(FLOAT, (2,)), A(INT, (1,)), A(FLOAT, (3,))),
        ),
        "copy": BOTH,
        "sparse": BOTH,
        "indexing": ("xy", "ij", "odd"),
    },
    "array": {
        "object": (
            *ANY,
            [1, 2],
            [[1.5], [2]],
            3,
            [],
            True,
            [1, 1j],
            [[1], [1, 2]],
            [A(FLOAT, (2,)), A(INT, (2,))],
        ),
        "dtype": (ABSENT, "float32", "int8", "bool"),
        "copy": (True, None),
        "ndmin": (0, 1, 3),
    },
    "asarray": {
        "a": (*ANY, [1, 2], [[1.5], [2]], 3, []),
        "dtype": (ABSENT, "float32", "int8"),
        "copy": (None, True, False),
    },
    "copy": {"a": ANY, "order": ("K", "C", "F")},
    "astype": {"x": ANY, "dtype": ("float32", "int8", "bool", "complex64", "uint16"), "copy": BOTH},
    # -- element types
    "can_cast": {
        "from_": ("int8", "float32", "bool", "complex64", "uint8"),
        "to": ("int8", "float32", "bool", "complex64", "uint16"),
        "casting": ("safe", "same_kind", "no", "unsafe", "equiv", "odd"),
    },
    "promote_types": {
        "*": tuple(
            (a, b)
            for a in ("int8", "float32", "bool", "uint64")
            for b in ("int8", "float16", "complex64", "uint8")
        )
    },
    "result_type": {
        "*": tuple(
            (a, b)
            for a in ("int8", A(FLOAT, (2,)), 1, 2.5, A("int8"))
            for b in ("uint8", A("float32"), 1j, True, 300)
        )
    },
    "common_type": {
        "*": (
            (A(FLOAT, (2,)),),
            (A("float32", (2,)),),
            (A(INT, (2,)), A("float16", (2,))),
            (A("bool", (1,)),),
            (A("complex64"), A(FLOAT)),
            (),
        )
    },
    "min_scalar_type": {
        "a": (0, 3, 255, 256, -1, -129, 1.5, 1e10, 1e300, True, 1j, A(FLOAT, (2,)), A(INT), A("int8"))
    },
    "isdtype": {
        "dtype": (np.dtype("int8"), np.dtype("float32"), np.dtype("bool")),
        "kind": (
            "bool",
            "signed integer",
            "integral",
            "numeric",
            "real floating",
            ("integral", "bool"),
            np.dtype("int8"),
            "odd",
        ),
    },
    "issubdtype": {"arg1": ("int8", np.float32, bool), "arg2": (np.integer, np.floating, "int8", np.number)},
}

"""Domains of reductions, and of functions that sort, search and compare sets."""

from __future__ import annotations

from typing import Any

from tests.numpy.domains.samples import (
    ABSENT,
    ANY,
    AXES,
    BOTH,
    DTYPES,
    FEW,
    FEW_REAL,
    FLOAT,
    INT,
    OUTPUTS,
    REAL,
    VECTORS,
    A,
)

_REDUCING: dict[str, Any] = {"a": ANY, "axis": AXES}

#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    # -- reductions
    **dict.fromkeys(("all", "any", "count_nonzero", "ptp"), _REDUCING),
    **{name: {"a": ANY, "axis": AXES, "initial": (ABSENT, 0, 5)} for name in ("max", "min", "amax", "amin")},
    **{
        name: {"a": ANY, "axis": AXES, "dtype": (ABSENT, "float32", "int8"), "initial": (ABSENT, 3)}
        for name in ("sum", "prod")
    },
    **{name: {"a": REAL, "axis": AXES, "initial": (ABSENT, 0)} for name in ("nanmax", "nanmin")},
    **{
        name: {"a": REAL, "axis": AXES, "dtype": (ABSENT, "float32"), "initial": (ABSENT, 3)}
        for name in ("nansum", "nanprod")
    },
    **{name: {"a": ANY, "axis": AXES, "dtype": (ABSENT, "float32", "complex128")} for name in ("mean",)},
    "nanmean": {"a": REAL, "axis": AXES, "dtype": (ABSENT, "float32")},
    **{
        name: {"a": ANY, "axis": AXES, "ddof": (0, 1, 3, 0.5), "dtype": (ABSENT, "float32")}
        for name in ("var", "std")
    },
    **{name: {"a": REAL, "axis": AXES, "ddof": (0, 1, 3)} for name in ("nanvar", "nanstd")},
    "median": {"a": REAL, "axis": AXES},
    "nanmedian": {"a": REAL, "axis": AXES},
    "average": {
        "a": FEW,
        "weights": (
            ABSENT,
            A(FLOAT, (3,), "positive"),
            A(FLOAT, (2, 3), "positive"),
            A(FLOAT, (2,), "zeros"),
        ),
        "returned": BOTH,
    },
    **{
        name: {
            "a": FEW_REAL,
            "axis": AXES,
            "q": (0.25, 0, 1, [0.1, 0.9], 1.5),
            "method": ("linear", "lower", "nearest", "hazen"),
        }
        for name in ("quantile", "nanquantile")
    },
    **{
        name: {
            "a": FEW_REAL,
            "q": (25, [10, 90], 101),
            "method": ("linear", "higher", "midpoint", "median_unbiased"),
        }
        for name in ("percentile", "nanpercentile")
    },
    **{name: {"a": ANY, "out": OUTPUTS} for name in ("argmax", "argmin")},
    **{name: {"a": REAL, "out": OUTPUTS} for name in ("nanargmax", "nanargmin")},
    **{name: {"a": ANY, "dtype": DTYPES} for name in ("cumsum", "cumprod")},
    **{name: {"a": REAL, "dtype": (ABSENT, "float32")} for name in ("nancumsum", "nancumprod")},
    **{name: {"x": ANY} for name in ("cumulative_sum", "cumulative_prod")},
    # -- sorting, searching, sets
    **{
        name: {"a": ANY, "kind": (None, "stable", "odd"), "stable": (None, True)}
        for name in ("sort", "argsort")
    },
    **{name: {"a": REAL, "kth": (0, -1, 1, 3, -4, [0, 1], [])} for name in ("partition",)},
    "lexsort": {
        "keys": (
            (A(INT, (3,)), A(FLOAT, (3,))),
            (A(INT, (2, 3)),),
            A(INT, (2, 3), "few"),
            A(FLOAT, (3,)),
            (A(INT, (3,)), A(FLOAT, (2,))),
            (),
            (A(INT, (0,)), A(INT, (0,))),
        ),
        "axis": (0, 1, -1, -2),
    },
    "searchsorted": {
        "a": (
            A(FLOAT, (3,), "rising"),
            A(INT, (3,), "rising"),
            A("float32", (0,)),
            A(FLOAT, (2, 2)),
            A("complex64", (3,), "rising"),
        ),
        "v": (1, 2.5, A(FLOAT, (3,)), A("int8", (2, 2)), [], float("nan")),
        "side": ("left", "right", "odd"),
        "sorter": (ABSENT, [0, 1, 2], [2, 1, 0], [0]),
    },
    "digitize": {
        "x": (1.0, A(FLOAT, (3,)), A(INT, (2, 2)), [], A("complex64", (2,))),
        "bins": (A(FLOAT, (3,), "rising"), [3, 1], [1], [], [1, 3, 2], [1, 1, 2]),
    },
    **{
        name: {
            "ar1": VECTORS,
            "ar2": (A(INT, (3,), "few"), A(FLOAT, (2, 2)), A("float32", (0,)), A("bool", (2,))),
        }
        for name in ("setdiff1d", "setxor1d", "union1d")
    },
    "intersect1d": {
        "ar1": VECTORS,
        "ar2": (A(INT, (3,), "few"), A(FLOAT, (2, 2)), A("float32", (0,)), A("bool", (2,))),
        "return_indices": BOTH,
    },
    "isin": {
        "element": ANY,
        "test_elements": (A(INT, (3,), "few"), A(FLOAT, (2, 2)), [], 3, A("bool", (2,))),
        "kind": (None, "sort"),
    },
    "unique": {
        "ar": (
            A(INT, (3,)),
            A(FLOAT, (5,), "nan"),
            A(FLOAT, (2, 3)),
            A("bool", (3, 1)),
            A(FLOAT, (0,)),
            A("complex64", (3,)),
            A(FLOAT),
            A(INT, (2, 0)),
            A(INT, (3, 2), "few"),
        ),
        "return_index": BOTH,
        "return_inverse": BOTH,
        "return_counts": BOTH,
    },
    **{f"unique_{each}": {"x": ANY} for each in ("all", "counts", "inverse", "values")},
}

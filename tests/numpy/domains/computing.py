"""Domains of numerics, of polynomials, histograms and statistics of several variables."""

from __future__ import annotations

from typing import Any

from tests.numpy.domains.samples import (
    ABSENT,
    ANY,
    BOTH,
    FEW,
    FEW_REAL,
    FLOAT,
    INT,
    OUTPUTS,
    PAIRS,
    REAL,
    VECTORS,
    A,
    Given,
)

#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    **{name: {"a": ANY, "decimals": (0, 1, -1), "out": OUTPUTS} for name in ("round", "around")},
    "clip": {
        "a": (*ANY, 2, 1.5, A("float32", (3,))),
        "a_min": (None, 0, 1.5, A(FLOAT, (3,), "rising"), -300, A("float16")),
        "a_max": (None, 2, A(FLOAT, (3,), "positive"), A("float32", (3,))),
        "out": OUTPUTS,
    },
    "nan_to_num": {"x": (*ANY, *REAL[:4]), "nan": (0.0, 9.0), "posinf": (None, 5), "neginf": (None, -5)},
    "angle": {"z": ANY, "deg": BOTH},
    **{name: {"x": REAL, "out": OUTPUTS} for name in ("fix", "isneginf", "isposinf")},
    **{name: {"x": ANY} for name in ("iscomplex", "iscomplexobj", "isreal", "isrealobj", "sinc")},
    "i0": {"x": ANY},
    **{name: {"val": ANY} for name in ("real", "imag")},
    **{
        name: {
            "a": (A(FLOAT, (3,)), A(INT, (2, 3)), A(FLOAT, (0,)), A(FLOAT, (3,), "nan"), A("bool", (1,))),
            "b": (
                A(FLOAT, (3,)),
                1,
                A(FLOAT, (2, 1)),
                A(FLOAT, (3,), "nan"),
                A(FLOAT, (2,)),
                A("complex64", (3,)),
            ),
            "rtol": (ABSENT, 0.5),
            "atol": (ABSENT, 1),
        }
        for name in ("isclose", "allclose")
    },
    **{name: {"a1": PAIRS, "a2": (*PAIRS, 1, [1, 2])} for name in ("array_equiv",)},
    "array_equal": {"a1": (*PAIRS, A(FLOAT, (3,), "nan")), "a2": (*PAIRS, 1, A(FLOAT, (3,), "nan"))},
    "diff": {
        "a": FEW,
        "n": (0, 1, 2, 5, -1),
        "prepend": (ABSENT, 0, A(FLOAT, (1,)), A(FLOAT, (2, 1))),
        "append": (ABSENT, 1.5),
    },
    "ediff1d": {"ary": VECTORS, "to_end": (ABSENT, 9, [1, 2], 1.5), "to_begin": (ABSENT, -1, [0, 1])},
    "gradient": {
        "*": tuple(
            (x, *steps)
            for x in (
                A(FLOAT, (3,)),
                A(INT, (3, 2)),
                A("float32", (1,)),
                A("complex64", (2,)),
                A(FLOAT, (2, 3, 2)),
            )
            for steps in (
                (),
                (2.0,),
                (A(FLOAT, (3,), "rising"),),
                (1.0, 2.0),
                (A(FLOAT, (3,), "rising"), 0.5),
            )
        ),
        "axis": (ABSENT, None, 0, 1, -1, (0, 1), ()),
        "edge_order": (1, 2, 3),
    },
    "trapezoid": {
        "y": FEW,
        "x": (ABSENT, A(FLOAT, (3,), "rising"), A(FLOAT, (2, 3))),
        "dx": (1.0, 2),
        "axis": (0, 1, -1, 2),
    },
    "unwrap": {"p": FEW_REAL, "discont": (None, 4.0), "period": (ABSENT, 4, 5), "axis": (0, 1, -1, 2)},
    "convolve": {"a": VECTORS, "v": VECTORS, "mode": ("full", "same", "valid", "odd")},
    "correlate": {"a": VECTORS, "v": VECTORS, "mode": ("full", "same", "valid", "odd")},
    "interp": {
        "x": (1.0, A(FLOAT, (3,)), A(INT, (2, 2)), A(FLOAT, (0,)), A("complex64", (1,)), A("float32", (3,))),
        "xp": (A(FLOAT, (3,), "rising"), A(INT, (2,), "rising"), A(FLOAT, (0,)), A(FLOAT, (1,))),
        "fp": (A(FLOAT, (3,)), A(INT, (2,)), A("complex64", (3,)), A(FLOAT, (1,)), A(FLOAT, (0,))),
        "left": (None, -9),
        "right": (None, 9.5),
        "period": (None, 2, 0),
    },
    "bincount": {
        "x": (
            A(INT, (3,), "few"),
            A("uint8", (4,), "positions"),
            A(INT, (0,)),
            A(INT, (3,)),
            A(FLOAT, (2,)),
            A("bool", (3,)),
            A(INT, (2, 2), "few"),
            A(INT),
        ),
        "weights": (ABSENT, A(FLOAT, (3,)), A(INT, (4,)), A("complex64", (3,))),
        "minlength": (0, 5, -1, 1),
    },
    "histogram": {
        "a": (A(FLOAT, (6,)), A(INT, (2, 3)), A(FLOAT, (0,)), A("bool", (3,)), A(FLOAT, (5,), "nan")),
        "bins": (3, 1, 0, [0, 1, 3], [0, 2, 1], "auto", 2.0),
        "range": (None, (0, 4), (2, 1), (1, 1)),
        "density": (None, True),
        "weights": (None, A(FLOAT, (6,), "positive"), A(INT, (2, 3))),
    },
    "histogram_bin_edges": {
        "a": (A(FLOAT, (6,)), A(INT, (2, 3)), A(FLOAT, (0,)), A("bool", (3,))),
        "bins": (3, 1, 0, [0, 1, 3], [0, 2, 1]),
        "range": (None, (0, 4), (2, 1)),
    },
    "histogram2d": {
        "x": (A(FLOAT, (3,)), A(INT, (3,)), A(FLOAT, (0,))),
        "y": (A(FLOAT, (3,), "rising"), A(FLOAT, (2,)), A(FLOAT, (0,))),
        "bins": (2, (2, 3), [0, 1, 4], ([0, 1, 4], 2), 0),
        "range": (None, ((0, 4), (-1, 3))),
        "density": (None, True),
    },
    "histogramdd": {
        "sample": (A(FLOAT, (3, 2)), A(INT, (4, 1)), A(FLOAT, (3,)), A(FLOAT, (0, 2))),
        "bins": (2, (2, 3), (2,)),
        "density": (None, True),
    },
    "cov": {
        "m": (
            A(FLOAT, (2, 3)),
            A(INT, (3,)),
            A("complex64", (2, 2)),
            A(FLOAT, (2, 0)),
            A(FLOAT, (1, 1)),
            A(FLOAT),
        ),
        "y": (None, A(FLOAT, (2, 3), "rising"), A(INT, (3,))),
        "bias": BOTH,
        "ddof": (None, 0, 2),
        "fweights": (None, Given("[1, 2, 3]"), Given("[1.5, 2, 3]"), Given("[1, 2]")),
        "dtype": (ABSENT,),
    },
    "corrcoef": {
        "x": (A(FLOAT, (2, 3)), A(INT, (3,)), A("complex64", (2, 2)), A(FLOAT, (2, 0)), A(FLOAT, (1, 1))),
        "y": (None, A(FLOAT, (2, 3), "rising"), A(INT, (3,))),
        "dtype": (ABSENT, "float32"),
    },
    **{
        name: {"a1": VECTORS, "a2": (*VECTORS[:3], 2, A(FLOAT, (2, 2)))}
        for name in ("polyadd", "polysub", "polymul")
    },
    "polydiv": {
        "u": (A(FLOAT, (3,)), A(INT, (3,)), A(FLOAT, (1,)), A(FLOAT, (0,))),
        "v": (A(FLOAT, (2,)), A(INT, (1,)), A(FLOAT, (3,)), 2),
    },
    "polyder": {"p": VECTORS, "m": (0, 1, 2, 5, -1)},
    "polyint": {"p": VECTORS, "m": (0, 1, 2, -1), "k": (None, 1, [1, 2], [1])},
    "polyval": {
        "p": (*VECTORS, 2, A(FLOAT, (2, 2))),
        "x": (2, A(FLOAT, (3,)), A(INT, (2, 2)), A("complex64", (2,)), []),
    },
    "polyfit": {
        "x": (A(FLOAT, (4,), "rising"), A(INT, (4,), "rising"), A(FLOAT, (0,))),
        "y": (A(FLOAT, (4,)), A(FLOAT, (4, 2)), A(FLOAT, (3,))),
        "deg": (0, 1, 2, -1),
    },
    "vander": {"x": VECTORS, "N": (None, 0, 1, 2, 4, -1)},
    "packbits": {
        "a": (
            A("bool", (3,)),
            A("uint8", (9,)),
            A(INT, (2, 3)),
            A("bool", (0,)),
            A(FLOAT, (2,)),
            A("bool", (2, 9)),
        ),
        "bitorder": ("big", "little", "x"),
    },
    "unpackbits": {
        "a": (A("uint8", (2,)), A("uint8", (2, 2)), A(INT, (2,)), A("uint8")),
        "count": (None, 0, 3, -2, 20, -30),
        "bitorder": ("big", "little"),
    },
}

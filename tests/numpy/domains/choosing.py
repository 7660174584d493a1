"""Domains of functions that take and choose elements, and of those that write to their first argument."""

from __future__ import annotations

from typing import Any

from tests.numpy.domains.samples import (
    ABSENT,
    ANY,
    AXIS,
    BOTH,
    FEW,
    FLOAT,
    INT,
    LISTS,
    MASKS,
    PAIRS,
    A,
    Given,
)

_FLOATS = ("float16", "float32", "float64")
#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    **{name: {"a": ANY} for name in ("argwhere", "flatnonzero", "nonzero", "ndim", "shape", "sort_complex")},
    "size": {"a": ANY, "axis": (*AXIS, (0, 1), ())},
    "take": {
        "a": FEW,
        "indices": (0, -1, 2, 5, -6, [0, 1], [[0], [1]], [], [5, -7], A("uint8", (2,), "positions"), 1.0),
        "mode": ("raise", "wrap", "clip", "odd"),
    },
    "take_along_axis": {
        "arr": (A(FLOAT, (2, 3)), A(INT, (3,)), A(FLOAT, (2, 0))),
        "indices": (
            Given("[0, 1]"),
            Given("[[0, 1], [1, 0]]"),
            Given("[[0]]"),
            Given("[[5]]"),
            Given("[[-1], [0]]"),
            Given("[[0.5]]"),
            Given("[], int"),
        ),
        "axis": (ABSENT, *AXIS),
    },
    "choose": {
        "a": (0, 1, -1, A(INT, (3,), "few"), Given("[[0, 1]]"), Given("[2, 0]"), Given("[-1, 3]")),
        "choices": ([1.5, 2], [[1, 2], [3, 4]], [A(FLOAT, (2,)), A(INT, (2, 1))]),
        "mode": ("raise", "wrap", "clip"),
    },
    "compress": {
        "condition": ([True, False], [0, 1, 1], [], [True] * 4, A("bool", (3,)), [[True]], True),
        "a": FEW,
    },
    "extract": {
        "condition": (A("bool", (3,)), A(INT, (2, 3)), A("bool", (2, 3)), A("bool", (0,)), True, [0, 1]),
        "arr": FEW,
    },
    "select": {
        "condlist": (
            [A("bool", (3,))],
            [A("bool", (3,)), A("bool", (3,), "few")],
            [A("bool", (2, 3))],
            [A(INT, (3,))],
            [],
        ),
        "choicelist": ([1], [A(FLOAT, (3,)), A(INT, (3,))], [A(FLOAT, (3,)), 2], [A(FLOAT, (2, 3))], []),
        "default": (ABSENT, 2.5, A(FLOAT, (3,))),
    },
    "piecewise": {
        "x": (A(FLOAT, (3,)), A(INT, (2, 3)), A(FLOAT)),
        "condlist": (
            [A("bool", (3,))],
            [A("bool", (3,)), A("bool", (3,), "few")],
            A("bool", (3,)),
            [A("bool", (2, 3))],
            [True],
            True,
        ),
        "funclist": ([1], [1, 2.5], [1, 2, 3], []),
    },
    "where": {
        "*": (
            *((each,) for each in ANY),
            *((c, x, y) for c in MASKS for x in (*PAIRS, 1, 2.5) for y in (*PAIRS[:4], -1)),
            (A("bool", (3,)), 1),
            *((A("bool", (3,)), each, A(kind, (3,))) for each in (1, 2.5, 1j) for kind in _FLOATS),
            *((A("bool", (3,)), A(kind), each) for each in (1, 2.5, 1j) for kind in _FLOATS),
        )
    },
    "diag": {"v": ANY},
    "diagflat": {"v": ANY},
    "diagonal": {"a": (A(FLOAT, (2, 3)), A(INT, (2, 3, 2)), A(FLOAT, (0, 2)), A(FLOAT, (3,)))},
    "linalg.diagonal": {"x": (A(FLOAT, (2, 3)), A(INT, (2, 3, 2)), A(FLOAT, (0, 2)), A(FLOAT, (3,)))},
    "trace": {
        "a": (A(FLOAT, (2, 3)), A(INT, (2, 3, 2)), A(FLOAT, (0, 2)), A(FLOAT, (3,)), A("int8", (3, 3))),
        "dtype": (ABSENT, "float32", "complex64"),
    },
    "linalg.trace": {
        "x": (A(FLOAT, (2, 3)), A(INT, (2, 3, 2)), A(FLOAT, (0, 2)), A(FLOAT, (3,)), A("int8", (3, 3)))
    },
    **{name: {"m": ANY} for name in ("tril", "triu")},
    **{name: {"arr": ANY} for name in ("tril_indices_from", "triu_indices_from", "diag_indices_from")},
    "ix_": {
        "*": (
            *LISTS,
            ([0, 2], [1]),
            ([True, False], [0]),
            (A("bool", (3,)), A(INT, (2,))),
            ([],),
            ([0.5],),
            (A(FLOAT, (0,)),),
        )
    },
    "unravel_index": {
        "indices": (0, 5, -1, 6, [0, 5], [[1], [2]], [], 1.0, A(INT, (3,), "positions")),
        "shape": ((2, 3), (6,), (), (0, 2), (2, 3, 1), 6),
        "order": ("C", "F", "x"),
    },
    "ravel_multi_index": {
        "multi_index": (
            (0, 1),
            ([0, 1], [2, 0]),
            ([0, 1], [3, 0]),
            ([-1], [0]),
            (1,),
            ([0], [1], [0]),
            (A(INT, (2,), "few"), 1),
        ),
        "dims": ((2, 3), (6,), (2, 3, 1), 6, (0, 2)),
        "mode": ("raise", "wrap", "clip", ("clip", "wrap")),
        "order": ("C", "F"),
    },
    "trim_zeros": {
        "filt": (
            A(FLOAT, (6,), "zeros"),
            A(INT, (2,), "zeros"),
            A(FLOAT, (0,)),
            A(FLOAT, (2, 6), "zeros"),
            A("bool", (3,)),
            A(FLOAT),
        ),
        "trim": ("fb", "f", "b", "", "FB", "x", "bf"),
        "axis": (ABSENT, None, 0, -1, 1, (0, 1), (0,)),
    },
}

#: Functions that write to their first argument, which is compared in the place of the result.
WRITING: dict[str, dict[str, Any]] = {
    "copyto": {
        "dst": FEW,
        "src": (1, 2.5, 300, 1j, A(FLOAT, (3,)), A(INT, (1, 3)), A("bool", (2, 1)), [1, 2]),
        "casting": ("same_kind", "unsafe", "safe"),
        "where": (True, A("bool", (3,)), [True, False]),
    },
    "fill_diagonal": {
        "a": (
            A(FLOAT, (2, 3)),
            A(INT, (3, 2)),
            A(INT, (5, 2)),
            A("int8", (2, 2, 2)),
            A(FLOAT, (0, 2)),
            A(FLOAT, (3,)),
            A(FLOAT, (2, 3, 2)),
        ),
        "val": (7, 2.5, [1, 2], A(FLOAT, (3,)), 300, []),
        "wrap": BOTH,
    },
    "place": {
        "arr": FEW,
        "mask": (A("bool", (3,)), A(INT, (2, 3)), A("bool", (2, 3)), A("bool", ()), [True, False]),
        "vals": (5, 2.5, [1, 2], [], 300),
    },
    "putmask": {
        "a": FEW,
        "mask": (A("bool", (3,)), A(INT, (2, 3)), A("bool", (2, 3)), A("bool", ()), [True, False]),
        "values": (5, 2.5, [1, 2], [], A(FLOAT, (3,))),
    },
    "put": {
        "a": FEW,
        "ind": (0, -1, 5, -7, [0, 2], [0, 0], [], [1, 9], [[0], [1]]),
        "v": (7, 2.5, [1, 2], [], 300, A(FLOAT, (3,))),
        "mode": ("raise", "wrap", "clip", "odd"),
    },
    "put_along_axis": {
        "arr": (A(FLOAT, (2, 3)), A(INT, (3,)), A(FLOAT, (2, 0))),
        "indices": (
            Given("[0, 1]"),
            Given("[[0, 1], [1, 0]]"),
            Given("[[0]]"),
            Given("[[5]]"),
            Given("[[-1], [0]]"),
            Given("[[0.5]]"),
        ),
        "values": (7, 2.5, A(FLOAT, (2,)), A(INT, (2, 1)), A(INT, (1, 1, 2)), A(INT, (1, 2, 1))),
    },
}

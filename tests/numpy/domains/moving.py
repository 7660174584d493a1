"""Domains of functions of shapes: elements in other places, arrays joined and split."""

from __future__ import annotations

from typing import Any

from tests.numpy.domains.samples import ABSENT, ANY, AXES, AXIS, FEW, FLOAT, INT, LISTS, SHAPES, A

_SPLITS = (1, 2, 3, 0, -1, [1], [1, 2], [2, 1], [], [0, 5], [-1], (1, -2))

#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    "rollaxis": {
        "a": (A(FLOAT, (2, 3, 1)), A(INT, (2, 0)), A(FLOAT, (3,)), A(FLOAT)),
        "axis": tuple(range(-4, 4)),
        "start": tuple(range(-4, 5)),
    },
    "moveaxis": {
        "a": (A(FLOAT, (2, 3, 1)), A(INT, (2, 0)), A(FLOAT, (3,))),
        "source": (0, 1, -1, 3, (0, 1), (-1, 0), (0, 0), ()),
        "destination": (0, 1, -1, -3, (0, 1), (1, 0), (-1, 0), (-1, -2), (1, 1), ()),
    },
    "swapaxes": {
        "a": (A(FLOAT, (2, 3, 1)), A(INT, (2, 0)), A(FLOAT, (3,)), A(FLOAT)),
        "axis1": tuple(range(-4, 4)),
        "axis2": tuple(range(-4, 4)),
    },
    **{
        name: {
            "a": (A(FLOAT, (2, 3, 1)), A(INT, (2, 0)), A(FLOAT, (3,)), A(FLOAT)),
            "axes": (
                ABSENT,
                None,
                0,
                (0,),
                (1, 0),
                (0, 1),
                (-1, 0),
                (2, 0, 1),
                (0, -1, 1),
                (0, 0),
                (),
                (0, 1, 2, 3),
            ),
        }
        for name in ("transpose", "permute_dims")
    },
    **{name: {"x": ANY} for name in ("matrix_transpose", "linalg.matrix_transpose")},
    "squeeze": {
        "a": (A(FLOAT, (1, 3, 1)), A(INT, (1,)), A(FLOAT, (1, 0)), A(FLOAT)),
        "axis": (*AXES, (0, 2), (0, -1)),
    },
    "expand_dims": {
        "a": (A(FLOAT, (2, 3)), A(INT, (0,)), A(FLOAT)),
        "axis": (0, 1, -1, -2, 2, 3, -4, (0, 1), (0, -1), (1, 1), (), (3, 0), (-1, 0)),
    },
    "reshape": {
        "a": (A(FLOAT, (2, 3)), A(INT, (0, 2)), A("bool"), A("complex64", (2, 1, 2)), A(FLOAT, (6,))),
        "shape": (
            *SHAPES,
            (-1,),
            (3, 2),
            (6,),
            (-1, 0),
            (-1, 2),
            (-1, -1),
            (0, -1),
            (-2, -3),
            6,
            (1, 1),
            4,
            (2, 2),
        ),
        "order": ("C", "F", "A", "x"),
        "copy": (None, True, False),
    },
    "ravel": {"a": ANY, "order": ("C", "F", "A", "K", "x")},
    "broadcast_to": {
        "array": (A(FLOAT, (3,)), A(INT, (2, 1)), A("bool"), A(FLOAT, (0,)), A(FLOAT, (1, 0))),
        "shape": (*SHAPES, (3,), (2, 2), (2, 3), (3, 0), (4, 2, 1), (2, 0)),
    },
    "broadcast_arrays": {"*": (*LISTS, (A(FLOAT, (3, 1)), A(INT, (2,))), (A(FLOAT, (0, 1)), A(INT, (3,))))},
    "broadcast_shapes": {
        "*": (
            (),
            ((2, 3), (3,)),
            ((2, 1), (1, 3)),
            ((2,), (3,)),
            ((0,), (1,)),
            ((0,), (2,)),
            (2, 1),
            (3, (1, 3)),
            ((2, -1),),
            (-1,),
        )
    },
    **{f"atleast_{k}d": {"*": (*((each,) for each in ANY), *LISTS)} for k in (1, 2, 3)},
    "resize": {
        "a": (A(FLOAT, (2, 3)), A(INT, (0,)), A(FLOAT, (1,)), A("bool", (3,)), A(FLOAT)),
        "new_shape": SHAPES,
    },
    "flip": {"m": ANY, "axis": AXES},
    "fliplr": {"m": ANY},
    "flipud": {"m": ANY},
    "rot90": {
        "m": (A(FLOAT, (2, 3)), A(INT, (2, 1, 3)), A(FLOAT, (0, 2)), A(FLOAT, (3,)), A(FLOAT)),
        "k": tuple(range(-5, 6)),
        "axes": (ABSENT, (0, 1), (1, 0), (-1, 0), (-2, -1), (0, 0), (0, -2), (1, 2), (0,), (0, 3), (0, 1, 2)),
    },
    "roll": {
        "a": FEW,
        "shift": (0, 1, -1, 5, -7, (1, 2), (1,), (-1, 4), ()),
        "axis": (*AXIS, (0, 1), (0, 0), (1, 0), (), (0, -1)),
    },
    "repeat": {"a": FEW, "repeats": (0, 1, 2, -1, [2], [1, 2], [0, 1, 2], [1, -1], 2.0, [])},
    "tile": {"A": FEW, "reps": (0, 1, 2, (2,), (1, 2), (2, 1, 2), (), (0, 2), -1, 2.0)},
    "delete": {
        "arr": FEW,
        "obj": (
            0,
            -1,
            2,
            5,
            -4,
            [0],
            [0, 2],
            [0, 0],
            [-1, 1],
            [],
            [5],
            slice(None, None, 2),
            slice(1, None),
            slice(None, None, -1),
            slice(0, 0),
            [True, False, True],
            [True, False],
            A("bool", (3,)),
            True,
        ),
    },
    "insert": {
        "arr": FEW,
        "obj": (
            0,
            -1,
            2,
            3,
            5,
            -4,
            [0],
            [0, 2],
            [1, 1],
            [-1, 0],
            [],
            slice(None, None, 2),
            slice(1, None),
            [True, False, True],
            True,
        ),
        "values": (9, [7, 8], A(FLOAT, (1,)), A(INT, (3,)), A(FLOAT, (2, 1)), []),
    },
    "append": {"arr": FEW, "values": (1, [1.5], A(INT, (3,)), A(FLOAT, (1, 3)), A(FLOAT, (2, 1)), [])},
    **{
        name: {
            "ary": (A(FLOAT, (3,)), A(INT, (2, 3)), A(FLOAT, (2, 0, 4)), A(FLOAT)),
            "indices_or_sections": _SPLITS,
        }
        for name in ("split", "array_split", "hsplit", "vsplit", "dsplit")
    },
    **{
        name: {
            "arrays": LISTS,
            "axis": (0, 1, -1, -2, None, 2),
            "dtype": (ABSENT, "float32", "int8"),
            "casting": (ABSENT, "unsafe", "no"),
        }
        for name in ("concat", "concatenate", "stack")
    },
    **{
        name: {"tup": LISTS, "dtype": (ABSENT, "float32"), "casting": (ABSENT, "unsafe")}
        for name in ("hstack", "vstack")
    },
    **{name: {"tup": LISTS} for name in ("dstack", "column_stack")},
    "block": {
        "arrays": (
            *map(list, LISTS),
            [[A(FLOAT, (2, 2)), A(FLOAT, (2, 1))], [A(INT, (1, 2)), A(INT, (1, 1))]],
            [[A(FLOAT, (2,))], [A(FLOAT, (2,))]],
            A(FLOAT, (2,)),
            [[A(FLOAT, (2,))], A(FLOAT, (2,))],
            [1, 2.5],
            [],
        )
    },
    "unstack": {"x": ANY, "axis": (0, 1, -1, 3)},
    "pad": {
        "array": (
            A(FLOAT, (3,)),
            A(INT, (2, 3)),
            A("bool", (1,)),
            A(FLOAT, (0,)),
            A("float32", (2, 0)),
            A(FLOAT),
            A("complex64", (2,)),
        ),
        "pad_width": (0, 1, 4, (1, 2), (1,), ((1, 0), (0, 2)), ((1, 2),), -1, 1.5, [], ((1,), (2,))),
        "mode": (
            ABSENT,
            "constant",
            "edge",
            "reflect",
            "symmetric",
            "wrap",
            "maximum",
            "mean",
            "median",
            "minimum",
            "linear_ramp",
            "odd",
        ),
    },
}

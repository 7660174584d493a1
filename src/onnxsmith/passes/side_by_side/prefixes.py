"""Each number of a vector combined with all before it, where it does not matter which are combined first.

In blocks: inside a block numbers are combined with the one before, then with the two before those, and so on. Only
the last number of each block waits for the block before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.side_by_side.bodies import body_graph, body_input

#: Numbers in a block, a power of two.
_BLOCK = 64

#: Makes one number of an earlier and a later one; both may be arrays.
Combine = Callable[[ir.Value, ir.Value], ir.Value]


def prefixes(
    at: Attempt, first: ir.Value, numbers: ir.Value, count: ir.Value, neutral: ir.Value, combine: Combine
) -> ir.Value:
    """The combination of `first` and the numbers up to each place; `neutral` changes nothing behind any other number.

    `count` says how many numbers there are, as an INT64 of shape [1].
    """
    kind = first.dtype
    assert kind is not None
    missing = at.op("Mod", at.op("Neg", count), at.constant([_BLOCK]))
    full = at.op("Pad", numbers, at.op("Concat", at.constant([0]), missing, axis=0), neutral)
    inside = at.op("Reshape", full, at.constant([-1, _BLOCK], "shape"))
    distance = 1
    while distance < _BLOCK:
        before = at.op("Pad", inside, at.constant([0, distance, 0, -distance], "pads"), neutral)
        inside = combine(before, inside)
        distance *= 2
    lasts = at.op("Gather", inside, at.constant(_BLOCK - 1), axis=1)
    state, last = body_input(at, "state", kind), body_input(at, "last", kind)
    body = body_graph(at, "block", (state, last), lambda: [combine(state, last), at.op("Identity", state)])
    # One block more: runtimes refuse a `Scan` of none.
    lines = at.op("Pad", lasts, at.constant([0, 1], "pads"), neutral)
    _, starts = at.ops("Scan", first, lines, outputs=2, num_scan_inputs=1, body=body)
    ends = at.constant([0], "starts"), at.constant([-1], "ends"), at.constant([0], "axes")
    column = at.op("Unsqueeze", at.op("Slice", starts, *ends), at.constant([1], "axes"))
    flat = at.op("Reshape", combine(column, inside), at.constant([-1], "shape"))
    return at.op("Slice", flat, at.constant([0]), count, at.constant([0]))


def one_by_one(
    at: Attempt, first: ir.Value, numbers: ir.Value, count: ir.Value, neutral: ir.Value, combine: Combine
) -> ir.Value:
    """The same in the order of the numbers, for numbers that it matters for."""
    kind = first.dtype
    assert kind is not None
    state, each = body_input(at, "state", kind), body_input(at, "each", kind)

    def turn() -> list[ir.Value]:
        after = combine(state, each)
        return [after, at.op("Identity", after)]

    lines = at.op("Pad", numbers, at.constant([0, 1], "pads"), neutral)
    body = body_graph(at, "turn", (state, each), turn)
    _, after = at.ops("Scan", first, lines, outputs=2, num_scan_inputs=1, body=body)
    return at.op("Slice", after, at.constant([0]), count, at.constant([0]))


def last_places(at: Attempt, is_there: ir.Value, turns: ir.Value, count: ir.Value) -> ir.Value:
    """For each turn the last one up to it that a mask is true for; -1 where there is none."""
    none = at.constant(np.array(-1, np.int64), "none")
    places = at.op("Where", is_there, turns, none)
    return prefixes(at, none, places, count, none, lambda one, other: at.op("Max", one, other))

"""The turns of `Loop` and `Scan`: the values that they go through, carry and collect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import onnx_ir as ir

#: Of a loop with more turns, so many at its beginning are taken apart.
MOST_TURNS = 200
_FIRST_TURNS = 20
#: Into so many parts many turns are cut that are looked at more closely.
_PARTS = 16


def turn_ranges(count: int, room: int, closer: range | None) -> list[range]:
    """The turns of a loop in parts, of which those of one turn are taken apart; there is room for so many of these.

    >>> turn_ranges(3, 100, None)
    [range(0, 1), range(1, 2), range(2, 3)]
    >>> turn_ranges(100, 2, None)
    [range(0, 1), range(1, 2), range(2, 4), range(4, 8), range(8, 16), range(16, 32), range(32, 64), range(64, 100)]
    >>> turn_ranges(1000, 100, range(500, 502))
    [range(0, 500), range(500, 501), range(501, 502), range(502, 1000)]
    """
    most = max(1, min(MOST_TURNS, room))
    if count <= most:
        return [range(turn, turn + 1) for turn in range(count)]
    if closer is not None:
        size = 1 if len(closer) <= most else -(-len(closer) // _PARTS)
        inside = [range(start, min(start + size, closer.stop)) for start in closer[::size]]
        around = range(closer.start), range(closer.stop, count)
        return [each for each in (around[0], *inside, around[1]) if len(each)]
    single = min(_FIRST_TURNS, most)
    ranges = [range(turn, turn + 1) for turn in range(single)]
    while ranges[-1].stop < count:
        start = ranges[-1].stop
        ranges.append(range(start, min(2 * start, count)))
    return ranges


class Collected(NamedTuple):
    """A result that a loop collects: of one turn, or of several that are one behind the other already."""

    value: ir.Value
    is_several: bool = False


class ScanTurns(NamedTuple):
    """The values of a Scan by what they are for."""

    states: Sequence[ir.Value | None]
    inputs: Sequence[ir.Value]
    input_axes: Sequence[int]
    is_backward: Sequence[bool]
    output_axes: Sequence[int]
    gives_backward: Sequence[bool]


def scan_of(node: ir.Node) -> ScanTurns:
    """The values that a Scan goes through and gives, as its attributes say it."""
    count = node.attributes["num_scan_inputs"].as_int()
    states = len(node.inputs) - count
    outputs = len(node.outputs) - states

    def numbers(name: str, length: int) -> list[int]:
        held = node.attributes.get(name)
        return [0] * length if held is None else list(held.as_ints())

    return ScanTurns(
        node.inputs[:states],
        [each for each in node.inputs[states:] if each is not None],
        numbers("scan_input_axes", count),
        [each == 1 for each in numbers("scan_input_directions", count)],
        numbers("scan_output_axes", outputs),
        [each == 1 for each in numbers("scan_output_directions", outputs)],
    )


def number_from(body: ir.Graph, start: ir.Value) -> None:
    """Let the turns of a loop be numbered from a value on, and not from 0."""
    number = body.inputs[0]
    later = ir.Node("", "Add", [number, start], num_outputs=1)
    later.outputs[0].name = f"{number.name}_of_whole"
    later.outputs[0].type, later.outputs[0].shape = ir.TensorType(ir.DataType.INT64), ir.Shape(())
    for user, place in list(number.uses()):
        if user is not later:
            user.replace_input_with(place, later.outputs[0])
    for place, value in enumerate(body.outputs):
        if value is number:
            body.outputs[place] = later.outputs[0]
    first = next(iter(body), None)
    if first is None:
        body.append(later)
    else:
        body.insert_before(first, later)

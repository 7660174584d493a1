"""Rotary embedding that models spell out: `x * cos + turned(x) * sin`, where `turned` swaps halves and negates one.

By hand, and not as a rule: where the tables come from, and whether their halves are equal, is found by walking back
through any number of nodes.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.attention import flat_heads
from onnxsmith.passes.fusions.expressions import both_ways
from onnxsmith.passes.values import dimensions, int_attribute, made_by, only_for, readers

#: Where `RotaryEmbedding` is.
_VERSION = 23


def rotary_embedding(at: Attempt) -> Outcome:
    """`x * cos + turned(x) * sin`."""
    if at.version < _VERSION:
        return None
    for straight_value, turned_value in both_ways(at.node):
        straight, turned = only_for(straight_value, "Mul"), only_for(turned_value, "Mul")
        if straight is None or turned is None:
            continue
        for x, cosine in both_ways(straight):
            for halves, sine in both_ways(turned):
                if (
                    x is not None
                    and cosine is not None
                    and sine is not None
                    and _is_turned(at.edit, halves, x)
                ):
                    return _rotary(at, x, cosine, sine)
    return None


def _is_turned(edit: Editor, value: ir.Value | None, x: ir.Value) -> bool:
    joined = only_for(value, "Concat")
    shape = dimensions(x)
    if joined is None or len(joined.inputs) != 2 or shape is None or len(shape) != 4:
        return False
    width = shape[-1]
    if not isinstance(width, int) or width % 2 or int_attribute(joined, "axis", 0) not in (-1, 3):
        return False
    negated = only_for(joined.inputs[0], "Neg")
    half = width // 2
    return (
        negated is not None
        and _is_part(edit, negated.inputs[0], x, half, width)
        and _is_part(edit, joined.inputs[1], x, 0, half)
    )


def _is_part(edit: Editor, value: ir.Value | None, x: ir.Value, start: int, end: int) -> bool:
    """True if a value is `x[..., start:end]`."""
    split = made_by(value, "Split")
    width = (dimensions(x) or (0,))[-1]
    if split is not None and value is not None:
        shapes = [dimensions(each) for each in split.outputs]
        is_halves = split.inputs[0] is x and int_attribute(split, "axis", 0) in (-1, 3) and len(shapes) == 2
        sizes = [None if each is None else each[-1] for each in shapes]
        place = list(split.outputs).index(value)
        return is_halves and sizes[0] == sizes[1] == end - start and place == (0 if start == 0 else 1)
    part = made_by(value, "Slice")
    if part is None or part.inputs[0] is not x or len(part.inputs) < 4:
        return False
    given = [edit.numbers(each) for each in part.inputs[1:]]
    if any(each is None or len(each) != 1 for each in given):
        return False
    starts, ends, axis, *step = [each[0] for each in given if each is not None]
    if axis not in (-1, 3) or (step and step[0] != 1) or not isinstance(width, int):
        return False
    return starts == start and min(ends, width) == end


def _rotary(at: Attempt, x: ir.Value, cosine: ir.Value, sine: ir.Value) -> Outcome:
    if x.dtype not in (ir.DataType.FLOAT, ir.DataType.FLOAT16):
        return None
    tables = [_table(at, each, x) for each in (cosine, sine)]
    if any(each is None for each in tables):
        return None
    return at.op("RotaryEmbedding", x, *tables)


def flat_rotary(at: Attempt) -> Outcome:
    """`RotaryEmbedding` on heads that were parted: before they are, where `Attention` may need no parting at all."""
    x = at.input(0)
    flat = flat_heads(x) if at.version >= _VERSION else None
    heads = (dimensions(x) or (None, None))[1]
    if x is None or flat is None or not isinstance(heads, int) or "num_heads" in at.node.attributes:
        return None
    source, parting, turning = flat
    if readers(x) != 1 or readers(parting.outputs[0]) != 1:
        return None  # the heads are needed as they are
    turned = at.op(
        "RotaryEmbedding",
        source,
        *at.node.inputs[1:],
        like=source,
        attributes=at.node.attributes,
        num_heads=heads,
    )
    parted = at.op(
        "Reshape", turned, parting.inputs[1], like=parting.outputs[0], attributes=parting.attributes
    )
    return at.op("Transpose", parted, attributes=turning.attributes)


def _table(at: Attempt, value: ir.Value, x: ir.Value) -> ir.Value | None:
    """The half of a table of cosines or sines that `RotaryEmbedding` takes, where both halves are equal."""
    shape, whole = dimensions(value), dimensions(x)
    if shape is None or whole is None or not isinstance(shape[-1], int) or shape[-1] != whole[-1]:
        return None
    if value.dtype != x.dtype:
        return None
    half = shape[-1] // 2
    array = at.edit.array(value)
    if array is not None:
        rows = array.reshape((1,) * (4 - array.ndim) + array.shape) if array.ndim <= 4 else array
        if rows.ndim != 4 or rows.shape[1] != 1 or rows.shape[2] != whole[2]:
            return None
        if not np.array_equal(rows[..., :half], rows[..., half:]):
            return None
        table = at.constant(np.ascontiguousarray(rows[:, 0, :, :half]), "rotary_table")
        return _for_batch(at, table, rows.shape[0], x)
    spread = made_by(value, "Unsqueeze")
    if spread is None or at.edit.numbers(spread.inputs[1]) != (1,) or len(shape) != 4:
        return None
    source = spread.inputs[0]
    rows = dimensions(source)
    if source is None or rows is None or len(rows) != 3 or not _has_equal_halves(at.edit, source):
        return None
    if rows[1] is None or rows[1] != whole[2]:
        return None  # it would be repeated, and `RotaryEmbedding` repeats nothing
    ends = [at.constant([each], "rotary_half") for each in (0, half, -1)]
    table = at.op("Slice", source, *ends)
    table.type, table.shape = source.type, ir.Shape([rows[0], rows[1], half])
    return _for_batch(at, table, rows[0], x)


def _for_batch(at: Attempt, table: ir.Value, batch: int | str | None, x: ir.Value) -> ir.Value | None:
    """A table with as many rows in front as the tensor has: where it has one for all, it is repeated."""
    whole, rows = dimensions(x), dimensions(table)
    if whole is None or rows is None:
        return None
    if batch is not None and batch == whole[0]:
        return table
    if batch != 1:
        return None
    size = at.op("Shape", x, start=0, end=1)
    shape = at.op("Concat", size, at.constant([1, 1], "rotary_ones"), axis=0)
    wide = at.op("Expand", table, shape)
    wide.type, wide.shape = table.type, ir.Shape([whole[0], *rows[1:]])
    return wide


def _has_equal_halves(edit: Editor, table: ir.Value) -> bool:
    """True if a table of three dimensions is a function, element by element, of something joined with itself."""
    here: ir.Value | None = table
    while here is not None:
        scaled = made_by(here, "Mul")
        if scaled is not None and edit.number(scaled.inputs[1]) is not None:
            here = scaled.inputs[0]
            continue
        function = made_by(here, "Cos", "Sin", "Cast")
        if function is not None:
            here = function.inputs[0]
            continue
        joined = made_by(here, "Concat")
        return (
            joined is not None
            and len(joined.inputs) == 2
            and joined.inputs[0] is joined.inputs[1]
            and int_attribute(joined, "axis", 0) in (-1, 2)
        )
    return False


ROTARY = {"Add": [rotary_embedding], "RotaryEmbedding": [flat_rotary]}

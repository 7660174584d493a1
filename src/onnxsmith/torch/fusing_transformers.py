"""Parts of transformers that modules spell out: RMS normalisation, rotary embedding, attention by heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnxsmith.torch.fusing import Fuser, content, dimensions, ints, made_by, number, scalar, single

#: Where RMSNormalization, RotaryEmbedding and Attention are.
FIRST_VERSION = 23
_HEADS_FIRST = [0, 2, 1, 3]


def rms_normalisation(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`weight * (x * (1 / sqrt(mean(x²) + eps)))` over the last dimension."""
    for weight, scaled in ((node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])):
        product = single(scaled, "Mul")
        if product is None or weight is None or weight.const_value is None or len(dimensions(weight)) != 1:
            continue
        for x, inverse in ((product.inputs[0], product.inputs[1]), (product.inputs[1], product.inputs[0])):
            epsilon = _epsilon(x, inverse)
            if x is None or epsilon is None or dimensions(x)[-1:] != dimensions(weight):
                continue
            if x.dtype != ir.DataType.FLOAT or weight.dtype != x.dtype:
                continue
            return [fuser.node("RMSNormalization", [x, weight], node, axis=-1, epsilon=epsilon)]
    return None


def _epsilon(x: ir.Value | None, inverse: ir.Value | None) -> float | None:
    """The epsilon, if a value is one over the root mean square of `x`."""
    reciprocal = single(inverse, "Reciprocal")
    root = single(reciprocal.inputs[0], "Sqrt") if reciprocal is not None else None
    total = single(root.inputs[0], "Add") if root is not None else None
    if total is None:
        return None
    for mean_value, epsilon in ((total.inputs[0], total.inputs[1]), (total.inputs[1], total.inputs[0])):
        mean = single(mean_value, "ReduceMean")
        if mean is None or scalar(epsilon) is None or number(mean, "keepdims", 1) != 1:
            continue
        axes = content(mean.inputs[1]) if len(mean.inputs) > 1 else None
        rank = len(dimensions(x))
        if axes is None or axes.size != 1 or int(axes.reshape(())) not in (-1, rank - 1):
            continue
        if _is_square(mean.inputs[0], x):
            return scalar(epsilon)
    return None


def _is_square(value: ir.Value | None, x: ir.Value | None) -> bool:
    product = single(value, "Mul")
    if product is not None:
        return product.inputs[0] is x and product.inputs[1] is x
    power = single(value, "Pow")
    return power is not None and power.inputs[0] is x and scalar(power.inputs[1]) == 2


# -- rotary embedding ----------------------------------------------------------------------------------------


def rotary_embedding(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`x * cos + turned(x) * sin`, where `turned` swaps the halves of the last dimension and negates the first."""
    for straight_value, turned_value in ((node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])):
        straight, turned = single(straight_value, "Mul"), single(turned_value, "Mul")
        if straight is None or turned is None:
            continue
        for x, cosine in ((straight.inputs[0], straight.inputs[1]), (straight.inputs[1], straight.inputs[0])):
            for halves, sine in ((turned.inputs[0], turned.inputs[1]), (turned.inputs[1], turned.inputs[0])):
                if x is not None and cosine is not None and sine is not None and _is_turned(halves, x):
                    return _rotary(fuser, node, x, cosine, sine)
    return None


def _is_turned(value: ir.Value | None, x: ir.Value) -> bool:
    joined = single(value, "Concat")
    shape = dimensions(x)
    if joined is None or len(joined.inputs) != 2 or len(shape) != 4 or not isinstance(shape[-1], int):
        return False
    if number(joined, "axis", None) not in (-1, 3) or shape[-1] % 2:
        return False
    negated = single(joined.inputs[0], "Neg")
    half = shape[-1] // 2
    return (
        negated is not None
        and _is_part(negated.inputs[0], x, half, shape[-1])
        and _is_part(joined.inputs[1], x, 0, half)
    )


def _is_part(value: ir.Value | None, x: ir.Value, start: int, end: int) -> bool:
    """Whether a value is `x[..., start:end]`."""
    part = made_by(value, "Slice")
    if part is None or part.inputs[0] is not x:
        return False
    starts, ends, axes = (scalar(each) for each in part.inputs[1:4])
    step = scalar(part.inputs[4]) if len(part.inputs) > 4 else 1
    size = dimensions(x)[-1]
    if starts is None or ends is None or axes not in (-1, 3) or step != 1:
        return False
    return starts == start and min(ends, size) == end


def _rotary(
    fuser: Fuser, node: ir.Node, x: ir.Value, cosine: ir.Value, sine: ir.Value
) -> Sequence[ir.Node] | None:
    if x.dtype != ir.DataType.FLOAT:
        return None
    tables = [_table(fuser, node, each, x) for each in (cosine, sine)]
    if any(each is None for each in tables):
        return None
    flat = _flat_heads(x)
    if flat is None:
        return [fuser.node("RotaryEmbedding", [x, *tables], node)]
    # On the tensor before its heads were parted; they are parted behind, where attention may need no parting at all.
    value, parting, turning = flat
    made = fuser.node("RotaryEmbedding", [value, *tables], node, num_heads=dimensions(x)[1])
    made.outputs[0].type, made.outputs[0].shape = value.type, value.shape
    parted = fuser.node("Reshape", [made.outputs[0], parting.inputs[1]], node)
    parted.outputs[0].type, parted.outputs[0].shape = x.type, parting.outputs[0].shape
    turned = fuser.node("Transpose", [parted.outputs[0]], node)
    turned.attributes.update(turning.attributes)
    return [made, parted, turned]


def _table(fuser: Fuser, node: ir.Node, value: ir.Value, x: ir.Value) -> ir.Value | None:
    """The half of a table of cosines or sines that `RotaryEmbedding` takes, where both halves are equal."""
    spread = made_by(value, "Unsqueeze")
    if spread is None or scalar(spread.inputs[1]) != 1 or len(dimensions(value)) != 4:
        return None
    table = spread.inputs[0]
    if table is None or not _has_equal_halves(table):
        return None
    key = ("rotary", table, tuple(map(str, dimensions(x)[:1])))
    if key in fuser.shared:
        return fuser.shared[key]
    batch, length, width = dimensions(table)
    ends = [fuser.constant(np.array([each]), "rotary_half") for each in (0, width // 2, -1)]
    half = fuser.node("Slice", [table, *ends], spread)
    half.outputs[0].type, half.outputs[0].shape = table.type, ir.Shape([batch, length, width // 2])
    nodes = [half]
    if batch != dimensions(x)[0]:
        size = fuser.node("Shape", [x], spread, start=0, end=1)
        one = fuser.constant(np.array([1, 1]), "rotary_ones")
        shape = fuser.node("Concat", [size.outputs[0], one], spread, axis=0)
        shape.outputs[0].name = f"{half.outputs[0].name}_shape"
        wide = fuser.node("Expand", [half.outputs[0], shape.outputs[0]], spread)
        wide.outputs[0].type = table.type
        wide.outputs[0].shape = ir.Shape([dimensions(x)[0], length, width // 2])
        nodes += [size, shape, wide]
    # Before the first node that needs it, which stands behind both the table and the tensor that it turns.
    fuser.graph.insert_before(node, nodes)
    found = fuser.shared[key] = nodes[-1].outputs[0]
    return found


def _has_equal_halves(table: ir.Value) -> bool:
    """Whether a table of three dimensions is a function, element by element, of something joined with itself."""
    shape = dimensions(table)
    if len(shape) != 3 or not isinstance(shape[-1], int):
        return False
    here: ir.Value | None = table
    while here is not None:
        scaled = made_by(here, "Mul")
        if scaled is not None and scalar(scaled.inputs[1]) is not None:
            here = scaled.inputs[0]
            continue
        function = made_by(here, "Cos") or made_by(here, "Sin") or made_by(here, "Cast")
        if function is not None:
            here = function.inputs[0]
            continue
        joined = made_by(here, "Concat")
        return (
            joined is not None
            and len(joined.inputs) == 2
            and joined.inputs[0] is joined.inputs[1]
            and number(joined, "axis", None) in (-1, 2)
        )
    return False


# -- attention -----------------------------------------------------------------------------------------------


def grouped_attention(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`Attention` on keys and values that were repeated for groups of queries: it repeats them itself."""
    key, value = (_before_repetition(each) for each in node.inputs[1:3])
    if key is None or value is None or dimensions(key)[1] != dimensions(value)[1]:
        return None
    made = fuser.node("Attention", [node.inputs[0], key, value, *node.inputs[3:]], node)
    made.attributes.update(node.attributes)
    return [made]


def _before_repetition(value: ir.Value | None) -> ir.Value | None:
    joined = made_by(value, "Reshape")
    wide = made_by(joined.inputs[0], "Expand") if joined is not None else None
    spread = made_by(wide.inputs[0], "Unsqueeze") if wide is not None else None
    if joined is None or wide is None or spread is None or scalar(spread.inputs[1]) != 2:
        return None
    source, middle, result = spread.inputs[0], dimensions(wide.outputs[0]), dimensions(joined.outputs[0])
    before = dimensions(source)
    if len(before) != 4 or len(middle) != 5 or len(result) != 4 or None in (*before, *middle, *result):
        return None
    if not all(isinstance(each, int) for each in (before[1], middle[2], result[1])):
        return None
    is_repeated = [*before[:2], *before[2:]] == [*middle[:2], *middle[3:]]
    is_joined = result == [before[0], before[1] * middle[2], *before[2:]]
    return source if is_repeated and is_joined else None


def flat_attention(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`Attention` on heads that were parted before and are joined behind: it parts and joins them itself."""
    attention = single(node.inputs[0], "Transpose")
    core = single(attention.inputs[0], "Attention") if attention is not None else None
    if attention is None or core is None or ints(attention, "perm") != _HEADS_FIRST or len(core.inputs) > 4:
        return None
    flat = [_flat_heads(each) for each in core.inputs[:3]]
    shapes = [dimensions(each) for each in core.inputs[:3]]
    joined = dimensions(node.outputs[0])
    if any(each is None for each in flat) or len(joined) != 3 or len(core.outputs) != 1:
        return None
    heads, key_heads, width = shapes[0][1], shapes[1][1], shapes[2][3]
    if joined[2] != heads * width or shapes[1][1] != shapes[2][1]:
        return None
    values = [each[0] for each in flat if each is not None]
    made = fuser.node(
        "Attention", [*values, *core.inputs[3:]], node, q_num_heads=heads, kv_num_heads=key_heads
    )
    made.attributes.update(core.attributes)
    return [made]


def _flat_heads(value: ir.Value | None) -> tuple[ir.Value, ir.Node, ir.Node] | None:
    """The tensor whose last dimension was parted into heads, which then came to the front; and the nodes of both."""
    turning = made_by(value, "Transpose")
    parting = made_by(turning.inputs[0], "Reshape") if turning is not None else None
    if turning is None or parting is None or ints(turning, "perm") != _HEADS_FIRST:
        return None
    source = parting.inputs[0]
    before, after = dimensions(source), dimensions(parting.outputs[0])
    if source is None or len(before) != 3 or len(after) != 4 or None in before[:2] or before[:2] != after[:2]:
        return None
    heads, width = after[2:]
    is_known = isinstance(heads, int) and isinstance(width, int)
    return (source, parting, turning) if is_known and before[2] == heads * width else None

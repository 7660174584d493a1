"""Attention, and the other fused layers of the standard domain that language models are made of."""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import meet
from onnxsmith.schema.inference.call import Call, Result, counted, rule, tensor
from onnxsmith.types.value_types import Dimension, Shape, describe_shape, shapes_differ


def _heads(call: Call, position: int, shape: Shape | None, name: str) -> Shape | None:
    """(batch, heads, length, head size) of a packed or an unpacked input."""
    if shape is None:
        return None
    if len(shape) == 4:
        return shape
    if len(shape) != 3:
        raise call.shape_error(f"needs three or four axes, not {call.described(position)}", position)
    heads: Dimension = call.attribute(name)
    if isinstance(heads, int) and heads <= 0:
        raise call.attribute_error(name, f"needs a positive number of heads, not {name}={heads}")
    batch, length, width = shape
    return batch, heads, length, symbolic.floordiv(width, heads)


@rule("Attention")
def attention(call: Call) -> Result:
    """Queries decide batch and length, values the width, keys (and what is remembered of them) what is looked at."""
    query = _heads(call, 0, call.shape(0), "q_num_heads")
    key = _heads(call, 1, call.shape(1), "kv_num_heads")
    value = _heads(call, 2, call.shape(2), "kv_num_heads")
    dtype, value_dtype = call.dtype(0, 1), call.dtype(2)
    out: Shape | None = None
    if query is not None and len(call.shape(0) or ()) == 3:
        out = (query[0], query[2], _packed_width(query[1], value, call.shape(2)))
    elif query is not None:
        out = (*query[:3], None if value is None else value[3])
    present_key, present_value = _present(call, 4, key), _present(call, 5, value)
    total = present_key[2] if present_key is not None else None
    scores = None if query is None else (*query[:3], total)
    return (
        tensor(dtype, out),
        tensor(dtype, present_key),
        tensor(value_dtype, present_value),
        tensor(dtype, scores),
    )


def _packed_width(heads: Dimension, value: Shape | None, given: Shape | None) -> Dimension:
    """The width of all heads of the output side by side; the values' own width where the heads are as many."""
    if value is None or given is None:
        return None
    if (
        len(given) == 3
        and isinstance(heads, int)
        and isinstance(value[1], int)
        and value[1]
        and not heads % value[1]
    ):
        return symbolic.mul(given[2], heads // value[1])
    return symbolic.mul(heads, value[3])


def _present(call: Call, position: int, now: Shape | None) -> Shape | None:
    """The cache after the call: the past, and the new keys or values."""
    if call.input(position) is None:
        return now
    past = call.shape(position)
    if past is None or now is None or len(past) != 4:
        return None if now is None else (now[0], now[1], None, now[3])
    for axis in (0, 1, 3):
        if symbolic.compare_equal(past[axis], now[axis]) is False:
            raise call.shape_error(
                f"cannot join {call.described(position)} with what comes in, of shape {describe_shape(now)}",
                position,
            )
    return past[0], past[1], symbolic.add(past[2], now[2]), past[3]


@rule("FlexAttention", domain="ai.onnx.preview")
def flex_attention(call: Call) -> Result:
    query, value = call.shape(0), call.shape(2)
    for position in range(3):
        shape = call.shape(position)
        if shape is not None and len(shape) != 4:
            raise call.shape_error(f"needs four axes, not {call.described(position)}", position)
    wide = None if value is None else value[3]
    if query is None:
        return (tensor(call.dtype(0, 1, 2), None),)
    # Runtimes broadcast batches of one to none, which ONNX does not define.
    others = (each for each in (call.shape(1), value) if each is not None)
    is_sure = not any(symbolic.compare_equal(each[0], query[0]) is False for each in others)
    return (tensor(call.dtype(0, 1, 2), (query[0] if is_sure else None, *query[1:3], wide)),)


@rule("SwiGLU")
def swiglu(call: Call) -> Result:
    left, right = call.shape(0), call.shape(1)
    if shapes_differ(left, right):
        raise call.shape_error(f"needs inputs of one shape, not {call.described(0)} and {call.described(1)}")
    return (tensor(call.dtype(0, 1), meet(left, right)),)


@rule("CausalConvWithState")
@rule("CausalConvWithState", domain="com.microsoft")
def causal_conv(call: Call) -> Result:
    shape, weights, dtype = call.shape(0), call.shape(1), call.dtype(0, 1)
    if shape is None or len(shape) != 3:
        return None
    bias = call.shape(2)
    if bias is not None and len(bias) != 1:
        raise call.shape_error(f"needs one number for each channel, not {call.described(2)}", 2)
    channels = weights[0] if weights else None
    if isinstance(channels, int) and isinstance(shape[1], int) and channels != shape[1]:
        raise call.shape_error(
            f"needs one filter for each of the {counted(shape[1], 'channel')}, not {call.described(1)}", 1
        )
    past = call.shape(3)
    size = symbolic.sub(weights[-1], 1) if weights else None
    if size is None and past is not None and len(past) == 3:
        size = past[2]
    return tensor(dtype, shape), tensor(dtype, (*shape[:2], size))


@rule("LinearAttention")
def linear_attention(call: Call) -> Result:
    query, value, dtype = call.shape(0), call.shape(2), call.dtype(0, 1, 2)
    key = call.shape(1)
    for name in ("q_num_heads", "kv_num_heads"):
        if call.integer(name, 1) < 1:
            raise call.attribute_error(name, f"cannot have {name}={call.integer(name, 1)}")
    for position, rank in enumerate((3, 3, 3, 4, 3, 3)):
        given = call.shape(position) if call.input(position) is not None else None
        if given is not None and len(given) != rank:
            message = f"needs {rank} dimensions, not {call.described(position)}"
            raise call.shape_error(message, position)
    _check_batches_and_times(call)
    if query is None:
        return None
    heads, kv_heads = call.integer("q_num_heads", 1), call.integer("kv_num_heads", 1)
    wide = symbolic.floordiv(value[2], kv_heads) if value is not None and len(value) == 3 else None
    deep = symbolic.floordiv(key[2], kv_heads) if key is not None and len(key) == 3 else None
    state = tensor(call.dtype(3) or dtype, meet((query[0], kv_heads, deep, wide), call.shape(3)))
    width = _packed_width(heads, (None, kv_heads, None, wide), value)
    return tensor(dtype, (*query[:2], width)), state


def _check_batches_and_times(call: Call) -> None:
    """Every input of `LinearAttention` has the query's batches, and all but the state have its times."""
    query = call.shape(0)
    for position in range(1, 6):
        shape = call.shape(position) if call.input(position) is not None else None
        if query is None or shape is None:
            continue
        for axis, called in enumerate(("batch", "length") if position != 3 else ("batch",)):
            if symbolic.compare_equal(query[axis], shape[axis]) is False:
                raise call.shape_error(
                    f"needs one {called} for all, not {query[axis]} and {shape[axis]} in {call.described(0)} "
                    f"and {call.described(position)}",
                    position,
                )

"""ONNX Runtime's own operators, domain `com.microsoft`: the ones its optimizer and language models use most.

Written from the operators' documentation: these schemas carry no inference that Python can call.
"""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.rules.elementwise import broadcast_inputs, same_as_input
from onnxsmith.schema.inference.rules.matmul import product_shape
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape

_DOMAIN = "com.microsoft"


@rule("Gelu", "FastGelu", "QuickGelu", "BiasGelu", "ScaledSiLU", "BiasSoftmax", "BiasAdd", domain=_DOMAIN)
@rule("RotaryEmbedding", "GroupNorm", "Trilu", "Inverse", "MoE", "QMoE", domain=_DOMAIN)
@rule("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", domain=_DOMAIN)
def like_first(call: Call) -> Result:
    return same_as_input(call)


@rule("SkipGroupNorm", domain=_DOMAIN)
def skip_group_norm(call: Call) -> Result:
    out = tensor(call.dtype(0), call.shape(0))
    return out, out


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=_DOMAIN)
def skip_layer_normalization(call: Call) -> Result:
    shape = call.shape(0)
    out = tensor(call.dtype(0, 1, 2), shape)
    statistics = tensor(DType.FLOAT, (*shape[:-1], 1) if shape else None)
    return out, statistics, statistics, out


@rule("EmbedLayerNormalization", domain=_DOMAIN)
def embed_layer_normalization(call: Call) -> Result:
    words, table = call.shape(0), call.shape(2)
    if words is None or len(words) != 2:
        return None
    out = tensor(call.dtype(2, 3), (*words, table[-1] if table else None))
    return out, tensor(DType.INT32, None if call.attribute("mask_index_type") else words[:1]), out


@rule("BiasDropout", domain=_DOMAIN)
def bias_dropout(call: Call) -> Result:
    return tensor(call.dtype(0, 1), call.shape(0)), tensor(DType.BOOL, call.shape(0))


@rule("MurmurHash3", domain=_DOMAIN)
def murmur_hash(call: Call) -> Result:
    return (tensor(DType.UINT32 if call.integer("positive", 1) else DType.INT32, call.shape(0)),)


@rule("ExpandDims", domain=_DOMAIN)
def expand_dims(call: Call) -> Result:
    shape, axis = call.shape(0), call.entry(1)
    if shape is None:
        return (tensor(call.dtype(0), None),)
    rank = len(shape) + 1
    if not isinstance(axis, int):
        return (tensor(call.dtype(0), (None,) * rank),)
    if not -rank <= axis < rank:
        raise call.shape_error(
            f"cannot put axis {axis} into {call.described(0)}: it is from {-rank} to {rank - 1}", 1
        )
    axis = axis + rank if axis < 0 else axis
    return (tensor(call.dtype(0), (*shape[:axis], 1, *shape[axis:])),)


@rule("Unique", domain=_DOMAIN)
def unique(call: Call) -> Result:
    shape = call.shape(0)
    length = shape[0] if shape else None
    return tensor(call.dtype(0), (None,)), tensor(DType.INT64, (length,)), tensor(DType.INT64, (None,))


@rule("CDist", domain=_DOMAIN)
def pairwise_distances(call: Call) -> Result:
    left, right = call.shape(0), call.shape(1)
    return (tensor(call.dtype(0, 1), (left[0] if left else None, right[0] if right else None)),)


@rule("QLinearAdd", "QLinearMul", domain=_DOMAIN)
def qlinear_arithmetic(call: Call) -> Result:
    return (tensor(call.dtype(0, 3), broadcast_inputs(call, (0, 3))),)


@rule("QLinearWhere", domain=_DOMAIN)
def qlinear_where(call: Call) -> Result:
    return (tensor(call.dtype(1, 4), broadcast_inputs(call, (0, 1, 4))),)


@rule("QLinearGlobalAveragePool", domain=_DOMAIN)
def qlinear_global_average_pool(call: Call) -> Result:
    shape = call.shape(0)
    if shape is None or len(shape) < 3:
        return (tensor(call.dtype(0), None),)
    ones = (1,) * (len(shape) - 2)
    is_last = call.integer("channels_last", 0) != 0
    return (tensor(call.dtype(0), (shape[0], *ones, shape[-1]) if is_last else (*shape[:2], *ones)),)


@rule("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", domain=_DOMAIN)
def matmul_of_packed_weights(call: Call) -> Result:
    shape, columns = call.shape(0), call.attribute("N")
    return (tensor(call.dtype(0), None if shape is None else (*shape[:-1], columns)),)


@rule("GemmFastGelu", domain=_DOMAIN)
def matmul_and_gelu(call: Call) -> Result:
    return (tensor(call.dtype(0, 1, 2), product_shape(call, 1, call.shape(0), call.shape(1))),)


@rule("Attention", domain=_DOMAIN)
def attention(call: Call) -> Result:
    """Queries, keys and values are one product of the input; its width is divided between them."""
    shape, weights, bias, dtype = call.shape(0), call.shape(1), call.shape(2), call.dtype(0, 1, 2)
    if shape is None or len(shape) != 3:
        return (tensor(dtype, None),)
    sizes = call.integers("qkv_hidden_sizes")
    width: Dimension = None
    if sizes:
        if len(sizes) != 3:
            message = f"needs the widths of queries, keys and values in qkv_hidden_sizes, not {sizes}"
            raise call.attribute_error("qkv_hidden_sizes", message)
        width = sizes[2]
    elif weights is not None and len(weights) == 2:
        width = symbolic.floordiv(weights[1], 3)
    elif bias:
        width = symbolic.floordiv(bias[0], 3)
    return tensor(dtype, (*shape[:2], width)), tensor(
        dtype, (2, shape[0], call.attribute("num_heads"), None, None)
    )


@rule("MultiHeadAttention", domain=_DOMAIN)
def multi_head_attention(call: Call) -> Result:
    query, value, dtype = call.shape(0), call.shape(2), call.dtype(0, 1, 2)
    if query is None or len(query) not in (3, 5):
        return (tensor(dtype, None),)
    if len(query) == 5:  # (batch, length, heads, 3, head size)
        width = symbolic.mul(query[2], query[4])
    elif value is None:
        width = query[2] if call.input(2) is None else None
    else:
        width = value[2] if len(value) == 3 else symbolic.mul(value[1], value[3]) if len(value) == 4 else None
    present: Shape = (query[0], call.attribute("num_heads"), None, None)
    return tensor(dtype, (*query[:2], width)), tensor(dtype, present), tensor(dtype, present)


@rule("GroupQueryAttention", domain=_DOMAIN)
def group_query_attention(call: Call) -> Result:
    query, dtype = call.shape(0), call.dtype(0, 1, 2)
    if query is not None and len(query) < 2:
        raise call.shape_error(f"needs a batch and more, not {call.described(0)}", 0)
    heads, shared = call.attribute("num_heads"), call.attribute("kv_num_heads")
    out: Shape | None = query
    if (
        call.input(1) is None and query is not None and heads and shared
    ):  # queries, keys and values side by side
        size = symbolic.floordiv(query[-1], heads + 2 * shared)
        out = (*query[:-1], symbolic.mul(size, heads))
    cache = call.dtype(3, 4) or (dtype if call.input(3) is None else None)
    past = call.shape(3)
    present = (
        None if query is None else (query[0], shared, None, past[3] if past and len(past) == 4 else None)
    )
    return tensor(dtype, out), tensor(cache, present), tensor(cache, present)

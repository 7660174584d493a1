"""Scaled dot-product attention."""

from __future__ import annotations

from onnxsmith.algorithms.attention import attention, logarithms_of_weights
from onnxsmith.algorithms.values import converted
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType


@translates("aten.scaled_dot_product_attention.default")
def scaled_dot_product_attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | Number | None = None,
    enable_gqa: bool = False,
) -> Translated:
    if call.dtype is DType.BFLOAT16 and not dropout_p:
        # torch adds up in single precision, and rounds once. Eight bits for each step are 4 to 14 times further off.
        query, key, value = (converted(each, DType.FLOAT) for each in (query, key, value))
        if attn_mask is not None and attn_mask.dtype is not DType.BOOL:
            attn_mask = converted(attn_mask, DType.FLOAT)
    result = attention(
        query,
        key,
        value,
        attn_mask,
        dropout=dropout_p,
        is_causal=is_causal,
        scale=scale,
        is_grouped=enable_gqa,
    )
    return converted(result, call.dtype)


@translates("aten._scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention_for_cpu(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> Translated:
    """The result, and the logarithm of what the weights of each query were divided by."""
    result = scaled_dot_product_attention(
        call, query, key, value, attn_mask, dropout_p, is_causal, scale=scale
    )
    return [result, logarithms_of_weights(query, key, attn_mask, is_causal=is_causal, scale=scale)]


@translates("higher_order.flex_attention")
def flex_attention(call: Call, *args: object, **kwargs: object) -> Translated:
    raise call.refuse(
        "its score function, which torch compiles for each element alone; "
        "torch.nn.functional.scaled_dot_product_attention with a mask that is added says the same"
    )

"""What the newest opsets brought."""

from onnxsmith import FLOAT, FLOAT8E8M0, INT64, opset23, opset24, opset26, opset27, opset28


def attend(q: FLOAT, k: FLOAT, v: FLOAT) -> FLOAT:
    y, key, value = opset24.Attention(q, k, v, q_num_heads=8, kv_num_heads=2, is_causal=1, outputs=3)
    return y + opset23.Attention(q, key, value, softmax_precision=FLOAT)


def normalize(x: FLOAT, scale: FLOAT) -> FLOAT:
    return opset23.RMSNormalization(x, scale, axis=-1) + opset24.Swish(x, alpha=1.0)


def convert(x: FLOAT) -> FLOAT8E8M0:
    return opset24.Cast(x, to=FLOAT8E8M0, round_mode="nearest")


def cache(past: FLOAT, update: FLOAT, where: INT64) -> FLOAT:
    return opset24.TensorScatter(past, update, where, mode="circular") + opset26.CumProd(past, 0)


def recent(x: FLOAT) -> FLOAT:
    return opset28.Relu(x) + opset27.Softmax(x) + opset28.SpaceToDepth(x, blocksize=2, mode="CRD")


print(attend, normalize, convert, cache, recent)

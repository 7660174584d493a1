"""Elements of less than a byte: how they are made of floats, and how loops collect them."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.scopes import inner_graphs
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import refusal, rewrite
from onnxsmith.types.dtypes import DType

#: Element types of which several share a byte.
_PACKED = frozenset(int(each) for each in DType if 0 < each.bits < 8)
#: Those of them that floats are rounded to.
_NARROW = tuple(map(int, (DType.INT4, DType.UINT4, DType.INT2, DType.UINT2)))

#: Those of two bits: the type of eight that holds them, and their ends.
_TWO_BITS = {DType.INT2: (DType.INT8, -2, 1), DType.UINT2: (DType.UINT8, 0, 3)}


@refusal(
    "Loop",
    "what a loop collects is copied as if each element had a byte, which ends the process",
    probe="g (float[N] x, int64 n) => (float[K, N] y) {"
    " c = Constant <value_int = 1> () go = Cast <to = 9> (c)"
    " scale = Constant <value_float = 1.0> () zero = Constant <value = uint4 {0}> ()"
    " last, each = Loop (n, go, x) <body = b (int64 i, bool on, float[N] now)"
    " => (bool on_out, float[N] next, uint4[N] one)"
    " { on_out = Identity(on) next = Identity(now) one = QuantizeLinear(now, scale, zero) }>"
    " y = DequantizeLinear(each, scale, zero) }",
    given={"x": np.arange(5, dtype=np.float32), "n": np.array(3)},
    right=[np.tile(np.arange(5, dtype=np.float32), (3, 1))],
    since=21,
)
def collects_whole_bytes(site: Site) -> str | None:
    # By what the body declares: to infer types would cost every model with a body. What is carried is copied right, and
    # so is what an If gives; kernels for such elements are not found where they are the first that comes out.
    for body in inner_graphs(site.node):
        for each in body.output[len(body.input) - 1 :]:
            if each.type.tensor_type.elem_type in _PACKED:
                return "a loop does not collect elements of less than a byte right"
    return None


@rewrite(
    ("Cast", "CastLike"),
    "floats are rounded to integers of four bits or two, where a cast cuts off what is behind the point",
    probe="g (float[N] x) => (int32[N] y) { t = Cast <to = 21> (x) y = Cast <to = 6> (t) }",
    given={"x": np.array([1.5], np.float32)},
    right=[np.array([1], np.int32)],
    since=21,
    first="1.23",
    is_ordinary=True,
)
def cut_off_first(site: Site) -> bool:
    wanted = site.dtype(1) if site.node.op_type == "CastLike" else site.integer("to", 0)
    if wanted not in _NARROW:
        return False  # before anything asks for types: casts are in most models
    dtype = site.dtype(0)
    if dtype is None or not dtype.is_float:
        return False
    site.same_node([site.emit.cast(site.input(0), DType.INT32), *site.node.input[1:]])
    return True


@rewrite(
    "QuantizeLinear",
    "quotients past 32 bits become the lowest integer of two bits, where they saturate",
    probe="g (float[N] x) => (float[N] y) { scale = Constant <value_float = 1.0> ()"
    " zero = Constant <value = int2 {0}> () t = QuantizeLinear(x, scale, zero) y = DequantizeLinear(t, scale, zero) }",
    given={"x": np.array([3e9, -3e9], np.float32)},
    right=[np.array([1, -2], np.float32)],
    opset=25,
    since=25,
    first="1.24",
)
def saturate_in_eight_bits(site: Site) -> bool:
    narrow = site.dtype(2) if site.has(2) else site.integer("output_dtype", 0)
    found = next((each for each in _TWO_BITS if each == narrow), None)
    if found is None:
        return False
    wide, least, most = _TWO_BITS[found]
    emit, inputs = site.emit, list(site.node.input)
    if site.has(2):
        inputs[2] = emit.cast(inputs[2], wide)
    quantized = emit.names.after(site.output(0))
    site.same_node(inputs, [quantized], changed={"output_dtype": int(wide)})
    within = emit.op("Clip", quantized, emit.constant(least, wide), emit.constant(most, wide))
    emit.cast(within, found, into=site.output(0))
    return True

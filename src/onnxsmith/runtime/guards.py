"""Checks before a call, for operators that would take the process down, or give nonsense, on some inputs.

Tables from operator to check; a check returns what is wrong in plain words, or None. What an operator means is not
repeated here: shapes are judged by ONNX's own inference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper, shape_inference

from onnxsmith.runtime.failure import plain_reason
from onnxsmith.runtime.guard_rules import RULES, Check, Refusal
from onnxsmith.runtime.memory import memory_objection, usable_memory
from onnxsmith.runtime.single_node import Call, make_node, type_proto
from onnxsmith.types.dtypes import DType

#: ONNX Runtime takes shapes on trust in these: it divides by what should not be zero, reads or writes past the end,
#: or hands out memory that nothing was written to. Found by `tests/laws`.
_SHAPES_ON_TRUST = frozenset(
    """
    AffineGrid Attention AveragePool BatchNormalization BlackmanWindow CausalConvWithState CenterCropPad
    Col2Im Concat ConstantOfShape Conv ConvInteger ConvTranspose DFT DeformConv DepthToSpace Einsum Expand
    EyeLike FlexAttention GRU GatherND GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample
    GroupNormalization HammingWindow HannWindow InstanceNormalization LSTM LayerNormalization
    LinearAttention LpPool MaxPool MaxRoiPool MaxUnpool NegativeLogLikelihoodLoss OneHot Pad QLinearConv
    RMSNormalization RNN RandomNormal RandomUniform Resize ReverseSequence RoiAlign RotaryEmbedding STFT
    Scatter ScatterElements ScatterND SoftmaxCrossEntropyLoss SpaceToDepth Split TensorScatter Tile TopK
    Upsample
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)

#: Operators that broadcast, so that small inputs may ask for a huge result.
_BROADCAST = frozenset(
    """
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual
    MatMul MatMulInteger Max Mean Min Mod Mul Or Pow Sub Sum Where Xor
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)

#: Inputs whose values decide shapes, by the schema's name.
_DECIDE_SHAPES = frozenset(
    """
    K axes axis crop_size depth dft_length frame_length frame_step image_shape block_shape k output_shape
    pads repeats scales shape signal_ndim size sizes split target_size
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)

_MOST_SHAPES = 256
_MOST_VALUES = 256


def guard_for(call: Call) -> Check | None:
    """The check for a call, or None when its operator needs none."""
    if call.op.domain not in ("", "ai.onnx.preview"):
        return None
    checks: list[Check] = []
    rule = RULES.get(call.op.name)
    if rule is not None and (check := rule(call)) is not None:
        if isinstance(check, Refusal):
            return check
        checks.append(check)
    if call.op.name in _SHAPES_ON_TRUST and call.op.is_known and call.opset_version is None:
        checks.append(_inference_check(call))
    if call.op.name in _BROADCAST:
        checks.append(_broadcast_check(call))
    if not checks:
        return None
    if len(checks) == 1:
        return checks[0]
    first, second = checks  # no operator has more

    def both(inputs: Sequence[Any]) -> str | None:
        return first(inputs) or second(inputs)

    return both


def _inference_check(call: Call) -> Check:
    """Ask ONNX's inference about the shapes of a call, once for each combination of shapes."""
    names = [each.name for each in call.op.inputs]
    valued = [k for k in range(len(call.input_types)) if k < len(names) and names[k] in _DECIDE_SHAPES]
    if call.op.name == "ConstantOfShape":
        valued = [0]
    verdicts: dict[Any, str | None] = {}

    def check(inputs: Sequence[Any]) -> str | None:
        try:
            key: list[Any] = [None if each is None else each.shape for each in inputs]
            key.extend(
                inputs[k].tobytes()
                for k in valued
                if inputs[k] is not None and inputs[k].size <= _MOST_VALUES
            )
        except AttributeError:  # a sequence; nothing is known of its elements' shapes
            return None
        found = tuple(key)
        try:
            return verdicts[found]
        except KeyError:
            if len(verdicts) >= _MOST_SHAPES:
                verdicts.clear()
            verdict = verdicts[found] = _verdict(call, inputs, valued)
            return verdict

    return check


def _verdict(call: Call, inputs: Sequence[Any], valued: Sequence[int]) -> str | None:
    schema = defs.get_schema(call.op.name, call.op.since_version, call.op.domain)
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    for position, (name, value_type, value) in enumerate(
        zip(call.input_names, call.input_types, inputs, strict=False)
    ):
        if value_type is None or value is None:
            continue
        proto = types[name] = type_proto(value_type, value.ndim)
        for dimension, length in zip(proto.tensor_type.shape.dim, value.shape, strict=True):
            dimension.dim_value = length
        if position in valued and value.size <= _MOST_VALUES:
            data[name] = numpy_helper.from_array(value)
    try:
        inferred = shape_inference.infer_node_outputs(
            schema,
            make_node(call),
            types,
            data,
            opset_imports=[helper.make_opsetid(call.op.domain, call.op.since_version)],
        )
    except Exception as error:
        return plain_reason(error)
    return next(filter(None, map(_too_large, inferred.values())), None)


def _broadcast_check(call: Call) -> Check:
    """Refuse a result that cannot fit into memory: two vectors of a million numbers make a matrix of a trillion."""
    dtype = next((each for each in reversed(call.input_types) if isinstance(each, DType)), DType.DOUBLE)
    # More elements than this can come of two inputs only if the product of their sizes is larger still, which is
    # all that is looked at on a usual call.
    limit = usable_memory() // 16

    def check(inputs: Sequence[Any]) -> str | None:
        possible = 1
        for each in inputs:
            if each is not None:
                possible *= each.size
        if possible <= limit:
            return None
        return _broadcast_objection(inputs, dtype, call.op.name == "MatMul")

    return check


def _broadcast_objection(inputs: Sequence[Any], dtype: DType, is_product: bool) -> str | None:
    shapes = [each.shape for each in inputs if each is not None]
    try:
        if is_product:
            left, right = shapes
            batch = np.broadcast_shapes(left[:-2], right[:-2])
            return memory_objection((*batch, *left[-2:-1], *right[-1:][: len(right) - 1]), dtype)
        return memory_objection(np.broadcast_shapes(*shapes), dtype)
    except ValueError:
        return None  # they do not fit together, which the runtime says better


def _too_large(proto: onnx.TypeProto) -> str | None:
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return None
    shape = [dimension.dim_value for dimension in tensor.shape.dim if dimension.HasField("dim_value")]
    if any(length < 0 for length in shape):
        return f"the result would have a negative dimension: {tuple(shape)}"
    if len(shape) < len(tensor.shape.dim):
        return None
    return memory_objection(tuple(shape), DType(tensor.elem_type))

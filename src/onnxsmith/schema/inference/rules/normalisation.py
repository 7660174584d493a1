"""Normalisations, softmax, dropout and losses: outputs shaped like the input, and statistics beside them."""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import meet_dimension
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.rules.elementwise import same_as_input
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, describe_shape, shapes_differ, sizes_differ


@rule("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def along_axis(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and call.attributes:
        is_last = call.op.since_version >= 13 or call.op.name == "LpNormalization"
        call.axis("axis", -1 if is_last else 1, 0, len(shape))
    order = call.integer("p", 2)
    if call.op.name == "LpNormalization" and order not in (1, 2):
        raise call.attribute_error("p", f"normalises with p of 1 or 2, not {order}")
    return same_as_input(call)


@rule("InstanceNormalization", "GroupNormalization", "LRN", "MeanVarianceNormalization", "RotaryEmbedding")
def normalise(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and len(shape) < 2:
        raise call.shape_error(f"needs a batch and a channel axis, not {call.described(0)}", 0)
    if call.op.name == "MeanVarianceNormalization" and shape is not None:
        call.check_axes(call.integers("axes") or (0, 2, 3), "axes", len(shape), may_repeat=True)
    return same_as_input(call)


@rule("LayerNormalization")
def layer_normalization(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    _check_precision(call)
    statistics = call.given_dtype("stash_type") or DType.FLOAT
    reduced = None
    if shape is not None:
        axis = call.axis("axis", -1, 0, len(shape))
        reduced = shape[:axis] + (1,) * (len(shape) - axis)
    return tensor(dtype, shape), tensor(statistics, reduced), tensor(statistics, reduced)


@rule("RMSNormalization")
def rms_normalization(call: Call) -> Result:
    shape = call.shape(0)
    _check_precision(call)
    if shape is not None:
        call.axis("axis", -1, 0, len(shape))
    return (tensor(call.dtype(1), shape),)


def _check_precision(call: Call) -> None:
    stash = call.given_dtype("stash_type")
    if stash is not None and not stash.is_float:
        raise call.attribute_error(
            "stash_type", f"cannot normalise in stash_type={int(stash)}, {stash.spelling}"
        )


@rule("BatchNormalization")
def batch_normalization(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    channels: Dimension = None
    if shape is not None:
        if len(shape) < 2:
            channels = 1
        else:
            channels = shape[1]
    for position in range(1, 5):
        given = call.shape(position)
        if given is None:
            continue
        if len(given) != 1:
            raise call.shape_error(f"needs one value per channel, not {call.described(position)}", position)
        if sizes_differ(channels, given[0]):
            raise call.shape_error(
                f"cannot apply {call.described(position)} to {call.described(0)}: "
                f"the input has {channels} channels",
                position,
            )
        channels = meet_dimension(channels, given[0])
    statistics = tensor(call.dtype(3, 4), (channels,))
    return tensor(dtype, shape), statistics, statistics, statistics, statistics


@rule("Dropout")
def dropout(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    mask = dtype if call.op.since_version < 10 else DType.BOOL
    return tensor(dtype, shape), tensor(mask, shape)


@rule("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(call: Call) -> Result:
    dtype = call.dtype(0, 2)
    scores, labels, weights = call.shape(0), call.shape(1), call.shape(2)
    if scores is not None and len(scores) < 2:
        raise call.shape_error(f"needs a batch and a class axis, not {call.described(0)}", 0)
    if weights is not None and len(weights) != 1:
        raise call.shape_error(f"needs one weight for each class, not {call.described(2)}", 2)
    if scores is not None and labels is not None and len(labels) != len(scores) - 1:
        raise call.shape_error(
            f"needs {call.input_name(1)} of rank {len(scores) - 1} for {call.described(0)}, "
            f"not {call.described(1)}",
            1,
        )
    if scores is not None and labels is not None:
        wanted = (*scores[:1], *scores[2:])
        if shapes_differ(wanted, labels):
            raise call.shape_error(
                f"needs {call.input_name(1)} of shape {describe_shape(wanted)} for {call.described(0)}, "
                f"not {call.described(1)}",
                1,
            )
    if scores is not None and weights is not None and symbolic.compare_equal(scores[1], weights[0]) is False:
        raise call.shape_error(
            f"needs one weight for each class, not {call.described(2)} for {call.described(0)}", 2
        )
    is_scalar = call.string("reduction", "mean") != "none"
    return tensor(dtype, () if is_scalar else labels), tensor(dtype, scores)

"""Axes that count from the end, and operators whose axis meant all that follows it."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.passes.values import dimensions, fixed_shape, rank
from onnxsmith.passes.versions.step import AS_IT_IS, DECLARE_SHAPES, Answer, Refusal, Step, down


@down("Hardmax", "LogSoftmax", "Softmax", since=13)
def one_axis_last(step: Step) -> Answer:
    """Until opset 12 all axes from one on were one: the axis that is meant is put last."""
    axis = step.axis(-1)
    data = step.required(0)
    dimensions = rank(data)
    if axis == -1 or (dimensions is not None and axis % dimensions == dimensions - 1):
        return step.with_inputs(axis=-1 if dimensions is None else dimensions - 1)
    count = step.rank_of(0, "and before opset 13 only the last axis can be normalised along")
    order = [*(each for each in range(count) if each != axis % count), axis % count]
    back = [order.index(each) for each in range(count)]
    (result,) = step.again(step.op("Transpose", data, perm=order), axis=count - 1)
    return step.op("Transpose", result, perm=back)


@down(
    "ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "ReduceL1", "ReduceL2",
    "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "Softmax", "Split", "Squeeze", "Unsqueeze", since=11,
)  # fmt: skip
def axes_from_the_front(step: Step) -> Answer:
    """Negative axes are counted from the front; the rank has to be known for that."""
    changed: dict[str, ir.Attr] = {}
    for name in ("axis", "axes"):
        attribute = step.node.attributes.get(name)
        if attribute is None:
            continue
        step.not_a_reference(name)
        is_one = attribute.type == ir.AttributeType.INT
        axes = [attribute.as_int()] if is_one else list(attribute.as_ints())
        if min(axes, default=0) >= 0:
            continue
        count = step.rank_of(0, "and axes are counted from the front before opset 11")
        count += len(axes) if step.node.op_type == "Unsqueeze" else 0
        front = [each % count for each in axes]
        changed[name] = ir.AttrInt64(name, front[0]) if is_one else ir.AttrInt64s(name, front)
    return step.again(*step.node.inputs, attributes=changed) if changed else AS_IT_IS


@down("Gather", since=11)
def indices_from_the_front(step: Step) -> Answer:
    """Negative indices count from the end; before opset 11 there were none."""
    count = step.rank_of(0, "and axes are counted from the front before opset 11")
    axis = step.axis(0) % count
    known = step.array(1)
    indices = step.required(1)
    if known is None or (known.astype(int) < 0).any():
        dtype = step.dtype_of(1, "and it is compared with 0")
        if step.at < 9:
            raise Refusal(
                "its indices may be negative, which Gather takes since opset 11, and which is not asked before opset 9",
                "make its indices a constant",
            )
        size = step.op("Gather", step.op("Shape", step.required(0)), step.constant(axis, "axis"))
        size = step.op("Cast", size, to=int(dtype))
        zero = step.number_constant(0, dtype, "zero")
        indices = step.op("Where", step.op("Less", indices, zero), step.op("Add", indices, size), indices)
        return step.again(step.input(0), indices, axis=axis)
    return AS_IT_IS if step.axis(0) >= 0 else step.with_inputs(axis=axis)


@down("Slice", since=11)
def slice_axes_from_the_front(step: Step) -> Answer:
    """Axes that are slices are along were counted from the front."""
    axes = step.ints(3, "axes")
    if axes is None or min(axes, default=0) >= 0:
        return AS_IT_IS
    count = step.rank_of(0, "and axes are counted from the front before opset 11")
    inputs = list(step.node.inputs)
    inputs[3] = step.int_constant([each % count for each in axes], "axes")
    return step.again(*inputs)


@down("Max", "Mean", "Min", "Sum", since=8)
def of_one_shape(step: Step) -> Answer:
    """All inputs had one shape before opset 8."""
    shapes = [dimensions(value) for value in step.node.inputs]
    is_known = all(shape is not None and None not in shape for shape in shapes)
    if len(shapes) == 1 or (is_known and len({*shapes}) == 1):
        return AS_IT_IS
    raise Refusal(
        f"its inputs may be broadcast, which {step.node.op_type} does since opset 8", DECLARE_SHAPES
    )


@down("If", since=11)
def branches_of_one_shape(step: Step) -> Answer:
    """Checks that both branches give one shape, as they had to before opset 11."""
    outputs = [graph.outputs for graph in bodies_of(step.node)]
    for values in zip(*outputs, strict=False):
        shapes = [dimensions(each) for each in values]
        ranks = {len(each) for each in shapes if each is not None}
        sizes = zip(*(each for each in shapes if each is not None), strict=False)
        if len(ranks) > 1 or any(len({size for size in each if isinstance(size, int)}) > 1 for each in sizes):
            raise Refusal("its branches give values of several shapes, which If allows since opset 11")
    return AS_IT_IS


@down("Loop", since=11)
def loop_with_state(step: Step) -> Answer:
    """A loop carried something before opset 11."""
    if len(step.node.inputs) < 3:
        raise Refusal("it carries nothing from turn to turn, which Loop allows since opset 11")
    return AS_IT_IS


@down("Scan", since=11)
def scan_axes_from_the_front(step: Step) -> Answer:
    """Axes of scans were counted from the front."""
    for name in ("scan_input_axes", "scan_output_axes"):
        attribute = step.node.attributes.get(name)
        if attribute is not None and (attribute.is_ref() or min(attribute.as_ints(), default=0) < 0):
            raise Refusal(f"its {name} may count from the end, which they do since opset 11")
    return AS_IT_IS


@down("DequantizeLinear", "QuantizeLinear", since=13)
def one_scale(step: Step) -> Answer:
    """There was one scale for the whole tensor before opset 13."""
    if fixed_shape(step.input(1)) not in ((), (1,)):
        raise Refusal(
            f"it has a scale for each slice, which {step.node.op_type} takes since opset 13; there was one before"
        )
    return step.again(*step.node.inputs, without=["axis"])

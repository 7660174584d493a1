"""Shapes and places: parts of a shape, sizes of zero, and scattering that adds to what is there."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.values import dimensions, fixed_shape, int_attribute
from onnxsmith.passes.versions.step import Answer, Step, down
from onnxsmith.schema.inference.symbolic import is_at_least


@down("Shape", since=15)
def shape_then_slice(step: Step) -> Answer:
    """The whole shape, and a slice of it."""
    step.not_a_reference("start", "end")
    whole = step.op("Shape", step.required(0))
    start = int_attribute(step.node, "start", 0)
    end = int_attribute(step.node, "end", np.iinfo(np.int64).max)
    return step.op("Slice", whole, step.int_constant([start], "start"), step.int_constant([end], "end"))


@down("Reshape", since=14)
def zero_sizes_without_allowzero(step: Step) -> Answer:
    """A 0 was the size that the data has there: data of no elements is made anew, in the shape that is asked for."""
    data, shape = step.required(0), step.required(1)
    known = step.numbers(1)
    if (0 not in known) if known is not None else _is_never_zero(step, data, shape):
        return step.again(data, shape, without=["allowzero"])
    dtype = step.dtype_of(0, "and data of no elements is made anew")
    if known is not None:
        return _nothing(step, shape, dtype)
    zeros = step.op("Equal", shape, step.int_constant([0], "zero"))
    count = step.op("ReduceSum", step.op("Cast", zeros, to=int(ir.DataType.INT64)), keepdims=0)
    is_empty = step.op("Greater", count, step.constant(0, "zero"))
    branches: list[ir.Graph] = []
    for inner in (_Inner(step), _Inner(step)):
        result = _nothing(inner, shape, dtype) if not branches else inner.op("Reshape", data, shape)
        result.type = data.type
        branches.append(ir.Graph([], [result], nodes=inner.made, name="reshaped"))
    return step.op("If", is_empty, then_branch=branches[0], else_branch=branches[1])


def _is_never_zero(step: Step, data: ir.Value, shape: ir.Value) -> bool:
    """True if a 0 in the shape means the same with and without `allowzero`, or cannot be there.

    It means the same where the data has that size in the same dimension. With all sizes of the data known and none of
    them 0, there are elements to put somewhere.
    """
    sizes = fixed_shape(data)
    if sizes is not None and 0 not in sizes:
        return True
    entries, dims = step.entries(1), dimensions(data) or ()
    if entries is None:
        return False
    return all(
        each is not None
        and (
            (isinstance(each, int) and each != 0)
            or is_at_least(each, 1)
            or dims[place : place + 1] == (each,)
        )
        for place, each in enumerate(entries)
    )


class _Inner(Step):
    """Nodes for a branch: made as others are, and put there."""

    def __init__(self, step: Step) -> None:
        super().__init__(step.edit, step.node, step.since, step.at, step.target)


def _nothing(step: Step, shape: ir.Value, dtype: ir.DataType) -> ir.Value:
    zeros = step.op("ConstantOfShape", shape)
    return zeros if dtype == ir.DataType.FLOAT else step.op("Cast", zeros, to=int(dtype))

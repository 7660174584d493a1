"""Element types that a newer version added, where a wider one gives the same; and Trilu, which has no function."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.versions.step import Answer, Step, down

_SMALL = {ir.DataType.INT8, ir.DataType.INT16, ir.DataType.UINT8, ir.DataType.UINT16}


@down("Add", "Div", "Mul", "Sub", since=14)
def in_wider_integers(step: Step) -> Answer:
    """Small integers are computed as larger ones, and cut off: as they wrap around."""
    dtype = step.dtype_of(0, "and older versions take fewer")
    if dtype not in _SMALL:
        raise step.not_taken()
    wide = [step.op("Cast", step.required(k), to=int(ir.DataType.INT32)) for k in (0, 1)]
    (result,) = step.again(*wide)
    return step.op("Cast", result, to=int(dtype))


@down("ReduceMax", "ReduceMin", since=20)
def of_truth_values(step: Step) -> Answer:
    """The larger of two truth values is that of the numbers 0 and 1."""
    if step.dtype_of(0, "and older versions take fewer") != ir.DataType.BOOL:
        raise step.not_taken()
    numbers = step.op("Cast", step.required(0), to=int(ir.DataType.UINT8))
    (result,) = step.again(numbers, *step.node.inputs[1:])
    return step.op("Cast", result, to=int(ir.DataType.BOOL))


@down("IsInf", since=20)
def of_wider_floats(step: Step) -> Answer:
    """FLOAT holds what narrower types do, infinity too."""
    if step.dtype_of(0, "and older versions take fewer") not in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16):
        raise step.not_taken()
    return step.again(step.op("Cast", step.required(0), to=int(ir.DataType.FLOAT)))


@down("Trilu", since=14)
def below_the_diagonal(step: Step) -> Answer:
    """Rows and columns are counted, and compared."""
    data = step.required(0)
    dtype = step.dtype_of(0, "and what is cut out is 0 of that type")
    shape = step.op("Shape", data)
    zero, one = step.constant(0, "zero"), step.constant(1, "one")
    counts = [
        step.op("Range", zero, step.op("Gather", shape, step.constant(place, "place")), one)
        for place in (-2, -1)
    ]
    rows = step.unsqueezed(counts[0], [1])
    if step.input(1) is not None:
        rows = step.op("Add", rows, step.required(1))
    if step.axis(1, "upper"):
        is_kept = step.op("Not", step.op("Greater", rows, counts[1]))
    else:
        is_kept = step.op("Not", step.op("Less", rows, counts[1]))
    return step.op("Where", is_kept, data, step.number_constant(0, dtype, "nothing"))

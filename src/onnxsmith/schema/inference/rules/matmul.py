"""Matrix products: `MatMul`, `Gemm`, `Einsum` and the integer and fused forms of them."""

from __future__ import annotations

import re

from onnxsmith.errors import ShapeError
from onnxsmith.schema.einsum_equation import read_equation
from onnxsmith.schema.inference.broadcasting import Mismatch, broadcast, broadcast_dimension
from onnxsmith.schema.inference.call import Call, Result, counted, rule, tensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, describe_shape, sizes_differ


@rule("MatMul")
def matmul(call: Call) -> Result:
    return (tensor(call.dtype(0, 1), product_shape(call, 1, call.shape(0), call.shape(1))),)


@rule("MatMulInteger")
@rule("MatMulInteger16", domain="com.microsoft")
def matmul_integer(call: Call) -> Result:
    return (tensor(DType.INT32, product_shape(call, 1, call.shape(0), call.shape(1))),)


@rule("QLinearMatMul")
def qlinear_matmul(call: Call) -> Result:
    return (tensor(call.dtype(7), product_shape(call, 3, call.shape(0), call.shape(3))),)


@rule("MatMulIntegerToFloat", domain="com.microsoft")
def matmul_integer_to_float(call: Call) -> Result:
    return (tensor(call.dtype(2, 3), product_shape(call, 1, call.shape(0), call.shape(1))),)


@rule("DynamicQuantizeMatMul", domain="com.microsoft")
def dynamic_quantize_matmul(call: Call) -> Result:
    return (tensor(call.dtype(0), product_shape(call, 1, call.shape(0), call.shape(1))),)


@rule("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", domain="com.microsoft")
def fused_matmul(call: Call) -> Result:
    if call.integer("transBatchA", 0) or call.integer("transBatchB", 0):
        return (tensor(call.dtype(0, 1), None),)
    turned = (call.integer("transA", 0), call.integer("transB", 0))
    left, right = _transposed(call.shape(0), turned[0]), _transposed(call.shape(1), turned[1])
    return (tensor(call.dtype(0, 1), product_shape(call, 1, left, right, turned)),)


def _transposed(shape: Shape | None, is_transposed: int) -> Shape | None:
    if not is_transposed or shape is None or len(shape) < 2:
        return shape
    return (*shape[:-2], shape[-1], shape[-2])


def product_shape(
    call: Call,
    second: int,
    left: Shape | None,
    right: Shape | None,
    turned: tuple[int, int] = (0, 0),
) -> Shape | None:
    """numpy's `matmul`: the last two axes are matrices, the others are broadcast, a vector loses its axis."""
    if left is None or right is None:
        return None
    if not left or not right:
        position = 0 if not left else second
        raise call.shape_error(f"cannot multiply a scalar: {call.input_name(position)} has no axes", position)
    inner, other = left[-1], right[-2:][0]
    if sizes_differ(inner, other):
        raise _cannot_multiply(call, second, f"the inner dimensions are {inner} and {other}", turned)
    try:
        batch = broadcast(left[:-2], right[:-2])
    except Mismatch as mismatch:
        where = f"the batch dimensions at axis {mismatch.axis - 2} are {mismatch.left} and {mismatch.right}"
        raise _cannot_multiply(call, second, where, turned) from None
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return (*batch, *rows, *columns)


def _cannot_multiply(call: Call, second: int, why: str, turned: tuple[int, int]) -> ShapeError:
    factors = [
        f"the transpose of {call.described(position)}" if is_turned else call.described(position)
        for position, is_turned in zip((0, second), turned, strict=True)
    ]
    return call.shape_error(f"cannot multiply {factors[0]} by {factors[1]}: {why}")


@rule("Gemm")
@rule("FusedGemm", domain="com.microsoft")
def gemm(call: Call) -> Result:
    for position in (0, 1):
        shape = call.shape(position)
        if shape is not None and len(shape) != 2:
            raise call.shape_error(f"multiplies matrices, not {call.described(position)}", position)
    turned = (call.integer("transA", 0), call.integer("transB", 0))
    left = _transposed(call.shape(0), turned[0]) or (None, None)
    right = _transposed(call.shape(1), turned[1]) or (None, None)
    inner, other = left[1], right[0]
    if sizes_differ(inner, other):
        raise _cannot_multiply(call, 1, f"the inner dimensions are {inner} and {other}", turned)
    out = (left[0], right[1])
    _check_addend(call, out)
    return (tensor(call.dtype(0, 1, 2), out),)


def _check_addend(call: Call, out: Shape) -> None:
    addend = call.shape(2)
    if addend is None or (not call.op.domain and call.op.since_version < 7):
        return
    for axis, (size, wanted) in enumerate(zip(addend[::-1], out[::-1], strict=False)):
        if isinstance(size, int) and isinstance(wanted, int) and size not in (1, wanted):
            raise call.shape_error(
                f"cannot add {call.described(2)} to a product of shape {describe_shape(out)}: "
                f"axis {-1 - axis} is {size}, not {wanted} or 1",
                2,
            )
    if len(addend) > 2:
        raise call.shape_error(f"cannot add {call.described(2)} to a matrix", 2)


_LABEL = re.compile(r"\.\.\.|[A-Za-z]")


@rule("Einsum")
def einsum(call: Call) -> Result:
    equation = call.string("equation", "").replace(" ", "")
    read = read_equation(equation)
    if read is None:
        raise call.attribute_error(
            "equation",
            f"cannot read equation={equation!r}: its terms are letters with one ... at most, commas stand between "
            "them, and -> before that of the output",
        )
    terms = [_LABEL.findall(term) for term in read.inputs]
    if len(terms) != len(call.inputs):
        raise call.attribute_error(
            "equation",
            f"has {counted(len(call.inputs), 'input')} but {counted(len(terms), 'term')} in equation={equation!r}",
        )
    sizes: dict[str, Dimension] = {}
    rest: Shape | None = ()
    dtype = call.dtype(*range(len(call.inputs)))
    for position, labels in enumerate(terms):
        shape = call.shape(position)
        extra = "..." in labels
        if shape is None:
            if extra:
                rest = None
            for label in labels:
                sizes.setdefault(label, None)
            continue
        spare = len(shape) - len(labels) + extra
        if spare < 0 or (spare > 0 and not extra):
            raise call.shape_error(
                f"cannot read {call.described(position)} as {read.inputs[position]!r} of equation={equation!r}",
                position,
            )
        rest = _label(call, equation, position, shape, labels, spare, sizes, rest)
    output = _LABEL.findall(read.result)
    for label in output:
        if label != "..." and label not in sizes:
            raise call.attribute_error("equation", f"has no input for {label!r} of equation={equation!r}")
    if rest is None and "..." in output:
        return (tensor(dtype, None),)
    out: list[Dimension] = []
    for label in output:
        out.extend((rest or ()) if label == "..." else (sizes[label],))
    return (tensor(dtype, tuple(out)),)


def _label(
    call: Call,
    equation: str,
    position: int,
    shape: Shape,
    labels: list[str],
    spare: int,
    sizes: dict[str, Dimension],
    rest: Shape | None,
) -> Shape | None:
    """Enter one input's dimensions under their letters; returns what the ellipses so far are broadcast to."""
    axis = 0
    for label in labels:
        if label == "...":
            try:
                rest = None if rest is None else broadcast(rest, shape[axis : axis + spare])
            except Mismatch as mismatch:
                raise call.shape_error(
                    f"cannot broadcast the '...' of {call.described(position)} in equation={equation!r}: "
                    f"{mismatch.left} and {mismatch.right}",
                    position,
                ) from None
            axis += spare
            continue
        size, held = shape[axis], sizes.get(label, 1)
        if sizes_differ(size, held) and 1 not in (size, held):
            raise call.shape_error(
                f"cannot use {call.described(position)} in equation={equation!r}: "
                f"{label!r} is {held} before and {size} here",
                position,
            )
        sizes[label] = broadcast_dimension(held, size)
        axis += 1
    return rest


@rule("Det")
def determinant(call: Call) -> Result:
    shape = call.shape(0)
    if shape is None:
        return (tensor(call.dtype(0), None),)
    rows, columns = shape[-2:] if len(shape) > 1 else (0, 1)
    if sizes_differ(rows, columns):
        raise call.shape_error(f"needs square matrices, not {call.described(0)}", 0)
    return (tensor(call.dtype(0), shape[:-2]),)

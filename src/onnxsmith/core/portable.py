"""StandardOperators whose call form changed between opset versions, written once.

What was an attribute in one version is an input in another; the definition at hand says which. Knows forms, not
meanings: nothing here looks at element types or values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from onnxsmith.core.operands import as_tensor, content_of, dtype_of, is_array, is_static
from onnxsmith.core.operator_protocols import AnyOperator, StandardOperators
from onnxsmith.core.value import Operand, OperandT, Size, TensorOrArray, TensorValue
from onnxsmith.errors import OperatorNotInOpsetError
from onnxsmith.schema.promote import refuse_past_end
from onnxsmith.types.dtypes import DType


def integers(values: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Axes, shapes and the like, as ONNX takes them; LiteralError for one past 64 bits."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        for each in values:
            refuse_past_end(each)
        raise


@overload
def as_int64(op: StandardOperators, value: TensorValue) -> TensorValue: ...
@overload
def as_int64(op: StandardOperators, value: TensorOrArray) -> TensorOrArray: ...
def as_int64(op: StandardOperators, value: TensorOrArray) -> TensorOrArray:
    """An integer tensor or array in the type that every operator takes for indices and shapes."""
    value = as_tensor(value)
    if is_array(value):
        return value.astype(np.int64)
    return value if dtype_of(value) is DType.INT64 else op.Cast(value, to=DType.INT64)


def cast_like(op: StandardOperators, value: Operand, like: Operand) -> TensorValue:
    """A value with the element type of another, which is not known yet: opset 15 has an operator for it."""
    try:
        cast = op.CastLike
    except OperatorNotInOpsetError as error:
        error.needs_values = True  # an element type that is known needs no such operator
        raise
    return cast(value, like)


def vector(op: StandardOperators, entries: Sequence[Size]) -> TensorOrArray:
    """A 1-D INT64 tensor of ints and scalar tensors; an array when all are ints."""
    if is_static(entries):
        return integers(entries)
    parts: list[Any] = []
    for _, run in itertools.groupby(entries, _kind_of_entry):
        group = list(run)
        if is_static(group):
            parts.append(integers(group))
            continue
        sizes = [each for each in group if not isinstance(each, int)]
        taken = [each for each in map(_taken_from, sizes) if each is not None]
        if len(taken) > 1:  # several sizes of one tensor are taken at once
            parts.append(op.Gather(taken[0][0], integers([axis for _, axis in taken])))
        else:
            parts += [unsqueeze(op, as_int64(op, each), (0,)) for each in sizes]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=0)


#: Where a size remembers the shape that it was taken from, and its position there.
TAKEN_FROM = "taken from"


def _taken_from(entry: TensorValue) -> tuple[TensorValue, int] | None:
    value: TensorValue = getattr(entry, "tensor", entry)
    return value.memory().get(TAKEN_FROM)


def _kind_of_entry(entry: Size) -> int:
    """The group of entries that are made at once: 0 for ints, 1 for tensors, else the shape they are from."""
    if isinstance(entry, int):
        return 0
    found = _taken_from(entry)
    return 1 if found is None else id(found[0])


def _takes_attribute(operator: AnyOperator, name: str) -> bool:
    return name in operator.definition.attributes


def unsqueeze(op: StandardOperators, x: OperandT, axes: Sequence[int]) -> OperandT | TensorValue:
    """New dimensions of size 1 at these axes of the result."""
    if not axes:
        return x
    if _takes_attribute(op.Unsqueeze, "axes"):
        return op.Unsqueeze(x, axes=tuple(axes))
    return op.Unsqueeze(x, integers(axes))


def squeeze(op: StandardOperators, x: OperandT, axes: Sequence[int] | None) -> OperandT | TensorValue:
    """Without these dimensions of size 1; without all of them for None."""
    if axes is None:
        return op.Squeeze(x)
    if not axes:
        return x
    if _takes_attribute(op.Squeeze, "axes"):
        return op.Squeeze(x, axes=tuple(axes))
    return op.Squeeze(x, integers(axes))


def reduce(
    op: StandardOperators, kind: str, x: Operand, axes: Sequence[int] | None, keepdims: bool
) -> TensorValue:
    """`Reduce<kind>`, as in `reduce(op, "Sum", x, (0,), False)`; over all axes for None."""
    operator: AnyOperator = getattr(op, f"Reduce{kind}")
    attributes: dict[str, Any] = {} if keepdims else {"keepdims": 0}
    if axes is None:
        return operator(x, **attributes)
    if _takes_attribute(operator, "axes"):
        return operator(x, axes=tuple(axes), **attributes)
    return operator(x, integers(axes), **attributes)


def slice(
    op: StandardOperators,
    x: Operand,
    axes: Sequence[int],
    starts: Sequence[Size],
    ends: Sequence[Size],
    steps: Sequence[Size],
) -> TensorValue:
    """`Slice` along several axes; bounds and steps are ints or scalar INT64 tensors."""
    has_steps = any(content_of(each) != 1 for each in steps)
    if not _takes_attribute(op.Slice, "starts"):
        inputs = [vector(op, starts), vector(op, ends), integers(axes)]
        return op.Slice(x, *inputs, vector(op, steps)) if has_steps else op.Slice(x, *inputs)
    if has_steps or not is_static(starts) or not is_static(ends):
        raise OperatorNotInOpsetError(
            "a slice with a step, or with bounds that are tensors, needs opset 10; "
            f"this graph is of opset {op.version}",
            help="use opset 10 or later",
        )
    return op.Slice(x, axes=tuple(axes), starts=tuple(starts), ends=tuple(ends))


def split(op: StandardOperators, x: Operand, sizes: Sequence[int], axis: int) -> tuple[TensorValue, ...]:
    """Parts of these sizes along an axis; always a tuple."""
    if _takes_attribute(op.Split, "split"):
        parts: TensorValue | tuple[TensorValue, ...] = op.Split(
            x, split=tuple(sizes), axis=axis, outputs=len(sizes)
        )
    else:
        parts = op.Split(x, integers(sizes), axis=axis, outputs=len(sizes))
    return parts if isinstance(parts, tuple) else (parts,)


def clip(op: StandardOperators, x: Operand, low: Operand | None, high: Operand | None) -> TensorValue:
    """`Clip` to scalar bounds, each a literal, a tensor or None."""
    if not _takes_attribute(op.Clip, "min"):
        return op.Clip(x, low, high)
    bounds = [None if each is None else content_of(each) for each in (low, high)]
    if (low is not None and bounds[0] is None) or (high is not None and bounds[1] is None):
        raise OperatorNotInOpsetError(
            f"Clip with bounds that are tensors needs opset 11, not {op.version}",
            help="use opset 11 or later",
        )
    numbers = [None if each is None else float(each) for each in bounds]
    return op.Clip(x, min=numbers[0], max=numbers[1])


def reshape(op: StandardOperators, x: Operand, shape: Operand, *, keeps_zero: bool = False) -> TensorValue:
    """`Reshape`; `keeps_zero` makes a 0 a dimension of size 0 instead of a copy of the input's."""
    if not keeps_zero:
        return op.Reshape(x, shape)
    if not _takes_attribute(op.Reshape, "allowzero"):
        raise OperatorNotInOpsetError(
            f"reshaping to a shape that has or may have a dimension of size 0 needs opset 14, not {op.version}",
            help="use opset 14 or later",
        )
    return op.Reshape(x, shape, allowzero=1)


def shape_part(op: StandardOperators, x: Operand, start: int, end: int | None = None) -> TensorValue:
    """Some dimensions of a tensor, `Shape(x)[start:end]`, as a 1-D tensor; negative numbers count from the end."""
    if start == 0 and end is None:
        return op.Shape(x)
    if _takes_attribute(op.Shape, "start"):
        bounds = {"start": start} if end is None else {"start": start, "end": end}
        return op.Shape(x, **bounds)
    stop = np.iinfo(np.int64).max if end is None else end
    return slice(op, op.Shape(x), (0,), (start,), (int(stop),), (1,))

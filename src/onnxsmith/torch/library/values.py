# pyright: basic
"""What translations do to values again and again: casts, promotion, shapes as tensors, axes.

Operators themselves come from `op`; a family's own rules stand in the family's module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.schema.inference import symbolic
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.operators import op
from onnxsmith.types.dtypes import DType

#: torch's names for sizes that the data decides.
_UNBACKED = re.compile(r"\bu\d+\b")


def dtype_of(value: Any) -> DType:
    """The element type of a tensor."""
    return value.dtype


def cast(value: Any, dtype: DType | torch.dtype) -> Any:
    """A tensor, number or literal in an element type; a literal becomes a scalar array."""
    if isinstance(dtype, torch.dtype):
        dtype = onnx_dtype(dtype)
    if isinstance(value, Number):
        return value.as_dtype(dtype)
    if not isinstance(value, Value):
        return literal(value, dtype)
    return value if value.dtype is dtype else op.Cast(value, to=dtype)  # type: ignore[attr-defined]


def literal(value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """A Python number (or list) as an array, wrapping integers as torch does."""
    if dtype.is_integer and not isinstance(value, bool):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype.numpy)
    with np.errstate(all="ignore"):
        return np.asarray(value, dtype.numpy)


def promoted(call: Call, *values: Any) -> list[Any]:
    """The operands in the element type of the result."""
    dtype = call.dtype
    return [cast(each, dtype) for each in values]


def common_torch_dtype(call: Call, positions: Sequence[int] = (0, 1)) -> torch.dtype:
    """The element type that torch promotes arguments to, where the result does not tell: of a comparison, say."""
    operands = [call.inputs[each] for each in positions]
    known = [_sample(each) for each in operands]
    result = known[0]
    if len(known) == 1:
        return result.dtype
    dtype = torch.result_type(known[0], known[1])
    for each in known[2:]:
        dtype = torch.promote_types(dtype, each.dtype if isinstance(each, torch.Tensor) else dtype)
    return dtype


def common(call: Call, *values: Any) -> list[Any]:
    """The first operands in the element type that torch promotes them to."""
    dtype = common_torch_dtype(call, range(len(values)))
    return [cast(each, dtype) for each in values]


def _sample(value: Any) -> Any:
    if isinstance(value, torch.SymInt):
        return 1
    if isinstance(value, torch.SymFloat):
        return 1.5
    return True if isinstance(value, torch.SymBool) else value


def as_tensor(value: Any, dtype: DType | torch.dtype | None = None) -> Any:
    """Anything as a tensor (or array) that operators take; numbers get `dtype`."""
    if dtype is None and isinstance(value, Value) and not isinstance(value, Number):
        return value
    if dtype is None:
        kind = getattr(value, "kind", None)
        is_float = isinstance(value, float) or kind == "float"
        is_bool = isinstance(value, bool) or kind == "bool"
        dtype = DType.FLOAT if is_float else DType.BOOL if is_bool else DType.INT64
    return cast(value, dtype)


# -- shapes ----------------------------------------------------------------------------------------------


def is_static(sizes: Sequence[Any]) -> bool:
    """Whether all sizes are ints."""
    return all(isinstance(each, int) for each in sizes)


def has_zero(sizes: Sequence[Any]) -> bool:
    """Whether one of the sizes is certainly 0; of one that only the model knows, nothing is certain."""
    return any(isinstance(each, int) and each == 0 for each in sizes)


def int64s(sizes: Sequence[Any]) -> Any:
    """Ints and numbers of the model as an INT64 vector: a constant where all are known."""
    if is_static(sizes):
        return np.array(sizes, np.int64).reshape(-1)
    parts: list[Any] = []
    known: list[int] = []
    for each in sizes:
        if isinstance(each, int):
            known.append(each)
            continue
        if known:
            parts.append(np.array(known, np.int64))
            known = []
        parts.append(op.Reshape(cast(each, DType.INT64), np.array([1], np.int64)))
    if known:
        parts.append(np.array(known, np.int64))
    return op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def reshape(x: Any, sizes: Sequence[Any]) -> Any:
    """The elements in another shape. Sizes that stay where they are, and one more, are left to `Reshape`."""
    sizes = list(sizes)
    before = x.type.shape
    if (
        before is not None
        and len(before) == len(sizes)
        and all(_is_same(size, old) for size, old in zip(sizes, before, strict=True))
    ):
        return x
    unknown = [k for k, each in enumerate(sizes) if not isinstance(each, int)]
    known = [each for each in sizes if isinstance(each, int)]
    if unknown and before is not None and -1 not in known and 0 not in known:
        kept = [k for k in unknown if k < len(before) and _is_same(sizes[k], before[k])]
        rest = [k for k in unknown if k not in kept]
        # A size of zero beside -1 leaves the latter open; sizes that the data decides may well be zero.
        may_be_zero = any(_may_be_zero(sizes[k]) for k in unknown)
        if len(rest) <= 1 and not (may_be_zero and len(unknown) > 1 and rest):
            for k in kept:
                sizes[k] = 0
            for k in rest:
                sizes[k] = -1
    elif before is not None and 0 in known and -1 not in known:
        return op.Reshape(x, int64s(sizes), allowzero=1)
    return op.Reshape(x, int64s(sizes))


def _dimension(size: Any) -> Any:
    if isinstance(size, Number):
        data = size.known.data
        return data if isinstance(data, str | int) else None
    return size


def _is_same(size: Any, dimension: Any) -> bool:
    mine = _dimension(size)
    return mine == dimension if isinstance(mine, int) else symbolic.is_same(mine, dimension)


def _may_be_zero(size: Any) -> bool:
    text = _dimension(size)
    return not isinstance(text, int) and (text is None or _UNBACKED.search(str(text)) is not None)


def axis_of(dim: int, rank: int) -> int:
    """A dimension counted from the front; a scalar counts as one dimension."""
    return dim % max(rank, 1)


def axes_of(dims: Any, rank: int) -> list[int]:
    """Dimensions counted from the front; all of them for None or an empty list."""
    if dims is None or (not isinstance(dims, int) and not len(dims)):
        return list(range(rank))
    return sorted(axis_of(each, rank) for each in ([dims] if isinstance(dims, int) else dims))


def rank_of(x: Any) -> int:
    """How many dimensions a tensor has."""
    return len(x.type.shape)


def expand(x: Any, sizes: Sequence[Any]) -> Any:
    """A tensor broadcast to a shape; as it is where it has it."""
    before = x.type.shape
    if len(before) == len(sizes) and all(_is_same(a, b) for a, b in zip(sizes, before, strict=True)):
        return x
    return op.Expand(x, int64s(sizes))


def filled(sizes: Sequence[Any], value: Any, dtype: DType) -> Any:
    """A tensor of one value."""
    element = cast(value, dtype)
    if isinstance(element, np.ndarray) and is_static(sizes) and not sizes:
        return constant(element)
    return op.Expand(element if isinstance(element, Value) else constant(element), int64s(sizes))


def constant(array: Any) -> Any:
    """An array as a tensor of the graph."""
    return current_graph().constant(np.asarray(array))

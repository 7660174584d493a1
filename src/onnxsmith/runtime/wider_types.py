"""The element types that an operator is computed in where it has no kernel for its own: casts around it, and back.

The one rule for it: `widening` puts the casts around the nodes of a model. The PyTorch exporter asks for the types that
the definition of an operator allows. float16 is left as it is wherever float32 runs: ONNX Runtime does those casts
itself, and other providers have the kernels.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Set

from onnxsmith.runtime.kernels import has_kernel
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

#: Where an element type may go when it has no kernel, the best first.
_WIDER: dict[DType, tuple[DType, ...]] = {
    DType.BOOL: (DType.UINT8, DType.INT32, DType.INT64, DType.FLOAT),
    DType.INT8: (DType.INT16, DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.UINT8: (DType.INT16, DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.INT16: (DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.UINT16: (DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.INT32: (DType.INT64, DType.DOUBLE, DType.FLOAT),
    DType.UINT32: (DType.INT64, DType.UINT64, DType.DOUBLE, DType.FLOAT),
    DType.INT64: (DType.DOUBLE, DType.FLOAT, DType.INT32),
    DType.UINT64: (DType.INT64, DType.DOUBLE, DType.FLOAT),
    DType.BFLOAT16: (DType.FLOAT,),
    DType.FLOAT16: (DType.FLOAT,),
    DType.DOUBLE: (DType.FLOAT,),
    DType.FLOAT8E4M3FN: (DType.FLOAT16, DType.FLOAT),
    DType.FLOAT8E5M2: (DType.FLOAT16, DType.FLOAT),
}
#: Operators that give elements as they are, or zero: right in every type that holds all of them.
_MOVING = frozenset({"DepthToSpace", "NonZero", "OneHot", "Relu", "SpaceToDepth", "Trilu", "Where"})
#: Operators on uint64 whose result is the same bits in int64: they only move, add and multiply.
_SAME_BITS = _MOVING - {"Relu"} | {
    "CumSum",
    "Einsum",
    "ReduceL1",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
}
#: Operators that compare elements and give some of them, or where they are: right in every type of the same order.
_ORDERED = frozenset(
    {
        "ArgMax",
        "ArgMin",
        "Clip",
        "Greater",
        "GreaterOrEqual",
        "Less",
        "LessOrEqual",
        "Max",
        "Min",
        "ReduceMax",
        "ReduceMin",
        "TopK",
        "Unique",
    }
)
#: Bits of a whole number that a type with fractions holds exactly.
_WHOLE_BITS = {DType.FLOAT16: 11, DType.FLOAT: 24, DType.DOUBLE: 53}
#: What ONNX Runtime's scatters take and then refuse when they have to add, multiply or compare.
_ONLY_MOVED = frozenset({DType.FLOAT16, DType.BFLOAT16})

#: Operators that no cast goes around: they take everything, or are casts themselves.
LEFT_ALONE = frozenset({"Cast", "CastLike", "Constant", "Identity", "If", "Loop", "Scan"})


def wider_types(
    op: OperatorDef, given: Mapping[str, DType], *, lossy: bool, reduction: str = "none"
) -> dict[str, DType] | None:
    """The types to compute in, for the type variables whose own has no kernel; None where none is needed or none helps.

    Only types that give the same result are chosen, unless it may be `lossy`: float64 in float32, say, or 64-bit
    integers in float64, which is exact up to 2⁵³. `reduction` is that of a scatter.
    """
    found = _wider_types(op, tuple(given.items()), lossy, reduction != "none")
    return None if found is None else dict(found)


@functools.lru_cache(maxsize=4096)  # a model has many nodes of few kinds
def _wider_types(
    op: OperatorDef, items: tuple[tuple[str, DType], ...], lossy: bool, is_reducing: bool
) -> Mapping[str, DType] | None:
    given = dict(items)
    refused = _ONLY_MOVED if is_reducing else frozenset[DType]()
    for types in _combinations(op, given, refused, lossy=lossy):
        if has_kernel(op, types):
            return _changed(given, types)
    return None


def allowed_types(op: OperatorDef, given: Mapping[str, DType]) -> dict[str, DType] | None:
    """The same for the types that the operator's definition refuses, whatever a runtime has kernels for."""
    return next((_changed(given, types) for types in _combinations(op, given, frozenset(), lossy=True)), None)


def _changed(given: Mapping[str, DType], types: Mapping[str, DType]) -> dict[str, DType] | None:
    return {name: dtype for name, dtype in types.items() if dtype is not given[name]} or None


def _choices(
    op: OperatorDef, variable: str, dtype: DType, refused: Set[DType], *, lossy: bool
) -> list[DType]:
    """The types that a variable may have, its own first; its own alone where none is right."""
    own = [] if dtype in refused else [dtype]
    wider = [each for each in _WIDER.get(dtype, ()) if lossy or is_exact(op.name, dtype, each)]
    return [each for each in own + wider if _is_allowed(op, variable, each)] or [dtype]


def _combinations(
    op: OperatorDef, given: Mapping[str, DType], refused: Set[DType], *, lossy: bool
) -> Iterator[dict[str, DType]]:
    """One type for each variable, in all ways: with the fewest and nearest changes first."""
    choices = {
        variable: _choices(op, variable, dtype, refused, lossy=lossy) for variable, dtype in given.items()
    }
    ranked = itertools.product(*(list(enumerate(each)) for each in choices.values()))
    by_cost = sorted(
        ranked, key=lambda each: (sum(rank > 0 for rank, _ in each), sum(rank for rank, _ in each))
    )
    for combination in by_cost:
        yield dict(zip(choices, (dtype for _, dtype in combination), strict=True))


def is_exact(operator: str, dtype: DType, wider: DType) -> bool:
    """True if an operator gives the same in a wider type, cast back: for fractions, but for one rounding at the end.

    Whole numbers wrap around in a wider type of whole numbers as they do in their own.
    """
    if dtype.is_float:
        return wider.is_float and wider.bits > dtype.bits
    bits = 1 if dtype is DType.BOOL else dtype.bits
    if wider.is_float:
        return operator in _MOVING and bits <= _WHOLE_BITS.get(wider, 0)
    if wider.bits > bits:
        return wider.kind == "signed" or dtype.kind != "signed"
    return wider.bits == bits and (operator in _SAME_BITS or is_shifted(operator, dtype, wider))


def is_shifted(operator: str, dtype: DType, wider: DType) -> bool:
    """True if elements have to be moved down by half their range first, so that their order stays: uint64 in int64."""
    return operator in _ORDERED and (dtype, wider) == (DType.UINT64, DType.INT64)


def cost(operator: str, dtype: DType, wider: DType) -> str:
    """The cost of computing in another type, in words; empty if it is exact."""
    if is_exact(operator, dtype, wider):
        return ""
    if dtype.is_float:
        return "which is less precise"
    return f"exact up to 2**{_WHOLE_BITS[wider] if wider.is_float else wider.bits - 1}"


def _is_allowed(op: OperatorDef, variable: str, dtype: DType) -> bool:
    for formal in op.inputs:
        if formal.type_name == variable:
            return not formal.types or f"tensor({dtype.onnx_name})" in formal.types
    return True

"""Promotion: which element type each literal takes, and whether the inputs' types go together.

A literal takes the type of the tensor it meets. Tensors are never converted; two that disagree are an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import DTypeNotAllowedError, InputTypeError, LiteralError, MixedDTypesError
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type


@dataclass(frozen=True, slots=True)
class Like:
    """The element type of the input at `position`, which is only known when the model runs."""

    position: int


#: What a literal becomes: a definite element type, or that of another input.
Resolved: TypeAlias = DType | Like

#: What numpy's arithmetic makes of Python numbers. np.float64 scalars are Python floats already.
_PYTHON_LIKE = (np.dtype(np.int64), np.dtype(np.bool_))

_CHECKED_LIMIT = 8192
# Calls whose types were found to go together; the answer depends on nothing but the key.
_checked: dict[tuple[OperatorDef, tuple[str, ...]], bool] = {}


def check_types(op: OperatorDef, types: Sequence[AnyValueType | None]) -> None:
    """Refuse inputs whose types the operator does not allow, or that must agree and do not."""
    key = (op, tuple(["" if each is None else each.onnx_name for each in types]))
    if key in _checked:
        return
    bound: dict[str, tuple[int, str]] = {}
    for position, name in enumerate(key[1]):
        if not name:
            continue
        parameter = parameter_at(op, position)
        if parameter is None:
            continue
        if parameter.types and name not in parameter.types:
            raise _not_allowed(op, parameter, position, name)
        if not parameter.is_homogeneous:
            continue
        first = bound.setdefault(parameter.type_name, (position, name))
        if first[1] != name:
            raise _mixed(op, first, (position, name))
    if len(_checked) >= _CHECKED_LIMIT:
        _checked.clear()
    _checked[key] = True


def resolve_literals(
    op: OperatorDef, types: Sequence[AnyValueType | None], literals: Mapping[int, Any]
) -> dict[int, Resolved]:
    """The element type of each literal input, by position. `types` holds None where a literal stands."""
    result: dict[int, Resolved] = {}
    by_variable: dict[str, list[int]] = {}
    for position in literals:
        parameter = parameter_at(op, position)
        variable = (
            parameter.type_name if parameter is not None and parameter.is_homogeneous else f"#{position}"
        )
        by_variable.setdefault(variable, []).append(position)
    for variable, positions in by_variable.items():
        met = _tensor_of(op, variable, types)
        parameter = parameter_at(op, positions[0])
        resolved = (
            met if met is not None else _own_type(op, parameter, [literals[each] for each in positions])
        )
        for position in positions:
            result[position] = resolved
    return result


def parameter_at(op: OperatorDef, position: int) -> Parameter | None:
    """The formal input at a position; a variadic one stands for all the rest."""
    if position < len(op.inputs):
        return op.inputs[position]
    return op.inputs[-1] if op.inputs and op.inputs[-1].option == "variadic" else None


def _tensor_of(op: OperatorDef, variable: str, types: Sequence[AnyValueType | None]) -> Resolved | None:
    unknown: Like | None = None
    for position, each in enumerate(types):
        parameter = parameter_at(op, position)
        if parameter is None or parameter.type_name != variable or not isinstance(each, TensorType):
            continue
        if each.dtype is not None:
            return each.dtype
        unknown = unknown or Like(position)
    return unknown


def _own_type(op: OperatorDef, parameter: Parameter | None, values: list[Any]) -> DType:
    """The type of literals that meet no tensor: the only one allowed, or Python's own choice."""
    natural = _natural(values)
    if parameter is None or not parameter.types:
        return natural
    allowed = [each.dtype for each in map(parse_onnx_type, parameter.types) if isinstance(each, TensorType)]
    if len(allowed) == 1 and allowed[0] is not None:
        return allowed[0]
    if natural in allowed:
        return natural
    for candidate in (DType.INT64, DType.FLOAT, DType.INT32, DType.DOUBLE):
        fits_kind = natural is DType.BOOL or (
            natural is DType.INT64 and (candidate.is_integer or candidate.is_float)
        )
        if candidate in allowed and (fits_kind or (natural.is_float and candidate.is_float)):
            return candidate
    return natural


def _natural(values: list[Any]) -> DType:
    """Python's words for element types: True, 1, 1.0, 1j, "text"; numpy scalars say it themselves."""
    flat = [each for value in values for each in _leaves(value)]
    own = [DType.from_numpy(cast(Any, each).dtype) for each in flat if isinstance(each, np.generic)]
    if own and own[0] is not None:
        return own[0]
    for kind, dtype in (
        (str, DType.STRING),
        (bytes, DType.STRING),
        (complex, DType.COMPLEX64),
        (float, DType.FLOAT),
    ):
        if any(isinstance(each, kind) for each in flat):
            return dtype
    return DType.BOOL if flat and all(isinstance(each, bool) for each in flat) else DType.INT64


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for each in cast("list[Any]", value) for leaf in _leaves(each)]
    return [value]


def is_literal(value: Any) -> bool:
    """Whether a value is a Python number, string, or a list of these (numpy's int64, float64 and bool scalars too)."""
    if isinstance(value, bool | int | float | complex | str | bytes):
        return True
    if isinstance(value, list | tuple):
        return all(is_literal(each) for each in cast("list[Any]", value))
    # What numpy's arithmetic makes of Python numbers; other numpy scalars have a type of their own and keep it.
    return isinstance(value, np.generic) and cast(Any, value).dtype in _PYTHON_LIKE


def literal_array(op: OperatorDef, position: int, value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """A literal as an array of an element type; refused where that would lose more than rounding."""
    flat = _leaves(value) if isinstance(value, list | tuple) else (value,)
    for each in flat:
        reason = loss(each, dtype)
        if reason is not None:
            raise _does_not_fit(op, position, each, dtype, reason)
    if dtype is DType.STRING:
        return np.array(value, dtype=object)
    try:
        if dtype.is_native:
            return np.array(value, dtype=dtype.numpy)
        return np.array(value, dtype=np.float64 if dtype.is_float else np.int64).astype(dtype.numpy)
    except (ValueError, OverflowError, TypeError):
        parameter = parameter_at(op, position)
        name = "input" if parameter is None else f"'{parameter.name}'"
        raise InputTypeError(
            f"{op.qualified_name} cannot read {value!r} as {name}: the rows of a list have different lengths",
            culprit=("input", position),
        ) from None


def loss(value: Any, dtype: DType) -> str | None:
    """Why a number cannot stand in a tensor of this type, or None."""
    kind = dtype.kind
    if isinstance(value, str | bytes):
        return None if kind == "string" else "it is text"
    if kind == "string":
        return "it is a number, and the tensor holds strings"
    if isinstance(value, bool | np.bool_) or kind == "complex":
        return None
    if kind == "bool":
        return "only True and False fit a bool tensor"
    if isinstance(value, complex):
        return "it is complex"
    if dtype.is_integer:
        if isinstance(value, float):
            return "a float would be cut to an integer"
        low, high = integer_range(dtype)
        return None if low <= value <= high else f"{dtype.spelling} holds {low} to {high}"
    if not math.isfinite(value):
        # float8e4m3fn and its like have no infinity, float4 has no NaN either.
        same = float(np.array(value, np.float64).astype(dtype.numpy))
        fits = math.isnan(same) if math.isnan(value) else same == value
        return None if fits else f"{dtype.spelling} has no such value"
    highest = largest_float(dtype)
    return None if abs(value) <= highest else f"{dtype.spelling} ends at {highest:g}"


def integer_range(dtype: DType) -> tuple[int, int]:
    """The least and greatest integer of an integer type."""
    if dtype.kind == "signed":
        return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1
    return 0, 2**dtype.bits - 1


def largest_float(dtype: DType) -> float:
    """The largest finite number of a float type."""
    if dtype.is_native:
        return float(np.finfo(dtype.numpy).max)
    import ml_dtypes  # takes milliseconds, and few programs hold these types

    limits = cast(Any, ml_dtypes.finfo)(dtype.numpy)
    return float(limits.max)


def _does_not_fit(op: OperatorDef, position: int, value: Any, dtype: DType, reason: str) -> LiteralError:
    shown: object = cast(Any, value).item() if isinstance(value, np.generic) else value
    wider = ".astype(FLOAT)" if isinstance(value, float) and not dtype.is_float else ".astype(INT64)"
    help_text = None
    if dtype.is_integer:
        help_text = f"convert the tensor first: x{wider}"
    elif dtype is DType.BOOL:
        help_text = "convert the tensor first: x.astype(INT64)"
    return LiteralError(
        f"the literal {shown!r} does not fit {dtype.spelling} in {op.qualified_name}: {reason}",
        help=help_text,
        culprit=("input", position),
    )


def _spelling(onnx_name: str) -> str:
    parsed = parse_onnx_type(onnx_name)
    if isinstance(parsed, TensorType) and parsed.dtype is not None:
        return parsed.dtype.spelling
    return onnx_name


def _not_allowed(op: OperatorDef, parameter: Parameter, position: int, name: str) -> DTypeNotAllowedError:
    listed = sorted((_spelling(each) for each in parameter.types), key=_spelling_order)
    help_text = f"'{parameter.name}' may be " + ", ".join(listed)
    if name.startswith("tensor(") and any(each.startswith("tensor(") for each in parameter.types):
        help_text += "; convert with x.astype(…)"
    return DTypeNotAllowedError(
        f"{op.qualified_name} does not take {_spelling(name)} as '{parameter.name}'",
        help=help_text,
        culprit=("input", position),
    )


def _spelling_order(spelling: str) -> tuple[int, str]:
    order = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8")
    return (order.index(spelling) if spelling in order else len(order), spelling)


#: What numpy users meet first.
_FLOAT64 = ";\nnumpy makes float64 of Python's floats: np.array(…, np.float32) does not"


def _mixed(op: OperatorDef, first: tuple[int, str], second: tuple[int, str]) -> MixedDTypesError:
    (first_position, first_name), (second_position, second_name) = first, second
    names = [parameter_at(op, each) for each in (first_position, second_position)]
    left, right = ("?" if each is None else each.name for each in names)
    if left == right:  # two of a variadic input
        left, right = f"{left}[{first_position}]", f"{right}[{second_position}]"
    return MixedDTypesError(
        f"{op.qualified_name} needs '{left}' and '{right}' to have one element type, "
        f"got {_spelling(first_name)} and {_spelling(second_name)}",
        help="ONNX does not promote element types; convert one of them with x.astype(…)"
        + (_FLOAT64 if {first_name, second_name} == {"tensor(float)", "tensor(double)"} else ""),
        culprit=("input", second_position),
    )

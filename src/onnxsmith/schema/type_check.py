"""Checks that the types of an operator's inputs are allowed, and agree with each other.

Tensors are never converted: two that must agree and do not are an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.errors import DTypeNotAllowedError, MixedDTypesError
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.schema.promote import parameter_at
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type

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


def spelled(onnx_name: str) -> str:
    """ONNX's name of a type as people write it: float32 for tensor(float)."""
    parsed = parse_onnx_type(onnx_name)
    if isinstance(parsed, TensorType) and parsed.dtype is not None:
        return parsed.dtype.spelling
    return onnx_name


def _not_allowed(op: OperatorDef, parameter: Parameter, position: int, name: str) -> DTypeNotAllowedError:
    listed = sorted((spelled(each) for each in parameter.types), key=_spelling_order)
    help_text = f"'{parameter.name}' may be " + ", ".join(listed)
    if name.startswith("tensor(") and any(each.startswith("tensor(") for each in parameter.types):
        help_text += "; convert with x.astype(…)"
    return DTypeNotAllowedError(
        f"{op.qualified_name} does not take {spelled(name)} as '{parameter.name}'",
        help=help_text,
        culprit=position,
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
        f"got {spelled(first_name)} and {spelled(second_name)}",
        help="ONNX does not promote element types; convert one of them with x.astype(…)"
        + (_FLOAT64 if {first_name, second_name} == {"tensor(float)", "tensor(double)"} else ""),
        culprit=second_position,
    )

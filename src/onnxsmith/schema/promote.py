"""Promotion: which element type each literal takes, and how it becomes an array.

A literal takes the type of the tensor it meets, or of the place it is given for: an input of an operator, a parameter
of a script, an input of a model. `given_array` is the one way there. Tensors are never converted; whether their types
go together is the business of `type_check`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import Culprit, InputTypeError, LiteralError, OnnxsmithError
from onnxsmith.schema.bind import parameters_of
from onnxsmith.schema.definition import OperatorDef, Parameter, parameter_at
from onnxsmith.schema.foreign_arrays import UnreadableArray, array_on_device, is_foreign, read_foreign
from onnxsmith.types.dtypes import DType, in_own_byte_order, refuse_masked
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type


@dataclass(frozen=True, slots=True)
class Like:
    """The element type of the input at `position`, which is only known when the model runs."""

    position: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value is given, for messages: whose input it is, what that is called, where the user wrote it."""

    owner: str
    name: str
    culprit: Culprit | None = None
    #: What to do about a literal that does not fit the element type; None where a tensor beside it decided that.
    remedy: str | None = None


#: What a literal becomes: a definite element type, or that of another input.
Resolved: TypeAlias = DType | Like

#: What numpy's arithmetic makes of Python numbers. np.float64 scalars are Python floats already.
_PYTHON_LIKE = (np.dtype(np.int64), np.dtype(np.bool_))
#: The dimensions that an array of numpy has at most.
DEEPEST = 64


def resolve_literals(
    op: OperatorDef, types: Sequence[AnyValueType | None], literals: Mapping[int, Any]
) -> dict[int, Resolved]:
    """The element type of each literal input, by position. `types` holds None where a literal stands."""
    formals = parameters_of(op.inputs, len(types))
    #: The element type of the tensors of each type variable: the first that is known.
    met: dict[str, Resolved] = {}
    for position, (formal, each) in enumerate(zip(formals, types, strict=True)):
        if formal is not None and isinstance(each, TensorType):
            if isinstance(met.get(formal.type_name), DType):
                continue
            if each.dtype is not None:
                met[formal.type_name] = each.dtype
            else:
                met.setdefault(formal.type_name, Like(position))
    by_variable: dict[str, list[int]] = {}
    for position in literals:
        formal = formals[position]
        variable = formal.type_name if formal is not None and formal.is_homogeneous else f"#{position}"
        by_variable.setdefault(variable, []).append(position)
    result: dict[int, Resolved] = {}
    for variable, positions in by_variable.items():
        resolved = met.get(variable)
        if resolved is None:
            resolved = _own_type(formals[positions[0]], [literals[each] for each in positions])
        result |= dict.fromkeys(positions, resolved)
    return result


def _own_type(parameter: Parameter | None, values: list[Any]) -> DType:
    """The type of literals that meet no tensor: the only one allowed, or Python's own choice."""
    if parameter is None or not parameter.types:
        return natural_dtype(values)
    allowed = [each.dtype for each in map(parse_onnx_type, parameter.types) if isinstance(each, TensorType)]
    return literal_dtype(values, allowed)


def literal_dtype(values: Sequence[Any], allowed: Sequence[DType | None]) -> DType:
    """The element type of literals where several are allowed: the only one, Python's own choice, or one that fits."""
    natural = natural_dtype(values)
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


def natural_dtype(values: Sequence[Any]) -> DType:
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


def is_literal(value: Any, depth: int = DEEPEST) -> bool:
    """True if a value is a Python number, string, or a list of these (numpy's int64, float64 and bool scalars too).

    Lists inside lists are looked into as deep as arrays have dimensions: a list may hold itself.
    """
    if isinstance(value, bool | int | float | complex | str | bytes):
        return True
    if isinstance(value, list | tuple):
        return depth > 0 and all(is_literal(each, depth - 1) for each in cast("list[Any]", value))
    # What numpy's arithmetic makes of Python numbers; other numpy scalars have a type of their own and keep it.
    return isinstance(value, np.generic) and cast(Any, value).dtype in _PYTHON_LIKE


def literal_array(op: OperatorDef, position: int, value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """A literal that is an input of an operator as an array; refused where that would lose more than rounding."""
    return _checked_literal(value, dtype, lambda: input_place(op, position))  # for a message, if any


def input_place(op: OperatorDef, position: int) -> Place:
    """An input of an operator as the place of a value."""
    parameter = parameter_at(op.inputs, position)
    name = "an input" if parameter is None else f"'{parameter.name}'"
    return Place(op.qualified_name, name, ("input", position))


def given_array(value: Any, dtype: DType | None, place: Place) -> np.ndarray[Any, Any]:
    """Convert an argument to an array where a tensor is needed: all callers do it here.

    A literal takes `dtype`, or Python's own choice where that is open; it is refused (LiteralError) where that would
    lose more than rounding. What has an element type keeps it, in the byte order of the machine. Raises InputTypeError
    for what is no tensor at all.
    """
    if is_literal(value):
        return _checked_literal(value, natural_dtype([value]) if dtype is None else dtype, lambda: place)
    if isinstance(value, list | tuple):
        if _is_too_deep(value, DEEPEST):
            raise InputTypeError(
                f"{place.owner} cannot take this {type(cast(object, value)).__name__} as {place.name}: it holds "
                f"itself, or is deeper than the {DEEPEST} dimensions of an array",
                help="give an array, or lists of numbers",
                culprit=place.culprit,
            )
        leaves = _leaves(value)
        typed = [_as_array(each, place) for each in leaves if not is_literal(each) and _has_array(each)]
        if typed and all(each.ndim == 0 and each.dtype == typed[0].dtype for each in typed):
            own = _array_dtype(typed[0], place)
            plain = [_as_python(each) for each in cast("list[Any]", value)]
            return _checked_literal(plain, own, lambda: place)
        if typed:
            raise list_of_tensors(place)
    elif (on_device := array_on_device(value)) is not None:
        return cast(Any, on_device)  # whoever computes there knows the class
    elif is_foreign(value):
        return _read_foreign(value, place)
    elif _has_array(value):
        if hasattr(value, "tensor"):
            raise InputTypeError(
                f"{place.owner} computes as ONNX does, and {place.name} is an array that computes as numpy does",
                help="hand its tensor over: x.tensor; xp.asarray(t) leads back",
                culprit=place.culprit,
            )
        array = _as_array(value, place)
        _array_dtype(array, place)
        return in_own_byte_order(array)
    raise InputTypeError(
        f"{place.owner} cannot take {type(cast(object, value)).__name__} as {place.name}",
        help="an input is a tensor, an array, a number, or a list of numbers",
        culprit=place.culprit,
    )


def _is_too_deep(value: Any, depth: int) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return depth == 0 or any(_is_too_deep(each, depth - 1) for each in cast("list[Any]", value))


def _as_array(value: Any, place: Place) -> np.ndarray[Any, Any]:
    """The array that an object gives of itself; a tensor of PyTorch may refuse that."""
    refuse_masked(value)
    try:
        return np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputTypeError(
            f"{place.owner} cannot take this {type(value).__name__} as {place.name}: {error}",
            culprit=place.culprit,
        ) from error


def _read_foreign(value: Any, place: Place) -> np.ndarray[Any, Any]:
    """The array over the memory of another library's."""
    try:
        return cast(Any, read_foreign(value))
    except UnreadableArray as error:
        raise InputTypeError(
            f"{place.owner} cannot take this {type(value).__name__} as {place.name}: {error}",
            help=error.help,
            culprit=place.culprit,
        ) from error


def _has_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__")


def _as_python(value: Any) -> Any:
    """Nested lists with every scalar in them as a Python value."""
    if isinstance(value, list | tuple):
        return [_as_python(each) for each in cast("list[Any]", value)]
    return value if is_literal(value) else np.asarray(value)[()]


def _array_dtype(array: np.ndarray[Any, Any], place: Place) -> DType:
    dtype = DType.from_numpy(array.dtype)
    if dtype is None or (array.dtype == object and not _is_text(array)):
        raise InputTypeError(
            f"{place.owner} was given an array of numpy dtype {array.dtype}, which ONNX does not have",
            culprit=place.culprit,
        )
    return dtype


def _is_text(array: np.ndarray[Any, Any]) -> bool:
    return all(isinstance(each, str | bytes) for each in array.reshape(-1).tolist())


def list_of_tensors(place: Place, help_text: str | None = None) -> InputTypeError:
    """The error for a list of tensors where one tensor is wanted."""
    return InputTypeError(
        f"{place.owner} takes one tensor as {place.name}, and was given a list of tensors",
        help=help_text or "join them with op.Concat(a, b, axis=0), or give them one by one",
        culprit=place.culprit,
    )


def _checked_literal(value: Any, dtype: DType, place: Callable[[], Place]) -> np.ndarray[Any, Any]:
    flat = _leaves(value) if isinstance(value, list | tuple) else (value,)
    for each in flat:
        reason = loss(each, dtype)
        if reason is not None:
            raise _does_not_fit(each, dtype, reason, place())
    try:
        if dtype is DType.STRING:
            array = np.array(value, dtype=object)
            if array.dtype == object and any(isinstance(each, list | tuple) for each in array.reshape(-1)):
                raise ValueError  # rows of different lengths
            return array
        if dtype.is_native:
            return np.array(value, dtype=dtype.numpy)
        return np.array(value, dtype=np.float64 if dtype.is_float else np.int64).astype(dtype.numpy)
    except (ValueError, OverflowError, TypeError):
        where = place()
        raise InputTypeError(
            f"{where.owner} cannot read {value!r} as {where.name}: the rows of a list have different lengths",
            culprit=where.culprit,
        ) from None


def number_array(
    value: bool | int | float, dtype: DType, called: str, error: type[OnnxsmithError]
) -> np.ndarray[Any, Any]:
    """A number that a variable or a result has beside tensors, as a scalar of their element type."""
    refuse_loss(value, dtype, called, repr(value), error)
    return np.array(value, dtype.numpy)


def refuse_past_end(value: float, dtype: DType = DType.INT64) -> None:
    """LiteralError for a Python integer that is past what a model computes with in its place."""
    reason = loss(value, dtype) if isinstance(value, int) else None
    if reason is not None:
        raise LiteralError(
            f"the number {_shortened(value)} is past what a model holds: {reason}",
            help="Python's integers have no end, those of a model have 64 bits; compute in floats, as in 2.0 ** 70",
        )


def refuse_loss(sample: Any, dtype: DType, called: str, shown: str, error: type[OnnxsmithError]) -> None:
    """Raise `error` where a number would lose more than rounding as an element of a tensor that is elsewhere."""
    reason = loss(sample, dtype)
    if reason is not None:
        raise error(
            f"{called} is {dtype.spelling} in one place and {shown} in another: {reason}",
            help="convert one of them with x.astype(…)",
        )


def loss(value: Any, dtype: DType) -> str | None:
    """Why a number cannot stand in a tensor of this type, or None."""
    kind = dtype.kind
    if isinstance(value, str | bytes):
        return None if kind == "string" else "it is text"
    if kind == "string":
        return "it is a number, and the tensor holds strings"
    if isinstance(value, bool | np.bool_):
        return None
    if kind == "complex":
        parts = (value.real, value.imag)
        return next(
            (reason for reason in (_float_loss(each, dtype) for each in parts) if reason is not None), None
        )
    if kind == "bool":
        return "only True and False fit a bool tensor"
    if isinstance(value, complex):
        return "it is complex"
    if dtype.is_integer:
        if isinstance(value, float):
            return "a float would be cut to an integer"
        low, high = integer_range(dtype)
        return None if low <= value <= high else f"{dtype.spelling} holds {low} to {high}"
    return _float_loss(value, dtype)


def _float_loss(value: Any, dtype: DType) -> str | None:
    # An integer past every float is finite, and math.isfinite cannot be asked about it.
    if isinstance(value, float) and not math.isfinite(value):
        if dtype.kind == "complex":
            return None
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


@functools.cache
def largest_float(dtype: DType) -> float:
    """The largest finite number of a float type, or of the parts of a complex one."""
    if dtype.is_native:
        return float(np.finfo(dtype.numpy).max)
    import ml_dtypes  # takes milliseconds, and few programs hold these types

    limits = cast(Any, ml_dtypes.finfo)(dtype.numpy)
    return float(limits.max)


def _does_not_fit(value: Any, dtype: DType, reason: str, place: Place) -> LiteralError:
    shown: object = cast(Any, value).item() if isinstance(value, np.generic) else value
    wider = ".astype(np.float32)" if isinstance(value, float) and not dtype.is_float else ".astype(np.int64)"
    help_text = place.remedy
    if help_text is None and dtype.is_integer:
        help_text = f"convert the tensor first: x{wider}"
    elif help_text is None and dtype is DType.BOOL:
        help_text = "convert the tensor first: x.astype(np.int64)"
    return LiteralError(
        f"the literal {_shortened(shown)} does not fit {dtype.spelling} in {place.owner}: {reason}",
        help=help_text,
        culprit=place.culprit,
    )


def _shortened(value: object) -> str:
    """A literal for a message: Python refuses to print integers of thousands of digits, and nobody reads them."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

"""A Python number whose value only the model knows: a dimension, a loop counter, an attribute of a function.

Where a program runs eagerly these are Python ints, floats and bools, and they compute as Python's do: `n / 2` is a
true division, and `x * n` takes the element type of `x`. So they do when they are symbolic.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Protocol, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import has_numpys_meaning, in_numpy_code, operators_for
from onnxsmith.core.semantics import arithmetic, bits, decimal_rounding, number_errors
from onnxsmith.core.semantics.number_methods import NumberMethods, modular_power
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import NumberValue, Operand, TensorValue, shown_class
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import TracedValueError, UnknownMethodError
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.schema.promote import refuse_past_end
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import TypeIs

    from onnxsmith.core.target import Target

NumberKind = Literal["int", "float", "bool"]
#: What a Python operator means on two tensors.
Meaning: TypeAlias = Callable[[Operand, Operand], TensorValue]

#: A method that stands for one.
_Method: TypeAlias = Callable[[Tensor, Operand], TensorValue]

#: Python's ints and floats have 64 bits where ONNX has to choose.
_WORKING = {"int": DType.INT64, "float": DType.DOUBLE, "bool": DType.BOOL}
_ZERO = np.float64(0)
#: The class of such a number in an eager run.
EAGER_CLASSES: dict[NumberKind, type] = {"int": int, "float": float, "bool": bool}
#: What stands for a number while the types of a call are resolved.
_SAMPLES: dict[NumberKind, bool | int | float] = {"int": 1, "float": 1.5, "bool": True}


class _OfGraph(Protocol):
    """The attributes that only a tensor of a graph has; `graphs`, which stands above, says what each is."""

    @property
    def record(self) -> Any: ...
    @property
    def scope(self) -> Any: ...
    @property
    def span(self) -> Span | None: ...
    @property
    def name(self) -> str: ...


@shown_as("number")
class Number(NumberMethods, Tensor, NumberValue):
    """A scalar tensor that behaves as a Python number: a literal whose value is not known yet."""

    __slots__ = ("is_natural", "kind", "tensor")
    is_symbolic: ClassVar[bool] = True
    __class__ = shown_class(lambda value: EAGER_CLASSES[value.kind])  # pyright: ignore[reportIncompatibleMethodOverride]  # as in `unittest.mock`

    # What a number is made of stands at `__init__`, which subclasses have of their own.
    def __new__(cls, *given: Any, **named: Any) -> Self:
        """An `Integral` or `Real` of the module `numbers`, so that libraries that ask see what they see eagerly."""
        if cls is not Number:
            return object.__new__(cls)
        kind: NumberKind = named["kind"] if "kind" in named else given[1]
        return cast("Self", object.__new__(RealNumber if kind == "float" else IntegralNumber))

    def __init__(self, tensor: TensorValue, kind: NumberKind, *, is_natural: bool = False) -> None:
        self.tensor = tensor
        self.kind: NumberKind = kind
        #: Whether it is known to be an integer of 0 or more, as what a loop counts is.
        self.is_natural = is_natural

    @property
    def known(self) -> Known:
        return self.tensor.known

    @property
    def target(self) -> Target:
        return self.tensor.target

    @property
    def record(self) -> Any:
        """The graph's value behind it."""
        return cast(_OfGraph, self.tensor).record

    @property
    def scope(self) -> Any:
        """The graph it belongs to."""
        return cast(_OfGraph, self.tensor).scope

    @property
    def span(self) -> Span | None:
        """Where it was made."""
        return cast(_OfGraph, self.tensor).span

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return cast(_OfGraph, self.tensor).name

    @property
    def sample(self) -> bool | int | float:
        """A literal of the same kind, for whoever asks which element type it would take."""
        return _SAMPLES[self.kind]

    def as_dtype(self, dtype: DType) -> TensorValue:
        """The number as a scalar tensor of an element type."""
        if self.tensor.dtype is dtype:
            return self.tensor
        return operators_for(self.tensor).Cast(self.tensor, to=dtype)

    def as_like(self, other: Operand) -> TensorValue:
        """The number as a scalar tensor with the element type of another."""
        return portable.cast_like(operators_for(other), self.tensor, other)

    def _working(self) -> tuple[TensorValue, NumberKind]:
        """The number as it computes: a truth value is an int."""
        kind: NumberKind = "float" if self.kind == "float" else "int"
        return self.as_dtype(_WORKING[kind]), kind

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Operand, **kwargs: Any) -> Any:
        """Beside a number of numpy's, whose operators come here: in numpy code that one is an array."""
        beside = [in_numpy_code(each) for each in inputs]
        for each, given in zip(beside, inputs, strict=True):
            if each is not given:
                return cast(Any, each).__array_ufunc__(ufunc, method, *beside, **kwargs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __neg__(self) -> Number:
        value, kind = self._working()
        return Number(arithmetic.negate(value), kind)

    def __abs__(self) -> Number:
        value, kind = self._working()
        return Number(arithmetic.absolute(value), kind, is_natural=kind == "int")

    def __invert__(self) -> Number:
        value, kind = self._working()
        return Number(bits.invert(value), kind)

    def __round__(self, digits: int | None = None) -> Number:
        value, kind = self._working()
        places = 0 if digits is None else digits.__index__()
        if kind == "int":
            return Number(decimal_rounding.round_whole(value, places), kind)
        rounded = Number(decimal_rounding.round_float(value, places), kind)
        if digits is None:  # Python gives an int
            number_errors.demand_whole(value)
            return Number(rounded.as_dtype(DType.INT64), "int")
        return rounded

    def __pos__(self) -> Number:
        return Number(*self._working(), is_natural=is_natural(self))

    def __trunc__(self) -> Number:
        return self._whole_part("Cast")

    def __floor__(self) -> Number:
        return self._whole_part("Floor")

    def __ceil__(self) -> Number:
        return self._whole_part("Ceil")

    def _whole_part(self, operator: str) -> Number:
        value, kind = self._working()
        if kind == "int":
            return +self
        number_errors.demand_whole(value)
        op = operators_for(value)
        whole = value if operator == "Cast" else getattr(op, operator)(value)
        return Number(op.Cast(whole, to=DType.INT64), "int")

    def __copy__(self) -> Number:
        return self  # as Python's numbers

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TracedValueError(
            "a number that is known only when the model runs cannot be pickled",
            help="return it, and pickle what the model gives",
        ).locate_at_caller()

    def __divmod__(self, other: Operand) -> tuple[Tensor, Tensor]:
        return (self // other, self % other)

    def __rdivmod__(self, other: Operand) -> tuple[Tensor, Tensor]:
        dividend: Any = other  # whose own operators come first
        return (dividend // self, dividend % self)

    def __hash__(self) -> int:
        """Sets and dicts find a Python number by its value, which is not known yet."""
        raise TracedValueError(
            "a set or dict looks for a number that is known only when the model runs",
            help="compare it, as in n in (1, 2, 3); a loop over static_range(…) has Python ints",
        ).locate_at_caller()

    def __deepcopy__(self, memo: dict[int, Any]) -> Number:
        return self  # as Python's numbers

    def __repr__(self) -> str:
        return shown_text(f"<symbolic {self.kind} {self.name}>")

    def __format__(self, spec: str) -> str:
        return repr(self)


@shown_as("number")
class IntegralNumber(Number):
    """One that is an int or a truth value."""

    __slots__ = ()

    def __new__(cls, *given: str) -> Self:  # pyright: ignore[reportInconsistentConstructor]  # gives an int
        """`type(n)(7)` in the user's code, which means Python's own class; ours are made as `Number`."""
        return cast("Self", int(*given))


@shown_as("number")
class RealNumber(Number):
    """One that is a float."""

    __slots__ = ()

    def __new__(cls, *given: str) -> Self:  # pyright: ignore[reportInconsistentConstructor]  # gives a float
        """As that of `IntegralNumber`."""
        return cast("Self", float(*given))


numbers.Integral.register(IntegralNumber)
numbers.Real.register(RealNumber)

#: A Python number, known or not.
AnyNumber: TypeAlias = Number | bool | int | float


def is_number(value: object) -> TypeIs[AnyNumber]:
    """Return whether a value is a Python number, known or not."""
    return isinstance(value, Number | int | float)


def kind_of(value: object) -> NumberKind | None:
    """The kind of a Python number, known or not; None for everything else."""
    if isinstance(value, Number):
        return value.kind
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else None


def number(tensor: TensorValue) -> Number:
    """A scalar tensor seen as a Python number."""
    dtype = tensor.dtype
    kind: NumberKind = (
        "bool" if dtype is DType.BOOL else "float" if dtype is None or dtype.is_float else "int"
    )
    return Number(tensor, kind)


def is_natural(value: object) -> bool:
    """True if a number is known to be an integer of 0 or more."""
    if not isinstance(value, Number):
        return isinstance(value, int) and value >= 0
    return value.kind != "float" and (value.is_natural or _is_natural_data(value.known.data))


def _is_natural_data(data: Data) -> bool:
    if isinstance(data, np.ndarray):
        return data.dtype.kind in "iu" and bool((data >= 0).all())
    return data is not None and not isinstance(data, tuple) and symbolic.is_at_least(data, 0)


def literal(value: float, dtype: DType) -> np.generic:
    """A Python number as a scalar that a model computes with; LiteralError where that has no such number."""
    refuse_past_end(value, dtype)
    return dtype.numpy.type(value)


def _operand(value: Operand, dtype: DType) -> Operand:
    return value.as_dtype(dtype) if isinstance(value, Number) else literal(cast(float, value), dtype)


def _compute(meaning: Meaning, result: NumberKind | None, a: Operand, b: Operand) -> Number:
    """Python's arithmetic on two numbers: floats if either is one, or if the operator says so."""
    kinds = (kind_of(a), kind_of(b))
    if meaning is arithmetic.power and "float" not in kinds and not is_natural(b):
        result = _power_kind(b)
    works_in: NumberKind = "float" if "float" in kinds or result == "float" else "int"
    dtype = _WORKING[works_in]
    first, second = _operand(a, dtype), _operand(b, dtype)
    if works_in == "float" and meaning in _DIVISIONS:
        number_errors.demand_divisor(b.tensor if isinstance(b, Number) else b)
    value = meaning(first, second)
    if works_in == "float" and meaning is arithmetic.power:
        number_errors.demand_power(first, second, value)
    if works_in == "float" and meaning in _SIGNED_ZEROS:
        value = _SIGNED_ZEROS[meaning](first, second, value)
    stays_natural = meaning in _NATURAL and is_natural(a) and is_natural(b)
    return Number(value, result or works_in, is_natural=works_in == "int" and stays_natural)


def _zero_quotient(a: Operand, b: Operand, quotient: TensorValue) -> TensorValue:
    """`a // b` of floats: a zero has the sign of `a / b`. ONNX Runtime's `Where` keeps a -0.0 that stands last."""
    op = operators_for(quotient)
    return op.Where(op.Greater(op.Abs(quotient), _ZERO), quotient, op.Mul(op.Div(a, b), _ZERO))


def _zero_remainder(a: Operand, b: Operand, rest: TensorValue) -> TensorValue:
    """`a % b` of floats: it has the sign of `b`, and so has a zero."""
    op = operators_for(rest)
    if isinstance(b, TensorValue):
        return op.Mul(op.Abs(rest), op.Sign(b))
    return op.Abs(rest) if cast(float, b) > 0 else op.Neg(op.Abs(rest))


def _power_kind(exponent: Operand) -> NumberKind:
    """The kind of an integer to a power that may be below 0, where Python gives a float."""
    if not isinstance(exponent, Number):
        return "float"  # a known one, which is below 0
    raise TracedValueError(
        "an integer to the power of a number that may be negative is an int or a float, and only the model knows which",
        help="write a float, as in 2.0 ** n, or show that the exponent is not negative: max(n, 0), abs(n)",
    ).locate_at_caller()


def _no_container(other: Operand) -> Operand:
    """A list or text beside a number is not an array: Python repeats it, as often as nobody knows yet.

    Nor is there a complex number of Python's that only the model knows.
    """
    if isinstance(other, complex):
        raise TracedValueError(
            f"Python combines the complex number {other} with a number that only the model knows",
            help=f"np.complex128({other}) makes it an array's number in numpy code, of complex128",
        ).locate_at_caller()
    if isinstance(other, list | tuple | str):
        raise TracedValueError(
            f"Python combines a {type(cast(object, other)).__name__} with a number that only the model knows",
            help="op.Constant(value=[…]) makes a list a tensor; a loop over static_range(…) has Python ints",
        ).locate_at_caller()
    return other


#: Comparisons, and what they are when the operands change places; no other operator is reflected by its name.
_EXCHANGED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _methods(name: str) -> list[tuple[str, bool, str]]:
    """The methods of an operator: each, whether its operands change places, and the other operand's for the same."""
    direct = f"__{name}__"
    if name in _EXCHANGED:
        return [(direct, False, f"__{_EXCHANGED[name]}__")]
    reflected = f"__r{name}__"
    return [(direct, False, reflected), (reflected, True, direct)]


def _beside_array(number: Number, other: Operand, method: str) -> TensorValue | None:
    """The result beside an array, whose method says what the operator means; None beside everything else."""
    beside = in_numpy_code(other)
    if beside is not other:
        return getattr(beside, method)(number)
    return NotImplemented if has_numpys_meaning(other) else None


def _overload(name: str, meaning: Meaning, result: NumberKind | None) -> None:
    for method, is_reflected, opposite in _methods(name):
        inherited: _Method = getattr(Tensor, method)
        setattr(Number, method, _operator(meaning, result, inherited, opposite, is_reflected=is_reflected))


def _operator(
    meaning: Meaning, result: NumberKind | None, inherited: _Method, opposite: str, *, is_reflected: bool
) -> Callable[[Number, Operand], TensorValue]:
    def operator(self: Number, other: Operand) -> TensorValue:
        arrays = _beside_array(self, other, opposite)
        if arrays is not None:
            return arrays
        if kind_of(other) is None:
            return inherited(self, _no_container(other))
        a, b = (other, self) if is_reflected else (self, other)
        return _compute(meaning, result, a, b)

    return operator


#: Operators that give an integer of 0 or more for two such integers.
_NATURAL = (
    arithmetic.add,
    arithmetic.multiply,
    arithmetic.floor_divide,
    arithmetic.remainder,
    arithmetic.power,
)
#: Operators that have no result for a second operand of 0.
_DIVISIONS = (arithmetic.divide, arithmetic.floor_divide, arithmetic.remainder)
#: Divisions of floats whose zeros have a sign that the operators of ONNX do not give.
_SIGNED_ZEROS: dict[Meaning, Callable[[Operand, Operand, TensorValue], TensorValue]] = {
    arithmetic.floor_divide: _zero_quotient,
    arithmetic.remainder: _zero_remainder,
}
#: Python's operators, what each means on tensors, and the kind of its result where the operands do not decide.
_ARITHMETIC: tuple[tuple[str, Meaning, NumberKind | None], ...] = (
    ("add", arithmetic.add, None),
    ("sub", arithmetic.subtract, None),
    ("mul", arithmetic.multiply, None),
    ("truediv", arithmetic.divide, "float"),
    ("floordiv", arithmetic.floor_divide, None),
    ("mod", arithmetic.remainder, None),
    ("pow", arithmetic.power, None),
    ("eq", arithmetic.equal, "bool"),
    ("ne", arithmetic.not_equal, "bool"),
    ("lt", arithmetic.less, "bool"),
    ("le", arithmetic.less_equal, "bool"),
    ("gt", arithmetic.greater, "bool"),
    ("ge", arithmetic.greater_equal, "bool"),
)
for _entry in _ARITHMETIC:
    _overload(*_entry)


def _power(self: Number, exponent: Operand, divisor: AnyNumber | None = None) -> AnyNumber | TensorValue:
    """`self ** exponent`, and `pow(self, exponent, divisor)`."""
    if divisor is None:
        return _POWER(self, exponent)
    if self.kind == "float" or kind_of(exponent) in (None, "float"):
        return NotImplemented
    return modular_power(self, cast("AnyNumber", exponent), divisor)


_POWER: _Method = cast(Any, Number).__pow__
cast(Any, Number).__pow__ = _power


def _overload_bits(name: str, meaning: Meaning, *, is_shift: bool = False) -> None:
    for method, is_reflected, opposite in _methods(name):
        inherited: _Method = getattr(Tensor, method)
        made = _operator_on_bits(meaning, inherited, opposite, is_shift=is_shift, is_reflected=is_reflected)
        setattr(Number, method, made)


def _operator_on_bits(
    meaning: Meaning, inherited: _Method, opposite: str, *, is_shift: bool, is_reflected: bool
) -> Callable[[Number, Operand], TensorValue]:
    def operator(self: Number, other: Operand) -> TensorValue:
        arrays = _beside_array(self, other, opposite)
        if arrays is not None:
            return arrays
        kinds = (self.kind, kind_of(other))
        if None in kinds or "float" in kinds:
            return inherited(self, other)
        kind: NumberKind = "bool" if kinds == ("bool", "bool") and not is_shift else "int"
        operands = (other, self) if is_reflected else (self, other)
        a, b = (_operand(each, _WORKING[kind]) for each in operands)
        if is_shift and not is_natural(operands[1]):
            number_errors.demand_shift(b)
        return Number(meaning(a, b), kind)

    return operator


for _name, _meaning in (("and", bits.bitwise_and), ("or", bits.bitwise_or), ("xor", bits.bitwise_xor)):
    _overload_bits(_name, _meaning)
for _name, _meaning in (("lshift", bits.shift_left), ("rshift", bits.shift_right)):
    _overload_bits(_name, _meaning, is_shift=True)


def _no_attribute(name: str) -> property:
    """A property of tensors that Python's numbers do not have: an eager run has no such attribute, either."""

    def refuse(self: Number) -> NoReturn:
        raise UnknownMethodError(f"a Python {self.kind} has no attribute '{name}'").locate_at_caller()

    return property(refuse)


for _name in list(vars(Tensor)):
    if not _name.startswith("_") and not hasattr(int, _name):
        setattr(Number, _name, _no_attribute(_name))

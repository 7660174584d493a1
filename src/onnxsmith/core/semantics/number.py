"""A Python number whose value only the model knows: a dimension, a loop counter, an attribute of a function.

Where a program runs eagerly these are Python ints, floats and bools, and they compute as Python's do: `n / 2` is a
true division, and `x * n` takes the element type of `x`. So they do when they are symbolic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from onnxsmith.core.semantics import arithmetic, bits
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import NumberValue
from onnxsmith.errors import TracedValueError
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.core.target import Target

NumberKind = Literal["int", "float", "bool"]

#: Python's ints and floats have 64 bits where ONNX has to choose.
_WORKING = {"int": DType.INT64, "float": DType.DOUBLE, "bool": DType.BOOL}
#: What stands for a number while the types of a call are resolved.
_SAMPLES: dict[NumberKind, bool | int | float] = {"int": 1, "float": 1.5, "bool": True}


class Number(Tensor, NumberValue):
    """A scalar tensor that behaves as a Python number: a literal whose value is not known yet."""

    __slots__ = ("kind", "tensor")
    is_symbolic: ClassVar[bool] = True

    def __init__(self, tensor: Tensor, kind: NumberKind) -> None:
        self.tensor = tensor
        self.kind: NumberKind = kind

    @property
    def known(self) -> Known:
        return self.tensor.known

    @property
    def target(self) -> Target:
        return self.tensor.target

    @property
    def ir_value(self) -> Any:
        """The graph's value behind it."""
        return self.tensor.ir_value  # type: ignore[attr-defined]

    @property
    def scope(self) -> Any:
        """The graph it belongs to."""
        return self.tensor.scope  # type: ignore[attr-defined]

    @property
    def span(self) -> Any:
        """Where it was made."""
        return self.tensor.span  # type: ignore[attr-defined]

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self.tensor.name  # type: ignore[attr-defined]

    @property
    def sample(self) -> bool | int | float:
        """A literal of the same kind, for whoever asks which element type it would take."""
        return _SAMPLES[self.kind]

    def as_dtype(self, dtype: DType) -> Tensor:
        """The number as a scalar tensor of an element type."""
        if self.tensor.dtype is dtype:
            return self.tensor
        return arithmetic.operators_for(self.tensor).Cast(self.tensor, to=dtype)

    def as_like(self, other: Any) -> Tensor:
        """The number as a scalar tensor with the element type of another."""
        return arithmetic.operators_for(other).CastLike(self.tensor, other)

    def __repr__(self) -> str:
        return f"<symbolic {self.kind} {self.name}>"


def kind_of(value: Any) -> NumberKind | None:
    """The kind of a Python number, known or not; None for everything else."""
    if isinstance(value, Number):
        return value.kind
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else None


def number(tensor: Tensor) -> Number:
    """A scalar tensor seen as a Python number."""
    dtype = tensor.dtype
    kind: NumberKind = (
        "bool" if dtype is DType.BOOL else "float" if dtype is None or dtype.is_float else "int"
    )
    return Number(tensor, kind)


def _operand(value: Any, dtype: DType) -> Any:
    return value.as_dtype(dtype) if isinstance(value, Number) else dtype.numpy.type(value)


def _compute(meaning: Callable[[Any, Any], Any], result: NumberKind | None, a: Any, b: Any) -> Any:
    """Python's arithmetic on two numbers: floats if either is one, or if the operator says so."""
    kinds = (kind_of(a), kind_of(b))
    works_in: NumberKind = "float" if "float" in kinds or result == "float" else "int"
    dtype = _WORKING[works_in]
    value = meaning(_operand(a, dtype), _operand(b, dtype))
    return Number(value, result or works_in)


def _no_container(other: Any) -> Any:
    """A list or text beside a number is not an array: Python repeats it, as often as nobody knows yet."""
    if isinstance(other, list | tuple | str):
        raise TracedValueError(
            f"Python combines a {type(cast(object, other)).__name__} with a number that only the model knows",
            help="op.Constant(value=[…]) makes a list a tensor; a loop over static_range(…) has Python ints",
        ).locate_at_caller()
    return other


def _overload(name: str, meaning: Callable[[Any, Any], Any], result: NumberKind | None) -> None:
    for method, is_reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
        inherited = getattr(Tensor, method, None)
        if inherited is None:
            continue

        def operator(
            self: Number, other: Any, _inherited: Any = inherited, _reflected: bool = is_reflected
        ) -> Any:
            if kind_of(other) is None:
                return _inherited(self, _no_container(other))
            return (
                _compute(meaning, result, other, self)
                if _reflected
                else _compute(meaning, result, self, other)
            )

        setattr(Number, method, operator)


for _name, _meaning, _result in (
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
):
    _overload(_name, _meaning, _result)  # type: ignore[arg-type]


def _overload_bits(name: str, meaning: Callable[[Any, Any], Any], *, is_shift: bool = False) -> None:
    for method, is_reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
        inherited = getattr(Tensor, method)

        def operator(
            self: Number, other: Any, _inherited: Any = inherited, _reflected: bool = is_reflected
        ) -> Any:
            kinds = (self.kind, kind_of(other))
            if None in kinds or "float" in kinds:
                return _inherited(self, other)
            kind: NumberKind = "bool" if kinds == ("bool", "bool") and not is_shift else "int"
            a, b = (
                _operand(each, _WORKING[kind]) for each in ((other, self) if _reflected else (self, other))
            )
            return Number(meaning(a, b), kind)

        setattr(Number, method, operator)


for _name, _meaning in (("and", bits.bitwise_and), ("or", bits.bitwise_or), ("xor", bits.bitwise_xor)):
    _overload_bits(_name, _meaning)
for _name, _meaning in (("lshift", bits.shift_left), ("rshift", bits.shift_right)):
    _overload_bits(_name, _meaning, is_shift=True)


def _working(self: Number) -> tuple[Tensor, NumberKind]:
    """The number as it computes: a truth value is an int."""
    kind: NumberKind = "float" if self.kind == "float" else "int"
    return self.as_dtype(_WORKING[kind]), kind


def _negate(self: Number) -> Number:
    value, kind = _working(self)
    return Number(arithmetic.negate(value), kind)


def _absolute(self: Number) -> Number:
    value, kind = _working(self)
    return Number(arithmetic.absolute(value), kind)


def _invert(self: Number) -> Any:
    value, kind = _working(self)
    return Number(bits.invert(value), kind)


def _round(self: Number, digits: int | None = None) -> Number:
    value, kind = _working(self)
    rounded = Number(arithmetic.round_half_even(value, digits), kind)
    if kind == "float" and digits is None:  # without digits Python gives an int
        return Number(rounded.as_dtype(DType.INT64), "int")
    return rounded


def _divmod(self: Number, other: Any) -> Any:
    return (self // other, self % other)


def _reflected_divmod(self: Number, other: Any) -> Any:
    return (other // self, other % self)


Number.__neg__ = _negate
Number.__abs__ = _absolute
Number.__invert__ = _invert
Number.__round__ = _round
Number.__divmod__ = _divmod
Number.__rdivmod__ = _reflected_divmod


def _no_hash(self: Number) -> int:
    """Sets and dicts find a Python number by its value, which is not known yet."""
    raise TracedValueError(
        "a set or dict looks for a number that is known only when the model runs",
        help="compare it, as in n in (1, 2, 3); a loop over static_range(…) has Python ints",
    ).locate_at_caller()


Number.__hash__ = _no_hash

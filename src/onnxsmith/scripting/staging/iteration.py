"""The source of a `for`: a Python iterable, or positions that the model counts.

`range`, `zip`, `enumerate` and `reversed` are taken apart, so that tensors may stand in them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, TypeGuard, cast

import numpy as np

from onnxsmith.core.operands import operators_for, tensors_of_arrays
from onnxsmith.core.semantics.number import AnyNumber, Number, kind_of, literal, number
from onnxsmith.core.sequence import TensorSequence, there
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, TensorValue
from onnxsmith.core.value_containers import Carrier
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import LoopTypeError, TracedValueError, UnsupportedSyntaxError
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.merge import NUMBER_DTYPES
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.truth import is_symbolic
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import describe_shape, scalar_help

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager


#: Calls after `in` that are taken apart, so that tensors may stand in them.
_TAKEN_APART = ("range", "zip", "enumerate", "reversed")


def iteration_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions after `in` that are evaluated as they are: the functions and arguments of what is taken apart."""
    if is_taken_apart(node):
        yield node.func
        for argument in (*node.args, *(each.value for each in node.keywords)):
            yield from iteration_parts(argument)
    else:
        yield node


def is_taken_apart(node: ast.expr) -> TypeGuard[ast.Call]:
    """True if an expression is a plain call of range, zip, enumerate or reversed."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            is_plain = not any(isinstance(each, ast.Starred) for each in args) and all(
                each.arg for each in keywords
            )
            return name in _TAKEN_APART and is_plain
        case _:
            return False


#: Where an element stands: known, or counted by the model.
Position: TypeAlias = Tensor | int


@shown_as("range")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Iteration:
    """The source of a loop in the model: the number of elements (None: a test decides), and the one at a position."""

    count: Position | None
    element: Callable[[Position], UserValue] | None

    def _refused(self, *_: object) -> NoReturn:
        """Only the model can go through it."""
        raise TracedValueError(
            "only the model knows how many turns there are, and this needs them when the model is made",
            help="write a 'for' statement, or a list of what each turn gives: [… for i in range(n)]",
        ).locate_at_caller()

    __iter__ = __len__ = __reversed__ = __contains__ = __getitem__ = __bool__ = _refused
    __eq__ = __ne__ = __hash__ = _refused  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return shown_text("<range of the model>")

    def first(self) -> UserValue:
        """The first element, of one or more."""
        assert self.element is not None  # only a `while` has none
        return self.element(0)

    def from_second(self) -> Iteration:
        """All elements but the first, where their number is known."""
        element, count = self.element, self.count
        assert element is not None
        assert count is not None
        return Iteration(count - 1, lambda i: element(i + 1))


class GoneThrough(Protocol):
    """A list of a dialect that the model goes through."""

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """How many elements it has, and the one at a position."""
        ...


def _is_gone_through(value: object) -> TypeGuard[GoneThrough]:
    # `isinstance` of a protocol takes 40 µs, and asks tensors for an attribute that they explain not to have.
    return hasattr(type(value), "gone_through") and not isinstance(value, Carrier)


#: What a `for` is written over: an iteration that the model performs, or what Python can iterate over, if it can.
Source: TypeAlias = "Iteration | UserValue"


def iteration_source(stager: Stager, statement: ast.For) -> Source:
    """A range, an Iteration that the model performs, or a Python iterable."""
    source = _source(stager, statement.iter)
    with located(stager.frame.span(statement.iter)):
        return _over(source)


def _source(stager: Stager, node: ast.expr) -> Source:
    if not is_taken_apart(node):
        return stager.frame.evaluate(node)
    function = cast(Function, stager.frame.evaluate(node.func))
    arguments = [_source(stager, each) for each in node.args]
    options = {cast(str, each.arg): _source(stager, each.value) for each in node.keywords}
    with located(stager.frame.span(node)):
        if function is reversed and isinstance(arguments[0], range):
            return arguments[0][::-1]
        if not any(map(_is_open, (*arguments, *options.values()))):
            return function(*arguments, **options)
        make = _ITERATIONS.get(function)
        return function(*arguments, **options) if make is None else make(*arguments, **options)


def _is_open(value: Source) -> bool:
    """True if only the model can run over a value, or count to it."""
    return (
        is_symbolic(value)
        or isinstance(value, Iteration)
        or _is_gone_through(value)
        or (isinstance(value, Carrier) and value.is_symbolic)
    )


def range_iteration(bounds: range) -> Iteration:
    """A range whose bounds are known, for the model to count."""

    def element(i: Position) -> UserValue:
        scaled = i if bounds.step == 1 else i * bounds.step
        return scaled if bounds.start == 0 else scaled + bounds.start

    for bound in (bounds.start, bounds.stop):
        literal(bound, DType.INT64)  # refuses those past 64 bits
    return Iteration(len(bounds), element)


def _over(value: Source) -> Source:
    """A tensor is run over along its first dimension, a sequence element by element."""
    value = there(value)
    if isinstance(value, Carrier) and value.is_symbolic:
        return Iteration(*value.gone_through())
    if _is_gone_through(value):
        return Iteration(*value.gone_through())
    if not is_symbolic(value):
        return value  # also an Iteration
    if isinstance(value, Tensor):
        if value.type.shape == ():
            raise LoopTypeError(
                "a scalar tensor cannot be looped over",
                help=scalar_help(value.type.dtype)
                if value.type.dtype is not DType.INT64 and current_graph().is_given(value)
                else "loop over range(n)",
            )
        return Iteration(value.shape[0], lambda i: value[i])
    sequence = cast(TensorSequence, value)
    return Iteration(number(operators_for(sequence).SequenceLength(sequence)), lambda i: sequence[i])


def _enumerated(
    iterable: Source, start: AnyNumber | Tensor = 0
) -> Iteration | Iterator[tuple[AnyNumber | Tensor, UserValue]]:
    inner = _over(iterable)
    if not isinstance(inner, Iteration):  # only the start is the model's: the loop runs now
        return ((start + k, each) for k, each in enumerate(cast("Iterable[UserValue]", inner)))
    element = inner.element
    assert element is not None
    return Iteration(inner.count, lambda i: (i + start, element(i)))


def _reversed(items: Source) -> Iteration | Iterator[UserValue]:
    inner = _over(items)
    if not isinstance(inner, Iteration):
        return reversed(cast("Sequence[UserValue]", inner))
    element, count = inner.element, inner.count
    assert element is not None
    assert count is not None
    return Iteration(count, lambda i: element(count - 1 - i))


def _zipped(*items: Source, strict: bool = False) -> Iteration:
    """zip of tensors: as long as the shortest, as Python's; that all are as long is checked eagerly."""
    counts: list[Any] = []
    elements: list[Callable[[Position], UserValue]] = []
    for each in items:
        source = _over(each)
        if isinstance(source, range):
            source = range_iteration(source)
        elif isinstance(source, list | tuple):
            source = _of_numbers(source)
        if not isinstance(source, Iteration) or source.element is None:
            raise UnsupportedSyntaxError(
                "zip cannot mix tensors with Python iterables",
                help="loop over a range and index each of them",
            )
        counts.append(source.count)
        elements.append(source.element)
    if all(isinstance(each, int) for each in counts):
        shortest: Any = min(counts)
    else:
        shortest = counts[0]
        for count in counts[1:]:
            a, b = _int64(shortest), _int64(count)
            shortest = number(operators_for(a, b).Min(a, b))
    return Iteration(shortest, lambda i: tuple(element(i) for element in elements))


def _of_numbers(values: Sequence[UserValue]) -> Iteration | None:
    """Python numbers of one kind, for the model to take one by one; None for other lists."""
    kind = kind_of(values[0]) if values else None
    if kind is None or any(is_symbolic(each) or kind_of(each) != kind for each in values):
        return None
    array = np.array([literal(cast(float, each), NUMBER_DTYPES[kind]) for each in values])
    return Iteration(len(values), lambda i: Number(current_graph().constant(array)[i], kind))


def _int64(value: AnyNumber) -> TensorValue | Array:
    return (
        value.as_dtype(DType.INT64) if isinstance(value, Number) else np.asarray(literal(value, DType.INT64))
    )


def dynamic_range(*arguments: UserValue) -> Iteration:
    """`range(n)` where only the model knows the bounds."""
    values: list[Any] = [each if isinstance(each, Number | int) else _as_number(each) for each in arguments]
    start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    distance: Any = stop if _is(start, 0) else stop - start
    count: Any = distance if _is(step, 1) else -((-distance) // step)

    def element(i: Position) -> UserValue:
        scaled = i if _is(step, 1) else i * step
        return scaled if _is(start, 0) else scaled + start

    return Iteration(count, element)


def _as_number(value: UserValue) -> Number | int:
    if isinstance(value, np.integer) or (isinstance(value, Carrier) and not value.is_symbolic):
        return operator.index(cast(Any, value))
    value = there(tensors_of_arrays(value))  # of an array, numpy too takes the integer
    if not isinstance(value, Tensor) or (value.dtype is not None and not value.dtype.is_integer):
        shown = value.type.described if isinstance(value, Tensor) else type(value).__name__
        raise LoopTypeError(f"range needs integers, not {shown}", help="convert it with int(…)")
    if value.target.is_exact:
        return Number(value, "int")  # a given model is taken as it is
    if value.type.shape:
        raise LoopTypeError(
            f"range needs single integers, not a tensor of shape {describe_shape(value.type.shape)}",
            help="n[0]",
        )
    scalar = value if value.type.shape == () else value.reshape(())
    if value.dtype is not DType.INT64:
        scalar = operators_for(scalar).Cast(scalar, to=DType.INT64)
    return number(scalar)


def _is(value: AnyNumber, wanted: int) -> bool:
    return isinstance(value, int) and value == wanted


_ITERATIONS: dict[Any, Callable[..., Any]] = {
    range: dynamic_range,
    enumerate: _enumerated,
    zip: _zipped,
    reversed: _reversed,
}

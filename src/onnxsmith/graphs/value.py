"""Values of a graph that is being made; and the errors for those that are used where they do not belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, SupportsIndex, TypeAlias, cast

from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.sequence import TensorOptional, TensorSequence
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import LeakedValueError, TracedValueError, boundary
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.unpacking import refuse_rows_for_outputs
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Place, Span, caller_span, span_at, taken_apart
from onnxsmith.types.value_types import OptionalType, TensorType

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget


class SymbolicValue(Value):
    """A value that exists when the model runs: what is known of it, and where it was made.

    `made_in` made it, and `scope` has it now: a draft may have been kept since. Its classes have the slots, since a
    tensor and a sequence have others besides.
    """

    __slots__ = ()
    is_symbolic: ClassVar[bool] = True
    record: ValueRecord
    made_in: GraphTarget
    place: Place | None
    known: Known  # an attribute: every call asks for it

    def __init__(self, record: ValueRecord, known: Known, scope: GraphTarget, place: Place | None) -> None:
        self.record = record
        self.known = known  # pyright: ignore[reportIncompatibleMethodOverride]  # see above
        self.made_in = scope
        self.place = place

    @property
    def scope(self) -> GraphTarget:
        """The graph it belongs to."""
        return self.made_in if self.made_in.absorbed_by is None else self.made_in.home

    @property
    def target(self) -> GraphTarget:
        return self.scope

    @property
    def span(self) -> Span | None:
        """Where it was made."""
        return span_at(self.place)

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self.record.name

    def __format__(self, spec: str) -> str:
        return repr(self)


@shown_as("Tensor")
class SymbolicTensor(SymbolicValue, Tensor):  # pyright: ignore[reportIncompatibleVariableOverride]  # `known`
    """A tensor of a graph."""

    __slots__ = ("known", "made_in", "place", "record")  # pyright: ignore[reportIncompatibleMethodOverride]  # `known`

    def as_number(self) -> Number:
        return number(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> SymbolicTensor:
        return type(self)(
            self.record, self.known, self.made_in, self.place
        )  # another object, as an eager run has

    def __copy__(self) -> SymbolicTensor:
        return self.__deepcopy__({})

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TracedValueError(
            "a tensor that exists only when the model runs cannot be pickled",
            help="return it, and pickle what the model gives",
        ).locate_at_caller()

    def __hash__(self) -> int:
        return hash(self.as_number())  # a set or dict asks for its value: the error says so

    @boundary
    def __iter__(self) -> Iterator[Tensor]:
        is_taken_apart, count = taken_apart()
        if is_taken_apart:
            refuse_rows_for_outputs(self, count)
        return super().__iter__()

    def as_shape(self) -> SymbolicShape:
        return SymbolicShape(self.record, self.known, self.scope, self.place)

    def __repr__(self) -> str:
        return shown_text(f"<symbolic tensor {self.name}: {self.type!r}>")


@shown_as("shape")
class SymbolicShape(SymbolicTensor):
    """The shape of a tensor of unknown rank: a vector whose elements are Python numbers, as those of a tuple are."""

    __slots__ = ()

    def __getitem__(self, index: Index) -> SymbolicTensor | Number:
        part = cast(SymbolicTensor, super().__getitem__(index))
        rank = part.type.rank
        if rank != 0:
            return part.as_shape() if rank == 1 else part
        size = part.as_number()
        size.is_natural = True
        return size


@shown_as("sequence")
class SymbolicSequence(SymbolicValue, TensorSequence):  # pyright: ignore[reportIncompatibleVariableOverride]  # `known`
    """A sequence of a graph."""

    __slots__ = ("known", "made_in", "place", "record")  # pyright: ignore[reportIncompatibleMethodOverride]  # `known`

    def __repr__(self) -> str:
        return shown_text(f"<symbolic {self.known.type!r} {self.name}>")


@shown_as("optional")
class SymbolicOptional(SymbolicValue, TensorOptional):  # pyright: ignore[reportIncompatibleVariableOverride]  # `known`
    """A value of a graph that may be absent."""

    __slots__ = ("known", "made_in", "place", "record")  # pyright: ignore[reportIncompatibleMethodOverride]  # `known`

    def __repr__(self) -> str:
        return shown_text(f"<symbolic {self.known.type!r} {self.name}>")


#: A value of a graph.
Made: TypeAlias = SymbolicTensor | SymbolicSequence | SymbolicOptional


def wrap(record: ValueRecord, known: Known, scope: GraphTarget, place: Place | None) -> Made:
    """The Python object for a value of a graph, by its type."""
    if isinstance(known.type, TensorType):
        return SymbolicTensor(record, known, scope, place)
    kind = SymbolicOptional if isinstance(known.type, OptionalType) else SymbolicSequence
    return kind(record, known, scope, place)


_OWN = (SymbolicTensor, SymbolicSequence, SymbolicOptional)


def made_value(value: object) -> Made:
    """The value of a graph behind what may be a number or an attribute of a function."""
    if isinstance(value, _OWN):
        return value
    behind = getattr(value, "tensor", None)
    if isinstance(behind, _OWN):
        return behind
    raise LeakedValueError("a tensor of another target was used in a graph").locate(caller_span())


def used_in_another_graph(value: Made) -> LeakedValueError:
    """The error for a value that cannot be seen from the graph that it is used in."""
    error = LeakedValueError(
        f"'{value.name}' belongs to another graph than the one it is used in",
        help="a tensor lives in the function that made it: return it, or pass it as an argument",
    ).locate(caller_span())
    return error.also(value.span, f"'{value.name}' was made here")


def used_after_its_graph(inputs: Sequence[Any]) -> LeakedValueError:
    """The error for a call on the values of a graph that nothing can be added to any more."""
    symbolic = [each for each in inputs if getattr(each, "is_symbolic", False)]
    # A constant that was made for this call stands nowhere in the user's source.
    leaked = next((each for each in symbolic if each.span is not None), symbolic[0] if symbolic else None)
    name = "this tensor" if leaked is None else f"'{leaked.name}'"
    error = LeakedValueError(
        f"{name} belongs to a graph that is finished, and has no value outside it",
        help="a tensor lives in the function that made it: return it, and call the model to get its value",
    ).locate(caller_span())
    return error if leaked is None else error.also(leaked.span, f"{name} was made here")

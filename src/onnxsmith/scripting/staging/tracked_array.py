"""`TrackedArray`: an array of numpy that paths of the model change in place, and everything that shares its elements.

It is a tensor of the graph whose value is replaced when the array is written to. All that holds the array holds the
same object, and a view looks into the array that it is a part of. What numpy makes a view of, numpy itself says: the
same call is made on an array of positions. When an array becomes tracked is decided in `array_aliases`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Operand, TensorValue, Value
from onnxsmith.core.value_containers import (
    MOMENTS,
    CarriedParts,
    Carrier,
    is_out_of_reach,
    note_change,
    note_refusal,
)
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import LoopTypeError, TensorAssignmentError
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.scripting.staging.script_values import Function

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget
    from onnxsmith.graphs.records import ValueRecord
    from onnxsmith.source import Place

#: Methods, properties and functions of numpy that may give a view of an array.
VIEWS = frozenset(
    [
        *("reshape", "ravel", "view", "transpose", "swapaxes", "squeeze", "diagonal", "T", "mT", "flat"),
        *("real", "imag", "asarray", "asanyarray", "atleast_1d", "atleast_2d", "atleast_3d", "moveaxis"),
        *(
            "expand_dims",
            "broadcast_to",
            "ascontiguousarray",
            "rollaxis",
            "flip",
            "fliplr",
            "flipud",
            "split",
        ),
        *("array_split", "hsplit", "vsplit", "rot90", "require", "broadcast_arrays", "data", "base"),
        *("matrix_transpose", "permute_dims", "unstack", "dsplit", "__getitem__"),
    ]
)
#: Those that give a view or a copy, depending on how the elements lie in memory.
_BY_LAYOUT = frozenset(["reshape", "ravel", "asarray", "asanyarray", "ascontiguousarray", "require", "view"])
#: Why an array is not written to that may be a tensor.
MIXED = "it may be a tensor, which never changes, and only the model knows whether it is"
#: The name of its one part.
WHOLE = ""


@shown_as("array")
class TrackedArray(SymbolicTensor, Carrier):  # pyright: ignore[reportIncompatibleVariableOverride]  # always symbolic
    """An array that computes as tensors do, and is written to as numpy's arrays are."""

    __slots__ = (
        "_base",
        "_born",
        "_is_plain",
        "_locked",
        "_positions",
        "_seen",
        "_value",
        "_version",
    )

    def __init__(self, value: SymbolicTensor, *, is_plain: bool = True, locked: str | None = None) -> None:
        self._value = value
        self._born = self._version = next(MOMENTS)
        #: Whether the elements lie in memory as the array of positions does, in which numpy finds views.
        self._is_plain = is_plain
        #: Why it cannot be written to, if so.
        self._locked = locked
        #: The array whose elements it shows, and the version of that which they were taken from.
        self._base: TrackedArray | None = None
        self._seen = 0
        #: Where its elements are in its owner; None where that is not known.
        self._positions: Array | SymbolicTensor | None = _numbered(value)

    def part(
        self, positions: Array | SymbolicTensor | None, value: SymbolicTensor | None = None
    ) -> TrackedArray:
        """Some elements of the array: those at these positions of its owner."""
        owner = self.owner
        if value is None:
            assert positions is not None  # whoever knows neither has nothing to show
            value = _taken(owner.plain, positions)
        made = TrackedArray(value, is_plain=self._is_plain, locked=self._locked)
        made._base, made._seen, made._positions = owner, owner._version, positions
        return made

    # -- what a tensor is asked ------------------------------------------------------------------------

    @property
    def plain(self) -> SymbolicTensor:
        """The tensor of its elements as they are now."""
        base = self._base
        if base is not None and self._seen != base._version:
            if self._positions is None:
                raise _unclear("read", "the array that it was made from was written to")
            note_change(self)
            self._value = _taken(base.plain, self._positions)
            self._version, self._seen = next(MOMENTS), base._version
        return self._value

    @property
    def record(self) -> ValueRecord:  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes
        return self.plain.record

    @property
    def known(self) -> Known:
        return self.plain.known

    @property
    def made_in(self) -> GraphTarget:  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes
        return self.plain.made_in

    @property
    def place(self) -> Place | None:  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes
        return self.plain.place

    def memory(self) -> dict[Hashable, Any]:
        return self.plain.memory()

    def copy(self) -> TrackedArray:
        """Another array with the same elements."""
        return TrackedArray(self.plain)

    def __deepcopy__(self, memo: dict[int, Any]) -> TrackedArray:
        return self.copy()

    def __setitem__(self, index: Index, value: Operand) -> None:
        place = self.plain.at[cast(Index, _bare(cast(UserValue, index)))]
        self.write(cast(SymbolicTensor, place.set(cast(Operand, _bare(cast(UserValue, value))))))

    def __array_ufunc__(  # pyright: ignore[reportIncompatibleMethodOverride]  # its results are arrays
        self, ufunc: np.ufunc, method: str, *inputs: Operand, **kwargs: UserValue
    ) -> UserValue:
        given: list[Any] = [_bare(cast(UserValue, each)) for each in inputs]
        options = {key: _bare(each) for key, each in kwargs.items()}
        result = self.plain.__array_ufunc__(ufunc, method, *given, **options)
        return _followed(cast(UserValue, result), cast(UserValue, inputs))

    def __array_function__(  # pyright: ignore[reportIncompatibleMethodOverride]  # its results are arrays
        self,
        function: Function,
        types: Collection[type],
        args: Sequence[UserValue],
        kwargs: dict[str, UserValue],
    ) -> UserValue:
        given: Any = [_bare(each) for each in args]
        options = {key: _bare(each) for key, each in kwargs.items()}
        result = self.plain.__array_function__(function, types, given, options)
        if function.__name__ not in VIEWS:
            return _followed(result, [*args, *kwargs.values()])
        return self.viewed(function.__name__, function, result, args, kwargs)

    @property
    def is_contiguous(self) -> bool:
        """True if the elements lie one after the other in memory, the last dimension fastest."""
        positions = self._positions
        return self._is_plain and isinstance(positions, np.ndarray) and positions.flags.c_contiguous

    # -- what is written to it -------------------------------------------------------------------------

    def write(self, new: SymbolicTensor) -> None:
        """Hold other elements, of the same type and shape; what shares them sees the change."""
        old = self.plain
        if self._locked is not None:
            raise TensorAssignmentError(
                f"this array cannot be written to: {self._locked}",
                help="make a new one: x = x + 1, or x = x.copy() before x[i] = v",
            ).locate_at_caller()
        if is_out_of_reach(self.owner):
            raise TensorAssignmentError(
                "this array was made outside the function that is being recorded, and that cannot write to it",
                help="copy it inside, x = x.copy(), and return what the caller needs",
            ).locate_at_caller()
        if new.dtype is not old.dtype or new.type.shape != old.type.shape:
            error = TensorAssignmentError(
                f"this array is {old.type!r}, and {new.type!r} cannot be written to it",
                help="make a new one: x = x + y",
            ).locate_at_caller()
            # What the type of a parameter is, whoever calls knows.
            error.needs_values = new.dtype is None or new.type.shape is None
            raise error
        base = self._base
        if base is not None:
            if self._positions is None:
                raise _unclear("written to", "only the model knows which elements it shows")
            base.write(_put(base.plain, self._positions, new))
        note_change(self)
        self._value, self._version = new, next(MOMENTS)
        if base is not None:
            self._seen = base._version

    # -- what control flow of a model asks -------------------------------------------------------------

    @property
    def described(self) -> str:
        return f"array of {self.type!r}"

    @property
    def born(self) -> int:
        return self._born

    @property
    def version(self) -> int:
        return self._version

    @property
    def owner(self) -> TrackedArray:
        return self if self._base is None else self._base

    @property
    def carried(self) -> CarriedParts:
        return {WHOLE: self.plain}

    @property
    def traits(self) -> Hashable:
        return self.is_contiguous, self._locked

    @classmethod
    def joined_traits(cls, first: Hashable, second: Hashable) -> Hashable:
        (is_plain, why), (other_is_plain, other_why) = cast(
            "tuple[tuple[bool, str | None], ...]", (first, second)
        )
        return is_plain and other_is_plain, why or other_why

    @classmethod
    def made_of(cls, traits: Hashable, parts: CarriedParts) -> TrackedArray:
        is_plain, why = cast("tuple[bool, str | None]", traits)
        return cls(cast(SymbolicTensor, parts[WHOLE]), is_plain=is_plain, locked=why)

    def adopted(self, value: object) -> TrackedArray | None:
        """A tensor or an array of numpy's as one like this; it may be shared or be a tensor, and is not written to."""
        if isinstance(value, np.ndarray):
            array = cast(Array, value)
            return TrackedArray(cast(SymbolicTensor, current_graph().constant(array)), locked=MIXED)
        if not isinstance(value, SymbolicTensor) or value.type.rank == 0:
            return None
        return TrackedArray(value, is_plain=False, locked=MIXED)

    def rewrite(self, parts: CarriedParts) -> None:
        note_change(self)
        self._value, self._version = cast(SymbolicTensor, parts[WHOLE]), next(MOMENTS)

    def remembered(self) -> object:
        return self._value, self._version, self._seen

    def put_back(self, remembered: Any) -> None:
        self._value, self._version, self._seen = remembered

    def keep_unchanged(self, why: str) -> None:
        if self._locked is None:
            self._locked = why
            note_refusal(self)

    def allow_changes(self) -> None:
        self._locked = None

    def asked_for_truth(self) -> TensorValue:
        return self.plain

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """Along the first dimension; each row is a view."""
        if self.type.shape == ():
            raise LoopTypeError(
                "an array without dimensions cannot be looped over", help="loop over range(n)"
            )
        return self.shape[0], lambda position: self[position]

    # -- results -----------------------------------------------------------------------------------------

    def viewed(
        self,
        name: str,
        call: Function,
        result: UserValue,
        args: Sequence[UserValue],
        kwargs: Mapping[str, UserValue],
    ) -> UserValue:
        """The result of a call that may give views. `call` takes arrays of positions in the place of arrays."""
        if isinstance(result, tuple | list):
            raise _unclear("taken apart", "its parts share its elements")
        if not isinstance(result, SymbolicTensor) or result.type.rank == 0:
            return result
        if name in ("asarray", "asanyarray") and len(args) == 1 and not kwargs:
            return self
        positions = self._positions
        if isinstance(positions, np.ndarray) and _has_symbolic([*args, *kwargs.values()]):
            if name != "__getitem__":
                return self.part(None, result)
            if any(not _is_basic(each) for each in _leaves(args[1:])):
                return TrackedArray(result, is_plain=False)
            numbers = cast(SymbolicTensor, current_graph().constant(np.ascontiguousarray(positions)))
            return self.part(cast(SymbolicTensor, numbers[cast(Index, _bare(args[1]))]), result)
        if not isinstance(positions, np.ndarray) or (name in _BY_LAYOUT and not self._is_plain):
            return self.part(None, result)
        options = {key: _as_positions(each) for key, each in kwargs.items()}
        seen = cast(Array, call(*map(_as_positions, args), **options))
        if np.shares_memory(seen, positions):
            return self.part(seen, result)
        return TrackedArray(result, is_plain=seen.flags.c_contiguous)


def _numbered(value: SymbolicTensor) -> Array | None:
    """The positions of the elements of a tensor that is an array of its own."""
    shape = value.type.shape
    if shape is None or not all(isinstance(each, int) for each in shape):
        return None
    sizes = cast("tuple[int, ...]", shape)
    return np.arange(np.prod(sizes, dtype=np.int64)).reshape(sizes)


_FLAT = np.array([-1], np.int64)


def _taken(whole: SymbolicTensor, positions: Array | SymbolicTensor) -> SymbolicTensor:
    """The elements of a tensor at some positions."""
    op = operators_for(whole)
    places = np.ascontiguousarray(positions) if isinstance(positions, np.ndarray) else positions
    return cast(SymbolicTensor, op.Gather(op.Reshape(whole, _FLAT), places))


def _put(whole: SymbolicTensor, positions: Array | SymbolicTensor, part: SymbolicTensor) -> SymbolicTensor:
    """A tensor with other elements at some positions."""
    op = operators_for(whole)
    if isinstance(positions, np.ndarray):
        if len(np.unique(positions)) != positions.size:
            raise _unclear("written to", "it shows an element more than once")
        places: Any = positions.ravel()
    else:
        places = op.Reshape(positions, _FLAT)
    written = op.ScatterElements(op.Reshape(whole, _FLAT), places, op.Reshape(part, _FLAT), axis=0)
    return cast(SymbolicTensor, op.Reshape(written, np.array(whole.type.shape, np.int64)))


def _bare(value: UserValue) -> UserValue:
    """A value with the tensors that tracked arrays have now in their place."""
    return _mapped(value, lambda each: each.plain)


def _as_positions(value: UserValue) -> UserValue:
    """A value with the positions of tracked arrays in their place."""
    return _mapped(value, lambda each: each._positions)  # pyright: ignore[reportPrivateUsage]  # of its own class


def _mapped(value: UserValue, change: Callable[[TrackedArray], UserValue]) -> UserValue:
    if isinstance(value, TrackedArray):
        return change(value)
    if isinstance(value, list):
        return [_mapped(each, change) for each in value]
    if type(value) is tuple:
        return tuple(_mapped(each, change) for each in cast("tuple[UserValue, ...]", value))
    return value


def _leaves(value: UserValue) -> Iterator[UserValue]:
    if isinstance(value, list | tuple):
        for each in cast("Sequence[UserValue]", value):
            yield from _leaves(each)
    elif isinstance(value, slice):
        bounds = cast("slice[UserValue, UserValue, UserValue]", value)
        yield from (bounds.start, bounds.stop, bounds.step)
    else:
        yield value


def _is_basic(item: UserValue) -> bool:
    """True for what an index may hold that gives a view: integers, None and `...`."""
    return item is None or item is ... or getattr(item, "ndim", 0) == 0


def _has_symbolic(values: UserValue) -> bool:
    return any(isinstance(each, Value) and not isinstance(each, TrackedArray) for each in _leaves(values))


def _followed(result: UserValue, operands: UserValue) -> UserValue:
    """The result of a call on arrays, which is a new array; beside a tensor it is a tensor, which never changes."""
    if isinstance(result, tuple | list):
        made = [_followed(each, operands) for each in cast("Sequence[UserValue]", result)]
        return made if isinstance(result, list) else tuple(made)
    if not isinstance(result, SymbolicTensor) or result.type.rank == 0:
        return result
    others = [each for each in _leaves(operands) if isinstance(each, Tensor)]
    tensors = [each for each in others if not isinstance(each, TrackedArray)]
    if any(each.type.rank != 0 for each in tensors):
        return result
    is_plain = all(each.is_contiguous for each in others if isinstance(each, TrackedArray))
    # A scalar may be a number of numpy's, as a sum is, or a tensor.
    return TrackedArray(result, is_plain=is_plain, locked=MIXED if tensors else None)


def _unclear(done: str, why: str) -> TensorAssignmentError:
    return TensorAssignmentError(
        f"this array cannot be {done}: {why}", help="take a copy where it is made: x.reshape(…).copy()"
    ).locate_at_caller()


# -- the methods of tensors ----------------------------------------------------------------------------


def _method(name: str) -> Function:
    of_tensor = cast(Function, getattr(SymbolicTensor, name))

    def method(self: TrackedArray, *args: UserValue, **kwargs: UserValue) -> UserValue:
        options = {key: _bare(each) for key, each in kwargs.items()}
        result = of_tensor(self.plain, *map(_bare, args), **options)
        if result is NotImplemented:
            return result
        if name in VIEWS:
            return self.viewed(name, getattr(np.ndarray, name), result, (self, *args), kwargs)
        return _followed(result, [self, *args, *kwargs.values()])

    method.__name__, method.__doc__ = name, of_tensor.__doc__
    return method


def _in_place(name: str) -> Function:
    of_tensor = cast(Function, getattr(SymbolicTensor, name))

    def method(self: TrackedArray, other: UserValue) -> UserValue:
        result = of_tensor(self.plain, _bare(other))
        if result is NotImplemented:
            return result
        self.write(cast(SymbolicTensor, result))
        return self

    method.__doc__ = f"`{name}`, written to the array."
    return method


_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_COMPUTING = (
    *(f"__{each}__" for each in _BINARY),
    *(f"__r{each}__" for each in _BINARY),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__neg__", "__invert__", "__abs__", "__pos__", "__round__", "__divmod__", "__rdivmod__", "__getitem__"),
    *("reshape", "transpose", "astype", "sum", "mean", "prod", "var", "std", "cumsum", "argsort"),
    *("max", "min", "argmax", "argmin", "any", "all", "clip", "squeeze", "flatten", "ravel", "swapaxes"),
)
for _name in _COMPUTING:
    setattr(TrackedArray, _name, _method(_name))
for _name in _BINARY:
    setattr(TrackedArray, f"__i{_name}__", _in_place(f"__{_name}__"))


def _transposed(array: TrackedArray) -> UserValue:
    return array.viewed("T", np.transpose, array.plain.T, (array,), {})


setattr(TrackedArray, "T", property(_transposed))  # noqa: B010  # as the others
setattr(TrackedArray, "__hash__", SymbolicTensor.__hash__)  # noqa: B010  # which `__eq__` takes away

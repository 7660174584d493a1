"""`Holding`: how an array holds its elements, and what control flow of a model may ask of it and do to it.

An array is a `Carrier`: branches and loops that the model performs merge arrays, carry them, and follow what is written
to them. What arrays compute stands in `array`, how views share their elements in `sharing`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value_containers import MOMENTS, CarriedParts, Carrier, note_change, note_refusal
from onnxsmith.errors import LoopTypeError, TracedValueError, UnsupportedSyntaxError
from onnxsmith.numpy.narrowing import NARROW, narrowed
from onnxsmith.numpy.perhaps_python import Weak
from onnxsmith.source import Span

#: The elements of an array: known now, or the tensor of a graph; complex ones are two tensors there.
Held: TypeAlias = "np.ndarray[Any, np.dtype[Any]] | Tensor | Complex"

_NDARRAY = np.ndarray
#: Why an array without dimensions that a function gave cannot be written to.
NUMBER = "it is a number, as what numpy gives in its place"
_PERHAPS_NUMBER = "numpy has a number in its place on one path, and an array on another"
#: What the parts of an array are called for a model: one tensor, or those of complex numbers.
_WHOLE, _REAL, _IMAGINARY = "", "real", "imag"


class SharedPart(Protocol):
    """The array that an array is a part of, as the part sees it; `sharing` says how the two share their elements."""

    @property
    def whole(self) -> Holding:
        """The array that it is a part of."""
        ...

    @property
    def seen(self) -> int:
        """The version of the whole that the elements were taken from."""
        ...

    @seen.setter
    def seen(self, version: int) -> None: ...

    def refreshed(self, array: Holding) -> Held:
        """The elements as they are now."""
        ...


class Holding(Carrier):
    """The elements of an array, and what is known of how they may change."""

    __slots__ = (
        "_born",
        "_is_plain",
        "_locked",
        "_notes_writes",
        "_recording",
        "_value",
        "_version",
        "_view",
        "_weak",
        "_written_at",
    )

    def __init__(self, value: Held, is_plain: bool = True) -> None:
        self._value = value
        #: What it is a part of, where it shares elements with another array.
        self._view: SharedPart | None = None
        self._born = next(MOMENTS)
        #: When its elements were replaced, a moment of its own for each time: no two versions are taken for one.
        self._version = self._born
        #: Whether numpy, too, would hold the elements one after the other, the last dimension fastest. It decides
        #: whether `reshape` gives a view or a copy; where it is False, nobody knows.
        self._is_plain = is_plain
        #: Why it cannot be written to, if so.
        self._locked: str | None = None
        #: Whether another array may show these elements or not, which is not read after a write; and where that was.
        self._notes_writes = False
        self._written_at: Span | None = None
        #: The Python numbers that may stand in its place, where that is so and matters.
        self._weak: Weak | None = None
        #: The model that was being recorded when it was made: it is written to there alone.
        self._recording = recording()
        if self._recording is not None and NARROW in self._recording:
            self._value = narrowed(value, self._recording[NARROW])

    @property
    def is_number(self) -> bool:
        """True if numpy gives it as a number of its own, which never changes: a sum, one element."""
        return self._locked is NUMBER

    def lock(self, why: str) -> None:
        """Refuse to be written to from now on."""
        self._locked = why

    @property
    def held(self) -> Held:
        """The elements as they are now: a numpy array that nobody may change, or tensors of a graph."""
        return self._value if self._view is None else self._view.refreshed(self)

    @property
    def is_symbolic(self) -> bool:
        """True if the elements exist only when the model runs."""
        return self._value.__class__ is not _NDARRAY

    # -- what control flow of a model asks -----------------------------------------------------------------

    @property
    def described(self) -> str:
        """The words for it in errors."""
        array: Any = self
        return f"array of {array.dtype.name} with {array.ndim} dimensions"

    @property
    def born(self) -> int:
        """The moment at which it was made."""
        return self._born

    @property
    def version(self) -> int:
        """The moment at which its elements were last replaced."""
        return self._version

    @property
    def owner(self) -> Holding:
        """The array whose elements it shows; itself where they are its own."""
        return self if self._view is None else self._view.whole.owner

    @property
    def carried(self) -> CarriedParts:
        """The tensors of the elements, or the elements where they are known."""
        held = self.held
        if isinstance(held, Complex):
            return {_REAL: held.real, _IMAGINARY: held.imag}
        if isinstance(held, np.ndarray) and held.dtype.kind == "c":
            return {_REAL: np.real(held).copy(), _IMAGINARY: np.imag(held).copy()}
        return {_WHOLE: held}

    @property
    def traits(self) -> Hashable:
        """How the elements lie, why they cannot be written to, and which numbers of Python's they may be."""
        return self._is_plain, self._locked, self._weak

    @classmethod
    def joined_traits(cls, first: Hashable, second: Hashable) -> Hashable:
        """The traits that both have."""
        (is_plain, why, weak), (other_is_plain, other_why, other_weak) = cast(
            "tuple[tuple[bool, str | None, Weak | None], ...]", (first, second)
        )
        if why is not other_why and NUMBER in (why, other_why):
            why = _PERHAPS_NUMBER
        both = other_weak if weak is None else weak.joined(other_weak)
        return is_plain and other_is_plain, why or other_why, both

    @classmethod
    def made_of(cls, traits: Hashable, parts: CarriedParts) -> Holding:
        """An array of these tensors, or of elements that are known."""
        is_plain, why, weak = cast("tuple[bool, str | None, Weak | None]", traits)
        made = cls(_held_of(parts), is_plain)
        made._locked, made._weak = why, weak
        return made

    def rewrite(self, parts: CarriedParts) -> None:
        """Hold other elements."""
        note_change(self)
        self._value = _held_of(parts)
        self._version = next(MOMENTS)

    def remembered(self) -> object:
        """The elements and their version, and of a view which version of the whole they are of."""
        return self._value, self._version, None if self._view is None else self._view.seen

    def put_back(self, remembered: Any) -> None:
        """Hold again what was held."""
        self._value, self._version, seen = remembered
        if self._view is not None:
            self._view.seen = seen

    def keep_unchanged(self, why: str) -> None:
        """Refuse to be written to; a number is not, anyway, nor is what the model did not make."""
        if self._locked is None and self._recording is recording():
            self._locked = why
            note_refusal(self)

    def allow_changes(self) -> None:
        """Take it back."""
        self._locked = None

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """As numpy goes through it, along the first dimension."""
        items: Any = self
        if not items.ndim:
            raise LoopTypeError(
                "an array without dimensions cannot be looped over", help="loop over range(n)"
            )
        return items.shape[0], lambda position: items[position]


class Stacked:
    """A list that only the model knows the length of. Its elements are the rows of one array."""

    __slots__ = ()
    #: "python", "number" or "array" where it is a list of such, and else the class of its elements.
    kind: Any

    @property
    def stacked(self) -> Any:
        """Its elements as one array."""
        raise NotImplementedError

    def append(self, item: UserValue) -> None:
        """Add an element at the end."""
        raise NotImplementedError

    def extend(self, items: Iterable[Any]) -> None:
        """Add elements at the end."""
        for each in items:
            self.append(each)

    def __getitem__(self, index: UserValue) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.stacked)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __getattr__(self, name: str) -> Any:
        """Raises the error for what lists can do and such a list cannot."""
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        raise UnsupportedSyntaxError(
            f"only the model knows how long this list is, and such a list has no '{name}'",
            help="it is appended to, indexed and gone through; np.array(items) is an array of it",
        ).locate_at_caller()


def _held_of(parts: CarriedParts) -> Held:
    if _WHOLE in parts:
        return cast(Held, parts[_WHOLE])
    real, imaginary = parts[_REAL], parts[_IMAGINARY]
    if isinstance(real, np.ndarray) and isinstance(imaginary, np.ndarray):
        return np.asarray(real + 1j * imaginary)
    return Complex(cast(Tensor, real), cast(Tensor, imaginary))


def recording() -> dict[Hashable, Any] | None:
    """The memory of the model that is being recorded; None where there is none."""
    active = ACTIVE.get()
    graph = None if active is None else active.recording
    return None if graph is None else graph.shared


def known_size(size: int | Number, why: str) -> int:
    """A size that is known now; an error where it is dynamic."""
    if isinstance(size, int):
        return size
    raise TracedValueError(
        f"{why} needs a size that only the model knows",
        help="use x.shape[0], which may be such a number, or declare the size",
    ).locate_at_caller()

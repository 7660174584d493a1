"""Types of ONNX values: tensors with symbolic dimensions, sequences, optionals, maps.

These are what annotations become and what inference computes; they hold no values.
"""

from __future__ import annotations

import functools
import operator
import re
import types
import typing
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias, cast

from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import AnnotationError, boundary
from onnxsmith.types.dtypes import DType, numpy_text

#: One dimension: its size, the name of a symbolic size, or None where nothing is known.
Dimension: TypeAlias = int | str | None
Shape: TypeAlias = tuple[Dimension, ...]


#: What may stand between the brackets of a type, by itself or beside others; `...` only by itself.
GivenDimension: TypeAlias = "Dim | SupportsIndex | str | types.EllipsisType | None"


@dataclass(frozen=True, slots=True)
class Dim:
    """A named dimension, for annotations in code that type checkers read: `N = Dim("N")`, then `FLOAT[N, 4]`.

    `min` and `max` declare its sizes: `trace` decides by them what a function asks of a size (`if len(x) < 1:`), and
    scripts and models refuse to run on others.

    >>> from onnxsmith import Dim
    >>> N = Dim("N")
    >>> N + 1
    Dim('N+1')
    >>> Dim("batch", min=1)
    Dim('batch', min=1)
    """

    name: str
    min: int = 0
    max: int | None = None

    @boundary
    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
            raise AnnotationError(f"a dimension's name is a non-empty string, not {self.name!r}")
        for limit in (self.min, 0 if self.max is None else self.max):
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
                raise AnnotationError(f"the smallest and the largest size are ints from 0 on, not {limit!r}")
        if self.max is not None and self.max < self.min:
            raise AnnotationError(f"no size is at least {self.min} and at most {self.max}")

    def __repr__(self) -> str:
        limits = f", min={self.min}" * (self.min > 0) + f", max={self.max}" * (self.max is not None)
        return f"Dim({self.name!r}{limits})"

    def __str__(self) -> str:
        return self.name

    def allows(self, size: int) -> bool:
        """True if a size is one of those declared.

        >>> from onnxsmith import Dim
        >>> Dim("batch", min=1).allows(0)
        False
        """
        return self.min <= size and (self.max is None or size <= self.max)

    def _combine(self, sign: str, other: Dim | int) -> Dim:
        if not isinstance(other, Dim | int):  # pyright: ignore[reportUnnecessaryIsInstance]  # as operators do
            return NotImplemented
        atoms = [each.name if isinstance(each, Dim) else str(each) for each in (self, other)]
        left, right = (each if re.fullmatch(r"\w+", each) else f"({each})" for each in atoms)
        return Dim(f"{left}{sign}{right}")

    def __add__(self, other: Dim | int) -> Dim:
        return self._combine("+", other)

    def __sub__(self, other: Dim | int) -> Dim:
        return self._combine("-", other)

    def __mul__(self, other: Dim | int) -> Dim:
        return self._combine("*", other)

    def __floordiv__(self, other: Dim | int) -> Dim:
        return self._combine("//", other)


class RangedName(str):
    """The name of a dimension with the sizes that `Dim` declares for it; to all else it is the name."""

    __slots__ = ("declared",)
    declared: Dim

    def __new__(cls, declared: Dim) -> RangedName:
        made = super().__new__(cls, declared.name)
        made.declared = declared
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.declared,)


class ValueType:
    """Base of the types below; `A | None` on any of them is an optional."""

    __slots__ = ()

    def __or__(self, other: object) -> Any:
        try:
            return typing.Union[self, other]  # noqa: UP007  # the operator is what is being defined
        except TypeError:  # that is no type: Python says which two do not go together
            return NotImplemented

    def __ror__(self, other: object) -> Any:
        try:
            return typing.Union[other, self]  # noqa: UP007
        except TypeError:
            return NotImplemented

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The display in a notebook."""
        import html  # only notebooks ask for this, and its table of names takes time to load

        return {"text/plain": repr(self), "text/html": f"<code>{html.escape(repr(self))}</code>"}

    @property
    def onnx_name(self) -> str:
        """ONNX's type string, `tensor(float)`; empty while an element type is open."""
        raise NotImplementedError


def _whole(value: GivenDimension) -> int | None:
    """The integer that a value says it is; None for an array or a class, which have `__index__`, too."""
    try:
        return operator.index(cast(SupportsIndex, value))
    except TypeError:
        return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode(errors="surrogateescape")  # which stands for bytes of a file that are no text
    except UnicodeEncodeError:
        return False
    return True


@shown_as("tensor type")
@dataclass(frozen=True, slots=True, repr=False)
class TensorType(ValueType):
    """A tensor's element type and shape; None stands for what is not known.

    `FLOAT` is a scalar; brackets give a shape, `...` leaves it open.

    >>> from onnxsmith import FLOAT
    >>> FLOAT["N", 4]
    FLOAT['N', 4]
    >>> FLOAT[...]
    FLOAT[...]
    >>> FLOAT["N", 4].shape, FLOAT.shape, FLOAT[...].shape
    (('N', 4), (), None)
    """

    dtype: DType | None = None
    shape: Shape | None = None

    #: Brackets give it a shape, and Python would take that for a sequence without end.
    __iter__ = None

    @boundary
    def __getitem__(self, dimensions: object) -> TensorType:
        if self.shape != ():
            raise AnnotationError(f"{self!r} already has a shape, and cannot be given {dimensions!r}")
        if dimensions is ...:
            return TensorType(self.dtype, None)
        parts = cast(
            "tuple[GivenDimension, ...]", dimensions if isinstance(dimensions, tuple) else (dimensions,)
        )
        return TensorType(self.dtype, tuple(self._dimension(part, k, parts) for k, part in enumerate(parts)))

    def _dimension(self, part: GivenDimension, position: int, parts: tuple[GivenDimension, ...]) -> Dimension:
        if isinstance(part, Dim):
            return RangedName(part) if part.min or part.max is not None else part.name
        if part is None or (isinstance(part, str) and part.strip() and _is_utf8(part)):
            return part
        # numpy integers and the like say that they are integers through __index__; True is no dimension.
        size = None if isinstance(part, bool) else _whole(part)
        if size is not None:
            if 0 <= size < 2**63:
                return size
            why = "a dimension cannot be negative" if size < 0 else "a dimension has 64 bits"
        elif part is ...:
            why = "'...' leaves the whole shape open and stands alone; write None for one unknown dimension"
        elif isinstance(part, str):
            why = "a dimension's name cannot be empty" if not part.strip() else "UTF-8 has no such characters"
        else:
            why = "a dimension is an int, a name, a Dim, or None"
        shown = ", ".join("..." if each is ... else repr(each) for each in parts)
        which = "..." if part is ... else repr(part)
        raise AnnotationError(
            f"dimension {position} of {self._name}[{shown}] is {which}: {why}",
            help=f'{self._name}[2, 10], {self._name}["N", 4], {self._name}[None, 4] or {self._name}[...]',
        )

    @property
    def _name(self) -> str:
        return "TENSOR" if self.dtype is None else self.dtype.name

    def __repr__(self) -> str:
        if self.shape is None:
            return f"{self._name}[...]"
        if not self.shape:
            return self._name
        return f"{self._name}[{', '.join(map(repr, self.shape))}]"

    @boundary
    def __call__(self, *_: object, **__: object) -> typing.NoReturn:
        raise AnnotationError(
            f"{self!r} is a type, not a function",
            help=f"convert with x.astype({'dtype' if self.dtype is None else numpy_text(self.dtype)})",
        )

    @property
    def without_names(self) -> TensorType:
        """The same type with sizes that only have names left open."""
        if self.shape is None or all(isinstance(each, int) for each in self.shape):
            return self
        return TensorType(self.dtype, tuple(each if isinstance(each, int) else None for each in self.shape))

    @property
    def rank(self) -> int | None:
        """How many dimensions, or None."""
        return None if self.shape is None else len(self.shape)

    @property
    def onnx_name(self) -> str:
        return "" if self.dtype is None else f"tensor({self.dtype.onnx_name})"

    @property
    def described(self) -> str:
        """For messages: `float32 of shape (N, 4)`."""
        word = "tensor" if self.dtype is None else self.dtype.spelling
        if self.shape is None:
            return f"{word} of unknown shape"
        return f"{word} of shape {describe_shape(self.shape)}"


@shown_as("sequence type")
@dataclass(frozen=True, slots=True, repr=False)
class SequenceType(ValueType):
    """A sequence of values of one type: `Sequence[FLOAT[...]]`.

    >>> from onnxsmith.types import DType, SequenceType, TensorType
    >>> SequenceType(TensorType(DType.FLOAT, (2,)))
    Sequence[FLOAT[2]]
    """

    element: TensorType | OptionalType | SequenceType | MapType

    @property
    def with_open_elements(self) -> SequenceType:
        """The same with named sizes left open: ONNX's names hold for all elements, and those of a list may differ."""
        return SequenceType(self.element.without_names) if isinstance(self.element, TensorType) else self

    def __repr__(self) -> str:
        return f"Sequence[{self.element!r}]"

    @property
    def onnx_name(self) -> str:
        return f"seq({self.element.onnx_name})" if self.element.onnx_name else ""

    @property
    def described(self) -> str:
        """For messages: `sequence of float32 of shape (N, 4)`."""
        return f"sequence of {self.element.described}"


@shown_as("optional type")
@dataclass(frozen=True, slots=True, repr=False)
class OptionalType(ValueType):
    """A value that may be absent: `Optional[FLOAT[...]]`.

    >>> from onnxsmith.types import DType, OptionalType, TensorType
    >>> OptionalType(TensorType(DType.FLOAT, (2,)))
    Optional[FLOAT[2]]
    """

    element: TensorType | SequenceType

    def __repr__(self) -> str:
        return f"Optional[{self.element!r}]"

    @property
    def onnx_name(self) -> str:
        return f"optional({self.element.onnx_name})" if self.element.onnx_name else ""

    @property
    def described(self) -> str:
        """For messages: `optional float32 of shape (N, 4)`."""
        return f"optional {self.element.described}"


@dataclass(frozen=True, slots=True, repr=False)
class MapType(ValueType):
    """A dictionary from keys to tensors; only the ai.onnx.ml domain has them.

    >>> from onnxsmith.types import DType, MapType, TensorType
    >>> MapType(DType.INT64, TensorType(DType.FLOAT, ())).onnx_name
    'map(int64,tensor(float))'
    """

    key: DType
    value: TensorType

    def __repr__(self) -> str:
        return f"Map[{self.key.name}, {self.value!r}]"

    @property
    def onnx_name(self) -> str:
        return f"map({self.key.onnx_name},{self.value.onnx_name})"

    @property
    def described(self) -> str:
        """For messages: `map from int64 to float32 of shape ()`."""
        return f"map from {self.key.spelling} to {self.value.described}"


AnyValueType: TypeAlias = TensorType | SequenceType | OptionalType | MapType

#: Nothing is known of it but that it is a tensor.
UNKNOWN_TENSOR = TensorType(None, None)


def scalar_help(dtype: DType | None = None) -> str:
    """The help for whoever annotates a scalar, without brackets, and wants more dimensions."""
    name = "FLOAT" if dtype is None else dtype.name
    return f"{name} without brackets is a scalar: {name}['N'] is a vector, and {name}[...] has any shape"


def sizes_differ(one: Hashable, other: Hashable) -> bool:
    """True if two sizes are known, and are not the same."""
    return isinstance(one, int) and isinstance(other, int) and one != other


def shapes_differ(one: Collection[Hashable] | None, other: Collection[Hashable] | None) -> bool:
    """True if two shapes are known, and are of other ranks, or have a size that is known to be another."""
    if one is None or other is None:
        return False
    return len(one) != len(other) or any(map(sizes_differ, one, other))


def describe_shape(shape: Shape) -> str:
    """A shape as people write it: `(N, 4)`, `(?, 3)`, `()`."""
    inner = ", ".join("?" if each is None else str(each) for each in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


_PARSE = re.compile(r"(?P<head>\w+)\((?P<body>.*)\)")


@functools.lru_cache(maxsize=256)
def parse_onnx_type(text: str) -> AnyValueType | None:
    """Read ONNX's type string, `seq(tensor(float))`; None for what has no counterpart here."""
    match = _PARSE.fullmatch(text.replace(" ", ""))
    if match is None:
        return None
    head, body = match["head"], match["body"]
    if head == "tensor":
        dtype = DType.from_onnx_name(body)
        return None if dtype is None else TensorType(dtype, None)
    if head == "map":
        key_name, _, value_name = body.partition(",")
        key = DType.from_onnx_name(key_name)
        value = parse_onnx_type(value_name) or parse_onnx_type(f"tensor({value_name})")
        return MapType(key, value) if key is not None and isinstance(value, TensorType) else None
    element = parse_onnx_type(body)
    if head == "seq" and element is not None:
        return SequenceType(element)
    if head == "optional" and isinstance(element, TensorType | SequenceType):
        return OptionalType(element)
    return None

"""Attribute parameters inside a function's body: their values come with each call of the function.

They pass to operators by reference, and become constants that refer to them where a tensor is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.number import Number, NumberKind, number
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Operand, shown_class
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import AttributeParameterError
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Span
from onnxsmith.types.annotations import AttributeAnnotation
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.core.target import Target

_CONSTANT_ATTRIBUTE = {
    AttributeType.INT: "value_int",
    AttributeType.FLOAT: "value_float",
    AttributeType.INTS: "value_ints",
    AttributeType.FLOATS: "value_floats",
    AttributeType.STRINGS: "value_strings",
    AttributeType.TENSOR: "value",
}


class _OfGraph(Protocol):
    """The attributes that only a value of a graph has."""

    @property
    def span(self) -> Span | None: ...


class AttributeParameter(Protocol):
    """The facts about a parameter that are needed here."""

    @property
    def name(self) -> str: ...
    @property
    def attribute(self) -> AttributeAnnotation | None: ...
    @property
    def attribute_type(self) -> AttributeType: ...


def attribute_value(parameter: AttributeParameter) -> AttributeNumber | AttributeTensor | AttributeText:
    """The value of a parameter inside the body of an ONNX function."""
    reference = AttributeReference(parameter.name, parameter.attribute_type)
    annotation = parameter.attribute
    assert annotation is not None
    if annotation.scalar is str:
        return AttributeText(reference)
    if annotation.is_list:
        return AttributeList(reference)
    if annotation.scalar is np.ndarray:
        return AttributeTensor(reference)
    return AttributeNumber(reference, cast(NumberKind, annotation.scalar.__name__))


def _constant(reference: AttributeReference, made: list[Tensor], kind: str) -> Tensor:
    """The constant that refers to the attribute: made once per graph, and seen from the graphs inside it."""
    scope = current_graph()
    for each in made:
        if scope.sees(each):
            return each
    value = scope.operators.Constant(**{_CONSTANT_ATTRIBUTE[reference.type]: reference})
    if kind == "bool":
        value = scope.operators.Cast(value, to=DType.BOOL)
    scope.suggest_name(value, reference.name)
    made.append(cast(Tensor, value))
    return made[-1]


@shown_as("number")
class AttributeNumber(Number):
    """An `int`, `float` or `bool` parameter."""

    __slots__ = ("_made", "reference")

    def __init__(self, reference: AttributeReference, kind: NumberKind) -> None:
        self.reference = reference
        self.kind = kind
        self.is_natural = False
        self._made: list[Tensor] = []

    @property
    def tensor(self) -> Tensor:  # type: ignore[override]  # made when it is first needed
        return _constant(self.reference, self._made, self.kind)

    @property
    def target(self) -> Target:
        return current_graph()

    def __repr__(self) -> str:
        return shown_text(f"<attribute {self.reference.name}>")


@shown_as("Tensor")
class AttributeTensor(Tensor):
    """A tensor parameter: by reference as an attribute, a constant as a value."""

    __slots__ = ("_made", "reference")
    is_symbolic: ClassVar[bool] = True
    #: The class of what an eager run has in its place.
    eager_class: ClassVar[type] = np.ndarray
    __class__ = shown_class(lambda value: value.eager_class)  # pyright: ignore[reportIncompatibleMethodOverride]  # as in `unittest.mock`

    def __init__(self, reference: AttributeReference) -> None:
        self.reference = reference
        self._made: list[Tensor] = []

    @property
    def tensor(self) -> Tensor:
        """The constant that holds its values."""
        return _constant(self.reference, self._made, "tensor")

    @property
    def known(self) -> Known:
        return self.tensor.known

    @property
    def target(self) -> Target:
        return current_graph()

    @property
    def span(self) -> Span | None:
        return cast(_OfGraph, self.tensor).span

    @property
    def name(self) -> str:
        return self.reference.name

    def __repr__(self) -> str:
        return f"<attribute {self.reference.name}>"


def _of_vector(name: str) -> Callable[..., Tensor]:
    """An operator of tensors for a list: beside a tensor or an array it is a vector, as in an eager run.

    Beside numbers and lists it is a list, which Python joins, repeats or compares: its elements have to be known.
    """
    of_tensors = getattr(Tensor, name)

    def operator(self: AttributeList, *others: Operand) -> Tensor:
        if not any(
            hasattr(each, "dtype") and not isinstance(each, AttributeList | Number) for each in others
        ):
            refuse_unknown(self)
        return of_tensors(self, *others)

    return operator


class AttributeList(AttributeTensor):
    """A list parameter: a vector as a value, whose elements are numbers, as they are eagerly."""

    __slots__ = ()
    eager_class: ClassVar[type] = list
    __hash__ = object.__hash__
    __add__, __radd__ = _of_vector("__add__"), _of_vector("__radd__")
    __sub__, __rsub__ = _of_vector("__sub__"), _of_vector("__rsub__")
    __mul__, __rmul__ = _of_vector("__mul__"), _of_vector("__rmul__")
    __truediv__, __rtruediv__ = _of_vector("__truediv__"), _of_vector("__rtruediv__")
    __floordiv__, __rfloordiv__ = _of_vector("__floordiv__"), _of_vector("__rfloordiv__")
    __mod__, __rmod__ = _of_vector("__mod__"), _of_vector("__rmod__")
    __pow__, __rpow__ = _of_vector("__pow__"), _of_vector("__rpow__")
    __eq__, __ne__ = _of_vector("__eq__"), _of_vector("__ne__")  # type: ignore[assignment]
    __lt__, __le__ = _of_vector("__lt__"), _of_vector("__le__")
    __gt__, __ge__ = _of_vector("__gt__"), _of_vector("__ge__")
    __neg__, __abs__, __invert__ = _of_vector("__neg__"), _of_vector("__abs__"), _of_vector("__invert__")

    def asked_for_truth(self) -> NoReturn:
        """A list is true where it has elements, whatever they are."""
        refuse_unknown(self)

    def __bool__(self) -> bool:
        self.asked_for_truth()

    def __getitem__(self, index: Index) -> Tensor:
        part = self.tensor[index]
        return number(part) if part.type.rank == 0 else ListPart(self, part)


class ListPart(AttributeList):
    """A slice of a list parameter: a list, too. No attribute can refer to it."""

    __slots__ = ("_part", "whole")

    def __init__(self, whole: AttributeList, part: Tensor) -> None:
        self.whole, self._part = whole, part

    @property
    def tensor(self) -> Tensor:
        """The elements of the slice."""
        return self._part

    @property
    def name(self) -> str:
        return self.whole.name

    def __repr__(self) -> str:
        return f"<part of {self.whole!r}>"


class AttributeText:
    """A `str` or `list[str]` parameter: it can only be passed on."""

    __slots__ = ("reference",)
    __class__ = shown_class(lambda value: value.eager_class)  # pyright: ignore[reportIncompatibleMethodOverride]  # as in `unittest.mock`

    def __init__(self, reference: AttributeReference) -> None:
        self.reference = reference

    @property
    def eager_class(self) -> type:
        """The class of what an eager run has in its place."""
        return str if self.reference.type is AttributeType.STRING else list

    def _refuse(self, *_: object) -> NoReturn:
        refuse_unknown(self)

    __eq__ = __ne__ = __lt__ = __gt__ = __contains__ = __len__ = __add__ = __radd__ = __getitem__ = (
        __iter__
    ) = _refuse
    __bool__ = __str__ = __format__ = _refuse
    # A set or dict that looks for it would not find the text that it stands for.
    __hash__ = _refuse  # type: ignore[assignment]

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(str, name) or hasattr(list, name):
            self._refuse()
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<attribute {self.reference.name}>"


#: What attributes are inside the body of a function.
AttributeValue: TypeAlias = AttributeNumber | AttributeTensor | AttributeText


def refuse_unknown(value: AttributeValue) -> NoReturn:
    """Refuse what needs the value of an attribute: with it, when the function is called, it may pass."""
    name = value.name if isinstance(value, AttributeTensor) else value.reference.name
    error = AttributeParameterError(
        f"the attribute '{name}' has its value only when the function is called",
        help="pass it on as an attribute of an operator",
    )
    error.needs_values = True
    raise error

"""The base of eager and symbolic values, which user code holds; and what else may stand beside one in an expression.

Says what the pipeline and the semantics need of a value; Python's operators on it are in `tensor`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from onnxsmith.core.stored import Stored
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import is_ours
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.core.target import Target

#: A numpy array of any element type.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: Set while code is staged that sees Python's own classes when it runs eagerly.
SHOWS_EAGER_CLASS: ContextVar[bool] = ContextVar("onnxsmith_shows_eager_class", default=False)


def shown_class(eager_class: Callable[[Any], type]) -> Any:
    """The `__class__` of a symbolic value: code that is staged, and all that it calls, sees that of the eager run.

    Python's `isinstance` asks for it, and so do dispatchers. Questions in staged code go through hooks; this answers
    those in code that Python itself runs: a constructor, a property, a generator, a library. Our code sees the class
    that the value has.
    """

    def class_(value: Any) -> type:
        asks = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
        return eager_class(value) if SHOWS_EAGER_CLASS.get() and not is_ours(asks) else type(value)

    return property(class_)


class Value:
    """A value in a program: a tensor, a sequence or an optional, running or being built."""

    __slots__ = ("__weakref__",)

    #: Whether the value exists only when the model runs.
    is_symbolic: ClassVar[bool] = False

    @property
    def known(self) -> Known:
        """The facts that are known of it now: its type, and its content where shapes depend on it."""
        raise NotImplementedError

    @property
    def target(self) -> Target:
        """Where operators on it go."""
        raise NotImplementedError


class TensorValue(Value):
    """A tensor as operators give it and as the semantics of Python's syntax see it."""

    # What was made of it before, such as its dimensions; see `memory`. Unset until it is first needed.
    __slots__ = ("_memory",)

    @property
    def type(self) -> TensorType:
        """Element type and shape, as far as they are known.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 2.0]).type
        FLOAT[2]
        """
        kind = self.known.type
        assert isinstance(kind, TensorType)  # whoever makes a tensor has checked it
        return kind

    @property
    def dtype(self) -> DType | None:
        """The element type; None where a generic parameter leaves it open."""
        return self.type.dtype

    def memory(self) -> dict[Hashable, Any]:
        """Results that were computed from this tensor and may be used again; each user of it chooses its own keys."""
        try:
            return self._memory
        except AttributeError:
            self._memory: dict[Hashable, Any] = {}
            return self._memory

    def __index__(self) -> int:
        """An integer scalar as a Python int, where it is known now."""
        raise NotImplementedError

    def as_number(self) -> PythonNumber:
        """A scalar as the Python number that an eager run has in its place: known now, or known to the model."""
        raise NotImplementedError

    def as_shape(self) -> TensorValue:
        """A vector as the shape that an eager run has in its place: its elements are numbers."""
        raise NotImplementedError


class NumberValue(Value):
    """A Python number whose value only the model knows; in a call it takes the place of a literal."""

    __slots__ = ()
    #: Whether it is known to be an integer of 0 or more.
    is_natural: bool

    @property
    def sample(self) -> bool | int | float:
        """A literal of the same kind, for whoever asks which element type it would take."""
        raise NotImplementedError

    def as_dtype(self, dtype: DType) -> TensorValue:
        """The number as a scalar tensor of an element type."""
        raise NotImplementedError

    def as_like(self, other: Operand) -> TensorValue:
        """The number as a scalar tensor with the element type of another, which is not known yet."""
        raise NotImplementedError


#: What Python's literals are; in a call they take the element type of the tensors they meet.
Scalar: TypeAlias = bool | int | float | complex | str | bytes
#: What may stand on either side of an operator, and be an input of a call.
Operand: TypeAlias = "Value | Stored | Array | np.generic[Any] | Scalar | Sequence[Operand]"
#: A tensor, or a constant that is to be one.
TensorOrArray: TypeAlias = TensorValue | Array
TensorT = TypeVar("TensorT", bound=TensorOrArray)
OperandT = TypeVar("OperandT", bound="Operand")
#: A length or a place along a dimension: an int where it is known now, else a scalar integer tensor.
Size: TypeAlias = int | TensorValue
#: A number of the program: a Python one where it is known now, else one that the model knows.
PythonNumber: TypeAlias = bool | int | float | complex | str | bytes | TensorValue

"""What user code holds: the base of eager and symbolic values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from onnxsmith.schema.inference.known import Known

if TYPE_CHECKING:
    from onnxsmith.core.target import Target
    from onnxsmith.types.dtypes import DType


class Value:
    """A value in a program: a tensor, a sequence or an optional, running or being built."""

    __slots__ = ("__weakref__",)

    #: Whether the value exists only when the model runs.
    is_symbolic: ClassVar[bool] = False

    @property
    def known(self) -> Known:
        """What is known of it now: its type, and its content where shapes hang on it."""
        raise NotImplementedError

    @property
    def target(self) -> Target:
        """Where operators on it go."""
        raise NotImplementedError


class NumberValue(Value):
    """A Python number whose value only the model knows; in a call it takes the place of a literal."""

    __slots__ = ()

    @property
    def sample(self) -> bool | int | float:
        """A literal of the same kind, for whoever asks which element type it would take."""
        raise NotImplementedError

    def as_dtype(self, dtype: DType) -> Any:
        """The number as a scalar tensor of an element type."""
        raise NotImplementedError

    def as_like(self, other: Any) -> Any:
        """The number as a scalar tensor with the element type of another, which is not known yet."""
        raise NotImplementedError

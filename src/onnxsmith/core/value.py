"""What user code holds: the base of eager and symbolic values."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onnxsmith.schema.inference.known import Known

if TYPE_CHECKING:
    from onnxsmith.core.target import Target


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

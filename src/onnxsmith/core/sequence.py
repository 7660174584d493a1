"""A sequence of tensors in a graph. Eagerly a sequence is a Python list, and this class is not used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn, cast

import numpy as np

from onnxsmith.core.operands import is_array, operators_for
from onnxsmith.core.value import Array, Operand, Size, Value, shown_class
from onnxsmith.errors import OnnxsmithError, TensorIndexError, TracedValueError, boundary
from onnxsmith.types.value_types import SequenceType


def _eager_class(value: Value) -> type:
    return cast("type", list) if isinstance(value.known.type, SequenceType) else type(value)


class TensorSequence(Value):
    """A sequence (or optional) that exists when the model runs. Nothing changes it in place, as in all of ONNX."""

    __slots__ = ()
    __class__ = shown_class(_eager_class)  # pyright: ignore[reportIncompatibleMethodOverride]  # as in `unittest.mock`

    @boundary
    def __getitem__(self, index: Size | Array | slice) -> Value:
        """The element at a position: an int, or an integer scalar tensor."""
        if not isinstance(self.known.type, SequenceType):
            raise TensorIndexError(f"a value of type {self.known.type!r} cannot be indexed")
        if isinstance(index, slice):
            raise TensorIndexError(
                "ONNX cannot slice a sequence", help="take elements with s[i], or loop over it"
            )
        if isinstance(index, bool) or not (isinstance(index, int | np.integer | Value) or is_array(index)):
            raise TensorIndexError(f"a sequence is indexed with an int or an integer tensor, not {index!r}")
        position = np.array(index, np.int64) if isinstance(index, int | np.integer) else index
        return operators_for(self).SequenceAt(self, position)

    @boundary
    def __len__(self) -> int:
        raise TracedValueError(
            "how many elements a sequence has is known only when the model runs",
            help="op.SequenceLength(s) is its length as a tensor",
        )

    @boundary
    def __iter__(self) -> Iterator[Value]:
        raise TracedValueError(
            "how many elements a sequence has is known only when the model runs, so Python cannot iterate over it",
            help="call op.SequenceMap or op.Loop; a 'for' statement of a @script function runs over it in the model",
        )

    @boundary
    def __bool__(self) -> bool:
        raise TracedValueError(
            "whether a sequence has elements is known only when the model runs",
            help="op.SequenceLength(s) > 0",
        )

    @boundary
    def append(self, value: Operand) -> NoReturn:
        """Refused: a sequence in a graph is never changed."""
        raise _no_mutation("append(v)", "op.SequenceInsert(s, v)")

    @boundary
    def insert(self, index: Size, value: Operand) -> NoReturn:
        """Refused: a sequence in a graph is never changed."""
        raise _no_mutation("insert(i, v)", "op.SequenceInsert(s, v, i)")

    @boundary
    def pop(self, index: Size = -1) -> NoReturn:
        """Refused: a sequence in a graph is never changed."""
        raise _no_mutation("pop(i)", "op.SequenceErase(s, i)")

    @boundary
    def extend(self, values: Iterable[Operand]) -> NoReturn:
        """Refused: a sequence in a graph is never changed."""
        raise _no_mutation("extend(values)", "op.SequenceInsert(s, v)", "for each of them: ")

    @boundary
    def clear(self) -> NoReturn:
        """Refused: a sequence in a graph is never changed."""
        raise _no_mutation("clear()", "op.SequenceEmpty(dtype=FLOAT)")

    @boundary
    def __add__(self, other: Iterable[Operand]) -> NoReturn:
        raise TracedValueError(
            "ONNX cannot join a sequence with another one, or with a list",
            help="insert one element after the other: s = op.SequenceInsert(s, v)",
        )

    __radd__ = __iadd__ = __add__

    @boundary
    def __setitem__(self, index: Size, value: Operand) -> NoReturn:
        raise _no_mutation("s[i] = v", "op.SequenceInsert(op.SequenceErase(s, i), v, i)")


def _no_mutation(written: str, instead: str, when: str = "") -> OnnxsmithError:
    return TracedValueError(
        f"a sequence in a graph cannot be changed in place, as {written} would", help=f"{when}s = {instead}"
    )

"""A sequence of tensors in a graph, and a value that may be absent. Eagerly they are a list, and None or a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from onnxsmith.core.operands import is_array, operators_for
from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array, Operand, Size, TensorValue, Value, shown_class
from onnxsmith.errors import (
    OnnxsmithError,
    TensorIndexError,
    TracedValueError,
    UnknownMethodError,
    boundary,
)

T = TypeVar("T")
#: Python's operators as functions, whose stubs do not say what they take.
_python: Any = operator


def _eager_class(_: Value) -> type:
    return cast("type", list)


class TensorSequence(Value):
    """A sequence that exists when the model runs. Nothing changes it in place, as in all of ONNX."""

    __slots__ = ()
    __class__ = shown_class(_eager_class)  # pyright: ignore[reportIncompatibleMethodOverride]  # as in `unittest.mock`

    @boundary
    def __getitem__(self, index: Size | Array | slice) -> Value:
        """The element at a position: an int, or an integer scalar tensor."""
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
    def __contains__(self, value: Operand) -> bool:
        raise TracedValueError(
            "whether a sequence holds a value is known only when the model runs",
            help="compare the elements in a loop: for v in s: …",
        )

    def __eq__(self, other: object) -> bool | Number:  # type: ignore[override]
        return other is self or self._compared(cast(Operand, other))

    def __ne__(self, other: object) -> bool | Number:  # type: ignore[override]
        return other is not self and self._compared(cast(Operand, other), is_equal=False)

    __hash__ = object.__hash__

    @boundary
    def _compared(self, other: Operand | list[Operand], *, is_equal: bool = True) -> bool | Number:
        """The comparison with an empty list, which a length tells; ONNX's `Equal` takes no sequences."""
        if isinstance(other, list) and not other:
            op = operators_for(self)
            is_empty = op.Equal(op.SequenceLength(self), np.array(0, np.int64))
            return number(is_empty if is_equal else op.Not(is_empty))
        if isinstance(other, Value | list):
            raise TracedValueError(
                "whether two sequences are equal is known only when the model runs",
                help="compare their elements in a loop: for a, b in zip(s, t): …",
            )
        return not is_equal

    @boundary
    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(list, name):
            raise UnknownMethodError(
                f"a sequence in a graph has no method '{name}'", help="loop over it: for v in s: …"
            )
        raise AttributeError(f"a sequence has no attribute '{name}'")

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


def _binary(
    function: Callable[[Any, Any], Any], *, is_reflected: bool = False
) -> Callable[[TensorOptional, object], Any]:
    def compute(self: TensorOptional, other: object) -> Any:
        return function(other, self.element) if is_reflected else function(self.element, other)

    return boundary(compute)


def _unary(function: Callable[[Any], Any]) -> Callable[[TensorOptional], Any]:
    return boundary(lambda self: function(self.element))


class TensorOptional(Value):
    """A tensor or sequence that may be absent when the model runs.

    Who computes with it has made sure that it is there: Python's operators, methods and indices take its element, as
    operators of ONNX do. `value is None` asks whether it is there.
    """

    __slots__ = ()
    __array_ufunc__ = None  # an array beside it leaves the operation to it

    @property
    def element(self) -> Tensor:
        """The tensor, or the sequence, that is there."""
        return cast(Tensor, operators_for(self).OptionalGetElement(self))

    @boundary
    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or not (hasattr(Tensor, name) or hasattr(TensorSequence, name)):
            raise AttributeError(f"a value that may be absent has no attribute '{name}'")
        return getattr(self.element, name)

    @boundary
    def __getitem__(self, index: Index) -> TensorValue:
        return self.element[index]

    @boundary
    def __setitem__(self, index: Index, value: Operand) -> None:
        self.element[index] = value  # raises the error of its class

    @boundary
    def __round__(self, digits: int | None = None) -> Value:
        return round(self.element, digits)

    __hash__ = object.__hash__
    __add__, __radd__ = _binary(_python.add), _binary(_python.add, is_reflected=True)
    __sub__, __rsub__ = _binary(_python.sub), _binary(_python.sub, is_reflected=True)
    __mul__, __rmul__ = _binary(_python.mul), _binary(_python.mul, is_reflected=True)
    __matmul__, __rmatmul__ = _binary(_python.matmul), _binary(_python.matmul, is_reflected=True)
    __truediv__, __rtruediv__ = _binary(_python.truediv), _binary(_python.truediv, is_reflected=True)
    __floordiv__, __rfloordiv__ = _binary(_python.floordiv), _binary(_python.floordiv, is_reflected=True)
    __mod__, __rmod__ = _binary(_python.mod), _binary(_python.mod, is_reflected=True)
    __divmod__, __rdivmod__ = _binary(divmod), _binary(divmod, is_reflected=True)
    __pow__, __rpow__ = _binary(_python.pow), _binary(_python.pow, is_reflected=True)
    __and__, __rand__ = _binary(_python.and_), _binary(_python.and_, is_reflected=True)
    __or__, __ror__ = _binary(_python.or_), _binary(_python.or_, is_reflected=True)
    __xor__, __rxor__ = _binary(_python.xor), _binary(_python.xor, is_reflected=True)
    __lshift__, __rlshift__ = _binary(_python.lshift), _binary(_python.lshift, is_reflected=True)
    __rshift__, __rrshift__ = _binary(_python.rshift), _binary(_python.rshift, is_reflected=True)
    __eq__, __ne__ = _binary(_python.eq), _binary(_python.ne)
    __lt__, __le__ = _binary(_python.lt), _binary(_python.le)
    __gt__, __ge__ = _binary(_python.gt), _binary(_python.ge)
    __contains__ = _binary(_python.contains)
    __neg__, __pos__, __abs__, __invert__ = map(
        _unary, (_python.neg, _python.pos, _python.abs, _python.invert)
    )
    __len__, __iter__, __bool__ = _unary(len), _unary(iter), _unary(bool)
    __int__, __float__, __complex__, __index__ = map(_unary, (int, float, complex, _python.index))


def there(value: T) -> T:
    """The element of a value that may be absent, where it is known to be there; any other value itself."""
    return cast(T, value.element) if isinstance(value, TensorOptional) else value


def _no_mutation(written: str, instead: str, when: str = "") -> OnnxsmithError:
    return TracedValueError(
        f"a sequence in a graph cannot be changed in place, as {written} would", help=f"{when}s = {instead}"
    )

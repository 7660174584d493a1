"""Python's operators, truth and numbers of weights: they are those of tensors. Knows nothing of files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onnxsmith.core.stored import Stored
from onnxsmith.core.target import ACTIVE, default_target
from onnxsmith.core.tensor import Tensor

#: Typed as anything: its functions are declared in parts.
_python: Any = operator


def _binary(
    meaning: Callable[[Any, Any], Any], *, is_swapped: bool = False
) -> Callable[[StoredOperand, Any], Any]:
    if is_swapped:
        return lambda self, other: meaning(other, self.operand)
    return lambda self, other: meaning(self.operand, other)


def _unary(meaning: Callable[[Any], Any]) -> Callable[[StoredOperand], Any]:
    return lambda self: meaning(self.operand)


class StoredOperand(Stored):
    """A stored tensor that Python's operators compute with.

    Its truth and its number are those of its content, which is known when code becomes a model.
    """

    __slots__ = ()

    @property
    def operand(self) -> Tensor:
        """The tensor of the graph that is recorded; where there is none, one that runs."""
        target = ACTIVE.get() or default_target()
        found: Any = target.operators.Identity(self) if target.recording is None else target.stored(self)
        return found

    __hash__ = object.__hash__
    __eq__, __ne__ = _binary(_python.eq), _binary(_python.ne)
    __lt__, __le__ = _binary(_python.lt), _binary(_python.le)
    __gt__, __ge__ = _binary(_python.gt), _binary(_python.ge)
    __add__, __radd__ = _binary(_python.add), _binary(_python.add, is_swapped=True)
    __sub__, __rsub__ = _binary(_python.sub), _binary(_python.sub, is_swapped=True)
    __mul__, __rmul__ = _binary(_python.mul), _binary(_python.mul, is_swapped=True)
    __truediv__, __rtruediv__ = _binary(_python.truediv), _binary(_python.truediv, is_swapped=True)
    __floordiv__, __rfloordiv__ = _binary(_python.floordiv), _binary(_python.floordiv, is_swapped=True)
    __mod__, __rmod__ = _binary(_python.mod), _binary(_python.mod, is_swapped=True)
    __pow__, __rpow__ = _binary(_python.pow), _binary(_python.pow, is_swapped=True)
    __matmul__, __rmatmul__ = _binary(_python.matmul), _binary(_python.matmul, is_swapped=True)
    __and__, __rand__ = _binary(_python.and_), _binary(_python.and_, is_swapped=True)
    __or__, __ror__ = _binary(_python.or_), _binary(_python.or_, is_swapped=True)
    __xor__, __rxor__ = _binary(_python.xor), _binary(_python.xor, is_swapped=True)
    __lshift__, __rlshift__ = _binary(_python.lshift), _binary(_python.lshift, is_swapped=True)
    __rshift__, __rrshift__ = _binary(_python.rshift), _binary(_python.rshift, is_swapped=True)
    __divmod__, __rdivmod__ = _binary(divmod), _binary(divmod, is_swapped=True)
    __contains__ = _binary(_python.contains)
    __neg__, __pos__, __invert__, __abs__ = map(
        _unary, (_python.neg, _python.pos, _python.invert, _python.abs)
    )
    __getitem__ = _binary(_python.getitem)

    def __setitem__(self, place: object, value: object) -> None:
        _python.setitem(self.operand, place, value)  # a tensor says that it does not change

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operand)

    def __len__(self) -> int:
        return len(np.asarray(self))

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self))

    def __index__(self) -> int:
        return _python.index(np.asarray(self))

    def __float__(self) -> float:
        return float(np.asarray(self))

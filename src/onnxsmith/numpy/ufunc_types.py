"""Who says which element types a universal function computes in: numpy's own function, or one that stands for it.

The meaning is that of numpy 2. Functions that are newer than the installed numpy, or have had more loops since, are
described here by an older one whose element types they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from onnxsmith.numpy.dtypes import NumpyDType


class TypeRules(Protocol):
    """The attributes that are read of a function of numpy's."""

    @property
    def nin(self) -> int:
        """How many arrays go in."""
        ...

    @property
    def nout(self) -> int:
        """How many arrays come out."""
        ...

    @property
    def nargs(self) -> int:
        """How many that are together."""
        ...

    @property
    def identity(self) -> Any:
        """The first value of a reduction."""
        ...

    @property
    def signature(self) -> str | None:
        """The dimensions that a product runs over."""
        ...

    @property
    def types(self) -> list[str]:
        """The element types of all loops."""
        ...

    def resolve_dtypes(self, dtypes: Any, /, **options: Any) -> tuple[NumpyDType, ...]:
        """The element types of a call."""
        ...


@dataclass(frozen=True)
class _StandIn:
    """A function by the element types of another."""

    like: np.ufunc
    signature: str | None
    types: list[str]
    #: The element type of the result, where it is another.
    result: str | None = None
    #: Whether integers are computed as such, which the other takes for fractions.
    keeps_integers: bool = False
    identity: Any = None

    @property
    def nin(self) -> int:
        return self.like.nin

    @property
    def nout(self) -> int:
        return self.like.nout

    @property
    def nargs(self) -> int:
        return self.like.nargs

    def resolve_dtypes(self, dtypes: Sequence[Any], /, **options: Any) -> tuple[NumpyDType, ...]:
        first = cast("NumpyDType | type", dtypes[0])
        if self.keeps_integers and isinstance(first, np.dtype) and first.kind in "biu" and not options:
            return (first, first)
        if self.result is not None:
            if first == np.bool_:
                raise TypeError("there is no such loop")
            found = self.like.resolve_dtypes((first, None), **options)
            return (found[0], np.dtype(self.result))
        return self.like.resolve_dtypes(tuple(dtypes), **options)


_INTEGERS = "bBhHiIlL"
_PRODUCTS = {"vecdot": "(n),(n)->()", "matvec": "(m,n),(n)->(m)", "vecmat": "(n),(n,m)->(m)"}


def rules_for(name: str) -> TypeRules:
    """Who is asked for the element types of a function."""
    known: np.ufunc | None = getattr(np, name, None)
    if known is None and name in _PRODUCTS:
        return _StandIn(np.matmul, _PRODUCTS[name], list(np.matmul.types))
    if known is None and name == "bitwise_count":
        return _StandIn(np.invert, None, [f"{each}->B" for each in _INTEGERS], result="uint8")
    assert known is not None, name  # all others are as old as the oldest numpy
    if name in ("floor", "ceil", "trunc") and "l->l" not in known.types:
        kinds = [f"{each}->{each}" for each in f"?{_INTEGERS}"]
        return _StandIn(known, None, [*kinds, *known.types], keeps_integers=True)
    return cast(TypeRules, known)

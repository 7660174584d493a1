"""The memory layout of numpy's arrays: `flags`, `strides`, `view`, `order=`. Ours have none, and imitate numpy's."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.errors import AttributeValueError, InputTypeError, TracedValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.reshaping import transpose
from onnxsmith.numpy.sharing import detached, layout_of, view
from onnxsmith.numpy.sizes import is_known


class Flags:
    """`x.flags`: whether elements stand one after the other, and whether they may be written to."""

    def __init__(self, is_plain: bool, ndim: int, writeable: bool) -> None:
        self.c_contiguous = self.contiguous = is_plain
        #: Where numpy's array is not plain, nobody knows whether its first dimension is the fastest.
        self.f_contiguous = is_plain and ndim < 2
        self.fnc = False
        self.forc = self.carray = self.behaved = is_plain
        self.writeable = writeable
        self.aligned = True
        self.owndata = True

    def __getitem__(self, name: str) -> bool:
        short = {"C": "c_contiguous", "F": "f_contiguous", "W": "writeable", "A": "aligned", "O": "owndata"}
        return bool(getattr(self, short.get(name, name.lower())))


@public("_flags")
def flags(x: Array) -> Flags:
    """`x.flags`"""
    return Flags(x._is_plain or x.ndim < 2, x.ndim, x._locked is None)


@public("_strides")
def strides(x: Array) -> tuple[Any, ...]:
    """`x.strides`: how many bytes are between neighbours, where elements stand one after the other."""
    if not x._is_plain:
        raise TracedValueError(
            "how far apart the elements of this array are is known to numpy alone",
            help="make a copy first: np.ascontiguousarray(x)",
        ).locate_at_caller()
    found: list[Any] = []
    step: Any = x.itemsize
    for size in reversed(x.shape):
        found.append(step)
        step = step * size
    return tuple(reversed(found))


@public("_memory_view")
def memory_view(x: Array, dtype: Any = None, kind: Any = None) -> Array:
    """`x.view()`: the same elements, shared. Elements are not read as another type."""
    for each in (dtype, kind):
        if each is None or (isinstance(each, type) and issubclass(np.ndarray, each)):
            continue
        if isinstance(each, type) and issubclass(each, np.ndarray):
            raise InputTypeError(f"an array of ours is no {cast(type, each).__name__}").locate_at_caller()
        if dtypes.read(cast(object, each)) != x.dtype:
            raise InputTypeError(
                f"elements of {x.dtype.name} are not read as {dtypes.read(cast(object, each)).name} without a copy",
                help="convert them with astype",
            ).locate_at_caller()
    return x[...]


@public("_in_order")
def in_order(x: Array, order: str | None, is_own: bool, copy: bool | None = None) -> Array:
    """An array whose elements lie as `order` says, "A" for C or F: itself where numpy gives itself, else a copy.

    Where that depends on sizes that are not known, the result may be read, and not written to. `is_own` says that the
    array shares its elements with none, so that nobody sees whether it is copied.
    """
    order = order.upper() if isinstance(order, str) else order  # numpy takes small letters, too
    if order not in ("C", "F", "A", "K", None):
        raise AttributeValueError(
            f"order is one of C, F, A, K, not {order!r}", culprit=("attribute", "order")
        ).locate_at_caller()
    if order is None or order == "K" or not x.ndim or (is_own and order == "A"):
        return x
    is_kept = False if is_own else _is_contiguous(x, order)
    if is_kept:
        return x
    if copy is False:
        raise AttributeValueError(
            f"elements in the order {order} may take a copy here", culprit=("attribute", "copy")
        ).locate_at_caller()
    if is_kept is None:
        wanted = cast(Any, order)
        return view(x, lambda base: base, None, lambda layout: layout.copy(wanted), is_plain=order == "C")
    if order != "F" or x.ndim == 1:
        return detached(x, is_plain=True)
    # As a view of the transposed array, one whose values are known has a known layout, too.
    return detached(x, is_plain=False) if x.is_symbolic else transpose(detached(transpose(x), is_plain=True))


def _is_contiguous(x: Array, order: str) -> bool | None:
    """True if numpy would have the elements side by side in this order; None if that depends on unknown sizes."""
    if x._is_plain and (order != "F" or x.ndim == 1):
        return True
    is_sized = x._is_plain and is_known(x.shape)
    layout = np.empty(cast("tuple[int, ...]", x.shape), x.dtype) if is_sized else layout_of(x)
    if layout is None:
        return None
    flags = layout.flags
    return flags.c_contiguous if order == "C" else flags.f_contiguous if order == "F" else flags.forc

"""`Ufunc`: a universal function as numpy has them, with its methods `reduce`, `accumulate`, `reduceat`, `outer`, `at`.

How it is called stands in `ufunc_call`; how it goes along a dimension, in `ufunc_steps`; what each computes stands in
`ufuncs`.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import functools
from inspect import Parameter, Signature
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeValueError, CallError, InputTypeError, ShapeError, boundary
from onnxsmith.numpy import dtypes, sharing, ufunc_outputs
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axes_of, axis_of
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.documentation import DocumentationOf
from onnxsmith.numpy.indexing import read_index, take
from onnxsmith.numpy.recorded import Recorded
from onnxsmith.numpy.registry import UFUNCS
from onnxsmith.numpy.requirements import is_within, require, require_some
from onnxsmith.numpy.sizes import Size
from onnxsmith.numpy.ufunc_call import Check as Check
from onnxsmith.numpy.ufunc_call import ComplexLoop as ComplexLoop
from onnxsmith.numpy.ufunc_call import RealLoop as RealLoop
from onnxsmith.numpy.ufunc_call import UfuncCall
from onnxsmith.numpy.ufunc_options import read_out, read_where
from onnxsmith.numpy.ufunc_steps import Reduce, Steps

#: The options that all of them have, as numpy documents them.
_COMMON = {"casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}


class _SignatureOf:
    """The attribute that `inspect.signature` asks a universal function for; its class has none.

    The call itself takes what it is given; `ufunc_options` reads it.
    """

    def __get__(self, instance: Ufunc | None, owner: type) -> Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return _signature_of(instance)


class Ufunc(UfuncCall):
    """One universal function: call it on arrays, or along their dimensions."""

    __doc__ = DocumentationOf(__doc__ or "")  # pyright: ignore[reportAssignmentType]  # `help` asks the object
    __signature__ = _SignatureOf()

    def __init__(
        self,
        name: str,
        real: RealLoop,
        complex: ComplexLoop | None,
        check: Check | None,
        reduce: Reduce | None,
    ) -> None:
        super().__init__(name, real, complex, check)
        self._shortcut = reduce

    # Made when they are first called: few programs go along dimensions with more than a few functions.

    @functools.cached_property
    def _steps(self) -> Steps:
        return Steps(self, self._shortcut)

    @functools.cached_property
    def _reduced(self) -> Recorded:
        return Recorded(frozenset(), self._steps.reduced)

    @functools.cached_property
    def _accumulated(self) -> Recorded:
        return Recorded(frozenset(), self._steps.accumulated)

    @functools.cached_property
    def _reduced_at(self) -> Recorded:
        return Recorded(frozenset(), self._steps.reduced_at)

    @functools.cached_property
    def _put(self) -> Recorded:
        return Recorded(frozenset(), self._steps.put)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}' of onnxsmith.numpy>"

    @property
    def nargs(self) -> int:
        """How many arrays go in and come out."""
        return self.nin + self.nout

    @property
    def types(self) -> list[str]:
        """The element types that it computes in, as numpy writes them: `ff->f`."""
        known = {each.char for each in dtypes.DTYPES} | {np.dtype(each).char for each in ("l", "L", "q", "Q")}
        return [each for each in self._rules.types if set(each.replace("->", "")) <= known]

    @property
    def ntypes(self) -> int:
        """How many combinations of element types it computes in."""
        return len(self.types)

    @property
    def identity(self) -> bool | int | float | None:
        """The first value of a reduction; None where that is the first element."""
        return cast("bool | int | float | None", self._rules.identity)

    @property
    def signature(self) -> str | None:
        """The dimensions that a product runs over; None where it runs over single elements."""
        return self._rules.signature

    @boundary
    def reduce(
        self,
        array: ArrayLike,
        axis: object = 0,
        dtype: DTypeLike | None = None,
        out: object = None,
        keepdims: bool = False,
        initial: object = None,
        where: ArrayLike = True,
    ) -> Array:
        """Combine all elements along axes: `add.reduce` sums up.

        >>> import onnxsmith.numpy as xp
        >>> xp.add.reduce(xp.asarray([[1, 2], [3, 4]]), axis=1)
        Array([3, 7])
        """
        x, target = self._prepared("reduce", array, out)
        axes = axes_of(axis, x.ndim)
        mask = read_where(where)
        loop = self._dtypes_along(x, dtype, target)
        begin = None if initial is None else as_type(array_of(initial), loop[2])
        identity = self.identity
        if len(axes) > 1 and identity is None and not self._steps.is_reorderable:
            raise AttributeValueError(
                f"the order of {self.__name__} matters, so that it goes along one axis at a time",
                culprit=("attribute", "axis"),
            )
        if mask is not None and begin is None and identity is None:
            raise AttributeValueError(
                f"{self.__name__} has no identity, so that where= needs initial=",
                culprit=("attribute", "initial"),
            )
        if begin is None and identity is None and not x.is_symbolic and 0 in [x.shape[each] for each in axes]:
            raise ShapeError(f"{self.__name__} of no elements has no value", help="say initial=")
        if begin is None and identity is None and x.is_symbolic:
            said = f"zero-size array to reduction operation {self.__name__} which has no identity"
            require_some(x, axes, ValueError(said))
        result = self._reduced(x, axes, bool(keepdims), loop, begin, mask)
        return ufunc_outputs.written(result, target, None)

    @boundary
    def accumulate(
        self, array: ArrayLike, axis: object = 0, dtype: DTypeLike | None = None, out: object = None
    ) -> Array:
        """Combine the elements along an axis, and keep what stands after each: `add.accumulate` is a running sum."""
        x, target = self._prepared("accumulate", array, out)
        result = self._accumulated(x, axis_of(axis, x.ndim), self._dtypes_along(x, dtype, target))
        return ufunc_outputs.written(result, target, None)

    @boundary
    def reduceat(
        self,
        array: ArrayLike,
        indices: ArrayLike,
        axis: object = 0,
        dtype: DTypeLike | None = None,
        out: object = None,
    ) -> Array:
        """Reductions of parts of an axis: from each place to the next; one element where that lies before."""
        x, target = self._prepared("reduceat", array, out)
        places = array_of(indices)
        along = axis_of(axis, x.ndim)
        if places.dtype.kind not in "iu" or places.ndim != 1:
            raise InputTypeError("reduceat takes places along the axis, a vector of integers")
        if not x.is_symbolic and not places.is_symbolic:
            known = np.asarray(places)
            size = x.shape[along]
            if known.size and (known.min() < 0 or known.max() >= size):
                raise AttributeValueError(
                    f"a place is out of bounds for an axis of size {size}", culprit=("attribute", "indices")
                )
        else:
            require(
                lambda: is_within(places, 0, cast(Size, x.shape[along])),
                IndexError("index out-of-bounds in reduceat"),
            )
        result = self._reduced_at(
            x, as_type(places, dtypes.INT64), along, self._dtypes_along(x, dtype, target)
        )
        return ufunc_outputs.written(result, target, None)

    @boundary
    def outer(self, a: ArrayLike, b: ArrayLike, /, **kwargs: object) -> Any:
        """Each element of one array with each of another."""
        if self.nin != 2 or self.signature is not None:
            raise CallError(f"{self.__name__} has no outer: it is for functions of two elements")
        x, y = array_of(a), array_of(b)
        spread = take(sharing.detached(x), read_index((..., *[None] * y.ndim))) if y.ndim else x
        return self(spread, y, **kwargs)

    @boundary
    def at(self, a: ArrayLike, indices: ArrayLike, b: ArrayLike | None = None, /) -> None:
        """Compute in place where an index points, as often as it points there: `add.at(x, [0, 0], 1)` adds 2."""
        if not isinstance(a, Array):
            raise InputTypeError(f"{self.__name__}.at writes to an array, not to {type(a).__name__}")
        if self.nout != 1 or self.signature is not None or (b is None) != (self.nin == 1):
            raise CallError(f"{self.__name__}.at takes {self.nin} operands, and gives one result")
        given = (
            () if b is None else (array_of(b) if not dtypes.is_scalar(b) else Array(np.asarray(b, a.dtype)),)
        )
        loop = self.dtypes_of_arrays([a.dtype, *[each.dtype for each in given]], a.dtype)
        sharing.replace(a, self._put(sharing.detached(a), read_index(indices), given, loop))

    def _prepared(self, method: str, array: ArrayLike, out: object) -> tuple[Array, Array | None]:
        if self.nin != 2 or self.nout != 1 or self.signature is not None:
            raise CallError(
                f"{self.__name__} has no {method}: it is for functions of two elements that give one"
            )
        target = read_out(f"{self.__name__}.{method}", out, 1)
        return array_of(array), None if target is None else target[0]

    def _dtypes_along(self, x: Array, dtype: DTypeLike | None, out: Array | None) -> tuple[Any, ...]:
        """The element types of a reduction: numpy sums small integers up in 64 bits."""
        wanted = None if dtype is None else dtypes.read(dtype)
        begin = out.dtype if out is not None and wanted is None else None
        extra: dict[str, Any] = {} if wanted is None else {"signature": (wanted, None, None)}
        try:
            return self._rules.resolve_dtypes(
                (begin, x.dtype, None), reduction=True, casting="unsafe", **extra
            )
        except TypeError as error:
            raise self.refused([x.dtype], error) from error


def define(
    names: str | tuple[str, ...],
    real: RealLoop,
    complex: ComplexLoop | None = None,
    *,
    check: Check | None = None,
    reduce: Reduce | None = None,
) -> Ufunc:
    """Make a ufunc and enter it in the table, under its names; the first is its own."""
    first, *others = (names,) if isinstance(names, str) else names
    made = Ufunc(first, real, complex, check, reduce)
    for name in (first, *others):
        UFUNCS.register(name, made)
    return made


def operator(name: str) -> RealLoop:
    """An operator of ONNX as what a ufunc computes."""

    def call(*inputs: Tensor) -> Tensor:
        return getattr(op, name)(*inputs)

    return call


def _signature_of(ufunc: Ufunc) -> Signature:
    """The parameters of a universal function: a product has axes, one of single elements a mask."""
    names = ["x"] if ufunc.nin == 1 else [f"x{number + 1}" for number in range(ufunc.nin)]
    out = None if ufunc.nout == 1 else (None,) * ufunc.nout
    options: dict[str, object] = (
        {"where": True} if ufunc.signature is None else {"axes": None, "axis": None, "keepdims": False}
    )
    return Signature(
        [
            *[Parameter(name, Parameter.POSITIONAL_ONLY) for name in names],
            Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=out),
            *[
                Parameter(name, Parameter.KEYWORD_ONLY, default=default)
                for name, default in {**options, **_COMMON}.items()
            ],
        ]
    )

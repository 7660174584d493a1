"""`Ufunc`: an elementwise function as numpy has them, with numpy's own choice of element types.

numpy is asked which element types a call computes in (`resolve_dtypes`), so promotion is numpy's by construction, and
Python numbers are weak whatever numpy is installed. What is computed, on tensors of those types, stands in `ufuncs`.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import zeros_like
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import InputTypeError, LiteralError, OnnxsmithError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import Elements, Recorded, Run, tensor_given
from onnxsmith.numpy.registry import UFUNCS
from onnxsmith.runtime.engine import runners

#: What a ufunc computes on real tensors of the element types that numpy chose.
RealLoop: TypeAlias = "Callable[..., TensorValue | tuple[TensorValue, ...]]"
#: What it computes on complex ones; a real input is a field without imaginary part.
ComplexLoop: TypeAlias = "Callable[..., Field | TensorValue | tuple[Field, ...]]"

#: Refuses elements, where they are known.
Check: TypeAlias = "Callable[[Sequence[Elements]], None]"

_NDARRAY = np.ndarray
_SCALARS = (bool, int, float, complex)


class _Plan:
    """A call of a form that was seen before: the session, and which inputs are Python numbers."""

    __slots__ = ("_check", "_literals", "_run")

    def __init__(self, run: Run, literals: Sequence[tuple[int, NumpyDType]], check: Check | None) -> None:
        self._run = run
        self._literals = tuple(literals)
        self._check = check

    def __call__(self, feeds: list[Any], is_plain: bool) -> Any:
        for position, dtype in self._literals:
            feeds[position] = _literal(feeds[position], dtype)
        if self._check is not None:
            self._check(feeds)
        return self._run(feeds, is_plain)


class Ufunc:
    """One universal function: call it on arrays."""

    def __init__(
        self, name: str, real: RealLoop | None, complex: ComplexLoop | None = None, check: Check | None = None
    ) -> None:
        self.__name__ = name
        self.__doc__ = getattr(getattr(np, name, None), "__doc__", None)
        self._numpy: np.ufunc = getattr(np, name)
        self._real = real
        self._complex = complex
        self._check = check
        self.nin: int = self._numpy.nin
        self.nout: int = self._numpy.nout
        self._computed = Recorded(self._record, frozenset())

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}' of onnxsmith.numpy>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs and len(args) == self.nin:
                # The hot path: elements are known, and the form of the call was seen before.
                form: list[Hashable] = [self]
                feeds: list[Any] = []
                is_plain = True
                for each in args:
                    kind = each.__class__
                    if kind is Array and each._view is None:
                        array = each._value
                        if array.__class__ is not _NDARRAY:
                            break
                        form.append(array.dtype)
                        form.append(array.ndim)
                        feeds.append(array)
                        is_plain = is_plain and each._is_plain
                    elif kind in _SCALARS:
                        form.append(kind)
                        feeds.append(each)
                    else:
                        break
                else:
                    plan: _Plan | None = runners().get(tuple(form))
                    return self._learnt(form, args) if plan is None else plan(feeds, is_plain)
            return self._general(args, kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    def _learnt(self, form: list[Hashable], args: tuple[Any, ...]) -> Any:
        """A call on known elements of a form that is new: the next one of it is found at once."""
        loop = self.dtypes_for([_kind(each) for each in args])
        given = [_typed(each, kind) for each, kind in zip(args, loop, strict=False)]
        prepared = self._computed.prepared((*given, loop), {})
        assert prepared is not None  # all elements are known
        run, feeds = prepared
        if self._check is not None:
            self._check(feeds)
        is_plain = all(each._is_plain for each in given)
        if all(each.dtype.kind != "c" for each in given):
            literals = [(k, loop[k]) for k, each in enumerate(args) if each.__class__ is not Array]
            runners().put(tuple(form), _Plan(run, literals, self._check))
        return run(feeds, is_plain)

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = kwargs.pop("out", None)
        dtype = kwargs.pop("dtype", None)
        inputs = [_operand(each) for each in args[: self.nin]]
        loop = self.dtypes_for([_kind(each) for each in inputs], dtype)
        given = [_typed(each, kind) for each, kind in zip(inputs, loop, strict=False)]
        if self._check is not None and all(
            isinstance(each, Array) and not each.is_symbolic for each in given
        ):
            self._check([cast(Elements, each.held) for each in given])
        result = self._computed(*given, loop)
        return result if out is None else self._written(result, out)

    def _written(self, result: Any, out: Any) -> Any:
        raise NotImplementedError

    def dtypes_for(
        self, kinds: Sequence[NumpyDType | type], dtype: NumpyDType | None = None
    ) -> tuple[NumpyDType, ...]:
        """The element types that inputs are computed in, and those of the results, as numpy chooses them."""
        try:
            return self._numpy.resolve_dtypes((*cast(Any, kinds), *[None] * self.nout))
        except TypeError as error:
            names = ", ".join(each.name if isinstance(each, np.dtype) else each.__name__ for each in kinds)
            raise InputTypeError(f"numpy's {self.__name__} is not defined for {names}") from error

    def _record(self, *args: Any) -> Any:
        """Compute on arrays (the last argument: the element types) in a graph."""
        *inputs, loop = args
        operands = [_in_type(each, kind) for each, kind in zip(inputs, loop, strict=False)]
        outs = loop[self.nin :]
        if any(each.kind == "c" for each in loop):
            if self._complex is None:
                raise InputTypeError(f"{self.__name__} of complex numbers is not there")
            results = self._complex(*operands)
        else:
            if self._real is None:
                raise InputTypeError(f"{self.__name__} is for complex numbers")
            results = self._real(*[each.re for each in operands])
        many = results if isinstance(results, tuple) else (results,)
        made = [_result(each, kind) for each, kind in zip(many, outs, strict=True)]
        return made[0] if self.nout == 1 else tuple(made)


def _operand(value: Any) -> Any:
    """What a ufunc is given: an array, or a Python number."""
    if value.__class__ is Array or dtypes.is_scalar(value) or isinstance(value, Number):
        return value
    if isinstance(value, Value):
        raise tensor_given(value)
    array = np.asarray(value)
    dtypes.check(array.dtype)
    return Array(array)


def _kind(value: Any) -> NumpyDType | type:
    if value.__class__ is Array:
        return cast(Array, value).dtype
    if isinstance(value, Number):
        return type(value.sample)
    kind = cast(type, value.__class__)
    return dtypes.BOOL if kind is bool else kind  # truth values are not weak


def _typed(value: Any, dtype: NumpyDType) -> Any:
    """A Python number as an array of the type that it takes."""
    return Array(_literal(value, dtype)) if dtypes.is_scalar(value) else value


def _literal(value: dtypes.PythonScalar, dtype: NumpyDType) -> Elements:
    if dtype.kind in "iu" and isinstance(value, int) and not isinstance(value, bool):
        limits = np.iinfo(cast("np.dtype[np.int64]", dtype))
        if not limits.min <= value <= limits.max:
            raise LiteralError(f"{value} is out of bounds for {dtype.name}")
    return np.asarray(value, dtype)


def _in_type(value: Any, dtype: NumpyDType) -> Field:
    """An argument as tensors of an element type; complex ones have both parts, zeros of which count."""
    kind = dtypes.onnx_type(dtype)
    field = Field(value.as_dtype(kind)) if isinstance(value, Number) else tensors_of(value).cast(kind)
    return _with_parts(field) if dtype.kind == "c" else field


def _with_parts(field: Field) -> Field:
    return field if field.im is not None else Field(field.re, zeros_like(field.re))


def _result(value: Field | TensorValue, dtype: NumpyDType) -> Array:
    kind = dtypes.onnx_type(dtype)
    field = value.cast(kind) if isinstance(value, Field) else Field(values.converted(value, kind))
    return array_from(_with_parts(field) if dtype.kind == "c" else Field(field.re))


def define(
    names: str | tuple[str, ...],
    real: RealLoop | None,
    complex: ComplexLoop | None = None,
    *,
    check: Check | None = None,
) -> Ufunc:
    """Make a ufunc and enter it in the table, under its names; the first is its own."""
    first, *others = (names,) if isinstance(names, str) else names
    made = Ufunc(first, real, complex, check)
    for name in (first, *others):
        UFUNCS[name] = made
    return made


def operator(name: str) -> RealLoop:
    """An operator of ONNX as what a ufunc computes."""

    def call(*inputs: TensorValue) -> TensorValue:
        return getattr(op, name)(*inputs)

    return call

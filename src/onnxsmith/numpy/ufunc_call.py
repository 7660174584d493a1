"""How a universal function is called: element types as numpy chooses them, a session of a form that was seen before.

numpy is asked which element types a call computes in (`resolve_dtypes`), so promotion is numpy's by construction, and
Python numbers are weak whatever numpy is installed. What is computed, on tensors of those types, stands in `ufuncs`;
where results are written, in `ufunc_outputs`.
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
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import hide_own_frames
from onnxsmith.errors import InputTypeError, OnnxsmithError, OutOfBoundsError, ShapeError
from onnxsmith.numpy import dtypes, ufunc_outputs
from onnxsmith.numpy.array import Array, ArrayLike
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.fitting import require_fitting
from onnxsmith.numpy.perhaps_python import UNKNOWN, KnownNumber, Weak, computed
from onnxsmith.numpy.recorded import Elements, Recorded, Run, parts_of
from onnxsmith.numpy.ufunc_options import Options, read_options
from onnxsmith.numpy.ufunc_types import rules_for
from onnxsmith.runtime.engine import runners

#: What a ufunc computes on real tensors of the element types that numpy chose.
RealLoop: TypeAlias = "Callable[..., Tensor | tuple[Tensor, ...]]"
#: What it computes on complex ones, each with both parts.
ComplexLoop: TypeAlias = "Callable[..., Field | Tensor | tuple[Field, ...]]"
#: Refuses elements of a loop's types; None stands for those that only the model knows.
Check: TypeAlias = "Callable[[Sequence[NumpyDType], Sequence[Elements | None]], None]"

_NDARRAY = np.ndarray
_SCALARS = (bool, int, float, complex)
_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


class _Plan:
    """A call of a form that was seen before: the session, and which inputs are Python numbers."""

    __slots__ = ("_check", "_has_complex", "_literals", "_loop", "_run")

    def __init__(
        self,
        run: Run,
        loop: Sequence[NumpyDType],
        literals: Sequence[tuple[int, NumpyDType]],
        check: Check | None,
        has_complex: bool,
    ) -> None:
        self._run = run
        self._loop = loop
        self._literals = tuple(literals)
        self._check = check
        self._has_complex = has_complex

    def __call__(self, feeds: list[Any], is_plain: bool) -> Any:
        for position, dtype in self._literals:
            feeds[position] = literal(feeds[position], dtype)
        if self._check is not None:
            self._check(self._loop, feeds)
        if self._has_complex:
            feeds = [part for each in feeds for part in parts_of(each)]
        return self._run(feeds, is_plain)


class UfuncCall:
    """A universal function as far as it is called on arrays."""

    def __init__(self, name: str, real: RealLoop, complex: ComplexLoop | None, check: Check | None) -> None:
        self.__name__ = name
        self._real = real
        self._complex = complex
        self._check = check
        #: numpy's own, in most cases: it is asked for element types, and computes nothing.
        self._rules = rules_for(name)
        self._compares = name in _COMPARISONS
        self.nin: int = self._rules.nin
        self.nout: int = self._rules.nout
        self._computed = Recorded(frozenset(), self._record)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs and len(args) == self.nin:
                # The hot path: elements are known, and the form of the call was seen before.
                form: list[Hashable] = [self]
                feeds: list[Any] = []
                is_plain = True
                for each in args:
                    kind = each.__class__
                    if kind is Array:
                        array = each._value if each._view is None else each.held
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
            try:
                if self._compares and isinstance(error, OutOfBoundsError):
                    return self._compared_beyond(args, kwargs)
                raise self._explained(error, args)
            except OnnxsmithError as told:
                told.locate_at_caller()
                hide_own_frames(told)
                raise

    def _learnt(self, form: list[Hashable], args: tuple[Any, ...]) -> Any:
        """A call on known elements of a form that is new: the next one of it is found at once."""
        loop = self.dtypes_for([kind_of(each) for each in args])
        given = [_typed(each, kind) for each, kind in zip(args, loop, strict=False)]
        if self._check is not None:
            self._check(loop, [cast(Elements, each.held) for each in given])
        prepared = self._computed.prepared((*given, loop), {})
        assert prepared is not None  # all elements are known
        run, feeds = prepared
        is_plain = all(each._is_plain for each in given)
        literals = [(k, loop[k]) for k, each in enumerate(args) if each.__class__ is not Array]
        has_complex = any(each.dtype.kind == "c" for each in given)
        runners().put(tuple(form), _Plan(run, loop, literals, self._check, has_complex))
        return run(feeds, is_plain)

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not kwargs and len(args) == self.nin:
            options = Options()
        else:
            args, options = read_options(self.__name__, self._rules, args, kwargs)
        inputs = [_operand(each) for each in args]
        if self._compares:
            inputs = _widened(inputs)
        loop = self.dtypes_for([kind_of(each) for each in inputs], options)
        weak = self._perhaps_python(inputs, loop) if options.is_plain else None
        given = [_typed(each, kind) for each, kind in zip(inputs, loop, strict=False)]
        if options.axes is not None:
            given = [
                ufunc_outputs.with_last(each, axes) for each, axes in zip(given, options.axes, strict=False)
            ]
        if self._check is not None:
            self._check(loop, [_known(each) for each in given])
        results = self._computed(*given, loop)
        many = cast("tuple[Array, ...]", results if self.nout > 1 else (results,))
        if options.axes is not None:
            many = tuple(
                ufunc_outputs.with_back(each, axes, are_new=options.keepdims)
                for each, axes in zip(many, options.axes[self.nin :], strict=True)
            )
        if weak is not None:
            many[0]._weak = weak
        if options.is_plain:
            return many[0] if self.nout == 1 else many
        outs = options.out or (None,) * self.nout
        written = tuple(
            ufunc_outputs.written(each, out, options.where) for each, out in zip(many, outs, strict=True)
        )
        return written[0] if self.nout == 1 else written

    def _perhaps_python(self, inputs: Sequence[ArrayLike], loop: Sequence[NumpyDType]) -> Weak | None:
        """The Python numbers that the result may be, where operands may be such; refused where results differ."""
        weak = [each._weak if isinstance(each, Array) else None for each in inputs]
        own = next((cast(Array, each).dtype for each, one in zip(inputs, weak, strict=True) if one), None)
        if own is None or self._compares:
            return None
        kinds = [
            kind_of(each) if one is None else dtypes.BOOL if cast(Array, each).dtype.kind == "b" else int
            for each, one in zip(inputs, weak, strict=True)
        ]
        otherwise = self.dtypes_for(kinds)
        if any(isinstance(each, Array) and one is None for each, one in zip(inputs, weak, strict=True)):
            operands: list[Weak | KnownNumber] = [UNKNOWN if one is not None else None for one in weak]
            return computed("", operands, own, loop, otherwise)
        known = [
            one if one is not None else None if isinstance(each, Number) else cast(KnownNumber, each)
            for each, one in zip(inputs, weak, strict=True)
        ]
        return computed(self.__name__, known, own, loop, otherwise)

    def _compared_beyond(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A comparison with a Python integer that the array's type does not hold: it is as good as infinity.

        Of two such integers, Python knows which one is less.
        """
        if all(each.__class__ is int for each in args[: self.nin]):
            first, second = args[: self.nin]
            args = (first > second) - (first < second), 0, *args[self.nin :]
            return self._general(args, kwargs)
        wide = [
            (-np.inf if each < 0 else np.inf) if each.__class__ is int else _as_float(each) for each in args
        ]
        return self._general(tuple(wide), kwargs)

    def dtypes_for(
        self, kinds: Sequence[NumpyDType | type], options: Options | None = None
    ) -> tuple[NumpyDType, ...]:
        """The element types that inputs are computed in, and those of the results, as numpy chooses them."""
        outs: Sequence[Any] = [None] * self.nout
        extra: dict[str, Any] = {}
        if options is not None and not options.is_plain:
            if options.out is not None:
                outs = [None if each is None else each.dtype for each in options.out]
            extra = {"casting": options.casting}
            if options.signature is not None:
                extra["signature"] = options.signature
        if self._compares and all(each is int for each in kinds):
            # numpy compares Python's integers as objects, of any size; those of a model have 64 bits.
            kinds = [dtypes.INT64] * len(kinds)
        # Asked by `equiv` about Python numbers of other types than the loop's, numpy ends the process. `no` is as
        # strict.
        is_equivalent = extra.get("casting") == "equiv"
        if is_equivalent:
            extra["casting"] = "no"
        try:
            found = self._rules.resolve_dtypes((*cast(Any, kinds), *outs), **extra)
        except TypeError as error:
            raise self.refused(kinds, error) from error
        # Integers are compared with Python's of any size.
        if is_equivalent and not (self._compares and found[0].kind in "iu"):
            weak = [pair for pair in zip(kinds, found, strict=False) if isinstance(pair[0], type)]
            if any(np.dtype(each) != wanted for each, wanted in weak):
                raise self.refused(kinds)
        for each in found:
            if each not in dtypes.DTYPES:
                raise self.refused(kinds)
        return found

    def dtypes_of_arrays(self, kinds: Sequence[NumpyDType], out: NumpyDType) -> tuple[NumpyDType, ...]:
        """The same where the result is written into an element type."""
        try:
            return self._rules.resolve_dtypes((*kinds, out))
        except TypeError as error:
            raise self.refused(kinds, error) from error

    def refused(self, kinds: Sequence[NumpyDType | type], error: TypeError | None = None) -> InputTypeError:
        """The error for element types that the function is not defined for."""
        names = ", ".join(each.name if isinstance(each, np.dtype) else each.__name__ for each in kinds)
        text = str(error).splitlines()[0] if error is not None else ""
        if text.startswith("Cannot cast"):
            where = "result" if " output " in text else "input"
            rule = text.rpartition("casting rule ")[2].strip("'")
            return InputTypeError(
                f"numpy's {self.__name__} of {names} has a {where} that the rule {rule!r} does not let be converted",
                help='say casting="unsafe", or convert first: x.astype(…)',
            )
        return InputTypeError(f"numpy's {self.__name__} is not defined for {names}")

    def _record(self, *args: Any) -> Any:
        """Compute on arrays (the last argument: the element types) in a graph."""
        *inputs, loop = args
        made = self.compute([in_type(each, kind) for each, kind in zip(inputs, loop, strict=False)], loop)
        arrays = [array_from(each) for each in made]
        return arrays[0] if self.nout == 1 else tuple(arrays)

    def compute(self, operands: Sequence[Field], loop: Sequence[NumpyDType]) -> list[Field]:
        """The results for tensors of a loop's element types."""
        if any(each.kind == "c" for each in loop):
            if self._complex is None:
                raise InputTypeError(f"{self.__name__} of complex numbers is not there")
            results = self._complex(*operands)
        else:
            results = self._real(*[each.re for each in operands])
        many = results if isinstance(results, tuple) else (results,)
        return [_result(each, kind) for each, kind in zip(many, loop[self.nin :], strict=True)]

    def _explained(self, error: OnnxsmithError, args: tuple[Any, ...]) -> OnnxsmithError:
        """The error for shapes that do not go together, where that is why a session failed."""
        if self._rules.signature is not None or isinstance(error, ShapeError):
            return error
        shapes = [each.shape for each in args[: self.nin] if isinstance(each, Array) and not each.is_symbolic]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            named = " and ".join(str(each) for each in shapes)
            return ShapeError(f"{self.__name__} cannot broadcast arrays of shapes {named} together")
        return error


def _operand(value: ArrayLike) -> ArrayLike:
    """An operand of a ufunc: an array, or a Python number."""
    if value.__class__ is Array or dtypes.is_scalar(value) or isinstance(value, Number):
        return value
    return array_of(value)


def _widened(inputs: list[ArrayLike]) -> list[ArrayLike]:
    """Operands of a comparison: a Python integer that only the model knows may be past the type of the other one."""
    if not any(isinstance(each, Array) and each.dtype.kind in "iu" for each in inputs):
        return inputs
    return [array_of(each) if isinstance(each, Number) and each.kind == "int" else each for each in inputs]


def _as_float(value: ArrayLike) -> Array:
    """Integers for a comparison with infinity."""
    return as_type(array_of(value), dtypes.FLOAT64)


def _known(value: ArrayLike) -> Elements | None:
    """The elements of an array, where they are known."""
    if not isinstance(value, Array) or value.is_symbolic:
        return None
    return cast(Elements, value.held)


def kind_of(value: ArrayLike) -> NumpyDType | type:
    """The element type of an array; the class of a Python number, which has none of its own."""
    if value.__class__ is Array:
        return cast(Array, value).dtype
    kind = type(value.sample) if isinstance(value, Number) else cast(type, value.__class__)
    return dtypes.BOOL if kind is bool else kind  # truth values are not weak


def is_weak(value: object) -> bool:
    """True if a value is a Python number, or one of the model's: it takes the element type of arrays that it meets."""
    return isinstance(value, Number) or dtypes.is_scalar(value)


def _typed(value: Any, dtype: NumpyDType) -> Any:
    """A Python number as an array of the type that it takes."""
    return Array(literal(value, dtype)) if dtypes.is_scalar(value) else value


def literal(value: dtypes.PythonScalar, dtype: NumpyDType) -> Elements:
    """A Python number in an element type, refused where it is an integer that the type does not hold."""
    if dtype.kind in "iu" and isinstance(value, int) and not isinstance(value, bool):
        limits = np.iinfo(cast("np.dtype[np.int64]", dtype))
        if not limits.min <= value <= limits.max:
            raise OutOfBoundsError(
                f"the Python integer {value} is out of bounds for {dtype.name}",
                help="convert the array to a type that holds it: x.astype(xp.int64)",
            )
    try:
        return np.asarray(value, dtype)
    except OverflowError:
        raise OutOfBoundsError(f"a Python integer is past the numbers that {dtype.name} holds") from None


def in_type(value: Array | Number, dtype: NumpyDType) -> Field:
    """An argument as tensors of an element type; complex ones have both parts, zeros of which count."""
    kind = dtypes.onnx_type(dtype)
    if isinstance(value, Number):
        require_fitting(value, dtype)
    field = (
        Field(values.cast(value, kind)) if isinstance(value, Number) else _converted(tensors_of(value), dtype)
    )
    return with_parts(field) if dtype.kind == "c" else field


def _converted(field: Field, dtype: NumpyDType) -> Field:
    if dtype.kind == "b" and field.im is not None:
        return Field(field.is_nonzero())
    # Where numpy converts complex numbers to real ones at all, it leaves out the imaginary parts.
    return (field if dtype.kind == "c" else Field(field.re)).cast(dtypes.onnx_type(dtype))


def with_parts(field: Field) -> Field:
    """Complex numbers as two tensors, of which the second is zeros where there was none."""
    return field if field.im is not None else Field(field.re, zeros_like(field.re))


def _result(value: Field | Tensor, dtype: NumpyDType) -> Field:
    kind = dtypes.onnx_type(dtype)
    field = value.cast(kind) if isinstance(value, Field) else Field(values.converted(value, kind))
    return with_parts(field) if dtype.kind == "c" else Field(field.re)

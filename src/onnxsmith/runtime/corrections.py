"""Operators that onnx's reference evaluator gets wrong or lacks, written out correctly.

Each says what is wrong and has a test against ONNX's own data or specification. Nothing else belongs here.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportIncompatibleMethodOverride=false
# pyright: reportAttributeAccessIssue=false
# onnx's reference evaluator has no types; it sets attributes of the node on these, and passes whatever the node has.

from __future__ import annotations

import contextlib
import functools
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper

from onnxsmith.errors.kinds import BY_ZERO
from onnxsmith.runtime.estimator_corrections import estimator_operators
from onnxsmith.runtime.text_corrections import text_operators
from onnxsmith.runtime.window_corrections import window_operators

Array: TypeAlias = np.ndarray[Any, Any]
_FLOAT4 = helper.tensor_dtype_to_np_dtype(onnx.TensorProto.FLOAT4E2M1)
#: Those of numpy's arrays.
_MOST_DIMENSIONS = 64
#: Values by name: what a body sees of the graphs around it.
Names: TypeAlias = Mapping[str, Any] | None


@functools.cache
def operators() -> tuple[type[Any], ...]:
    """The classes to hand to the reference evaluator in place of its own."""
    # Imported on first use: it loads a module for each operator.
    from onnx.reference.op_run import OpRun

    class Standard(OpRun):
        """An operator of the standard domain."""

        op_domain = ""

    class Loop(Standard):
        """Its own does nothing without a condition, and joins scan outputs of rank 0 and 2 wrongly."""

        def need_context(self) -> bool:
            return True

        def _run(
            self,
            *args: Array | None,
            context: Names = None,
            body: onnx.GraphProto | None = None,
            attributes: Names = None,
            bindings: Names = None,
        ) -> tuple[Any, ...]:
            graph = self.body
            trips, condition, *state = (*args, None, None)[: max(2, len(args))]
            limit = None if trips is None else int(np.asarray(trips).reshape(()))
            goes_on = True if condition is None else bool(np.asarray(condition).reshape(()))
            collected: list[list[Any]] = [[] for _ in graph.output_names[1 + len(state) :]]
            iteration = 0

            def iterate() -> list[Any]:
                given = [np.array(iteration, np.int64), np.array(True), *state]
                feeds = {**(context or {}), **dict(zip(graph.input_names, given, strict=True))}
                return list(self._run_body(feeds, attributes=attributes, **_named(bindings)))

            while goes_on and (limit is None or iteration < limit):
                first, *rest = iterate()
                goes_on = bool(np.asarray(first).reshape(()))
                state, scanned = rest[: len(state)], rest[len(state) :]
                for column, element in zip(collected, scanned, strict=True):
                    column.append(element)
                iteration += 1
            split = 1 + len(state)
            return (*state, *_stacked(collected, graph.output_types[split:], lambda: iterate()[split:]))

    class Scan(Standard):
        """Its own knows no axes, no directions, no empty inputs, and not the batches of version 8."""

        def need_context(self) -> bool:
            return True

        def _run(
            self,
            *args: Array,
            context: Names = None,
            bindings: Names = None,
            **attributes: Sequence[int] | None,
        ) -> tuple[Any, ...]:
            if self.run_params["opsets"].get("", 9) < 9:
                return self._run_batches(args[0], args[1:], context, bindings, attributes)
            return self._run_once(args, context, bindings, attributes)

        def _run_once(
            self,
            values: Sequence[Array],
            context: Names,
            bindings: Names,
            attributes: Mapping[str, Sequence[int] | None],
        ) -> tuple[Any, ...]:
            graph = self.body
            count = len(values) - self.num_scan_inputs
            state = list(values[:count])
            slices = _moved(
                values[count:], attributes.get("scan_input_axes"), attributes.get("scan_input_directions")
            )
            lengths = {len(each) for each in slices}
            if len(lengths) != 1:
                raise ValueError(f"the scan inputs have different lengths: {sorted(lengths)}")
            collected: list[list[Any]] = [[] for _ in graph.output_names[count:]]

            def iterate(given: Sequence[Array]) -> list[Any]:
                ports = zip(graph.input_names, [*state, *given], strict=True)
                return list(self._run_body({**(context or {}), **dict(ports)}, **_named(bindings)))

            for step in range(lengths.pop()):
                results = iterate([np.asarray(each[step]) for each in slices])
                state = list(results[:count])
                for column, element in zip(collected, results[count:], strict=True):
                    column.append(element)
            zeros = [np.zeros(each.shape[1:], each.dtype) for each in slices]
            stacked = _stacked(collected, graph.output_types[count:], lambda: iterate(zeros)[count:])
            axes = attributes.get("scan_output_axes") or ()
            directions = attributes.get("scan_output_directions") or ()
            for k, array in enumerate(stacked):
                turned = array[::-1] if k < len(directions) and directions[k] else array
                state.append(np.moveaxis(turned, 0, axes[k]) if k < len(axes) else turned)
            return tuple(state)

        def _run_batches(
            self,
            lengths: Array | None,
            values: Sequence[Array],
            context: Names,
            bindings: Names,
            attributes: Mapping[str, Sequence[int] | None],
        ) -> tuple[Any, ...]:
            turned = {"scan_input_directions": attributes.get("directions")}
            count = len(values) - self.num_scan_inputs
            rows: list[tuple[Any, ...]] = []
            for row in range(len(values[0])):
                states = [each[row] for each in values[:count]]
                length = None if lengths is None else int(lengths[row])
                scanned = [each[row][:length] for each in values[count:]]
                results = self._run_once([*states, *scanned], context, bindings, turned)
                padded = [_padded(each, values[count].shape[1]) for each in results[count:]]
                rows.append((*results[:count], *padded))
            return tuple(np.stack(column) for column in zip(*rows, strict=True))

    class Scatter(Standard):
        """It has none; it is ScatterElements by its former name."""

        def _run(
            self, data: Array, indices: Array, updates: Array, axis: int | None = None
        ) -> tuple[Any, ...]:
            result = np.copy(data)
            axis = (axis or 0) % data.ndim
            # A negative index counts from the end, as in ScatterElements.
            np.put_along_axis(
                result, np.where(indices < 0, indices + data.shape[axis], indices), updates, axis
            )
            return (result,)

    class Tile(Standard):
        """Its own does not have the three inputs of version 1."""

        def _run(self, data: Array, repeats: Array, axis: Array | None = None) -> tuple[Any, ...]:
            if axis is None:
                return (np.tile(data, repeats),)
            return (np.concatenate([data] * int(repeats.reshape(())), axis=int(axis.reshape(()))),)

    class Unsqueeze(Standard):
        """Its own searches all axes for each dimension, which never ends for a million of them."""

        def _run(self, data: Array, axes: Array | Sequence[int] | None = None) -> tuple[Any, ...]:
            places = np.asarray(axes).reshape(-1)
            if places.size > _MOST_DIMENSIONS:
                raise ValueError(f"no array has {data.ndim + places.size:,} dimensions")
            return (np.expand_dims(data, tuple(int(each) for each in places)),)

    class Optional(Standard):
        """Its own wraps what is there into a list, which is then taken for a sequence."""

        def _run(
            self, value: Array | list[Any] | None = None, type: onnx.TypeProto | None = None
        ) -> tuple[Any, ...]:
            return (value,)

    class OptionalGetElement(Standard):
        """Its own takes a sequence of one element for that element."""

        def _run(self, value: Array | list[Any] | None) -> tuple[Any, ...]:
            if value is None:
                raise ValueError("the optional is empty")
            return (value,)

    class OptionalHasElement(Standard):
        """Its own takes an empty sequence for an absent one."""

        def _run(self, value: Array | list[Any] | None = None) -> tuple[Any, ...]:
            return (np.array(value is not None),)

    class SequenceAt(Standard):
        """Its own does not say what is wrong with a place."""

        def _run(self, sequence: list[Any], place: Array) -> tuple[Any, ...]:
            return (sequence[_place(place, len(sequence), len(sequence) - 1)],)

    class SequenceErase(Standard):
        """Its own does not say what is wrong with a place."""

        def _run(self, sequence: list[Any], place: Array | None = None) -> tuple[Any, ...]:
            erased = len(sequence) - 1 if place is None else _place(place, len(sequence), len(sequence) - 1)
            return ([*sequence[:erased], *sequence[erased + 1 :]],)

    class SequenceInsert(Standard):
        """Its own takes a place that is not there for another one, and the end for the front."""

        def _run(self, sequence: list[Any], element: Array, place: Array | None = None) -> tuple[Any, ...]:
            before = len(sequence) if place is None else _place(place, len(sequence), len(sequence))
            return ([*sequence[:before], element, *sequence[before:]],)

    class Div(Standard):
        """Its own gives 0 for an integer divided by zero, which has no quotient."""

        def _run(self, dividend, divisor) -> tuple[Any, ...]:
            if not np.issubdtype(dividend.dtype, np.integer):
                return (np.divide(dividend, divisor).astype(dividend.dtype),)
            _check_divisor(divisor)
            return (_truncated(dividend, divisor),)

    class Mod(Standard):
        """Its own gives 0 for the remainder by zero."""

        def _run(self, dividend, divisor, fmod=None) -> tuple[Any, ...]:
            if np.issubdtype(dividend.dtype, np.integer):
                _check_divisor(divisor)
            remainder = np.fmod if fmod else np.mod
            return (remainder(dividend, divisor).astype(dividend.dtype),)

    casting: Any = importlib.import_module("onnx.reference.ops.op_cast")

    def cast(x: Array, to: int | None, saturate: int | None, round_mode: str | None) -> tuple[Any, ...]:
        saturates, mode = saturate is None or bool(saturate), round_mode or "up"
        if to == onnx.TensorProto.FLOAT8E8M0:
            return (_to_powers_of_two(x, saturates, mode),)
        return (casting.cast_to(x, to, saturates, mode),)

    class Cast(Standard):
        """Its own does not saturate infinities to FLOAT8E8M0, nor tell what lies below its least number."""

        def _run(self, x, to=None, saturate=None, round_mode=None) -> tuple[Any, ...]:
            return cast(x, to, saturate, round_mode)

    class CastLike(Standard):
        """As `Cast`."""

        def _run(self, x, like, saturate=None, round_mode=None) -> tuple[Any, ...]:
            return cast(x, helper.np_dtype_to_tensor_dtype(like.dtype), saturate, round_mode)

    quantize: Any = importlib.import_module("onnx.reference.ops.op_quantize_linear")

    class QuantizeLinear(quantize._CommonQuantizeLinear):
        """Its own takes quotients past 32 bits for the lowest number; they saturate."""

        op_domain = ""

        def _run(
            self, x, y_scale, zero_point=None, axis=1, block_size=0, precision=None, **attributes
        ) -> tuple[Any, ...]:
            scale = _spread(y_scale, x.shape, axis, block_size)
            if precision:
                kind = helper.tensor_dtype_to_np_dtype(precision)
                x, scale = x.astype(kind), scale.astype(kind)
            quotient = x / scale
            if quotient.dtype.itemsize < 4:  # half a float cannot hold the limit
                quotient = quotient.astype(np.float32)
            limited = np.clip(quotient, -(2**30), 2**30)
            one = np.ones((), limited.dtype)
            return super()._run(limited, one, zero_point, axis=axis, block_size=block_size, **attributes)

    dequantize: Any = importlib.import_module("onnx.reference.ops.op_dequantize_linear")

    class DequantizeLinear(dequantize._CommonDequantizeLinear):
        """Its own leaves out the zero point of FLOAT4E2M1."""

        op_domain = ""

        def _run(self, x, x_scale, zero_point=None, axis=1, block_size=0, **attributes) -> tuple[Any, ...]:
            if zero_point is not None and x.dtype == _FLOAT4:
                zero = _spread(zero_point.astype(np.float32), x.shape, axis, block_size)
                x, zero_point = x.astype(np.float32) - zero, None
            return super()._run(x, x_scale, zero_point, axis=axis, block_size=block_size, **attributes)

    plain = Loop, Scan, Scatter, Tile, Unsqueeze, Optional, OptionalGetElement, OptionalHasElement, Mod
    sequences = SequenceAt, SequenceErase, SequenceInsert
    formerly = (
        *map(_aligned_as_once, (Div, *map(_own_class, _ALIGNED_ONCE))),
        *map(_of_rows_once, _OF_ROWS_ONCE),
    )
    rewritten = (*formerly, *window_operators(), *text_operators())
    quantized = QuantizeLinear, DequantizeLinear
    return (
        *plain,
        *sequences,
        Cast,
        CastLike,
        *quantized,
        *estimator_operators(),
        *rewritten,
    )


@functools.cache
def evaluator() -> type[Any]:
    """The reference evaluator with these in place of its own, in functions, too."""
    # Imported on first use: it loads a module for each operator.
    from onnx.reference import ReferenceEvaluator

    class Evaluator(ReferenceEvaluator):
        def __init__(self, proto: Any, new_ops: Any = None, **options: Any) -> None:
            super().__init__(proto, new_ops=list(operators()), **options)

    return Evaluator


def _to_powers_of_two(x: Array, saturates: bool, mode: str) -> Array:
    """As `Cast` describes FLOAT8E8M0; negative numbers, which it leaves unspecified, are below the least number."""
    value = x.astype(np.float32).astype(np.float64)
    fraction, exponent = np.frexp(value)  # a fraction from 0.5
    is_next = {"up": fraction > 0.5, "down": fraction > 1, "nearest": fraction >= 0.75}[mode]
    codes = exponent - 1 + 127 + is_next
    codes = np.where(value < 2.0**-127, 0 if saturates else 255, codes)
    codes = np.where(value > 2.0**127, 254 if saturates else 255, codes)
    codes = np.where(np.isnan(value), 255, codes).astype(np.uint8)
    return codes.view(helper.tensor_dtype_to_np_dtype(onnx.TensorProto.FLOAT8E8M0))


def _spread(scale: Array, shape: tuple[int, ...], axis: int, block: int) -> Array:
    """One scale for each element, or for each along an axis, of a tensor that is quantized by axis or in blocks."""
    if scale.size == 1:
        return scale.reshape(())
    if scale.ndim > 1:
        repeated = np.repeat(scale, max(block, 1), axis)
        return np.take(repeated, np.arange(shape[axis]), axis)
    return scale.reshape([-1 if each == axis % len(shape) else 1 for each in range(len(shape))])


#: Operators that broadcast otherwise before opset 7.
_ALIGNED_ONCE = ("Add", "And", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")


def _own_class(name: str) -> type[Any]:
    """The evaluator's own class of an operator."""
    return getattr(importlib.import_module(f"onnx.reference.ops.op_{name.lower()}"), name)


def _aligned_as_once(base: Any) -> type[Any]:
    """An operator whose class broadcasts as numpy does before opset 7, too, when attributes said how."""

    def run(self: Any, first: Array, second: Array, **_: Any) -> tuple[Any, ...]:
        if self.run_params["opsets"].get("", 7) < 7:
            # The evaluator hands no attributes to operators of two operands.
            attributes = {each.name: each.i for each in self.onnx_node.attribute}
            second = _aligned(first, second, attributes.get("axis"), attributes.get("broadcast"))
        return base._run(self, first, second)

    return type(base.__name__, (base,), {"op_domain": "", "_run": run, "__module__": __name__})


def _aligned(first: Array, second: Array, axis: int | None, broadcast: int | None) -> Array:
    """The second operand with dimensions of 1 around it; its shape must be a stretch of the first's."""
    if not broadcast and first.shape == second.shape:
        return second
    start = first.ndim - second.ndim if axis is None else axis
    behind = first.ndim - second.ndim - start
    if not broadcast or start < 0 or behind < 0:
        raise ValueError(f"shapes {first.shape} and {second.shape} do not fit")
    spread = second.reshape((*second.shape, *(1,) * behind))
    if np.broadcast_shapes(first.shape, spread.shape) != first.shape:
        raise ValueError(f"shapes {first.shape} and {second.shape} do not fit")
    return spread


def _of_rows_once(name: str) -> type[Any]:
    """An operator whose own class goes along the axis alone before opset 13, too, when all behind it belonged to it."""
    base: Any = getattr(importlib.import_module(f"onnx.reference.ops.op_{_OF_ROWS_ONCE[name]}"), name)

    def run(self: Any, x: Array, **attributes: int | None) -> tuple[Any, ...]:
        if self.run_params["opsets"].get("", 13) >= 13 or not x.size:
            return base._run(self, x, **attributes)
        given = [each.i for each in self.onnx_node.attribute if each.name == "axis"]
        place = (given[0] if given else 1) % x.ndim  # the evaluator knows the default of today alone
        matrix = x.reshape((math.prod(x.shape[:place]), -1)).astype(np.promote_types(x.dtype, np.float32))
        return (_of_rows(name, matrix).astype(x.dtype).reshape(x.shape),)

    return type(name, (base,), {"op_domain": "", "_run": run, "__module__": __name__})


#: Operators that took a tensor for a matrix before opset 13, split at the axis, with the files that onnx has them in.
_OF_ROWS_ONCE = {"Hardmax": "hardmax", "LogSoftmax": "log_softmax", "Softmax": "softmax"}


def _of_rows(name: str, matrix: Array) -> Array:
    if name == "Hardmax":
        return np.eye(matrix.shape[1])[matrix.argmax(1)]
    shifted = matrix - matrix.max(1, keepdims=True)
    sums = np.exp(shifted).sum(1, keepdims=True)
    return shifted - np.log(sums) if name == "LogSoftmax" else np.exp(shifted) / sums


def _place(given: Array, size: int, last: int) -> int:
    """A place in a sequence, from the front; `last` is the last that there is. In ONNX Runtime's words if it is not."""
    place = int(np.asarray(given).reshape(()))
    if not -size <= place <= last:
        raise IndexError(f"Invalid sequence index ({place}) specified for sequence of size ({size})")
    return place + size if place < 0 else place


def _check_divisor(divisor: np.ndarray[Any, Any]) -> None:
    if not divisor.all():
        raise ZeroDivisionError(BY_ZERO)


def _truncated(dividend: np.ndarray[Any, Any], divisor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The quotient without its fraction, as ONNX divides integers; numpy rounds it down."""
    quotient = dividend // divisor
    is_off = (quotient * divisor != dividend) & ((dividend < 0) != (divisor < 0))
    return (quotient + is_off.astype(quotient.dtype)).astype(dividend.dtype)


def _moved(
    values: Sequence[Array], axes: Sequence[int] | None, directions: Sequence[int] | None
) -> list[Array]:
    """Scan inputs with the scanned axis first, in the order they are gone through."""
    moved = [
        np.moveaxis(each, axes[k], 0) if axes and k < len(axes) else each for k, each in enumerate(values)
    ]
    return [
        each[::-1] if directions and k < len(directions) and directions[k] else each
        for k, each in enumerate(moved)
    ]


def _named(bindings: Names) -> dict[str, Names]:
    """The keyword of bindings, which bodies take in versions of onnx after 1.21 alone."""
    return {} if bindings is None else {"bindings": bindings}


def _stacked(
    columns: Sequence[list[Any]], declared: Sequence[onnx.TypeProto], iterate: Callable[[], Sequence[Any]]
) -> list[Array]:
    """The scan outputs. With no element at all, their types are what the body declares.

    Dynamic sizes are then those of an iteration that is thrown away, as in an eager run, or 0 where that fails.
    """
    shapes = [[each.dim_value for each in one.tensor_type.shape.dim] for one in declared]
    if any(not elements and 0 in shape for elements, shape in zip(columns, shapes, strict=True)):
        # It runs on values that no run has: whatever is wrong with them is no mistake of the model.
        with contextlib.suppress(Exception):
            shapes = [list(np.shape(each)) for each in iterate()]
    return [
        np.stack(elements) if elements else np.empty((0, *shape), _element_type(one))
        for elements, shape, one in zip(columns, shapes, declared, strict=True)
    ]


def _element_type(declared: onnx.TypeProto) -> np.dtype[Any]:
    return helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type or onnx.TensorProto.FLOAT)


def _padded(array: np.ndarray[Any, Any], length: int) -> np.ndarray[Any, Any]:
    """Scan outputs of a shorter sequence end in zeros (Scan-8)."""
    padded = np.zeros((length, *array.shape[1:]), array.dtype)
    padded[: len(array)] = array
    return padded

"""Call a session on a list of inputs: closures with all names prebuilt, one shape of call each.

The hot path of eager mode: on four floats a call costs about what ONNX Runtime's own compiled `run` costs. Whether
a failure means a fallback is decided by the caller, who passes `recover`.

What numpy has natively goes as it is. bfloat16, float8, float4, int4 and int2 travel as ONNX Runtime's own values
over the same bytes, packed where ONNX packs; byte strings become text.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.graphs.run_values import Run as Run
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.onnxruntime_api import OrtValue, Session, WrappedValue
from onnxsmith.runtime.single_node import InputType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import MapType, OptionalType, SequenceType, TensorType, parse_onnx_type

#: From what a caller gives to what a session takes. The type of an input says which kind of value that is.
Converter: TypeAlias = Callable[[RunValue], "RunValue | OrtValue"]

#: numpy arrays of these are what ONNX Runtime takes and gives, without a copy.
NATIVE: frozenset[DType] = frozenset(
    dtype for dtype in DType if dtype.is_native and dtype.kind not in ("string", "complex")
)


class NoConversion(Exception):
    """ONNX Runtime cannot be given, or cannot give back, a value of this type."""


def is_exotic(value_type: InputType) -> bool:
    """True if it is a tensor that ONNX Runtime only knows as its own value."""
    dtype = element_type(value_type)
    return dtype is not None and not dtype.is_native


def element_type(value_type: InputType) -> DType | None:
    """The element type of a tensor; None for all else."""
    if isinstance(value_type, TensorType):
        return value_type.dtype
    return value_type if isinstance(value_type, DType) else None


def input_converter(value_type: InputType) -> Converter | None:
    """How to turn an input of this type into what a session takes; None when it goes as it is."""
    dtype = element_type(value_type)
    if dtype is not None:
        if dtype is DType.STRING:
            return cast(Converter, to_text)
        if dtype.kind == "complex":
            raise NoConversion(f"ONNX Runtime has no {dtype.spelling} tensors")
        return None if dtype.is_native else _exotic_converter(dtype)
    match value_type:
        case SequenceType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot be given a {value_type.described}")
            convert = input_converter(element)
            return None if convert is None else _each_converter(convert)
        case OptionalType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot be given an {value_type.described}")
            convert = input_converter(element)
            return None if convert is None else lambda value: None if value is None else convert(value)
        case MapType():
            return None
        case _:
            return None


def _each_converter(convert: Converter) -> Converter:
    def converted(values: list[RunValue]) -> list[RunValue]:
        return [cast(RunValue, convert(each)) for each in values]

    return cast(Converter, converted)


def check_output(value_type: InputType) -> None:
    """Refuse what a session cannot give back: containers of tensors that numpy does not have."""
    match value_type:
        case SequenceType(element=element) | OptionalType(element=element):
            if is_exotic(element):
                raise NoConversion(f"ONNX Runtime cannot give back a {value_type.described}")
            check_output(element)
        case _:
            pass


def to_text(array: Array) -> Array:
    """A string array as ONNX Runtime reads it: an object array of str. It misreads numpy's byte strings."""
    if array.dtype.kind == "U":
        return array.astype(object)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8").astype(object)
    if array.dtype.kind != "O":
        return array.astype(object)
    if any(type(each) is not str for each in array.flat):
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in array.flat]
        fresh = np.empty(array.shape, object)
        fresh.reshape(-1)[:] = texts
        return fresh
    return array


def _exotic_converter(dtype: DType) -> Converter:
    if dtype.bits >= 8:
        storage = np.uint16 if dtype.bits == 16 else np.uint8

        def over_bytes(array: Array) -> OrtValue:
            if array.size and array.flags.c_contiguous:
                return onnxruntime_api.value_over(array.view(storage), dtype)
            # Not over a contiguous copy, which would be gone before the run: a value does not hold its array.
            return filled_value(array, dtype)

        return cast(Converter, over_bytes)

    def packed(array: Array) -> OrtValue:
        return filled_value(array, dtype)

    return cast(Converter, packed)


def filled_value(array: Array, dtype: DType) -> OrtValue:
    """A value with memory of its own, and the content of an array."""
    value = onnxruntime_api.empty_value(array.shape, dtype)
    content = array.tobytes() if dtype.bits >= 8 else pack(array, dtype.bits).tobytes()
    ctypes.memmove(value.data_ptr(), content, len(content))
    return value


def pack(array: Array, bits: int) -> NDArray[np.uint8]:
    """Elements of less than a byte side by side, the first in the lowest bits, as ONNX stores them."""
    per_byte = 8 // bits
    elements = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-elements.size // per_byte) * per_byte, np.uint8)
    padded[: elements.size] = elements
    groups = padded.reshape(-1, per_byte) << np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(groups, axis=1).astype(np.uint8)


def unpack(content: bytes, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The reverse of `pack`."""
    bits = dtype.bits
    groups = np.frombuffer(content, np.uint8)[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)
    elements = (groups & ((1 << bits) - 1)).reshape(-1)[: int(np.prod(shape))]
    if dtype.kind == "signed":
        sign = 1 << (bits - 1)
        return ((elements ^ sign).astype(np.int8) - sign).astype(dtype.numpy).reshape(shape)
    if dtype.kind == "unsigned":
        return elements.astype(dtype.numpy).reshape(shape)
    return elements.view(dtype.numpy).reshape(shape)


def from_value(value: OrtValue) -> RunValue:
    """A numpy array, or list of arrays, from one of ONNX Runtime's own values."""
    if not value.has_value():
        return None
    if not value.is_tensor():
        return value.numpy()
    dtype = DType(value.element_type())
    if dtype.is_native:
        return value.numpy()
    shape = tuple(value.shape())
    # The value says its size itself, but not before ONNX Runtime 1.23.
    size = (math.prod(shape) * dtype.bits + 7) // 8
    if dtype.bits < 8:
        content = ctypes.string_at(value.data_ptr(), size) if size else b""
        return unpack(content, dtype, shape)
    if not size:
        return np.empty(shape, dtype.numpy)
    memory = (ctypes.c_ubyte * size).from_address(value.data_ptr())
    memory._value = value  # pyright: ignore[reportAttributeAccessIssue]  # the array is over its memory
    return np.frombuffer(cast(bytearray, memory), dtype.numpy).reshape(shape)


Recover: TypeAlias = Callable[[Exception, Sequence[RunValue]], list[RunValue]]


def runner_over(session: Session, names: Sequence[str], types: Sequence[InputType], recover: Recover) -> Run:
    """A function from inputs to outputs; an empty name is a hole.

    Raises `NoConversion` for values that a session cannot take or give.
    """
    outputs = onnxruntime_api.output_types(session)
    output_names = [name for name, _ in outputs]
    parsed = [parse_onnx_type(text) for _, text in outputs]
    for each in parsed:
        if not isinstance(each, TensorType):
            check_output(each)
    # ONNX Runtime may have dropped an input that a body does not use.
    taken = {meta.name for meta in session.inputs_meta}
    positions = [k for k, name in enumerate(names) if name in taken]
    plain_inputs = all(element_type(types[k]) in NATIVE for k in positions)
    if any(is_exotic(each) for each in parsed):
        return _value_runner(session, names, types, positions, output_names, recover)
    if plain_inputs:
        return _plain_runner(session, [names[k] for k in positions], positions, output_names, recover)
    return _converting_runner(session, names, types, positions, output_names, recover)


def _plain_runner(
    session: Session, names: Sequence[str], positions: Sequence[int], outputs: list[str], recover: Recover
) -> Run:
    """All inputs and outputs are arrays that ONNX Runtime takes as they are."""
    run = session.run
    options = onnxruntime_api.quiet_run_options()
    if len(positions) == 1 and positions[0] == 0:
        only = names[0]

        def run_one(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, {only: inputs[0]}, options)
            except Exception as error:
                return recover(error, inputs)

        return run_one
    if tuple(positions) == (0, 1):
        first, second = names

        def run_two(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, {first: inputs[0], second: inputs[1]}, options)
            except Exception as error:
                return recover(error, inputs)

        return run_two
    if list(positions) == list(range(len(positions))):
        fixed = tuple(names)

        def run_many(inputs: Sequence[RunValue]) -> list[RunValue]:
            try:
                return run(outputs, dict(zip(fixed, inputs)), options)  # noqa: B905  # trailing holes are not named
            except Exception as error:
                return recover(error, inputs)

        return run_many
    pairs = tuple(zip(names, positions, strict=True))

    def run_with_holes(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            return run(outputs, {name: inputs[k] for name, k in pairs}, options)
        except Exception as error:
            return recover(error, inputs)

    return run_with_holes


def _converting_runner(
    session: Session,
    names: Sequence[str],
    types: Sequence[InputType],
    positions: Sequence[int],
    outputs: list[str],
    recover: Recover,
) -> Run:
    """Some inputs need conversion; outputs come as numpy has them."""
    run = session.run
    options = onnxruntime_api.quiet_run_options()
    plan = [(names[k], k, input_converter(types[k]), is_exotic(types[k])) for k in positions]

    def run_converted(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            feeds: dict[str, RunValue | WrappedValue] = {}
            for name, k, convert, is_value in plan:
                value = inputs[k] if convert is None else convert(inputs[k])
                feeds[name] = (
                    onnxruntime_api.wrapped(cast(OrtValue, value)) if is_value else cast(RunValue, value)
                )
            return run(outputs, feeds, options)
        except Exception as error:
            return recover(error, inputs)

    return run_converted


def _value_runner(
    session: Session,
    names: Sequence[str],
    types: Sequence[InputType],
    positions: Sequence[int],
    outputs: list[str],
    recover: Recover,
) -> Run:
    """Some outputs only exist as ONNX Runtime's own values, so all inputs must be those, too."""
    plan = [(names[k], k, value_converter(types[k])) for k in positions]

    def run_values(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            feeds = {name: convert(inputs[k]) for name, k, convert in plan}
            return [from_value(each) for each in onnxruntime_api.run_values(session, feeds, outputs)]
        except Exception as error:
            return recover(error, inputs)

    return run_values


def value_converter(value_type: InputType) -> Callable[[Any], OrtValue]:
    """How to make one of ONNX Runtime's own values of an array; the array must outlive it."""
    dtype = element_type(value_type)
    if dtype is None:
        raise NoConversion("ONNX Runtime cannot take a container among values of its own")
    if dtype is DType.STRING:
        return _text_value
    convert = input_converter(dtype)
    return onnxruntime_api.value_maker() if convert is None else cast("Callable[[Any], OrtValue]", convert)


def _text_value(array: Array) -> OrtValue:
    return onnxruntime_api.value_of(to_text(array))

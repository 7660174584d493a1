"""Arrays on devices, as values of ONNX Runtime: how they come there and back, to other libraries, and runs on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
import onnx
from onnx import helper

from onnxsmith.errors import DeviceError
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.run_values import Array, Run, RunValue
from onnxsmith.runtime import feeds, onnxruntime_api
from onnxsmith.runtime.devices import CPU, Device, check_there, read_device, settings_on
from onnxsmith.runtime.onnxruntime_api import OrtValue, Session, title
from onnxsmith.runtime.opening import make_session
from onnxsmith.runtime.single_node import InputType
from onnxsmith.schema.foreign_arrays import ELEMENT_CODES, DeviceArray, ForeignDeviceArray, tensor_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, parse_onnx_type

#: Of whole numbers in one row (a shape, axes, sizes), at most so many go to another device by themselves.
_MOST_NUMBERS = 64


class OrtArray(DeviceArray):
    """An array on a device as ONNX Runtime has it."""

    __slots__ = ("value",)

    def __init__(self, value: OrtValue, device: str) -> None:
        super().__init__(DType(value.element_type()).numpy, tuple(value.shape()), device)
        self.value = value

    def numpy(self) -> Array:
        if self.device == "cpu":
            return cast(Array, feeds.from_value(self.value))
        return cast(Array, feeds.from_value(moved(self, CPU).value))

    def capsule(self) -> object:
        """The array for other libraries, by dlpack: the memory is shared, and lives as long as they need it."""
        dtype = DType(self.value.element_type())
        if dtype not in ELEMENT_CODES:
            raise BufferError(f"dlpack has no elements of the type {dtype.spelling}")
        if not hasattr(self.value, "to_dlpack"):
            raise BufferError(_TOO_OLD)
        try:
            capsule = cast(Any, self.value).to_dlpack()
        except RuntimeError as error:
            raise BufferError(
                f"{title()} shares no elements of the type {dtype.spelling}; x.numpy() copies them"
            ) from error
        return capsule if dtype in _MARKED_RIGHTLY else _with_code(capsule, dtype)


#: Element types whose code ONNX Runtime writes into a capsule as the protocol has it.
_MARKED_RIGHTLY = frozenset(each for each in ELEMENT_CODES if each.kind in ("signed", "unsigned")) | {
    DType.FLOAT16,
    DType.FLOAT,
    DType.DOUBLE,
    DType.BFLOAT16,
}
_TOO_OLD = "the installed ONNX Runtime shares no memory of devices; from 1.28 on it does"


def _with_code(capsule: object, dtype: DType) -> object:
    tensor = tensor_of(capsule)
    tensor.code, tensor.bits = ELEMENT_CODES[dtype]
    return capsule


def capsule_of(array: Array) -> object:
    """An array of numpy for other libraries, by dlpack; also of element types that numpy itself does not export."""
    dtype = DType.from_numpy(array.dtype)
    if dtype is None or dtype not in ELEMENT_CODES:
        raise BufferError(f"dlpack has no elements of the type {array.dtype}")
    if not array.flags.writeable:  # the protocol's capsules cannot say so
        array = array.copy()
    if not dtype.is_native:
        array = array.view(f"u{array.dtype.itemsize}")
    return _with_code(array.__dlpack__(), dtype)


def ort_array(array: DeviceArray) -> OrtArray:
    """An array on a device as ONNX Runtime has it; that of another library over the same memory."""
    if isinstance(array, OrtArray):
        return array
    foreign = cast(ForeignDeviceArray, array)
    if foreign.adopted is None:
        foreign.adopted = _adopted(foreign)
    return cast(OrtArray, foreign.adopted)


def _adopted(array: ForeignDeviceArray) -> OrtArray:
    take = _taker(array.device)
    is_bool = array.dtype == np.bool_
    if is_bool:  # ONNX Runtime takes these as bytes that are marked
        tensor_of(array.capsule).code = ELEMENT_CODES[DType.UINT8][0]
    try:
        return OrtArray(take(array.capsule, is_bool), array.device)
    except RuntimeError as error:
        raise DeviceError(
            f"a tensor of the type {_spelling(array)} on {array.device} cannot come in: {title()} takes none",
            help="copy it to the CPU first",
        ) from error


@functools.lru_cache(maxsize=64)
def _taker(device: str) -> Callable[[object, bool], OrtValue]:
    """ONNX Runtime's function that takes a capsule of a device, and whether its bytes are truth values."""
    check_there(read_device(device))
    make = getattr(onnxruntime_api.compiled().OrtValue, "from_dlpack", None)
    if make is None:
        raise DeviceError(f"a tensor of another library on {device} cannot come in", help=_TOO_OLD)
    return make


def _spelling(array: DeviceArray) -> str:
    dtype = DType.from_numpy(array.dtype)
    return str(array.dtype) if dtype is None else dtype.spelling


def moved(array: Array | DeviceArray, device: Device) -> OrtArray:
    """The array on a device; the same where it lies there."""
    given = ort_array(array) if isinstance(array, DeviceArray) else array
    if isinstance(given, OrtArray) and given.device == str(device):
        return given
    return copied(given, check_there(device))


def device_of(values: Iterable[Any]) -> str | None:
    """The device that a call runs on: that of its arrays, or None for arrays of numpy.

    Python numbers, shapes and other short vectors of whole numbers go where the others are. Raises DeviceError for
    other mixtures.
    """
    found: str | None = None
    on_host: list[Any] = []
    for value in values:
        if isinstance(value, DeviceArray):
            if found is not None and found != value.device:
                raise DeviceError(
                    f"a call has tensors on two devices, {found} and {value.device}",
                    help=f'move one of them: x.to_device("{found}")',
                )
            found = value.device
        elif isinstance(value, np.ndarray | list):
            on_host.append(value)
    if found is None or found == "cpu":
        return found
    for value in on_host:
        if not _goes_along(value):
            raise DeviceError(
                f"a call has a tensor on the device {found}, and an array on the CPU",
                help=f'move one of them: tensor(array).to_device("{found}"), or x.to_device("cpu")',
            )
    return found


def _goes_along(array: Array | list[Any]) -> bool:
    if isinstance(array, list):
        return False
    return array.ndim == 0 or (array.ndim == 1 and array.size <= _MOST_NUMBERS and array.dtype.kind in "iu")


def copied(given: Array | DeviceArray, device: Device) -> OrtArray:
    """A copy of an array on a device."""
    array = ort_array(given) if isinstance(given, DeviceArray) else given
    dtype = DType.from_numpy(array.dtype)
    assert dtype is not None, "tensors have element types of ONNX"
    source = array.device if isinstance(array, OrtArray) else "cpu"
    if source == "cpu" and device == CPU:
        return OrtArray(
            feeds.filled_value(array.numpy() if isinstance(array, OrtArray) else array, dtype), "cpu"
        )
    # The device that has the provider copies, whichever way the elements go.
    run = _copier(dtype, source if device == CPU else str(device), str(device))
    return run(array)


@functools.lru_cache(maxsize=64)
def _copier(dtype: DType, runs_on: str, to: str) -> Callable[[Array | OrtArray], OrtArray]:
    tensors = [helper.make_tensor_value_info(name, int(dtype), None) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "copy", tensors[:1], tensors[1:])
    version = 25 if dtype.bits < 8 or not dtype.is_native else 13
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10
    )
    settings = settings_on(read_device(runs_on))
    try:
        session = make_session(SessionModel(model), settings, threads=1)
    except Exception as error:  # ONNX Runtime's own classes: it has no kernel there
        raise DeviceError(
            f"a tensor of the type {dtype.spelling} cannot be copied to or from the device {runs_on}",
            help="cast it on the device where it is to a type of eight bits or more",
        ) from error
    make = feeds.value_converter(dtype)
    place, options = onnxruntime_api.device(*read_device(to)), onnxruntime_api.quiet_run_options()

    def copy(array: Array | OrtArray) -> OrtArray:
        binding = onnxruntime_api.new_binding(session)
        value = array.value if isinstance(array, OrtArray) else make(array)
        binding.bind_ortvalue_input("x", value)
        binding.bind_output("y", place)
        if runs_on != "cpu":
            binding.synchronize_inputs()
        session.run_with_iobinding(binding, options)
        return OrtArray(onnxruntime_api.results_of(binding)[0], to)

    return copy


# -- runs on them ---------------------------------------------------------------------------------------------


def bound_runner(
    session: Session, names: Sequence[str], types: Sequence[InputType], device: str, recover: feeds.Recover
) -> Run:
    """A function from arrays, on the device or numpy's, to arrays on the device; an empty name is a hole.

    Inputs and outputs are bound, and nothing goes through numpy. Each run has a binding of its own, so that threads do
    not meet in one, and results of every size are new values.
    """
    outputs = onnxruntime_api.output_types(session)
    for name, text in outputs:
        kind = parse_onnx_type(text)
        if not isinstance(kind, TensorType) or kind.dtype is DType.STRING:
            raise feeds.NoConversion(f"'{name}' is a {text}, which lies on the CPU alone")
    #: Those of the session, of which one may be named twice; it is bound once.
    declared = [name for name, _ in outputs]
    output_names = list(dict.fromkeys(declared))
    order = [output_names.index(name) for name in declared]
    taken = {meta.name for meta in session.inputs_meta}
    plan = [(name, k, feeds.value_converter(types[k])) for k, name in enumerate(names) if name in taken]
    place = onnxruntime_api.device(*read_device(device))
    options = onnxruntime_api.quiet_run_options()
    waits = device != "cpu"
    #: Of an output that is an input, ONNX Runtime gives the memory of the input itself.
    passed = [k for k, name in enumerate(output_names) if name in names]

    def run(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            binding = onnxruntime_api.new_binding(session)
            for name, k, make in plan:
                given: Any = inputs[k]
                value = ort_array(given).value if isinstance(given, DeviceArray) else make(given)
                binding.bind_ortvalue_input(name, value)
            for name in output_names:
                binding.bind_output(name, place)
            if waits:
                binding.synchronize_inputs()
            session.run_with_iobinding(binding, options)
            results = [OrtArray(each, device) for each in onnxruntime_api.results_of(binding)]
            for k in passed:
                results[k] = copied(results[k], read_device(device))
            return [cast(RunValue, results[k]) for k in order]
        except Exception as error:
            return recover(error, inputs)

    return run

"""Run a session on values that stay where they are: inputs and outputs are bound, and nothing goes through numpy.

Each run has a binding of its own, so that threads do not meet in one, and results of every size are new values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import onnx
from onnx import helper

from onnxsmith.graphs.run_values import Array, Run, RunValue
from onnxsmith.graphs.session_model import SessionModel
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.devices import CPU, Device, OrtArray, read_device, settings_on
from onnxsmith.runtime.feeds import NoConversion, Recover, element_type, filled_value, value_converter
from onnxsmith.runtime.onnxruntime_api import OrtValue, Session
from onnxsmith.runtime.single_node import InputType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType, parse_onnx_type


def bound_runner(
    session: Session, names: Sequence[str], types: Sequence[InputType], device: str, recover: Recover
) -> Run:
    """A function from arrays, on the device or numpy's, to arrays on the device; an empty name is a hole."""
    outputs = onnxruntime_api.output_types(session)
    for name, text in outputs:
        if not isinstance(parse_onnx_type(text), TensorType):
            raise NoConversion(f"'{name}' is a {text}, which lies on the CPU alone")
    output_names = [name for name, _ in outputs]
    taken = {meta.name for meta in session.inputs_meta}
    plan = [(name, k, value_maker(types[k])) for k, name in enumerate(names) if name in taken]
    place = onnxruntime_api.device(*read_device(device))
    options = onnxruntime_api.quiet_run_options()
    waits = device != "cpu"

    def run(inputs: Sequence[RunValue]) -> list[RunValue]:
        try:
            binding = onnxruntime_api.new_binding(session)
            for name, k, make in plan:
                given: Any = inputs[k]
                binding.bind_ortvalue_input(name, given.value if isinstance(given, OrtArray) else make(given))
            for name in output_names:
                binding.bind_output(name, place)
            if waits:
                binding.synchronize_inputs()
            session.run_with_iobinding(binding, options)
            return [cast(RunValue, OrtArray(each, device)) for each in binding.get_outputs()]
        except Exception as error:
            return recover(error, inputs)

    return run


def value_maker(value_type: InputType | AnyValueType) -> Callable[[Any], OrtValue]:
    """What makes a value of ONNX Runtime's of an array of numpy."""
    if element_type(value_type) is None:
        raise NoConversion("sequences, maps and optionals lie on the CPU alone")
    return value_converter(value_type)


def copied(array: Array | OrtArray, device: Device) -> OrtArray:
    """A copy of an array on a device."""
    dtype = DType.from_numpy(array.dtype)
    assert dtype is not None, "tensors have element types of ONNX"
    source = array.device if isinstance(array, OrtArray) else "cpu"
    if source == "cpu" and device == CPU:
        return OrtArray(filled_value(array.numpy() if isinstance(array, OrtArray) else array, dtype), "cpu")
    # The device that has the provider copies, whichever way the elements go.
    run = _copier(dtype, source if device == CPU else str(device), str(device))
    return run(array)


@functools.lru_cache(maxsize=64)
def _copier(dtype: DType, runs_on: str, to: str) -> Callable[[Array | OrtArray], OrtArray]:
    from onnxsmith.runtime.opening import make_session  # what opens sessions needs the devices

    tensors = [helper.make_tensor_value_info(name, int(dtype), None) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "copy", tensors[:1], tensors[1:])
    version = 25 if dtype.bits < 8 or not dtype.is_native else 13
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
    settings = settings_on(read_device(runs_on))
    session = make_session(SessionModel(cast(onnx.ModelProto, model)), settings, threads=1, optimize=False)
    make = value_maker(dtype)
    place, options = onnxruntime_api.device(*read_device(to)), onnxruntime_api.quiet_run_options()

    def copy(array: Array | OrtArray) -> OrtArray:
        binding = onnxruntime_api.new_binding(session)
        value = array.value if isinstance(array, OrtArray) else make(array)
        binding.bind_ortvalue_input("x", value)
        binding.bind_output("y", place)
        if runs_on != "cpu":
            binding.synchronize_inputs()
        session.run_with_iobinding(binding, options)
        return OrtArray(binding.get_outputs()[0], to)

    return copy

"""Run a session on values that stay where they are: inputs and outputs are bound, and nothing goes through numpy.

Each run has a binding of its own, so that threads do not meet in one, and results of every size are new values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.device_arrays import OrtArray, ort_array
from onnxsmith.runtime.devices import read_device
from onnxsmith.runtime.feeds import NoConversion, Recover, value_converter
from onnxsmith.runtime.onnxruntime_api import Session
from onnxsmith.runtime.single_node import InputType
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.types.value_types import TensorType, parse_onnx_type


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
    plan = [(name, k, value_converter(types[k])) for k, name in enumerate(names) if name in taken]
    place = onnxruntime_api.device(*read_device(device))
    options = onnxruntime_api.quiet_run_options()
    waits = device != "cpu"

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
            return [cast(RunValue, OrtArray(each, device)) for each in binding.get_outputs()]
        except Exception as error:
            return recover(error, inputs)

    return run

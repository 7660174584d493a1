"""How operators run eagerly, and what can go wrong."""

import numpy as np

import onnxsmith
from onnxsmith import runtime, errors
from onnxsmith import opset21 as op

x = np.ones((2, 2), dtype=np.float32)

with onnxsmith.runtime.using(providers=["CPUExecutionProvider"]):
    print(op.Relu(x))
with runtime.using(
    device="cpu", session_options={"execution_mode": "parallel"}, allow_tf32=False, kernels=True
):
    print(op.Relu(x))
with (
    runtime.using(providers=["azure", ("cpu", {"use_arena": True})]),
    runtime.using(providers="cpu") as chosen,
):
    print(chosen.device)


@runtime.kernel("my.domain::Twice")
def twice(x: np.ndarray) -> np.ndarray:
    return x * 2


print(twice(x))
with runtime.using(runtime="reference", intra_op_threads=1) as settings:
    print(settings.runtime, op.Relu(x))

try:
    op.MatMul(x, np.ones((3, 3), np.float32))
except (errors.ShapeError, onnxsmith.errors.MixedDTypesError) as error:
    print(error.code)
except errors.OnnxsmithError as error:
    print(error.message, error.help)

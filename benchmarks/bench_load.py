"""What it costs to load and run a large model once, beside a bare session on the same file."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple, cast

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "load"
DESCRIPTION = "loading a model and running it once (--set gigabytes=1, --set nodes=10000, --set rounds=3)"

# Matrices of 4 MB with chains of small operators between them; written without any of ours.
_WRITE = """
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper
path, gigabytes, nodes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
count = max(1, round(gigabytes * 256))
layers = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1024])
made, initializers, last = [], [], "x"
matrix = np.full((1024, 1024), 1 / 1024, np.float32)
with open(path + ".data", "wb") as file:
    for k in range(count):
        tensor = TensorProto(name=f"w{k}", data_type=TensorProto.FLOAT, dims=[1024, 1024])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "model.onnx.data"), ("offset", file.tell()), ("length", matrix.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        file.write(matrix)
        initializers.append(tensor)
        made.append(helper.make_node("MatMul", [last, f"w{k}"], [f"m{k}"]))
        last = f"m{k}"
        for j in range((nodes - count) // count):
            made.append(helper.make_node("Abs" if j % 2 else "Relu", [last], [f"e{k}_{j}"]))
            last = f"e{k}_{j}"
out = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", 1024])
graph = helper.make_graph(made, "g", [layers], [out], initializers)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
"""

# The runtime is imported before the clock starts, and so is all of ours that a first call imports.
_BARE = """
import sys, time
import numpy as np
import onnxruntime
x = np.ones((1, 1024), np.float32)
start = time.perf_counter()
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
session.run(None, {"x": x})
"""
_OURS = """
import sys, time
import numpy as np
import onnxruntime
import onnxsmith
from onnxsmith import FLOAT, trace
x = np.ones((1, 1024), np.float32)
trace(lambda x: x + x, FLOAT["N", 1024])(x)
start = time.perf_counter()
model = onnxsmith.load(sys.argv[1])
model(x)
"""
_COST = """
seconds = time.perf_counter() - start
def memory(kind):
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith(kind)), 0)
result = [seconds, memory("RssAnon:")]
"""


class _Cost(NamedTuple):
    seconds: float
    own_bytes: float
    peak_bytes: float


def run(context: Context) -> list[Row]:
    """Time, memory of the process's own when it ran, and the peak with mapped files, each beside a bare session."""
    gigabytes, nodes = context.number("gigabytes", 1), context.number("nodes", 10_000)
    rounds = int(context.number("rounds", 3))
    with tempfile.TemporaryDirectory(prefix="onnxsmith-bench-") as folder:
        path = Path(folder) / "model.onnx"
        fresh_process.run(_WRITE, str(path), str(gigabytes), str(int(nodes)))
        ours, bare = _cost(_OURS, path, rounds), _cost(_BARE, path, rounds)
    name = f"{nodes:,.0f} nodes, {gigabytes:g} GB"
    gigabyte = 2**30
    weights = gigabytes * gigabyte
    return [
        Row(f"{name}: load and run", ours.seconds, "s", "bare session", bare.seconds),
        Row(
            f"{name}: memory that is no file's",
            ours.own_bytes / gigabyte,
            "GB",
            "bare session",
            bare.own_bytes / gigabyte,
        ),
        Row(
            f"{name}: peak, files included",
            ours.peak_bytes / gigabyte,
            "GB",
            "bare session",
            bare.peak_bytes / gigabyte,
        ),
        Row(
            f"{name}: copies of the weights",
            max(0.0, ours.own_bytes - bare.own_bytes) / weights,
            "",
            bar=at_most(0.2),
        ),
    ]


def _cost(snippet: str, path: Path, rounds: int) -> _Cost:
    seconds: list[float] = []
    own = peak = 0.0
    for _ in range(rounds):
        cost = fresh_process.run(snippet + _COST, str(path))
        took, own = cast("list[float]", cost.result)
        seconds.append(took)
        peak = cost.peak_bytes
    return _Cost(statistics.median(seconds), own, peak)

"""How much memory of its own a process takes that optimises a large model and saves it. Weights stay in their file.

The model has products with weights as they are, with weights that are turned first, convolutions with batch
normalisation behind them, and activations that a later opset has an operator for. `--set megabytes=500` makes it
smaller.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "optimize_memory"
DESCRIPTION = "memory of its own (RssAnon, at its peak) that optimising and saving a model of 3 GB takes"

_SIDE = 2048
_WEIGHT_BYTES = 4 * _SIDE * _SIDE

_MODEL = f"""
import sys
from pathlib import Path
import numpy as np
import onnx
from onnx import TensorProto, helper

folder, count = Path(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
nodes, weights, current = [], [], "x"
with open(folder / "model.onnx.data", "wb") as data:
    def weight(name, array):
        tensor = TensorProto(name=name, dims=array.shape, data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        place = -(-data.tell() // 4096) * 4096
        for key, value in (("location", "model.onnx.data"), ("offset", place), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        data.seek(place)
        data.write(array.tobytes())
        weights.append(tensor)
        return name
    def node(operator, inputs, **attributes):
        name = f"v{{len(nodes)}}"
        nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name
    def number(value):
        name = f"n{{len(weights)}}"
        weights.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name
    for layer in range(count):
        matrix = rng.standard_normal(({_SIDE}, {_SIDE}), dtype=np.float32) / {_SIDE}
        row = np.zeros({_SIDE}, np.float32)
        match layer % 4:
            case 0:
                current = node("MatMul", [current, weight(f"w{{layer}}", matrix)])
            case 1:
                turned = node("Transpose", [weight(f"w{{layer}}", matrix)], perm=[1, 0])
                current = node("Add", [node("MatMul", [current, turned]), weight(f"b{{layer}}", row)])
            case 2:
                error = node("Erf", [node("Div", [current, number(2**0.5)])])
                half = node("Mul", [current, number(0.5)])
                current = node("Mul", [half, node("Add", [error, number(1.0)])])
                inputs = [current, weight(f"w{{layer}}", matrix), weight(f"b{{layer}}", row)]
                current = node("Gemm", inputs, transB=1)
            case _:
                kernel = weight(f"w{{layer}}", matrix.reshape({_SIDE}, {_SIDE}, 1, 1))
                image = node("Reshape", [current, "image"])
                image = node("Conv", [image, kernel])
                ends = [weight(f"{{each}}{{layer}}", row + 1) for each in ("scale", "shift", "mean", "variance")]
                current = node("Reshape", [node("BatchNormalization", [image, *ends]), "flat"])
weights.append(helper.make_tensor("image", TensorProto.INT64, [4], [0, {_SIDE}, 1, 1]))
weights.append(helper.make_tensor("flat", TensorProto.INT64, [2], [0, {_SIDE}]))
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", {_SIDE}]) for name in ("x", current)]
graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
(folder / "model.onnx").write_bytes(model.SerializeToString())
"""

_OPTIMIZE = """
import sys
import threading
from pathlib import Path
import onnxsmith

folder, peak, is_done = Path(sys.argv[1]), 0, threading.Event()

def watch():
    global peak
    while not is_done.wait(0.002):
        with open("/proc/self/status") as status:
            peak = max(peak, *(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:")))

watcher = threading.Thread(target=watch)
watcher.start()
small = onnxsmith.optimize(onnxsmith.load(folder / "model.onnx"))
small.save(folder / "small.onnx", external_data=True)
is_done.set()
watcher.join()
result = [peak, small.report.nodes_before, small.report.nodes_after]
"""


def run(context: Context) -> list[Row]:
    """One row: megabytes of memory at the peak."""
    count = max(4, round(context.number("megabytes", 3000) * 1e6 / _WEIGHT_BYTES))
    folder = Path(tempfile.mkdtemp(prefix="onnxsmith-bench-"))
    try:
        fresh_process.run(_MODEL, str(folder), str(count))
        cost = fresh_process.run(_OPTIMIZE, str(folder))
        written = sum(path.stat().st_size for path in folder.glob("small*"))
        if written < count * _WEIGHT_BYTES:
            raise RuntimeError(f"only {written:,} bytes were written; the weights are missing")
    finally:
        shutil.rmtree(folder)
    peak, before, after = cost.result
    name = f"{count * _WEIGHT_BYTES / 1e6:,.0f} MB, {before} nodes, {after} left"
    return [Row(name, peak / 1e6, "MB", bar=at_most(300.0), note=f"{cost.cpu_seconds:.1f} s of CPU time")]

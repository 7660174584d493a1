"""How much memory it takes to build and save a model with gigabytes of weights, above the weights themselves."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Figure, Row, ratio_at_most

NAME = "weights"
DESCRIPTION = (
    "peak memory of building and saving a model, over its weights (--set gigabytes=4, --set peer_gigabytes=1)"
)

_GIGABYTE = 2**30

#: Where the weights go; "by itself" leaves it to the library.
Layout = Literal["by itself", "one file", "beside"]

# The weights: square float32 matrices of 64 MB, each element written so that the memory is really there.
_WEIGHTS = """
import sys
import numpy as np
target, count, layout = sys.argv[1], int(sys.argv[2]), sys.argv[3]
weights = [np.full((4096, 4096), 0.5, dtype=np.float32) for _ in range(count)]
"""
_MATRIX_BYTES = 4096 * 4096 * 4

_ONNXSMITH = """
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
def chain(x):
    for w in weights:
        x = op.MatMul(x, w)
    return x
external_data = {"by itself": None, "one file": False, "beside": True}[layout]
trace(chain, FLOAT["N", 4096]).save(target, external_data=external_data)
"""

_ONNX_IR = """
import onnx_ir as ir
kind, shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["N", 4096])
x = x_in = ir.Value(name="x", type=kind, shape=shape)
nodes, initializers = [], []
for i, w in enumerate(weights):
    tensor = ir.Tensor(w, name=f"w{i}")
    value = ir.Value(name=f"w{i}", type=kind, shape=ir.Shape(w.shape), const_value=tensor)
    initializers.append(value)
    nodes.append(ir.Node("", "MatMul", [x, value]))
    x = nodes[-1].outputs[0]
x.type, x.shape = kind, shape
graph = ir.Graph([x_in], [x], nodes=nodes, initializers=initializers, opset_imports={"": 21}, name="chain")
ir.save(ir.Model(graph, ir_version=10), target, external_data=None if layout == "one file" else "weights.data")
"""

_ONNXSCRIPT = """
import linecache
import onnx
from onnxscript import FLOAT, script
from onnxscript import opset21 as op
from onnx import numpy_helper
names = [f"w{i}" for i in range(count)]
globals().update({name: numpy_helper.from_array(w, name) for name, w in zip(names, weights)})
lines = ["def chain(x):", *(f"    x = op.MatMul(x, op.Constant(value={name}))" for name in names), "    return x"]
source = "\\n".join(lines) + "\\n"
# The script decorator reads the source of the function, so there has to be one.
linecache.cache["<chain>"] = (len(source), None, source.splitlines(keepends=True), "<chain>")
exec(compile(source, "<chain>", "exec"))
model = script(default_opset=op)(chain).to_model_proto(input_types=[FLOAT["N", 4096]])
onnx.save(model, target, save_as_external_data=True, location="weights.data", convert_attribute=True)
"""

_SPOX = """
import onnx
import spox
import spox.opset.ai.onnx.v21 as op
from spox._future import initializer
x = x_in = spox.argument(spox.Tensor(np.float32, ("N", 4096)))
for w in weights:
    x = op.matmul(x, initializer(w))
onnx.save(spox.build({"x": x_in}, {"y": x}), target, save_as_external_data=True, location="weights.data")
"""


def run(context: Context) -> list[Row]:
    """The peak as a multiple of the weights' own size: all of it, then beside each peer at a size that it can do."""
    full = context.number("gigabytes", 4)
    smaller = min(full, context.number("peer_gigabytes", 1))
    ours = _peak(_ONNXSMITH, full, "by itself")
    by_hand = _figure(lambda: _peak(_ONNX_IR, full, "beside"))
    name = f"{full:g} GB"
    rows = [
        Row(name, ours, "×", "the weights alone", 1.0, ratio_at_most(1.05)),
        Row(name, ours, "×", "onnx-ir by hand", by_hand),
    ]
    ours = _peak(_ONNXSMITH, smaller, "one file")
    by_hand = _figure(lambda: _peak(_ONNX_IR, smaller, "one file"))
    rows.append(Row(f"{smaller:g} GB in one file", ours, "×", "onnx-ir by hand", by_hand))
    ours = _peak(_ONNXSMITH, smaller, "beside")
    for peer, snippet, note in (
        ("onnxscript", _ONNXSCRIPT, "script with constants from its closure"),
        ("spox", _SPOX, "initializers"),
    ):
        theirs = context.ask(peer, lambda snippet=snippet: _peak(snippet, smaller, "beside"))
        rows.append(Row(f"{smaller:g} GB in a file beside", ours, "×", peer, theirs, note=note))
    return rows


def _figure(measure: Callable[[], float]) -> Figure:
    try:
        return measure()
    except RuntimeError as problem:
        return str(problem).splitlines()[-1][:60]


def _peak(snippet: str, gigabytes: float, layout: Layout) -> float:
    """The peak memory of the whole process over the size of its weights."""
    count = max(1, round(gigabytes * _GIGABYTE / _MATRIX_BYTES))
    folder = Path(tempfile.mkdtemp(prefix="onnxsmith-bench-"))
    try:
        cost = fresh_process.run(_WEIGHTS + snippet, str(folder / "model.onnx"), str(count), layout)
        written = sum(path.stat().st_size for path in folder.iterdir())
        if written < count * _MATRIX_BYTES:
            raise RuntimeError(f"only {written:,} bytes were written; the weights are missing")
        return cost.peak_bytes / (count * _MATRIX_BYTES)
    finally:
        shutil.rmtree(folder)

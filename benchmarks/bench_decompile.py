"""A large model to Python and back: time beside loading and saving it with onnx-ir, memory above the weights, text."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from benchmarks import fresh_process
from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, at_most, ratio_at_most

NAME = "decompile"
DESCRIPTION = (
    "a model as a Python module, and back (--set nodes=10000, --set gigabytes=1, --set rounds=3, "
    "--set small_nodes=500)"
)

_NODES_PER_LAYER = 10

# A stack of layers with names as PyTorch's exporter gives them: matrices, norms, small constants, shapes.
_MAKE = """
import sys
import numpy as np
import onnx_ir as ir

target, layers, width, layout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
generator = np.random.default_rng(0)
initializers, nodes = [], []

def weight(name, array):
    tensor = ir.Tensor(array, name=name)
    shape = ir.Shape(array.shape)
    value = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=shape, const_value=tensor)
    initializers.append(value)
    return value

def node(scope, op_type, inputs, **attributes):
    attributes = [ir.AttrInt64s(k, v) if isinstance(v, list) else ir.AttrInt64(k, v) for k, v in attributes.items()]
    made = ir.Node("", op_type, inputs, attributes, name=f"{scope}/{op_type}")
    made.outputs[0].name = f"{scope}/{op_type}_output_0"
    nodes.append(made)
    return made.outputs[0]

def layer(k, x):
    scope, named = f"/layers.{k}", f"layers.{k}"
    scale, bias = (weight(f"{named}.norm.{each}", generator.random(width, np.float32)) for each in ("weight", "bias"))
    y = node(f"{scope}/norm", "LayerNormalization", [x, scale, bias], axis=-1)
    matrix = np.full((width, width), 0.01, np.float32)
    matrix[0] = generator.random(width, np.float32)
    y = node(f"{scope}/up", "MatMul", [y, weight(f"{named}.up.weight", matrix)])
    y = node(f"{scope}/up", "Add", [y, weight(f"{named}.up.bias", generator.random(width, np.float32))])
    y = node(f"{scope}/act", "Sigmoid", [y])
    y = node(f"{scope}/act", "Mul", [y, x])
    y = node(f"{scope}/split", "Reshape", [y, weight(f"{named}.shape", np.array([0, 2, -1], np.int64))])
    y = node(f"{scope}/split", "Transpose", [y], perm=[0, 2, 1])
    y = node(f"{scope}/split", "Mul", [y, weight(f"{named}.scale", np.array(0.5, np.float32))])
    y = node(f"{scope}/join", "Reshape", [y, weight(f"{named}.back", np.array([0, width], np.int64))])
    return node(scope, "Add", [x, y])

kind = ir.TensorType(ir.DataType.FLOAT)
first = x = ir.Value(name="x", type=kind, shape=ir.Shape(["batch", width]))
for k in range(layers):
    x = layer(k, x)
x.name, x.type, x.shape = "y", kind, ir.Shape(["batch", width])
graph = ir.Graph([first], [x], nodes=nodes, initializers=initializers, opset_imports={"": 20}, name="main_graph")
model = ir.Model(graph, ir_version=9, producer_name="pytorch")
ir.save(model, target, external_data="model.onnx.data" if layout == "beside" else None)
"""

# Time of the work alone, and memory of the process's own at its peak: pages of a mapped file are no copy of it. Another
# process watches, because a thread would have to wait just where memory is taken, inside one long call.
_MEASURE = """
import os, subprocess, sys, time
from pathlib import Path

WATCH = '''
import sys, time
peak = 0
try:
    while True:
        with open("/proc/" + sys.argv[1] + "/status") as status:
            now = max(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))
        if now > peak:
            peak = now
            print(peak, flush=True)
        time.sleep(0.02)
except (OSError, ValueError, KeyboardInterrupt):
    pass
'''

def measured(work):
    watcher = subprocess.Popen([sys.executable, "-c", WATCH, str(os.getpid())], stdout=subprocess.PIPE, text=True)
    before = int(watcher.stdout.readline() or 0)
    cpu, clock = time.process_time(), time.perf_counter()
    kept = work()
    figures = {"cpu": time.process_time() - cpu, "clock": time.perf_counter() - clock}
    time.sleep(0.05)
    watcher.terminate()
    peak = max([before, *map(int, watcher.communicate()[0].split())])
    return {**figures, "memory": peak - before}, kept

source, target, layout = sys.argv[1:4]
"""

_ONNX_IR = """
import onnx_ir as ir
external = "model.onnx.data" if layout == "beside" else None
Path(target).mkdir()
result, _ = measured(lambda: ir.save(ir.load(source), f"{target}/model.onnx", external_data=external))
"""

_DECOMPILE = """
import onnxsmith
onnxsmith.decompile_to  # imported now, not while it is timed
result, module = measured(lambda: onnxsmith.decompile_to(source, target))
result["text"] = module.stat().st_size
"""

_IMPORT = """
import importlib.util
import onnxsmith
onnxsmith.rebuild, onnxsmith.script, onnxsmith.Weights, onnxsmith.opset20.Relu
spec = importlib.util.spec_from_file_location("decompiled", next(Path(source).glob("*.py")))
module = importlib.util.module_from_spec(spec)
sys.modules["decompiled"] = module
result, _ = measured(lambda: spec.loader.exec_module(module))
result["nodes"] = len(module.model.ir.graph)
"""


def run(context: Context) -> list[Row]:
    """The large model in both layouts; then a small one beside onnxscript's converter, which writes all as text."""
    layers = max(1, round(context.number("nodes", 10_000) / _NODES_PER_LAYER))
    gigabytes = context.number("gigabytes", 1)
    width = max(8, round((gigabytes * 2**30 / 4 / layers) ** 0.5 / 8) * 8)
    rounds = int(context.number("rounds", 3))
    rows: list[Row] = []
    for layout, words in (("beside", "weights beside"), ("one file", "one file")):
        name = f"{layers * _NODES_PER_LAYER:,} nodes, {gigabytes:g} GB, {words}"
        with tempfile.TemporaryDirectory(prefix="onnxsmith-bench-") as folder:
            rows += _large(name, Path(folder), layers, width, layout, rounds)
    return rows + _small(context)


def _large(name: str, folder: Path, layers: int, width: int, layout: str, rounds: int) -> list[Row]:
    source = folder / "model.onnx"
    fresh_process.run(_MAKE, str(source), str(layers), str(width), layout)
    weights = layers * width * width * 4
    snippets = {"theirs": _ONNX_IR, "ours": _DECOMPILE}
    found: dict[str, list[dict[str, float]]] = {"theirs": [], "ours": [], "back": []}
    for number in range(rounds):
        for who, snippet in snippets.items():
            target = folder / f"{who}{number}"
            found[who].append(_figures(snippet, source, target, layout))
        decompiled = folder / f"ours{number}"
        found["back"].append(_figures(_IMPORT, decompiled, decompiled, layout))
        for target in folder.glob(f"*{number}"):
            for each in target.iterdir():
                each.unlink()
    if any(each["nodes"] != layers * _NODES_PER_LAYER for each in found["back"]):
        raise RuntimeError("the model that came back is another one")

    def figure(who: str, what: str) -> float:
        return float(statistics.median(each[what] for each in found[who]))

    # A file that holds its own weights is read whole, by onnx-ir as well; what counts is what comes on top.
    allowed = 0.25 if layout == "beside" else 1.25
    rows = [
        Row(
            f"decompile_to: {name}",
            figure("ours", "cpu"),
            "s",
            "onnx-ir, load and save",
            figure("theirs", "cpu"),
            ratio_at_most(2),
            f"by the clock {figure('ours', 'clock'):.1f} s and {figure('theirs', 'clock'):.1f} s",
        )
    ]
    if figure("ours", "memory"):
        rows += [
            Row(
                "memory of its own, over the weights",
                figure("ours", "memory") / weights,
                "×",
                "onnx-ir, load and save",
                figure("theirs", "memory") / weights,
                at_most(allowed),
            ),
            Row("the same, importing the module", figure("back", "memory") / weights, "×", bar=at_most(0.25)),
        ]
    rows += [
        Row("import of the module", figure("back", "cpu"), "s"),
        Row("text", figure("ours", "text") / 1e6, "MB"),
    ]
    return rows


def _figures(snippet: str, source: Path, target: Path, layout: str) -> dict[str, float]:
    cost = fresh_process.run(_MEASURE + snippet, str(source), str(target), layout)
    return cast("dict[str, float]", cost.result)


def _small(context: Context) -> list[Row]:
    """A small model as text alone."""
    import onnx  # the runner imports every benchmark to name it

    import onnxsmith

    layers = max(1, round(context.number("small_nodes", 500) / _NODES_PER_LAYER))
    with tempfile.TemporaryDirectory(prefix="onnxsmith-bench-") as folder:
        source = Path(folder) / "small.onnx"
        fresh_process.run(_MAKE, str(source), str(layers), "32", "one file")
        proto = onnx.load(source)
    texts: dict[str, str] = {}

    def ours() -> str:
        texts["ours"] = onnxsmith.decompile(proto)
        return texts["ours"]

    def prepare() -> Callable[[], str]:
        import onnxscript  # a peer: it may be missing

        def theirs() -> str:
            texts["theirs"] = cast(Any, onnxscript).proto2python(proto, use_operators=True, inline_const=True)
            return texts["theirs"]

        return theirs

    name = f"decompile: {layers * _NODES_PER_LAYER:,} nodes, weights in the text"
    peer = Peer("onnxscript", prepare, "onnxscript", note="proto2python")
    rows = contest(context, name, ours, [peer], unit="ms", per_second=1e3)
    theirs = len(texts["theirs"]) / 1e3 if "theirs" in texts else rows[0].theirs
    rows.append(Row("text", len(texts["ours"]) / 1e3, "kB", "onnxscript", theirs))
    return rows

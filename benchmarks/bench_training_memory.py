"""How much memory a step of training takes at its peak above data and weights, beside torch eager's; one thread."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import cast

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most

NAME = "training_memory"
DESCRIPTION = (
    "peak memory of a step of SGD above data and weights, in a session and in torch; one thread, Linux"
)

_NETWORKS = ("conv net", "transformer", "8 × Linear(1024)")

_PEAK = """
def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

def above(make, calls=4):
    "The peak of some steps above what there is before anything of them is made: data, and weights once."
    import gc
    gc.collect()
    before = status("VmRSS:")
    step = make()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak is from now on
    for _ in range(calls):
        step()
    return status("VmHWM:") - before
"""

_NETWORK = """
import sys, torch
torch.set_num_threads(1)
from torch import nn
sys.path.insert(0, sys.argv[3])
from benchmarks.bench_training_layers import step_of, torch_step
from benchmarks.networks import Sizes, Tagger

def network(name):
    if name == "conv net":
        layers = [nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 10)]
        return nn.Sequential(*layers), torch.randn(256, 1, 28, 28)
    if name == "transformer":
        return Tagger(Sizes(4, 256, 4, 1024, 128, vocabulary=1000), 10), torch.randint(0, 1000, (16, 128))
    layers = [each for _ in range(8) for each in (nn.Linear(1024, 1024), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(1024, 10)), torch.randn(256, 1024)

torch.manual_seed(0)
module, x = network(sys.argv[1])
module.train()
target = torch.randint(0, 10, x.shape[:1])
small = nn.Sequential(nn.Linear(4, 10)).train(), torch.randn(8, 4), torch.randint(0, 10, (8,))
"""

_TORCH = """
torch_step(*small)()  # what the library loads for itself is no memory of the step
result = above(lambda: torch_step(module, x, target))
"""

_EXPORT = """
import pickle
steps = []
for one, data, labels in (small, (module, x, target)):
    step, state = step_of(one, data)
    step.save(f"{sys.argv[2]}/step{len(steps)}.onnx")
    steps.append((state, data.numpy(), labels.numpy()))
with open(f"{sys.argv[2]}/state", "wb") as file:
    pickle.dump(steps, file)
"""

_OURS = """
import pickle, sys
from onnxsmith import load
from onnxsmith.runtime import using

with open(f"{sys.argv[2]}/state", "rb") as file:
    states = pickle.load(file)

def opened(number):
    state, *batch = states[number]
    with using(intra_op_threads=1):
        session = load(f"{sys.argv[2]}/step{number}.onnx").session(state=state)
    states[number] = None  # the session has copies
    return lambda: session(*batch)

opened(0)()
result = above(lambda: opened(1))
"""


def run(context: Context) -> list[Row]:
    """A row for each network."""
    if not context.has("torch") or not Path("/proc/self/clear_refs").exists():
        return []
    return [_row(name) for name in _NETWORKS]


def _row(name: str) -> Row:
    folder = Path(tempfile.mkdtemp(prefix="onnxsmith-bench-"))
    root = str(Path(__file__).resolve().parent.parent)
    try:
        arguments = name, str(folder), root
        theirs = fresh_process.run(_PEAK + _NETWORK + _TORCH, *arguments).result
        fresh_process.run(_NETWORK + _EXPORT, *arguments)
        ours = fresh_process.run(_PEAK + _OURS, *arguments).result
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    megabytes = [cast(float, each) / 1e6 for each in (ours, theirs)]
    return Row(name, megabytes[0], "MB", "torch", megabytes[1], ratio_at_most(1.2))

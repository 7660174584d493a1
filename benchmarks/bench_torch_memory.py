"""How much memory exporting and saving a PyTorch module takes on top of its weights, beside torch's own exporter.

`--set megabytes=2048` changes the size of the weights.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "torch_memory"
DESCRIPTION = (
    "peak memory of exporting and saving a module, beyond torch.export alone; multiples of its weights"
)

_SIDE = 2048
_LAYER_BYTES = 4 * _SIDE * _SIDE

_MODULE = f"""
import sys
import torch
torch.set_num_threads(1)
target, count = sys.argv[1], int(sys.argv[2])
with torch.no_grad():
    module = torch.nn.Sequential(*(torch.nn.Linear({_SIDE}, {_SIDE}, bias=False) for _ in range(count))).eval()
example = (torch.randn(1, {_SIDE}),)
# A small export first: what the exporters load for themselves is no memory of the model.
small = torch.nn.Linear(2, 2).eval()
"""

_TRACE = """
torch.export.export(small, (torch.randn(1, 2),))
program = torch.export.export(module, example)
"""

_OURS = """
import onnxsmith.torch
onnxsmith.torch.export(small, (torch.randn(1, 2),)).save(target)
onnxsmith.torch.export(module, example).save(target, external_data=True)
"""

_THEIRS = """
torch.onnx.export(small, (torch.randn(1, 2),), target, dynamo=True, verbose=False)
torch.onnx.export(module, example, target, dynamo=True, verbose=False, external_data=True)
"""


def run(context: Context) -> list[Row]:
    """One row: the memory beyond what torch.export alone takes, as a multiple of the weights."""
    count = max(1, round(context.number("megabytes", 512) * 1e6 / _LAYER_BYTES))
    base = _peak(_TRACE, count, is_saved=False)

    def extra(snippet: str) -> float:
        return (_peak(snippet, count, is_saved=True) - base) / (count * _LAYER_BYTES)

    theirs = context.ask("onnxscript", lambda: extra(_THEIRS))
    # What the exporters' own code takes is in it, so a part of the weights is allowed.
    return [
        Row(
            f"{count * _LAYER_BYTES / 1e6:.0f} MB",
            extra(_OURS),
            "×",
            "torch.onnx.export",
            theirs,
            at_most(0.3),
        )
    ]


def _peak(snippet: str, count: int, *, is_saved: bool) -> int:
    folder = Path(tempfile.mkdtemp(prefix="onnxsmith-bench-"))
    try:
        cost = fresh_process.run(_MODULE + snippet, str(folder / "model.onnx"), str(count))
        written = sum(path.stat().st_size for path in folder.iterdir())
        if is_saved and written < count * _LAYER_BYTES:
            raise RuntimeError(f"only {written:,} bytes were written; the weights are missing")
        return cost.peak_bytes
    finally:
        shutil.rmtree(folder)

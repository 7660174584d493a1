"""What `import onnxsmith` costs above importing numpy, each time in a fresh interpreter."""

from __future__ import annotations

import statistics

from benchmarks import fresh_process
from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "import"
DESCRIPTION = "CPU time of importing the package, above that of importing numpy"

_ROUNDS = 11
_BUDGET_MS = 40
# numpy is imported first everywhere, so that it is in both sides of the difference.
_NUMPY = "import numpy"
_OURS = {
    "import onnxsmith": f"{_NUMPY}; import onnxsmith",
    "from onnxsmith import opset21": f"{_NUMPY}; from onnxsmith import opset21",
}
_PEERS = {
    "onnxscript": f"{_NUMPY}; from onnxscript import opset21",
    "spox": f"{_NUMPY}; import spox.opset.ai.onnx.v21",
    "ndonnx": f"{_NUMPY}; import ndonnx",
}


def run(context: Context) -> list[Row]:
    """One row for each import of ours and each peer."""
    peers = {name: snippet for name, snippet in _PEERS.items() if context.has(name)}
    above = _above_numpy([*_OURS.values(), *peers.values()])
    return [
        Row(
            what,
            above[snippet],
            "ms",
            peer,
            context.ask(peer, lambda peer=peer: above[peers[peer]]),
            at_most(_BUDGET_MS) if peer == "onnxscript" else None,
        )
        for what, snippet in _OURS.items()
        for peer in _PEERS
    ]


def _above_numpy(snippets: list[str]) -> dict[str, float]:
    """Median CPU milliseconds of each snippet above numpy's; the rounds go through all snippets in turn."""
    times: dict[str, list[float]] = {snippet: [] for snippet in [_NUMPY, *snippets]}
    for snippet in times:
        fresh_process.run(snippet)  # not counted: writes the bytecode caches
    for _ in range(_ROUNDS):
        for snippet, found in times.items():
            found.append(fresh_process.run(snippet).cpu_seconds * 1e3)
    numpy = statistics.median(times[_NUMPY])
    return {snippet: statistics.median(times[snippet]) - numpy for snippet in snippets}

"""What each fusion gives on ONNX Runtime's CPU, and what those would give that are not made.

One thread, CPU time, in turns, the least of many rounds, with the runtime's own optimiser off and on.
`--set table=docs/explanation/fusions.md` writes the page of the documentation anew.
"""

from __future__ import annotations

import importlib.metadata
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Context
from benchmarks.fusion_cases import OTHERS, OURS, Case
from benchmarks.rows import Row, ratio_at_most

NAME = "fusions"
DESCRIPTION = "nodes that are fused beside the nodes as they were, on ONNX Runtime's CPU (--set table=FILE)"

#: A fusion of ours may be so much slower before its bar is missed: the noise of the machine.
_ALLOWED = 1.05
_ROUNDS = 30


def run(context: Context) -> list[Row]:
    """A row for each fusion, with the runtime's optimiser off and on: ours is what is fused."""
    rows: list[Row] = []
    table: dict[str, list[str]] = {"ours": [], "on request": [], "not made": []}
    for case in (*OURS, *OTHERS):
        kind = "ours" if case.after is None else "not made" if case.reason else "on request"
        gains: list[str] = []
        for is_on in (False, True):
            before, after = _seconds(case, is_on)
            bar = ratio_at_most(_ALLOWED) if kind != "not made" else None
            name = f"{case.name}, optimiser {'on' if is_on else 'off'}"
            rows.append(Row(name, after * 1e6, "us", "written out", before * 1e6, bar, case.reason or kind))
            gains.append(f"{before / after:.1f} ×")
        ending = [case.reason] if kind == "not made" else []
        table[kind].append(f"| {' | '.join([case.name, *gains, *ending])} |")
    if "table" in context.settings:
        Path(context.settings["table"]).write_text(_page(table))
    return rows


def _seconds(case: Case, is_on: bool) -> tuple[float, float]:
    """CPU time of a run before and after, which give the same."""
    import onnxruntime

    from onnxsmith import Model, optimize

    before = case.written_out()
    after = optimize(Model.from_proto(before)).proto if case.after is None else case.fused()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if is_on else levels.ORT_DISABLE_ALL
    inputs = {"x": np.random.default_rng(0).standard_normal(case.shape, dtype=np.float32)}

    def session(proto: Any) -> Any:
        return onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])

    sessions = {"before": session(before), "after": session(after)}
    wanted, found = (each.run(None, inputs)[0] for each in sessions.values())
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4, err_msg=case.name)
    least = dict.fromkeys(sessions, math.inf)
    # A run is long enough to be timed alone, and the least of many is what it takes when nothing disturbs it.
    for _ in range(_ROUNDS):
        for name, each in sessions.items():
            start = time.process_time()
            each.run(None, inputs)
            least[name] = min(least[name], time.process_time() - start)
    return least["before"], least["after"]


_PAGE = """# Which fusions are made, and why

A fusion is made where ONNX Runtime's CPU runs the one node no slower than the several that it stands for. This page is
what `python3 dev.py bench fusions --set table=docs/explanation/fusions.md` wrote, with ONNX Runtime {version}: how many
times faster a model of the one node is than a model of the nodes as they were, on one thread, with the runtime's own
optimiser off and on. With it on, the runtime makes some of these fusions itself. Shapes are those of BERT and of a
ResNet's first stage.

| `optimize(model)` makes | optimiser off | optimiser on |
| --- | --- | --- |
{ours}

A convolution of 64 channels takes so long that what follows it hardly shows.

With `optimize(model, domains=["com.microsoft"])` there are two operators more, of ONNX Runtime's own:

| made on request | optimiser off | optimiser on |
| --- | --- | --- |
{requested}

These were measured, too, and are not made:

| not made | optimiser off | optimiser on | why |
| --- | --- | --- | --- |
{others}
"""


def _page(table: dict[str, list[str]]) -> str:
    return _PAGE.format(
        version=importlib.metadata.version("onnxruntime"),
        ours="\n".join(table["ours"]),
        requested="\n".join(table["on request"]),
        others="\n".join(table["not made"]),
    )

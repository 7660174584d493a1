"""What share of the time in kernels a profile gives to lines and nodes, for model files of the reader's own."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "profile"
DESCRIPTION = (
    "kernel time that a profile gives to no node of the model, or to what the runtime inserted "
    "(--set models=FOLDER profiles the .onnx files there, else small models of our own)"
)


def run(context: Context) -> list[Row]:
    """For each model: the part of the time without a node, and the part in inserted kernels."""
    folder = context.settings.get("models")
    models = _files(Path(folder)) if folder else _own()
    rows: list[Row] = []
    inserted: list[float] = []
    for name, model in models.items():
        profile = model.profile(runs=10, warm_up=3)
        # The fastest of the runs: one that was interrupted says nothing of the kernel.
        least = {id(each): each.times.minimum for each in profile.kernels}
        total = sum(least.values()) or 1.0
        nowhere = sum(least[id(each)] for each in profile.kernels if not each.nodes)
        added = sum(least[id(each)] for each in profile.kernels if each.is_inserted)
        fused = sum(len(each.nodes) > 1 and not each.is_inserted for each in profile.kernels)
        inserted.append(100 * added / total)
        note = f"{len(profile.kernels)} kernels, {fused} of several nodes"
        rows.append(Row(f"{name}: without a node", 100 * nowhere / total, "% of time", bar=at_most(2.0)))
        rows.append(Row(f"{name}: inserted", inserted[-1], "% of time", note=note))
    note = "counted with the nodes that they serve"
    rows.append(Row("all models: inserted", statistics.mean(inserted), "% of time", note=note))
    return rows


def _files(folder: Path) -> dict[str, Any]:
    from onnxsmith import load

    return {path.stem: load(path) for path in sorted(folder.glob("*.onnx"))}


def _own() -> dict[str, Any]:
    from tests.profiling.programs import PROGRAMS

    return {name: make()[0] for name, make in PROGRAMS.items()}

"""How often `compare` names the node that a fault was planted in, in ten models and their twins, and what it takes."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "compare"
DESCRIPTION = (
    "faults in single nodes that are not named, against copies and against optimised, renamed, converted and exported "
    "twins (--set faults=N plants N in each model and each of its twins, in turns)"
)


def run(context: Context) -> list[Row]:
    """For each kind of twin: faults that were missed, pairs without a fault that were blamed, time for each."""
    from onnxsmith import compare  # heavy, and only this benchmark needs them
    from tests.comparing.planting import converted, exported, faults, has_effect, optimised, renamed
    from tests.comparing.test_bar import EXPORTED
    from tests.comparing.zoo import ZOO, inputs_of

    count = int(context.settings.get("faults", "2"))
    twins = {"copy": lambda model: model, "renamed": renamed, "optimised": optimised, "converted": converted}
    rows: list[Row] = []
    for kind in (*twins, "exported"):
        missed, planted, blamed, seconds = 0, 0, 0, 0.0
        for name, make in ZOO.items():
            if kind == "exported" and name not in EXPORTED:
                continue
            model = make()
            inputs = inputs_of(model)
            with tempfile.TemporaryDirectory() as folder:
                twin = exported(model, Path(folder)) if kind == "exported" else twins[kind](model)
            blamed += not compare(model, twin, inputs)
            for is_first in (True, False):
                base = model if is_first else twin
                drawn = faults(base, random.Random(f"{name} {kind}"))
                seen = (each for each in drawn if has_effect(base, each, inputs))
                for _, fault in zip(range(count), seen, strict=False):
                    start = time.process_time()
                    pair = (fault.model, twin) if is_first else (model, fault.model)
                    found = compare(*pair, inputs)
                    seconds += time.process_time() - start
                    node = found.node if is_first else found.other
                    planted += 1
                    missed += node is None or node.address != fault.address
        note = f"of {planted}, {seconds / max(planted, 1):.2f} CPU s each"
        rows.append(Row(f"{kind}: not named", missed, "faults", bar=at_most(0), note=note))
        rows.append(Row(f"{kind}: blamed without a fault", blamed, "pairs", bar=at_most(0)))
    return rows

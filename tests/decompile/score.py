"""The score of the decompiler on ONNX's backend cases: `python -m tests.decompile.score`.

Judges every case on both engines and writes `score.toml` beside itself; `--dry` only prints.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx
import onnxruntime

from tests.decompile.backend_cases import SUITES, suite_cases
from tests.decompile.engines import ENGINES
from tests.decompile.judge import STAGES, Verdict, judge

SCORE = Path(__file__).with_name("score.toml")


def summary(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """The figures of one suite."""
    failed = Counter(each.failed for each in verdicts)
    figures = {
        "cases": len(verdicts),
        "pass": failed[None],
        "judged_by_an_engine": sum(bool(each.judged_by) for each in verdicts),
    }
    for engine in ENGINES:
        figures[f"judged_by_{engine}"] = sum(engine in each.judged_by for each in verdicts)
    return figures | {f"failed_{stage}": failed[stage] for stage in STAGES}


def main(arguments: Sequence[str]) -> int:
    """Judge all cases; returns how many fail."""
    lines = [
        "# Backend cases that come back from Python as the same model: written by python -m tests.decompile.score.",
        f'onnx = "{onnx.__version__}"',
        f'onnxruntime = "{onnxruntime.__version__}"',
    ]
    failures = 0
    for suite in SUITES:
        verdicts = [judge(case) for case in suite_cases(suite)]
        for verdict in verdicts:
            if verdict.failed:
                failures += 1
                print(verdict)
        figures = summary(verdicts)
        lines += ["", f"[{suite}]", *(f"{name} = {number}" for name, number in figures.items())]
        print(f"{suite}: {figures['pass']} of {figures['cases']}", flush=True)
    if "--dry" not in arguments:
        SCORE.write_text("\n".join(lines) + "\n")
    return failures


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(min(main(sys.argv[1:]), 1))

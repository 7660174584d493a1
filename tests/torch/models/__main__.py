"""Runs the models, static and dynamic, and prints the score.

python -m tests.torch.models --source own
python -m tests.torch.models --only bert --dynamic
python -m tests.torch.models --out results.jsonl --resume
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.torch.models.catalogue import all_models, skipped
from tests.torch.models.running import make_runner
from tests.torch.opinfo import outcomes
from tests.torch.opinfo.workers import run_all


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.torch.models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="a model; may be given several times")
    parser.add_argument("--source", action="append", choices=("own", "transformers", "timm"))
    parser.add_argument("--static", action="store_true", help="static forms only")
    parser.add_argument("--dynamic", action="store_true", help="dynamic forms only")
    parser.add_argument("--exporter", choices=("onnxsmith", "peer"), default="onnxsmith")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=int, default=180, help="seconds for a model")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="add the records there, one JSON object a line"
    )
    parser.add_argument("--resume", action="store_true", help="leave out models that the file has")
    parser.add_argument("--summary", action="store_true", help="run nothing, print the score of the file")
    parser.add_argument("--list", action="store_true", help="print the names of the models")
    return parser.parse_args()


def main() -> None:
    options = _options()
    if (options.summary or options.resume) and options.out is None:
        sys.exit("--summary and --resume need --out")
    known = outcomes.read(options.out) if options.out else {}
    if options.summary:
        print(outcomes.summary(known.values()))
        return
    models = all_models(*(options.source or ()))
    for source, reason in skipped.items():
        print(f"skipped: the models of {source}: {reason}", flush=True)
    if unknown := sorted(set(options.only or ()) - set(models)):
        sys.exit(f"no model is called {', '.join(unknown)}; --list says which there are")
    if options.list:
        print("\n".join(models))
        return

    cases: list[tuple[str, str]] = []
    for name, case in models.items():
        if options.only and name not in options.only:
            continue
        if not options.dynamic:
            cases.append((f"{name} static", f"{case.source} static"))
        if not options.static and case.dynamic_shapes is not None:
            cases.append((f"{name} dynamic", f"{case.source} dynamic"))
    if options.resume:
        cases = [(name, group) for name, group in cases if name not in known]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    started = time.monotonic()
    records: list[outcomes.Record] = []
    for record in run_all(cases, make_runner, (options.exporter,), jobs=options.jobs, limit=options.limit):
        records.append(record)
        if options.out:
            outcomes.append(options.out, record)
        if record.outcome != "pass":
            print(f"{record.outcome:15} {record.case}: {record.error}", flush=True)
    print(outcomes.summary(records, with_failures=False))
    left_out = f"; skipped: {', '.join(skipped)}" if skipped else ""
    print(f"{len(records)} models in {time.monotonic() - started:.0f} s{left_out}")


if __name__ == "__main__":
    main()

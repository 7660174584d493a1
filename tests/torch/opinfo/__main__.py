"""Runs the operator suite, or a part of it, and prints the score.

python -m tests.torch.opinfo --family linalg --dtype float32 --out results.jsonl --resume
python -m tests.torch.opinfo --op nn.functional.softmax
python -m tests.torch.opinfo --samples 8 --spread --every 10 --dtype uint8 --dtype bfloat16
python -m tests.torch.opinfo --out results.jsonl --summary
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.torch.opinfo import outcomes, score
from tests.torch.opinfo.cases import DTYPES, FAMILIES, OTHER_DTYPES, SAMPLES, Case, all_cases, operators
from tests.torch.opinfo.suite import make_runner
from tests.torch.opinfo.workers import run_all


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.torch.opinfo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--family", action="append", choices=FAMILIES, help="may be given several times")
    parser.add_argument(
        "--op", action="append", metavar="NAME", help="an operator, with or without its variant"
    )
    parser.add_argument(
        "--dtype", action="append", choices=[*DTYPES, *OTHER_DTYPES], help="the scored three if none"
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each operator")
    parser.add_argument(
        "--spread", action="store_true", help="spread the samples over all, in place of the first"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth operator only")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="the Ith of N equal parts")
    parser.add_argument("--exporter", choices=("onnxsmith", "peer"), default="onnxsmith")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=int, default=60, help="seconds for a case")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="add the records there, one JSON object a line"
    )
    parser.add_argument("--resume", action="store_true", help="leave out cases that the file has")
    parser.add_argument("--failed", action="store_true", help="run again what the file has as failed")
    parser.add_argument("--summary", action="store_true", help="run nothing, print the score of the file")
    parser.add_argument("--write-score", action="store_true", help="write the file's score to score.toml")
    parser.add_argument("--quiet", action="store_true", help="no line for each failure as it comes")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[Case]:
    part, parts = map(int, options.shard.split("/"))
    names = list(operators())[:: options.every][part::parts]
    if options.op:
        wanted = set(options.op)
        names = [name for name in operators() if name in wanted or operators()[name].name in wanted]
        if not names:
            sys.exit(f"no operator is called {', '.join(sorted(wanted))}")
    kept = set(names)
    dtypes = options.dtype or DTYPES
    return [
        case
        for case in all_cases(dtypes, options.samples, is_spread=options.spread)
        if case.operator in kept and (not options.family or case.family in options.family)
    ]


def main() -> None:
    options = _options()
    if (options.summary or options.resume or options.failed or options.write_score) and options.out is None:
        sys.exit("--summary, --resume, --failed and --write-score need --out")
    known = outcomes.read(options.out) if options.out else {}
    if options.write_score:
        score.write(known.values())
    if options.summary or options.write_score:
        print(outcomes.summary(known.values()))
        return

    cases = _chosen(options)
    if options.failed:
        redone = {name for name, record in known.items() if record.is_counted and record.outcome != "pass"}
        cases = [case for case in cases if str(case) in redone]
    elif options.resume:
        cases = [case for case in cases if str(case) not in known]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    started = time.monotonic()
    records: list[outcomes.Record] = []
    named = [(str(case), case.family) for case in cases]
    runs = run_all(named, make_runner, (options.exporter,), jobs=options.jobs, limit=options.limit)
    for record in runs:
        records.append(record)
        if options.out:
            outcomes.append(options.out, record)
        if not options.quiet and record.is_counted and record.outcome != "pass":
            print(f"{record.outcome:15} {record.case}: {record.error}", flush=True)
    print(outcomes.summary(records, with_failures=False))
    print(f"{len(records)} cases in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()

"""The whole fuzz: `python -m tests.laws [--seed N] [--spoiled N] [--jobs N] [--only TEXT] [--part K/N]`.

Takes every backend case and many spoiled ones along every road; prints a table of what breaks the law. The exit status
is 1 when something does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.laws.judge import Finding, judge
from tests.laws.pool import SECONDS, Pool
from tests.laws.report import table
from tests.laws.selection import selected


def main() -> int:
    """Run what the arguments choose."""
    parser = argparse.ArgumentParser(prog="dev.py laws", description="eager = jit = model, on every operator")
    parser.add_argument("--seed", type=int, default=0, help="what the spoiled cases are drawn from")
    parser.add_argument("--spoiled", type=int, default=2000, metavar="N", help="how many spoiled cases")
    parser.add_argument("--no-backend", action="store_true", help="spoiled cases only")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="every Nth case, from the Kth")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long one road may take")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too, as it grows")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    cases = selected(options.seed, options.spoiled, with_backend=not options.no_backend)
    chosen = [case for case in cases if options.only in case.name][part::parts]
    findings: list[Finding] = []
    start = last = time.monotonic()
    for count, found in enumerate(Pool(options.jobs, options.seconds).map(judge, chosen), 1):
        findings += found
        if time.monotonic() - last > 20 or count == len(chosen):
            last = time.monotonic()
            print(
                f"{count} of {len(chosen)} cases, {len(findings)} findings, {last - start:.0f} s", flush=True
            )
            if options.write:
                options.write.write_text(table(findings))
    print(table(findings))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())

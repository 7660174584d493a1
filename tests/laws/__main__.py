"""The whole fuzz: `python -m tests.laws [NAME ...] [--seed N] [--spoiled N] [--jobs N] [--only TEXT] [--part K/N]`.

Without a name it takes every backend case and many spoiled ones along every road, and prints a table of what breaks the
law. With names, or `all`, it checks those laws (`tests.laws.named`); `--planted` plants three faults in the class of
each, and says by which case the law finds them (`tests.laws.planted`). The exit status is 1 when a law is broken.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.laws.judge import Finding, judge
from tests.laws.named import MODULES, check
from tests.laws.planting import check_planted
from tests.laws.pool import SECONDS, Pool
from tests.laws.report import table
from tests.laws.selection import selected

#: So many seconds a law has to find a fault that is planted.
PLANTED_SECONDS = 120.0


def main() -> int:
    """Run what the arguments choose."""
    parser = argparse.ArgumentParser(prog="dev.py laws", description="eager = jit = model, on every operator")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"other laws: all, {', '.join(MODULES)}")
    parser.add_argument("--draws", type=int, metavar="N", help="how many cases of each named law")
    parser.add_argument("--limit", type=float, metavar="S", help="how many seconds each named law may take")
    parser.add_argument(
        "--first", action="store_true", help="end each named law at the first case that is wrong"
    )
    parser.add_argument(
        "--planted", action="store_true", help="whether each named law finds faults that are planted"
    )
    parser.add_argument("--seed", type=int, default=0, help="what the cases are drawn from")
    parser.add_argument("--spoiled", type=int, default=2000, metavar="N", help="how many spoiled cases")
    parser.add_argument("--no-backend", action="store_true", help="spoiled cases only")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="every Nth case, from the Kth")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long one road may take")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too, as it grows")
    options = parser.parse_args()
    names = list(MODULES) if options.names == ["all"] else options.names
    if unknown := sorted(set(names) - set(MODULES)):
        parser.error(f"there is no law {', '.join(unknown)}; there are all, {', '.join(MODULES)}")
    if options.planted:
        limit = options.limit or PLANTED_SECONDS
        found = [check_planted(name, options.seed, options.draws, limit) for name in names]
        return int(not all(found))
    if names:
        held = [
            check(name, options.seed, options.draws, options.limit, is_first_enough=options.first)
            for name in names
        ]
        return int(not all(held))
    part, parts = map(int, options.part.split("/"))
    cases = selected(options.seed, options.spoiled, with_backend=not options.no_backend)
    chosen = [case for case in cases if options.only in case.name][part::parts]
    if not chosen:
        print(f"0 of {len(cases)} cases have {options.only!r} in their name and are in part {options.part}")
        return 1
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

"""`dev.py mutants [--seed N] [--count N] [--jobs N] [--only PATH ...] [--nearest] [--files N] [--lines FILE]`.

Breaks random lines of hand-written sources one at a time. Runs the mirrored or nearest test file, then the next ones
in the order of nearness, until one fails: a test that fails executes the line. Prints what no test noticed. `--nearest`
ends after the first, which takes a third of the time. With the lines that `dev.py alone --lines FILE` wrote, only files
that execute a line are run for it. `--write FILE` writes the outcomes as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from tools.mutants.hunt import FILES, Hunt
from tools.mutants.mutations import drawn

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Hunt as the arguments say; the exit status is 0: a survivor is a place to look at."""
    parser = argparse.ArgumentParser(prog="dev.py mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="what the lines are drawn from")
    parser.add_argument("--count", type=int, default=100, help="how many lines are broken")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="PATH", help="files that begin so: src/onnxsmith/grad"
    )
    parser.add_argument(
        "--files", type=int, default=FILES, help="how many more test files a survivor is run with"
    )
    parser.add_argument("--nearest", action="store_true", help="run the nearest test files alone")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="what `dev.py alone --lines` wrote")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the outcomes there, as JSON")
    options = parser.parse_args()
    mutations = drawn(ROOT, options.seed, options.count, options.only)
    begun = time.monotonic()
    executed = json.loads(options.lines.read_text()) if options.lines else None
    with tempfile.TemporaryDirectory() as scratch:
        hunt = Hunt(ROOT, mutations, options.jobs, Path(scratch))
        if options.nearest:
            outcomes = hunt.nearest()
        else:
            outcomes = hunt.outcomes(options.files, executed)
    if options.write:
        options.write.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n")
    print()
    for each in outcomes:
        if not each.by_executing:
            executed = "" if options.nearest else f"; {each.asked} more test files passed"
            print(f"survived: {each.place}: {each.before!r} became {each.after!r}{executed}")
    late = sum(each.by_time for each in outcomes)
    near, far = sum(each.by_nearest for each in outcomes), sum(each.by_executing for each in outcomes)
    executing = (
        ""
        if options.nearest
        else f" {far} by the tests that execute the line (at most {options.files} files),"
    )
    print(
        f"seed {options.seed}: {len(outcomes)} mutants, {near} caught by the mirrored or nearest test file"
        f" ({late} of them hung),{executing} {time.monotonic() - begun:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

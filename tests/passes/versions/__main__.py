"""All backend cases to the newest opset and down to 13: `python -m tests.passes.versions [--write] [--jobs N]`.

Prints a table of what came of them, and `--write` the page of the reference. The exit status is 1 where a converted
model is wrong, or the page says something else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections import Counter

from tests.passes.versions.backend_cases import Outcome, backend_cases, newest, outcome
from tests.passes.versions.page import OLDER, PAGE, page_of


def _outcome(job: tuple[str, int]) -> tuple[str, int, Outcome]:
    name, target = job
    return name, target, outcome(backend_cases()[name], target)


def main() -> int:
    """Run what the arguments choose."""
    parser = argparse.ArgumentParser(prog="python -m tests.passes.versions", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page of the reference again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    jobs = [(name, target) for target in (newest(), OLDER) for name in backend_cases()]
    found: dict[int, dict[str, Outcome]] = {newest(): {}, OLDER: {}}
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for name, target, each in pool.imap(_outcome, jobs, chunksize=16):
            found[target][name] = each
            if each.kind == "wrong":
                print(f"opset {target}: {name}: {each.text}", flush=True)
    print("\n| opset | good | refused | unrunnable | wrong |\n| --- | --- | --- | --- | --- |")
    for target, outcomes in found.items():
        counts = Counter(each.kind for each in outcomes.values())
        shown = " | ".join(str(counts[kind]) for kind in ("good", "refused", "unrunnable", "wrong"))
        print(f"| {target} | {shown} |")
    page = page_of(found[OLDER])
    if options.write:
        PAGE.write_text(page)
    is_wrong = any(each.kind == "wrong" for outcomes in found.values() for each in outcomes.values())
    return int(is_wrong or PAGE.read_text() != page)


if __name__ == "__main__":
    sys.exit(main())

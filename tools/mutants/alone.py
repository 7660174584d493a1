"""`dev.py alone [PATH ...] [--order SEED] [--seconds N] [--write] [--lines FILE]`: runs test files one by one.

Each has a process of its own; those that fail are printed. With `--order`, the tests of each file run in an order that
the seed draws. With `--write`, enters for each module without a mirrored test file the one that is about it and runs
most of it into `tested_by.txt`, which `nearest.py` reads; of a part of the files, modules that have an entry of
another file keep it. With `--lines`, writes which lines each file executes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Container, Mapping
from pathlib import Path

from tools.mutants.choosing import Lines, table
from tools.mutants.copies import PASSED, TIMED_OUT, Copy
from tools.mutants.lines import OUT
from tools.mutants.nearest import TABLE, tabled
from tools.mutants.order import SEED

ROOT = Path(__file__).resolve().parent.parent.parent


def write(root: Path, found: Mapping[str, str]) -> None:
    """Replace the table."""
    header = "# Modules without a mirrored test file, and the one that is about each: `dev.py alone --write`."
    lines = [header, *(f"{file} {test}" for file, test in sorted(found.items()))]
    (root / TABLE).write_text("\n".join(lines) + "\n")


def merged(known: Mapping[str, str], found: Mapping[str, str], tests: Container[str]) -> dict[str, str]:
    """The table with what was found: an entry stays whose test file was not run, as nothing was compared with it."""
    return {**known, **{file: test for file, test in found.items() if known.get(file, test) in tests}}


def main() -> int:
    """Run as the arguments say; the exit status is 1 if a file fails alone."""
    parser = argparse.ArgumentParser(prog="dev.py alone", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["tests"], help="test files or folders; all by default")
    parser.add_argument("--order", metavar="SEED", help="run the tests of each file in a random order")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long a file may take to count")
    parser.add_argument("--write", action="store_true", help="write which file is about each module")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="write which lines each file executes")
    options = parser.parse_args()
    tests = [
        each.resolve().relative_to(ROOT)
        for path in options.paths
        for each in sorted((ROOT / path).rglob("test_*.py") if (ROOT / path).is_dir() else [ROOT / path])
    ]
    if missing := [str(each) for each in tests if not (ROOT / each).is_file()]:
        parser.error(f"there is no file {', '.join(missing)}")
    order = [] if options.order is None else ["-p", "tools.mutants.order"]
    seed = {} if options.order is None else {SEED: options.order}
    failed, late, executed = 0, 0, dict[str, Lines]()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Copy(ROOT, Path(scratch, "copy"))
        written = Path(scratch, "lines")
        for test in tests:
            arguments = ["-n", "0", "-x", "-p", "tools.mutants.lines", *order, str(test)]
            status = copy.pytest(arguments, options.seconds, {OUT: str(written), **seed})
            if status == PASSED:
                executed[str(test)] = json.loads(written.read_text())
            elif status == TIMED_OUT:
                late += 1
                print(f"late   {test}", flush=True)
            else:
                failed += 1
                print(f"failed {test}", flush=True)
    print(
        f"{len(tests)} files: {len(executed)} pass alone, {failed} fail, {late} take over {options.seconds:.0f} s"
    )
    if options.write:
        write(ROOT, merged(tabled(ROOT), table(ROOT, executed), executed))
    if options.lines:
        options.lines.write_text(json.dumps(executed) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

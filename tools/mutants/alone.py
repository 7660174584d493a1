"""`dev.py alone [PATH ...] [--order SEED] [--seconds N] [--write]`: runs every test file in a process of its own.

Prints those that fail. With `--order`, the tests of each file run in an order that the seed draws. With `--write`,
enters for each module without a mirrored test file the one that calls most of it into `tested_by.txt`, which
`nearest.py` reads.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.check_sizes import is_generated, python_files
from tools.mutants.calls import OUT
from tools.mutants.copies import PASSED, TIMED_OUT, Copy
from tools.mutants.mutations import mutations_of
from tools.mutants.nearest import TABLE, closeness, mirrored, tabled
from tools.mutants.order import SEED

ROOT = Path(__file__).resolve().parent.parent.parent

#: The functions that a test file calls: their first lines, by module.
Calls = Mapping[str, Iterable[int]]


def function_weights(file: str, source: str) -> dict[int, int]:
    """How many lines of each function could be broken, by its first line, decorators included; 0 is the module."""
    functions = [
        each
        for each in ast.walk(ast.parse(source))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    result: dict[int, int] = {}
    for line in {each.line for each in mutations_of(file, source)}:
        around = [each for each in functions if each.lineno <= line <= (each.end_lineno or 0)]
        first = 0
        if around:
            inner = max(around, key=lambda each: each.lineno)
            decorators = [] if isinstance(inner, ast.Lambda) else inner.decorator_list
            first = min([inner.lineno, *(each.lineno for each in decorators)])
        result[first] = result.get(first, 0) + 1
    return result


def chosen(file: str, weights: Mapping[int, int], calls: Mapping[str, Calls]) -> str | None:
    """The test file that calls most of a module; of those that call nearly as much, the one that stands nearest.

    None where no file calls half of it: that one would be chosen by chance.
    """
    shares = {
        test: sum(weights.get(each, 0) for each in set(called.get(file, ()))) / max(1, sum(weights.values()))
        for test, called in calls.items()
    }
    found = [
        (*closeness(Path(file), Path(test)), share, test) for test, share in shares.items() if share >= 0.5
    ]
    # A file of the same package may call less of it: it is the one that is run while working there.
    own = [each for each in found if each[0] > 0] or found
    best = max((share for _, _, share, _ in own), default=0.0)
    near = [each for each in own if each[2] >= best - 0.02]
    return max(near, key=lambda each: (each[0], each[2], each[1]))[3] if near else None


def table(root: Path, calls: Mapping[str, Calls]) -> dict[str, str]:
    """The test file of each module that has no mirrored one, as far as tests call it."""
    found: dict[str, str] = {}
    for path in python_files(root / "src"):
        file = str(path.relative_to(root))
        if path.suffix != ".py" or is_generated(path) or mirrored(root, file) is not None:
            continue
        test = chosen(file, function_weights(file, path.read_text()), calls)
        if test is not None:
            found[file] = test
    return found


def write(root: Path, found: Mapping[str, str]) -> None:
    """Replace the table."""
    header = (
        "# Modules without a mirrored test file, and the one that calls most of each: `dev.py alone --write`."
    )
    lines = [header, *(f"{file} {test}" for file, test in sorted(found.items()))]
    (root / TABLE).write_text("\n".join(lines) + "\n")


def main() -> int:
    """Run as the arguments say; the exit status is 1 if a file fails alone."""
    parser = argparse.ArgumentParser(prog="dev.py alone", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["tests"], help="test files or folders; all by default")
    parser.add_argument("--order", metavar="SEED", help="run the tests of each file in a random order")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long a file may take to count")
    parser.add_argument("--write", action="store_true", help="write which file calls most of each module")
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
    failed, late, calls = 0, 0, dict[str, Calls]()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Copy(ROOT, Path(scratch, "copy"))
        written = Path(scratch, "calls")
        for test in tests:
            arguments = ["-n", "0", "-x", "-p", "tools.mutants.calls", *order, str(test)]
            status = copy.pytest(arguments, options.seconds, {OUT: str(written), **seed})
            if status == PASSED:
                calls[str(test)] = json.loads(written.read_text())
            elif status == TIMED_OUT:
                late += 1
                print(f"late   {test}", flush=True)
            else:
                failed += 1
                print(f"failed {test}", flush=True)
    print(
        f"{len(tests)} files: {len(calls)} pass alone, {failed} fail, {late} take over {options.seconds:.0f} s"
    )
    if options.write:
        # Of modules that these tests do not call, the entries stay.
        write(ROOT, tabled(ROOT) | table(ROOT, calls))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

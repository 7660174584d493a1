"""Plants the faults of `tests.laws.planted` in a copy of the repository, one at a time, and checks the law there.

A law that does not find them sees less than its sentence says.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Generator
from pathlib import Path

from tests.laws.planted import FAULTS, Fault
from tools.mutants.copies import Copy

ROOT = Path(__file__).resolve().parents[2]
#: The end of a check that has stopped at the first case that is wrong: how many cases there were.
_FOUND = re.compile(r"(\d+) cases, .*\b1 wrong, \d+ s")
#: So many seconds a process may take to load what a law needs, and for its last case.
_START = 120.0


def found_at(
    copy: Copy, name: str, fault: Fault | None, seed: int, draws: int | None, seconds: float
) -> int | None:
    """The number of the first case, from 1, that breaks a law in a copy with a fault, or without; None for none."""
    arguments = ["-m", "tests.laws", name, "--seed", str(seed), "--limit", str(seconds), "--first"]
    arguments += [] if draws is None else ["--draws", str(draws)]
    with tempfile.TemporaryFile() as output, _planted(copy, fault):
        copy.python(arguments, seconds + _START, output=output)
        output.seek(0)
        ends = _FOUND.findall(output.read().decode(errors="replace"))
    return int(ends[-1]) if ends else None


@contextlib.contextmanager
def _planted(copy: Copy, fault: Fault | None) -> Generator[None]:
    if fault is None:
        yield
        return
    source = (copy.folder / fault.file).read_bytes()
    try:
        copy.write(fault.file, fault.planted(source.decode()).encode())
        yield
    finally:
        copy.write(fault.file, source)


def check_planted(name: str, seed: int, draws: int | None, seconds: float) -> bool:
    """Plant each fault of a law, and print by which case the law finds it; True if it finds all.

    A case that is wrong without any fault finds none: the law is checked as far without one.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(ROOT, Path(folder))
        found = {each: found_at(copy, name, each, seed, draws, seconds) for each in FAULTS[name]}
        furthest = max((each for each in found.values() if each is not None), default=0)
        wrong = found_at(copy, name, None, seed, furthest, 2 * seconds) if furthest else None
    if wrong is not None:
        print(f"{name}, seed {seed}: case {wrong} is wrong WITHOUT A FAULT", flush=True)
    for fault, number in found.items():
        is_found = number is not None and (wrong is None or number < wrong)
        told = f"found by case {number}" if is_found else "NOT FOUND"
        print(f"{name}, seed {seed}: {told}: {fault.reason} ({fault.path})", flush=True)
    return wrong is None and None not in found.values()

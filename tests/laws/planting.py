"""Plants the faults of `tests.laws.planted` in a copy of the repository, one at a time, and checks the law there.

A law that does not find them sees less than its sentence says.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.laws.planted import FAULTS, Fault
from tools.mutants.copies import Copy

ROOT = Path(__file__).resolve().parents[2]
#: The end of a check that has stopped at the first case that is wrong: how many cases there were.
_FOUND = re.compile(r"(\d+) cases, .*\b1 wrong, \d+ s")
#: So many seconds a process may take to load what a law needs, and for its last case.
_START = 120.0


def found_at(copy: Copy, name: str, fault: Fault, seed: int, draws: int | None, seconds: float) -> int | None:
    """The number of the first case, from 1, by which a law finds a fault that is planted in a copy; None for none."""
    source = (copy.folder / fault.file).read_bytes()
    arguments = ["-m", "tests.laws", name, "--seed", str(seed), "--limit", str(seconds), "--first"]
    arguments += [] if draws is None else ["--draws", str(draws)]
    with tempfile.TemporaryFile() as output:
        try:
            copy.write(fault.file, fault.planted(source.decode()).encode())
            copy.python(arguments, seconds + _START, output=output)
        finally:
            copy.write(fault.file, source)
        output.seek(0)
        ends = _FOUND.findall(output.read().decode(errors="replace"))
    return int(ends[-1]) if ends else None


def check_planted(name: str, seed: int, draws: int | None, seconds: float) -> bool:
    """Plant each fault of a law, and print by which case the law finds it; True if it finds all."""
    is_sharp = True
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(ROOT, Path(folder))
        for fault in FAULTS[name]:
            number = found_at(copy, name, fault, seed, draws, seconds)
            told = "NOT FOUND" if number is None else f"found by case {number}"
            print(f"{name}, seed {seed}: {told}: {fault.reason} ({fault.path})", flush=True)
            is_sharp &= number is not None
    return is_sharp

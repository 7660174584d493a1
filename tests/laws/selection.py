"""Which cases a run takes: those that once went wrong, the backend's, and spoiled ones drawn from a seed."""

from __future__ import annotations

import random

from tests.laws.case import Case, backend_cases
from tests.laws.known import known_cases
from tests.laws.spoil import is_spoilable, spoiled


def selected(seed: int, spoiled_count: int, *, with_backend: bool = True) -> list[Case]:
    """What once went wrong, the backend's cases, then the spoiled ones; the same for the same seed."""
    cases = list(backend_cases())
    by_operator: dict[str, list[Case]] = {}
    for case in filter(is_spoilable, cases):
        by_operator.setdefault(case.operator, []).append(case)
    operators = sorted(by_operator)
    chosen = [*known_cases(), *cases] if with_backend else []
    for number in range(spoiled_count):
        rng = random.Random(f"{seed} {number}")
        # By operator first: some have a hundred cases, most have three.
        case = rng.choice(by_operator[operators[number % len(operators)]])
        chosen.append(spoiled(case, rng, f"{case.name}~{seed}.{number}"))
    return chosen


def sample(seed: int, backend_count: int, spoiled_count: int) -> list[Case]:
    """A few of everything, the same for the same seed: for the test command, which has two minutes for it."""
    cases = selected(seed, spoiled_count)
    known = list(known_cases())
    spoiled_ones = cases[len(cases) - spoiled_count :]
    backend = cases[len(known) : len(cases) - spoiled_count]
    rng = random.Random(seed)
    return [*known, *rng.sample(backend, backend_count), *spoiled_ones]

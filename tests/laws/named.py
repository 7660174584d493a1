"""Laws by name, each a stream of verdicts on drawn cases: `dev.py laws NAME --seed N --draws N`.

The law of all operators (`tests.laws.judge`) has a runner of its own; this is for all others. A test of the suite takes
the first draws of a law, so that both hold the same statement.
"""

from __future__ import annotations

import importlib
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

#: The module of each law: it has a `LAW`.
MODULES: dict[str, str] = {
    "agreement": "tests.graphs.agreement_law",
    "aliases": "tests.scripting.alias_law",
    "copying": "tests.graphs.copying_law",
    "custom-translations": "tests.torch.custom_translations",
    "training-gradients": "tests.torch.training_gradients",
    "diff": "tests.diffing.single_changes",
    "exact": "tests.graphs.exact_law",
    "fingerprint": "tests.graphs.fingerprint_law",
    "gradient-structures": "tests.grad.structures",
    "isomorphic": "tests.graphs.isomorphic_law",
    "rebuild": "tests.decompile.rebuild_law",
    "reference-kernels": "tests.runtime.reference_law",
    "sessions": "tests.runtime.session_law",
    "wrong-kinds": "tests.errors.wrong_kinds",
    "labels": "tests.sklearn.label_law",
    "letter-case": "tests.runtime.facts.letter_case_law",
    "numpy-arguments": "tests.numpy.every_argument",
    "numpy-jitted": "tests.numpy.jitted_arguments",
    "numpy-stores": "tests.numpy.refused_stores",
    "jit-reads": "tests.scripting.staging.outside_law",
    "numbers": "tests.scripting.number_law",
    "numpy-views": "tests.numpy.shared_elements",
    "optionals": "tests.scripting.optional_law",
    "bombs": "tests.cli.bomb_law",
    "mutated-files": "tests.cli.mutation_law",
    "value-number": "tests.graphs.value_number_law",
    "torch-sizes": "tests.torch.size_law",
}


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case. `text` reproduces a case that is wrong, and gives the reason of one that is refused."""

    kind: Literal["equal", "refused", "wrong"]
    text: str = ""


@dataclass(frozen=True)
class Law:
    """A statement, and a generator of verdicts on cases drawn from a seed.

    An enumeration ignores the seed, and ends by itself. `draws` is how many cases a full check has.
    """

    sentence: str
    draws: int
    verdicts: Callable[[int], Iterator[Verdict]]

    def wrong(self, seed: int, draws: int) -> list[str]:
        """The cases among the first draws of a seed that break the law."""
        return [each.text for each in islice(self.verdicts(seed), draws) if each.kind == "wrong"]


def verdict_on(what: str, judge: Callable[[], Verdict]) -> Verdict:
    """The verdict on a case; an error that the law does not expect is wrong."""
    try:
        return judge()
    except Exception as error:
        return Verdict("wrong", f"{what}: {type(error).__name__}: {error}")


def law(name: str) -> Law:
    """The law of a name."""
    found = importlib.import_module(MODULES[name]).LAW
    assert isinstance(found, Law)
    return found


def check(
    name: str, seed: int, draws: int | None, seconds: float | None, *, is_first_enough: bool = False
) -> bool:
    """Draw cases until there are enough, or the time is over; print the counts and every case that is wrong.

    An error that a law does not expect is wrong, too, and ends it. `is_first_enough` ends it at what is wrong first.
    """
    stated = law(name)
    counts: Counter[str] = Counter()
    begun = last = time.monotonic()
    print(f"{name}, seed {seed}: {stated.sentence}", flush=True)
    for verdict in islice(_with_errors(stated.verdicts(seed)), draws or stated.draws):
        counts[verdict.kind] += 1
        now = time.monotonic()
        if verdict.kind == "wrong":
            print(f"WRONG {verdict.text}", flush=True)
        if now - last > 20:
            last = now
            print(f"  {counts.total()} cases, {now - begun:.0f} s", flush=True)
        if (is_first_enough and counts["wrong"]) or (seconds is not None and now - begun > seconds):
            break
    shown = ", ".join(f"{counts[kind]} {kind}" for kind in ("equal", "refused", "wrong"))
    print(
        f"{name}, seed {seed}: {counts.total()} cases, {shown}, {time.monotonic() - begun:.0f} s", flush=True
    )
    return counts["wrong"] == 0


def _with_errors(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    try:
        yield from verdicts
    except Exception:
        yield Verdict("wrong", f"the law itself ends: {traceback.format_exc()}")

"""Sets our function beside its peers' and times them together; a peer that is missing or fails is noted, not fatal.

The context carries what the command line asked for.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.rows import NOT_INSTALLED, Bar, Figure, Row
from benchmarks.timing import Clock, time_in_turns

OURS = "onnxsmith"


@dataclass(frozen=True)
class Context:
    """What the command line asked for."""

    with_peers: bool = True
    settings: Mapping[str, str] = field(default_factory=dict[str, str])

    def number(self, setting: str, default: float) -> float:
        """A number that may be given as `--set NAME=VALUE`."""
        return float(self.settings.get(setting, default))

    def has(self, package: str) -> bool:
        """Whether a peer can be asked."""
        return self.with_peers and importlib.util.find_spec(package) is not None

    def ask(self, package: str, question: Callable[[], float]) -> Figure:
        """A peer's figure, or why there is none."""
        if not self.has(package):
            return NOT_INSTALLED if self.with_peers else "not asked"
        try:
            return question()
        except Exception as problem:
            return _failure(problem)


@dataclass(frozen=True)
class Peer:
    """Another way to do what we time: `prepare` does what need not be timed and returns what is."""

    name: str
    prepare: Callable[[], Callable[[], object]]
    package: str | None = None  # None for what is always there, such as a bare onnxruntime
    bar: Bar | None = None
    note: str = ""


def contest(
    context: Context,
    name: str,
    ours: Callable[[], object],
    peers: Sequence[Peer],
    *,
    unit: str,
    per_second: float,
    check: Callable[[object], None] | None = None,
    clock: Clock = time.process_time,
    choose: Callable[[Sequence[float]], float] = statistics.median,
) -> list[Row]:
    """Time our function and every peer that is there, in turns; one row for each peer.

    `per_second` converts seconds to the unit. `check` gets every contestant's result once, before any is timed.
    `clock` is the process's CPU time unless given; `choose` takes one of the times of several rounds.
    """
    runners: dict[str, Callable[[], object]] = {OURS: ours}
    if check is not None:
        check(ours())
    missing: dict[str, str] = {}
    for peer in peers:
        if peer.package is not None and not context.has(peer.package):
            missing[peer.name] = NOT_INSTALLED if context.with_peers else "not asked"
            continue
        try:
            runner = peer.prepare()
            result = runner()
            if check is not None:
                check(result)
            runners[peer.name] = runner
        except Exception as problem:
            missing[peer.name] = _failure(problem)
    seconds = time_in_turns(runners, clock=clock, choose=choose)
    return [
        Row(
            name,
            seconds[OURS] * per_second,
            unit,
            peer.name,
            missing[peer.name] if peer.name in missing else seconds[peer.name] * per_second,
            peer.bar,
            peer.note,
        )
        for peer in peers
    ]


def _failure(problem: Exception) -> str:
    first_line = (str(problem).strip().splitlines() or [""])[0]
    return f"failed: {type(problem).__name__}: {first_line}"[:60]

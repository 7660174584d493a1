"""Times functions fairly: CPU time, warmed up, in turns, the median of several rounds.

CPU time and not the clock, so that a busy machine does not change the result much; where it matters how long somebody
waits for what several threads do, a benchmark asks for the clock as well. Contestants take turns, so that a drift of
the machine's speed meets all of them.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

_WARM_UP_CALLS = 3

#: Tells the seconds that have gone by, of one kind: `time.process_time` those of all threads of the process.
Clock = Callable[[], float]


@contextlib.contextmanager
def garbage_collection(is_on: bool) -> Iterator[None]:
    """Collect now, then let the collector run inside the block or not."""
    was_on = gc.isenabled()
    gc.collect()
    (gc.enable if is_on else gc.disable)()
    try:
        yield
    finally:
        (gc.enable if was_on else gc.disable)()


def time_in_turns(
    contestants: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 9,
    round_seconds: float = 0.03,
    collect_garbage: bool = False,
    warm_up_calls: int = _WARM_UP_CALLS,
    choose: Callable[[Sequence[float]], float] = statistics.median,
    clock: Clock = time.process_time,
) -> dict[str, float]:
    """Seconds per call of each function: by default the median of `rounds`, of about `round_seconds` of CPU each."""
    calls: dict[str, int] = {}
    for name, function in contestants.items():
        for _ in range(warm_up_calls):
            function()
        calls[name] = _calls_that_take(function, round_seconds, clock)
    results: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, function in contestants.items():
            with garbage_collection(collect_garbage):
                results[name].append(_time(function, calls[name], clock) / calls[name])
    return {name: choose(times) for name, times in results.items()}


def _calls_that_take(function: Callable[[], object], seconds: float, clock: Clock) -> int:
    calls = 1
    while (taken := _time(function, calls, clock)) < seconds:
        # Twice the estimate at most: the first estimates are of few calls and rough.
        calls = max(calls + 1, int(calls * min(2.0, 1.1 * seconds / max(taken, 1e-9))))
    return calls


def _time(function: Callable[[], object], calls: int, clock: Clock) -> float:
    repeat = range(calls)
    start = clock()
    for _ in repeat:
        function()
    return clock() - start

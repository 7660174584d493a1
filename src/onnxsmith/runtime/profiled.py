"""Runs a model on ONNX Runtime with its profile switched on: what each kernel took, and the graph that was really run.

The session is made as for every run. What the events mean, and which node of the model each is about, is told in
`profiling`. Files are written to a folder of our own, which is gone afterwards.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import onnx

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.fallback_forms import open_as_it_can, opener
from onnxsmith.runtime.feeds import runner_over
from onnxsmith.runtime.settings import Settings
from onnxsmith.types.value_types import parse_onnx_type

#: One event of ONNX Runtime's profile, as its JSON has it.
RawEvent: TypeAlias = Mapping[str, object]
#: Takes the events, in the order in which they ended: what is nested comes before what it is nested in.
TakeEvents: TypeAlias = Callable[[Iterable[RawEvent]], None]
#: Told after each run how many are done.
Progress: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Recording:
    """The profile of runs, as ONNX Runtime wrote it."""

    #: The graph that was run, after ONNX Runtime's own rewriting; without its large weights.
    optimized: onnx.ModelProto
    #: The graph that ONNX Runtime was given, with the facts about it met.
    told: onnx.ModelProto
    edits: tuple[Edit, ...]
    #: Seconds that each run took afterwards, without the profile.
    plain_seconds: tuple[float, ...]


def record(
    model: SessionModel,
    feeds: Sequence[RunValue],
    settings: Settings,
    *,
    runs: int,
    warm_up: int,
    take: TakeEvents,
    progress: Progress,
) -> Recording:
    """Run a model `warm_up` and `runs` times with the profile, then `runs` times without.

    `take` is given the events one by one: a loop makes a million of them, which are not for memory all at once. Raises
    what the runtime raises.
    """
    with tempfile.TemporaryDirectory(prefix="onnxsmith-profile-") as folder:
        profiling = onnxruntime_api.Profiling(
            os.path.join(folder, "times"), os.path.join(folder, "graph.onnx"), "weights"
        )
        _throw_away(os.path.join(folder, profiling.weights))
        opened = open_as_it_can(model, opener(settings, profiling=profiling))
        session = opened.session
        try:
            run = _runner(session)
            for count in range(warm_up + runs):
                run(feeds)
                progress(count + 1)
        finally:
            written = session.end_profiling()
        with open(written, encoding="utf-8") as file:
            take(_events(file))
        with open(profiling.graph, "rb") as file:
            optimized = onnx.ModelProto.FromString(file.read())
    plain: list[float] = []
    for count in range(runs):
        begun = time.perf_counter()
        run(feeds)
        plain.append(time.perf_counter() - begun)
        progress(warm_up + runs + count + 1)
    return Recording(optimized, opened.model.proto, opened.edits, tuple(plain))


def _events(lines: Iterable[str]) -> Iterator[RawEvent]:
    """The events of a profile, which has one on each line between the brackets of a list."""
    for line in lines:
        text = line.strip().removesuffix(",")
        if text not in ("", "[", "]"):
            yield cast(RawEvent, json.loads(text))


def _throw_away(path: str) -> None:
    """Let what is written to a path go nowhere, where the system can: the weights are not asked for."""
    with contextlib.suppress(
        OSError, NotImplementedError
    ):  # then they are written, and deleted with the folder
        os.symlink(os.devnull, path)


def _runner(session: onnxruntime_api.Session) -> Callable[[Sequence[RunValue]], list[RunValue]]:
    inputs = onnxruntime_api.input_types(session)

    def fail(error: Exception, _: Sequence[RunValue]) -> list[RunValue]:
        raise error

    types = [parse_onnx_type(text) for _, text in inputs]
    return runner_over(session, [name for name, _ in inputs], types, fail)

"""Reading ONNX Runtime's events: nested executions go to the kernel that ran them, and time is counted once."""

from __future__ import annotations

import random
from collections.abc import Iterator

from onnxsmith.profiling.events import KernelEvent, read_runs
from onnxsmith.runtime.profiled import RawEvent


def event(category: str, name: str, start: int, duration: int) -> RawEvent:
    arguments = {"op_name": "Op", "output_size": "8", "output_type_shape": [{"float": [2]}]}
    return {"cat": category, "name": name, "ts": start, "dur": duration, "args": arguments}


class Clock:
    """Makes up what a runtime would record, in its order, and keeps what it made up."""

    def __init__(self, seed: int) -> None:
        self.now = 0
        self.random = random.Random(seed)
        self.events: list[RawEvent] = []
        self.leaves = 0

    def spend(self) -> int:
        taken = self.random.randrange(1, 9)
        self.now += taken
        return taken

    def graph(self, depth: int) -> None:
        begun = self.now
        self.spend()
        for number in range(self.random.randrange(1, 4)):
            self.kernel(f"node{number}", depth)
        self.events.append(event("Session", "SequentialExecutor::Execute", begun, self.now - begun))
        self.spend()

    def kernel(self, name: str, depth: int) -> None:
        begun = self.now
        self.spend()
        bodies = self.random.randrange(0, 3) if depth < 3 else 0
        for _ in range(bodies):
            self.graph(depth + 1)
        self.events.append(event("Node", f"{name}_kernel_time", begun, self.now - begun))
        if not bodies:
            self.leaves += self.now - begun
        self.spend()


def flat(kernels: list[KernelEvent]) -> Iterator[KernelEvent]:
    for each in kernels:
        yield each
        for execution in each.executions:
            yield from flat(execution)


def test_time_is_counted_once() -> None:
    for seed in range(100):
        clock = Clock(seed)
        for _ in range(2):
            begun = clock.now
            clock.graph(0)
            clock.events.append(event("Session", "model_run", begun, clock.now - begun))
        runs = read_runs(clock.events)
        assert len(runs) == 2
        every = [each for run in runs for each in flat(run.kernels)]
        top = [each for run in runs for each in run.kernels]
        assert len(every) == sum(each["cat"] == "Node" for each in clock.events)
        assert sum(each.own for each in every) == sum(each.duration for each in top)
        assert sum(each.own for each in every if not each.executions) == clock.leaves
        assert all(each.own > 0 for each in every)


def test_a_run_that_was_not_recorded_to_its_end_is_left_out() -> None:
    clock = Clock(0)
    clock.graph(0)
    assert read_runs(clock.events) == []


def test_what_is_told_of_a_kernel() -> None:
    (run,) = read_runs(
        [
            event("Node", "a_kernel_time", 1, 5),
            event("Session", "SequentialExecutor::Execute", 0, 7),
            event("Session", "model_run", 0, 8),
        ]
    )
    (kernel,) = run.kernels
    assert (kernel.name, kernel.operator, kernel.duration, kernel.output_bytes) == ("a", "Op", 5, 8)
    assert kernel.output_types == ("float[2]",)

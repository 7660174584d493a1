"""The law of sessions: rounds of calls of random sizes, in threads, with garbage collected and failures between them.

Whatever is called later, each result has the values that numpy computes, and keeps them when its session is freed; the
state is what the calls so far make of it. The process does not grow. On the device of ONNXSMITH_TEST_DEVICE.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelInputError, OperatorFailedError, SessionInUseError
from onnxsmith.runtime.tensor import EagerTensor
from tests.chosen_device import DEVICE, on_device
from tests.laws.named import Law, Verdict, verdict_on
from tests.runtime.drawn_models import drawn_model

#: Calls in a round; 500 rounds are 10,000 calls.
CALLS = 20
ROUNDS = 500
#: Memory is looked at after so many rounds, when all kinds of sessions have been there, and then as often again.
_LOOK = 100
#: So many bytes the process may grow: what allocators keep.
_MOST_GROWTH = 48 << 20
_LARGE = 3000

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Subject:
    """A model, the inputs of a call, and what numpy makes of inputs and state: results, and the next state."""

    model: Any
    inputs: Callable[[np.random.Generator], Arrays]
    compute: Callable[[Arrays, Mapping[str, np.ndarray]], tuple[Arrays, dict[str, np.ndarray]]]
    state: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    #: Whether a call on an index that is not there fails, and leaves the state.
    may_fail: bool = False
    pairs: Mapping[str, str] | None = None


#: Models that every round draws anew.
_DRAWN = "drawn"


def _subject(name: str, rng: np.random.Generator) -> Subject:
    if name != _DRAWN:
        return SUBJECTS[name]
    drawn = drawn_model(rng)
    return Subject(drawn.model, drawn.inputs, drawn.compute, drawn.state, pairs=drawn.pairs)


def _sizes(rng: np.random.Generator) -> Arrays:
    size = tuple(int(each) for each in rng.integers(0, rng.choice([4, 60, 200]), 2))
    return (rng.normal(size=size).astype(np.float32),)


def _fixed(*shape: int) -> Callable[[np.random.Generator], Arrays]:
    return lambda rng: (rng.normal(size=shape).astype(np.float32),)


def _rows(rng: np.random.Generator) -> Arrays:
    return (rng.normal(size=(int(rng.integers(0, 5)), 3)).astype(np.float32),)


def _places(rng: np.random.Generator) -> Arrays:
    return rng.normal(size=6).astype(np.float32), rng.integers(0, 6, 4)


SUBJECTS: dict[str, Subject] = {
    "open sizes": Subject(
        trace(lambda x: op.Relu(x) - 1.0, FLOAT["N", "M"]),
        _sizes,
        lambda given, state: ((np.maximum(given[0], 0) - np.float32(1),), {}),
    ),
    "sizes by content": Subject(
        trace(lambda x: (op.NonZero(op.Relu(x)), x * 2.0), FLOAT["N", "M"]),
        _sizes,
        lambda given, state: ((np.array(np.nonzero(given[0] > 0)), given[0] * np.float32(2)), {}),
    ),
    "small and fixed": Subject(
        trace(lambda x: (x + x, op.ReduceMax(x, keepdims=0)), FLOAT[5]),
        _fixed(5),
        lambda given, state: ((given[0] + given[0], given[0].max()), {}),
    ),
    "large and fixed": Subject(
        trace(lambda x: x * x, FLOAT[_LARGE]),
        _fixed(_LARGE),
        lambda given, state: ((given[0] * given[0],), {}),
    ),
    "small beside open": Subject(
        trace(lambda x, places: (op.Gather(x, places), op.Neg(x)), FLOAT["N"], INT64[4]),
        _places,
        lambda given, state: ((given[0][given[1]], -given[0]), {}),
        may_fail=True,
    ),
    "state that is written early and read late": Subject(
        trace(
            lambda x, a, b: (b + 0.0, a + x, a - b),
            *[FLOAT[4]] * 3,
            output_names=["a_next", "b_next", "apart"],
        ),
        _fixed(4),
        lambda given, state: (
            (state["a"] - state["b"],),
            {"a": state["b"], "b": state["a"] + given[0]},
        ),
        {"a": (4,), "b": (4,)},
    ),
    "large state": Subject(
        trace(
            lambda x, w: (w * 0.5 + x, op.ReduceMax(w, keepdims=0)),
            *[FLOAT[_LARGE]] * 2,
            output_names=["w_next", "before"],
        ),
        _fixed(_LARGE),
        lambda given, state: (
            (state["w"].max(),),
            {"w": state["w"] * np.float32(0.5) + given[0]},
        ),
        {"w": (_LARGE,)},
    ),
    "state that grows": Subject(
        trace(
            lambda x, past: (op.Concat(past, x, axis=0), op.Shape(past)),
            FLOAT["N", 3],
            FLOAT["M", 3],
            output_names=["present", "size"],
        ),
        _rows,
        lambda given, state: (
            (np.array(state["past"].shape),),
            {"past": np.concatenate([state["past"], given[0]])},
        ),
        {"past": (0, 3)},
    ),
    "state and an index": Subject(
        trace(
            lambda x, places, h: (h + op.Gather(x, places), x + 0.0),
            FLOAT["N"],
            INT64[4],
            FLOAT[4],
            output_names=["h_next", "same"],
        ),
        _places,
        lambda given, state: ((given[0] + 0,), {"h": state["h"] + given[0][given[1]]}),
        {"h": (4,)},
        may_fail=True,
    ),
}


def _as_numpy(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, EagerTensor) else np.asarray(value)


def _tuple(result: Any) -> tuple[Any, ...]:
    if result is None:  # all outputs are state
        return ()
    return result if isinstance(result, tuple) else (result,)


#: The forms in which a caller has values; on a GPU a tensor of torch is there, too.
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "arrays": lambda array: array,
    "strided": lambda array: np.repeat(array[..., None], 2, -1)[..., 0],
    "tensors": on_device,
}
if importlib.util.find_spec("torch") is not None:
    import torch

    FORMS["torch"] = lambda array: torch.from_numpy(array.copy()).to(str(DEVICE))


class Wrong(Exception):
    """A value is another one than it should be."""


class Round:
    """One session, called many times; what it gave is looked at again at the end."""

    def __init__(self, name: str, seed: str, *, reuse: bool) -> None:
        self.rng = np.random.default_rng(list(seed.encode()))
        self.subject = _subject(name, self.rng)
        first = {
            name: self.rng.normal(size=shape).astype(np.float32) for name, shape in self.subject.state.items()
        }
        self.state = {name: each.copy() for name, each in first.items()}
        self.session: Any = self.subject.model.session(
            device=str(DEVICE), state=first, pairs=self.subject.pairs, reuse=reuse
        )
        for each in first.values():
            each[...] = np.nan  # what the caller does with its arrays is no matter of the session
        self.reuse = reuse
        self.held: list[tuple[Any, Arrays]] = []

    def call(self) -> None:
        """One call, and sometimes one that fails before it, or a look at the state."""
        given = self.subject.inputs(self.rng)
        if self.rng.random() < 0.1:
            self.fail(given)
        form = FORMS[str(self.rng.choice(list(FORMS)))]
        passed = [form(each) for each in given]
        results = _tuple(self.session(*passed))
        wanted, following = self.subject.compute(tuple(each.copy() for each in given), self.state)
        self.state.update(following)
        if self.reuse:  # later calls may write over them
            self.check(results, wanted)
        else:
            self.held.append((results, wanted))
        for each in passed:  # a result shares nothing with what was given
            if not isinstance(each, EagerTensor):
                each[...] = 0
        if self.state and self.rng.random() < 0.2:
            self.look()
        if self.rng.random() < 0.1:
            gc.collect()

    def fail(self, given: Arrays) -> None:
        """A call that is refused, or fails while it runs: it changes nothing."""
        try:
            if self.subject.may_fail and self.rng.random() < 0.5 and DEVICE.kind == "cpu":
                self.session(given[0], np.array([0, 1, 2, 99]))
            else:
                self.session(given[0].astype(np.float64), *given[1:])
        except (ModelInputError, OperatorFailedError):
            return
        raise Wrong("a call that is wrong was taken")

    def look(self) -> None:
        """Read the state, or set it to other values; what was read stays as it is."""
        read = self.session.state
        for name, wanted in self.state.items():
            self.check((read[name],), (wanted,))
        self.held.append((tuple(read.values()), tuple(each.copy() for each in self.state.values())))
        if self.rng.random() < 0.3:
            fresh = {name: each * np.float32(0.25) for name, each in self.state.items()}
            self.session.state = fresh
            self.state = {name: each.copy() for name, each in fresh.items()}
            for each in fresh.values():
                each[...] = np.nan

    def check(self, results: Sequence[Any], wanted: Arrays) -> None:
        """Raise Wrong for other values."""
        for found, right in zip(map(_as_numpy, results), wanted, strict=True):
            if found.shape != np.shape(right) or not np.allclose(found, right, rtol=1e-5, atol=1e-6):
                raise Wrong(f"{found.reshape(-1)[:4]} instead of {np.reshape(right, -1)[:4]}")

    def close(self) -> None:
        """Free the session, and look at all results again."""
        self.session = None
        gc.collect()
        for results, wanted in self.held:
            self.check(results, wanted)
        self.held.clear()


def _alone(draw: random.Random, seed: str) -> Verdict:
    name = _DRAWN if draw.random() < 0.5 else draw.choice(sorted(SUBJECTS))
    reuse = draw.random() < 0.25
    this = Round(name, seed, reuse=reuse)
    for _ in range(CALLS):
        this.call()
    this.close()
    return Verdict("equal")


def _in_threads(draw: random.Random, seed: str) -> Verdict:
    """Sessions beside each other, and one that all threads ask for: it serves one of them at a time."""
    names = [draw.choice([*sorted(SUBJECTS), _DRAWN]) for _ in range(draw.randrange(2, 5))]
    shared = SUBJECTS["open sizes"].model.session(device=str(DEVICE))
    wrong: list[str] = []

    def work(position: int) -> None:
        rng = np.random.default_rng([position, *seed.encode()])
        try:
            own = Round(names[position], f"{seed} {position}", reuse=False)
            for _ in range(CALLS // len(names)):
                own.call()
                (x,) = _sizes(rng)
                try:
                    found = _as_numpy(shared(x))
                except SessionInUseError:
                    continue
                if found.shape != x.shape or not np.array_equal(found, np.maximum(x, 0) - np.float32(1)):
                    raise Wrong("the session that threads share gives another thread's result")
            own.close()
        except Exception as error:
            wrong.append(f"{names[position]}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=[position]) for position in range(len(names))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return Verdict("wrong", "; ".join(wrong)) if wrong else Verdict("equal")


def _anonymous_bytes() -> int:
    gc.collect()
    if hasattr(trim := ctypes.CDLL(None), "malloc_trim"):
        trim.malloc_trim(0)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def _verdicts(seed: int) -> Iterator[Verdict]:
    base: int | None = None
    count = 0
    while True:
        count += 1
        draw = random.Random(f"{seed} {count}")
        kind = _in_threads if draw.random() < 0.2 else _alone
        what = f"round {count} of seed {seed}"
        yield verdict_on(what, lambda kind=kind, draw=draw: kind(draw, f"{seed} {count}"))  # noqa: B023
        if count % _LOOK == 0 and Path("/proc/self/status").exists():
            now = _anonymous_bytes()
            base = now if base is None else base
            if now - base > _MOST_GROWTH:
                yield Verdict("wrong", f"{what}: the process has grown by {(now - base) >> 20} MB")


LAW = Law("sessions give what numpy computes, keep what they gave, and do not grow", ROUNDS, _verdicts)

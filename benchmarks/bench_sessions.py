"""Sessions: a step of training whose state stays, beside a bare session, one bound by hand, and torch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most

NAME = "sessions"
DESCRIPTION = "a step of SGD in a session, one thread; CPU time"

#: The bar beside torch eager: 1.1 times what a session that is bound by hand takes of torch's time.
_NETWORKS = {
    "64-128-128-10": 1.1 * 0.23,
    "784-512-512-10": 1.1 * 0.65,
    "a conv net": 1.1 * 0.83,
    "a transformer 2×128": 1.1 * 0.75,
}


def run(context: Context) -> list[Row]:
    """A step called as a model, in a session, in ONNX Runtime's own ways, and in torch."""
    if not context.has("torch"):
        return [Row("a step of SGD", math.nan, "µs", "torch", "not installed")]
    names = context.settings.get("networks", ",".join(_NETWORKS)).split(",")
    return [row for name in names for row in _steps(context, name, _NETWORKS[name])]


def _network(name: str) -> tuple[Any, Any, Any]:
    """A network, and a batch with its targets."""
    import torch
    from torch import nn

    from benchmarks.networks import Sizes, Tagger, perceptron

    torch.manual_seed(0)
    match name:
        case "a conv net":
            network = nn.Sequential(
                *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Flatten(), nn.Linear(32 * 7 * 7, 10)),
            )
            x = torch.randn(32, 1, 28, 28)
        case "a transformer 2×128":
            network, x = (
                Tagger(Sizes(2, 128, 4, 256, 32, vocabulary=1000), 10),
                torch.randint(0, 1000, (16, 32)),
            )
        case _:
            widths = [int(each) for each in name.split("-")]
            network, x = perceptron(widths), torch.randn(32 if widths[0] == 64 else 64, widths[0])
    return network.train(), x, torch.randint(0, 10, x.shape[:1])


def _steps(context: Context, name: str, bar: float) -> list[Row]:
    import torch

    import onnxsmith.torch
    from onnxsmith.grad import initial_state, losses, sgd, training_step
    from onnxsmith.runtime import using

    torch.set_num_threads(1)
    network, x, target = _network(name)
    model = onnxsmith.torch.export(network, (x,))
    step = training_step(model, losses.cross_entropy, sgd(lr=0.01))
    state = initial_state(model, step)
    with using(intra_op_threads=1):
        session = step.session(state=state)
    given = x.numpy(), target.numpy()
    what = f"a step of SGD, {name}"
    now = dict(state)

    def called() -> float:
        """As docs/how-to/differentiate-a-model.md has it."""
        loss, *after = step(*given, **now)
        now.update(zip(now, after, strict=True))
        return float(loss)

    peers = [
        Peer("bare session.run", lambda: _bare(step, given, state), bar=ratio_at_most(1.02)),
        Peer("bound by hand", lambda: _bound(step, given, state), note="inputs bound once"),
        Peer("torch eager", lambda: _in_torch(network, x, target), package="torch", bar=ratio_at_most(bar)),
    ]
    rows = contest(
        context, what, lambda: float(session(*given)), peers, unit="µs", per_second=1e6, choose=min
    )
    bare = Peer("bare session.run", lambda: _bare(step, given, state), bar=ratio_at_most(1.2))
    with using(intra_op_threads=1):
        return rows + contest(
            context, f"{what}, called", called, [bare], unit="µs", per_second=1e6, choose=min
        )


def _runtime_session(step: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(step.proto.SerializeToString(), options)


def _bare(step: Any, given: Sequence[Any], state: dict[str, Any]) -> Callable[[], object]:
    session = _runtime_session(step)
    names = [each.name for each in step.inputs if each.name not in state]
    feeds, now = dict(zip(names, given, strict=True)), dict(state)

    def run() -> float:
        loss, *new = session.run(None, {**feeds, **now})
        now.update(zip(now, new, strict=True))
        return float(loss)

    return run


def _bound(step: Any, given: Sequence[Any], state: dict[str, Any]) -> Callable[[], object]:
    import onnxruntime

    session, make = _runtime_session(step), onnxruntime.OrtValue.ortvalue_from_numpy
    names = [each.name for each in step.inputs if each.name not in state]
    first, *others = [each.name for each in step.outputs]
    loss = make(np.zeros((), np.float32))
    sets = [{name: make(value.copy()) for name, value in state.items()} for _ in range(2)]
    inputs = {name: make(value) for name, value in zip(names, given, strict=True)}

    def bound(old: dict[str, Any], new: dict[str, Any]) -> Any:
        binding = session.io_binding()
        for name, value in {**inputs, **old}.items():
            binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output(first, loss)
        for name, value in zip(others, new.values(), strict=True):
            binding.bind_ortvalue_output(name, value)
        return binding

    turns = [bound(*sets), bound(*sets[::-1])]

    def run() -> float:
        session.run_with_iobinding(turns[0])
        turns.reverse()
        return float(loss.numpy())

    return run


def _in_torch(network: Any, x: Any, target: Any) -> Callable[[], object]:
    import torch

    trained = copy.deepcopy(network)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.01)

    def run() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(trained(x), target)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return run

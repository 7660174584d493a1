"""Steps of training in a session beside torch eager on one thread: recurrent layers, convolutions, a transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "training_layers"
DESCRIPTION = 'a step of SGD by kind of layer, in a session, one thread; CPU time (--set "layers=LSTM;GRU")'

#: The bar beside torch eager for each network.
_BARS = {
    "LSTM": 1.0,
    "LSTM, wide": 1.0,
    "GRU": 1.3,
    "GRU, wide": 1.3,
    "conv + BatchNorm": 1.1,
    "depthwise": 1.1,
    "strided": 1.1,
    "conv net": 0.95,
    "transformer": 0.9,
}


def run(context: Context) -> list[Row]:
    """A row for each kind of layer."""
    if not context.has("torch"):
        return []
    chosen = context.settings.get("layers")
    names = list(_BARS) if chosen is None else [each.strip() for each in chosen.split(";")]
    return [_step(name, _BARS[name]) for name in names]


def _step(name: str, bar: float) -> Row:
    ours, theirs = contestants(name)
    seconds = time_in_turns({"ours": ours, "torch": theirs}, rounds=15, round_seconds=0.1, choose=min)
    return Row(name, seconds["ours"] * 1e3, "ms", "torch", seconds["torch"] * 1e3, ratio_at_most(bar))


def contestants(name: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """A step of a network in a session of ours, and one of torch's on the same batch."""
    import torch

    from onnxsmith.runtime import using

    torch.set_num_threads(1)
    network, x, target = network_of(name)
    step, state = step_of(network, x)
    with using(intra_op_threads=1):
        session = step.session(state=state)
    given = x.numpy(), target.numpy()
    return (lambda: float(session(*given))), torch_step(network, x, target)


def step_of(network: Any, x: Any) -> tuple[Any, dict[str, Any]]:
    """A step of SGD with cross-entropy, and its first state."""
    import warnings

    import onnxsmith.torch
    from onnxsmith.training import initial_state, losses, sgd, training_step

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which says that the module is in training
        model = onnxsmith.torch.export(network, (x,), keep_mutations=True)
    step = training_step(model, losses.cross_entropy, sgd(lr=0.01))
    return step, initial_state(model, step)


def torch_step(network: Any, x: Any, target: Any) -> Callable[[], object]:
    """The same in torch."""
    import torch

    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x), target)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def network_of(name: str) -> tuple[Any, Any, Any]:
    """A network in training, a batch, and its labels."""
    import torch

    torch.manual_seed(0)
    network, x = _recurrent(name) if name.startswith(("LSTM", "GRU")) else _other(name)
    return network.train(), x, torch.randint(0, 10, x.shape[:1])


def _recurrent(name: str) -> tuple[Any, Any]:
    import torch
    from torch import nn

    features, hidden, time, batch = (64, 256, 32, 32) if name.endswith("wide") else (32, 64, 20, 32)

    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            kind = nn.LSTM if name.startswith("LSTM") else nn.GRU
            self.layer = kind(features, hidden, batch_first=True)
            self.head = nn.Linear(hidden, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.layer(x)[0][:, -1])

    return Last(), torch.randn(batch, time, features)


def _other(name: str) -> tuple[Any, Any]:
    import torch
    from torch import nn

    from benchmarks.networks import Sizes, Tagger

    def normed(conv: nn.Module, channels: int) -> list[nn.Module]:
        return [conv, nn.BatchNorm2d(channels), nn.ReLU()]

    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
    match name:
        case "conv + BatchNorm":
            network = nn.Sequential(
                *normed(nn.Conv2d(3, 32, 3, padding=1), 32),
                *normed(nn.Conv2d(32, 32, 3, padding=1), 32),
                nn.MaxPool2d(2),
                *normed(nn.Conv2d(32, 64, 3, padding=1), 64),
                *(*head, nn.Linear(64, 10)),
            )
            return network, torch.randn(16, 3, 32, 32)
        case "depthwise":
            network = nn.Sequential(
                *(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU()),
                *(nn.Conv2d(32, 32, 3, padding=1, groups=32), nn.ReLU()),
                *(nn.Conv2d(32, 64, 1), nn.ReLU()),
                *(nn.Conv2d(64, 64, 3, padding=1, stride=2, groups=64), nn.ReLU()),
                *(nn.Conv2d(64, 64, 1), nn.ReLU()),
                *(*head, nn.Linear(64, 10)),
            )
            return network, torch.randn(16, 3, 32, 32)
        case "strided":
            network = nn.Sequential(
                *(nn.Conv2d(3, 32, 5, padding=2, stride=2), nn.ReLU()),
                *(nn.Conv2d(32, 64, 3, padding=1, stride=2), nn.ReLU()),
                *(nn.Conv2d(64, 64, 3, padding=1, stride=2), nn.ReLU()),
                *(*head, nn.Linear(64, 10)),
            )
            return network, torch.randn(16, 3, 64, 64)
        case "conv net":
            network = nn.Sequential(
                *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Flatten(), nn.Linear(32 * 7 * 7, 10)),
            )
            return network, torch.randn(32, 1, 28, 28)
        case _:
            tagger = Tagger(Sizes(2, 128, 4, 256, 32, vocabulary=1000), 10)
            return tagger, torch.randint(0, 1000, (16, 32))

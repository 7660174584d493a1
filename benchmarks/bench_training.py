"""`Trainer.fit` beside a loop by hand over the step in a session, and beside an eager loop of torch."""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Context, Peer, contest
from benchmarks.rows import Row, ratio_at_most

NAME = "training"
DESCRIPTION = "an epoch of training with SGD, one thread; CPU time, the least of several"

#: By network, the rows of an epoch, those of a batch, and the bar beside torch eager.
_NETWORKS = {
    "64-128-128-10": (8000, 32, 0.3),
    "784-512-512-10": (2560, 64, 0.75),
    "a conv net": (960, 32, 0.95),
    "a transformer 2×128": (320, 16, 0.9),
}
_BATCHES = 1000


def run(context: Context) -> list[Row]:
    """`fit` against the step in a session for each source of batches, and against torch for each network."""
    if not context.has("torch"):
        return [Row("fit", math.nan, "ms", "torch", "not installed")]
    names = context.settings.get("networks", ",".join(_NETWORKS)).split(",")
    return [*_sources(context), *(row for name in names for row in _beside_torch(context, name))]


def _network(name: str, rows: int) -> tuple[Any, Any, Any]:
    """A network of torch, and data with labels."""
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
            x = torch.randn(rows, 1, 28, 28)
        case "a transformer 2×128":
            network = Tagger(Sizes(2, 128, 4, 256, 32, vocabulary=1000), 10)
            x = torch.randint(0, 1000, (rows, 32))
        case _:
            widths = [int(each) for each in name.split("-")]
            network, x = perceptron(widths), torch.randn(rows, widths[0])
    return network.train(), x, torch.randint(0, 10, x.shape[:1])


def _trainer(network: Any, x: Any) -> Any:
    import onnxsmith.torch
    from onnxsmith.runtime import using
    from onnxsmith.training import Trainer, sgd

    model = onnxsmith.torch.export(network, (x,))
    trainer = Trainer(model, optimizer=sgd(0.01))
    with using(intra_op_threads=1):
        assert trainer.session is not None  # opened with one thread
    return trainer


def _beside_torch(context: Context, name: str) -> list[Row]:
    import torch

    torch.set_num_threads(1)
    rows, size, bar = _NETWORKS[name]
    network, x, target = _network(name, rows)
    trainer = _trainer(network, x[:size])
    given = x.numpy(), target.numpy()
    peer = Peer(
        "torch eager", lambda: _in_torch(network, x, target, size), package="torch", bar=ratio_at_most(bar)
    )
    return contest(
        context,
        f"fit, {name}",
        lambda: trainer.fit(*given, batch_size=size),
        [peer],
        unit="ms",
        per_second=1e3,
        choose=min,
    )


def _in_torch(network: Any, x: Any, target: Any, size: int) -> Callable[[], object]:
    import torch

    trained = copy.deepcopy(network)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.01)

    def run() -> float:
        total = 0.0
        order = torch.randperm(len(x))
        for chosen in order.split(size):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(trained(x[chosen]), target[chosen])
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total

    return run


def _sources(context: Context) -> list[Row]:
    """A thousand batches of each source, by `fit` and by hand."""
    import pyarrow
    import pyarrow.parquet
    import torch

    size = 32
    network, x, target = _network("64-128-128-10", size * _BATCHES)
    trainer, by_hand = _trainer(network, x[:size]), _trainer(network, x[:size])
    given, labels = x.numpy(), target.numpy()
    session = by_hand.session
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x, target), batch_size=None, sampler=_slices(len(x), size)
    )
    folder = tempfile.TemporaryDirectory(prefix="onnxsmith-training-")
    path = str(Path(folder.name) / "rows.parquet")
    table = pyarrow.table({**{f"f{k}": given[:, k] for k in range(given.shape[1])}, "label": labels})
    pyarrow.parquet.write_table(table, path)

    def hand_in_order() -> None:
        for k in range(0, len(given), size):
            float(session(given[k : k + size], labels[k : k + size]))

    def hand_shuffled() -> None:
        order = np.random.default_rng(0).permutation(len(given))
        for k in range(0, len(given), size):
            chosen = order[k : k + size]
            float(session(given[chosen], labels[chosen]))

    def hand_loader() -> None:
        for each, label in loader:
            float(session(each.numpy(), label.numpy()))

    def hand_parquet() -> None:
        file = pyarrow.parquet.ParquetFile(path)
        for block in file.iter_batches(batch_size=16_384):
            columns = [each.to_numpy() for each in block.columns]
            matrix, label = np.column_stack(columns[:-1]), columns[-1]
            for k in range(0, len(label), size):
                float(session(matrix[k : k + size], label[k : k + size]))

    cases: list[tuple[str, Callable[[], object], Callable[[], object], float]] = [
        (
            "numpy, in order",
            lambda: trainer.fit(given, labels, shuffle=False),
            hand_in_order,
            1.05,
        ),
        ("numpy, shuffled", lambda: trainer.fit(given, labels), hand_shuffled, 1.05),
        ("a DataLoader", lambda: trainer.fit(loader), hand_loader, 1.05),
        ("parquet", lambda: trainer.fit(path, "label", shuffle=False), hand_parquet, 1.1),
    ]
    try:
        return [
            row
            for name, ours, theirs, bar in cases
            for row in contest(
                context,
                f"fit, {_BATCHES} batches from {name}",
                ours,
                [Peer("a loop by hand", lambda theirs=theirs: theirs, bar=ratio_at_most(bar))],
                unit="ms",
                per_second=1e3,
                choose=min,
            )
        ]
    finally:
        folder.cleanup()


def _slices(rows: int, size: int) -> list[list[int]]:
    """The places of the rows of each batch, for a loader that takes whole batches of a dataset."""
    return [list(range(k, k + size)) for k in range(0, rows, size)]

"""Shuffling by a seed: data in memory as a whole, and what is larger than memory through a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from onnxsmith.core.value import Array

#: How many rows a buffer has at most, and how many bytes they are at most. The docs name both.
BUFFER_ROWS = 65_536
BUFFER_BYTES = 64_000_000


def order_of(rows: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The order of all rows in an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(rows)


def split(rows: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows for training and those for validation, each in their order."""
    order = np.random.default_rng([seed, 1, 1]).permutation(rows)
    count = min(max(round(rows * share), 1), rows - 1)
    return np.sort(order[count:]), np.sort(order[:count])


def buffer_rows(columns: Sequence[Array]) -> int:
    """How many rows like those of some columns a buffer has."""
    rows = max(len(columns[0]), 1)
    size = max(sum(each.nbytes for each in columns) // rows, 1)
    return max(min(BUFFER_ROWS, BUFFER_BYTES // size), 1)


def shuffled(
    blocks: Iterable[list[Array]], batch_size: int, seed: int, epoch: int
) -> Iterator[tuple[Array, ...]]:
    """Batches of the rows of blocks, mixed in a buffer: half of what it has goes out whenever it is full."""
    random = np.random.default_rng([seed, epoch])
    held: list[Array] | None = None
    for block in blocks:
        held = block if held is None else [np.concatenate(pair) for pair in zip(held, block, strict=True)]
        count = len(held[0])
        if count < buffer_rows(held):
            continue
        order = random.permutation(count)
        # Whole batches only: what is left of one stays for the next.
        given = max(count // 2 // batch_size, 1) * batch_size
        if given > count:
            continue
        yield from _batches([each[order[:given]] for each in held], batch_size)
        held = [each[order[given:]] for each in held]
    if held is not None and len(held[0]):
        order = random.permutation(len(held[0]))
        yield from _batches([each[order] for each in held], batch_size)


def rebatched(blocks: Iterable[list[Array]], batch_size: int) -> Iterator[tuple[Array, ...]]:
    """The rows of blocks in their order, as batches of one size but for the last."""
    held: list[Array] | None = None
    for block in blocks:
        held = block if held is None else [np.concatenate(pair) for pair in zip(held, block, strict=True)]
        whole = len(held[0]) // batch_size * batch_size
        yield from _batches([each[:whole] for each in held], batch_size)
        held = [each[whole:] for each in held]
    if held is not None and len(held[0]):
        yield tuple(held)


def _batches(columns: list[Array], batch_size: int) -> Iterator[tuple[Array, ...]]:
    for begin in range(0, len(columns[0]), batch_size):
        yield tuple(each[begin : begin + batch_size] for each in columns)

"""`Position`: how far training is, for a fit that goes on elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(slots=True)
class Position:
    """How far training is: all that a fit needs beside the arrays of the state to go on with the same bits.

    >>> from onnxsmith.training import Position
    >>> Position.of(Position(seed=3, step=10).as_dict()).step
    10
    """

    #: What batches are shuffled by, together with the number of the epoch.
    seed: int = 0
    #: Epochs that are done, by all fits; batches of the epoch that has begun; steps, by all fits.
    epoch: int = 0
    batch: int = 0
    step: int = 0
    #: At which epoch and step the fit began, and how many steps it has if that is known.
    first_epoch: int = 0
    first_step: int = 0
    total_steps: int | None = None
    #: Of the epoch that has begun: the sum of the losses of examples, how many there were, and seconds.
    loss_sum: float = 0.0
    rows: int = 0
    seconds: float = 0.0
    #: The records of the epochs that are done.
    records: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    #: What plateaus of the rate have seen.
    plateaus: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])

    def as_dict(self) -> dict[str, Any]:
        """As numbers, texts, lists and dicts, which JSON takes."""
        return asdict(self)

    def begin(self) -> None:
        """A fit begins here."""
        self.first_epoch, self.first_step = self.epoch, self.step
        self._clear_epoch()

    def rewind(self) -> None:
        """Go back to where the fit began."""
        self.records = self.records[: len(self.records) - (self.epoch - self.first_epoch)]
        self.epoch, self.step = self.first_epoch, self.first_step
        self._clear_epoch()

    def end_epoch(self, record: dict[str, float]) -> None:
        """An epoch is done."""
        self.records.append(record)
        self.epoch += 1
        self._clear_epoch()

    def _clear_epoch(self) -> None:
        self.batch, self.rows, self.loss_sum, self.seconds = 0, 0, 0.0, 0.0

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Position:
        """The position that `as_dict` gave."""
        return cls(**{each.name: entries[each.name] for each in fields(cls) if each.name in entries})

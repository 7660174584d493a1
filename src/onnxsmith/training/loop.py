"""The loop of `fit`: steps of training over batches and epochs, and the position that says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from onnxsmith.core.value import Array
from onnxsmith.errors import NonFiniteLossError, OnnxsmithError, TrainingDataError
from onnxsmith.training.callbacks import Callback
from onnxsmith.training.feeding import Feed
from onnxsmith.training.progress import Progress
from onnxsmith.training.rates import Rates

if TYPE_CHECKING:  # the trainer has the loop
    from onnxsmith.training.trainer import Trainer


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


class Loop:
    """One fit: runs epochs from a position on. The trainer has the session and the position."""

    def __init__(
        self,
        trainer: Trainer,
        feed: Feed,
        rates: Rates,
        callbacks: Sequence[Callback],
        validate: Callable[[], dict[str, float]],
        progress: Progress,
    ) -> None:
        self._trainer = trainer
        self._feed = feed
        self._rates = rates
        self._callbacks = callbacks
        self._validate = validate
        self._progress = progress
        #: Only callbacks that look at batches cost something in each.
        self._watching = [each for each in callbacks if type(each).on_batch_end is not Callback.on_batch_end]
        self.is_stopped = False

    def run(self, last_epoch: int) -> None:
        """Run epochs until so many are done, or something stops the fit."""
        position = self._trainer.position
        for each in self._callbacks:
            each.on_fit_begin(self._trainer)
        with self._progress as progress:
            while position.epoch < last_epoch and not self.is_stopped:
                if not position.batch:
                    for each in self._callbacks:
                        each.on_epoch_begin(self._trainer)
                progress.begin(position.epoch + 1, last_epoch, self._feed.batches)
                if not self._epoch(position):
                    break
                progress.end(position.records[-1])
        for each in self._callbacks:
            each.on_fit_end(self._trainer)

    def _epoch(self, position: Position) -> bool:
        """Run what is left of an epoch; False if it was stopped in its midst."""
        begun = time.perf_counter() - position.seconds
        self._batches(position)
        position.seconds = time.perf_counter() - begun
        if self.is_stopped and self._feed.batches is not None and position.batch < self._feed.batches:
            return False
        if not position.batch:
            raise TrainingDataError(
                "the data has no batches"
                if not position.epoch
                else f"epoch {position.epoch + 1} has no batches",
                help="a generator gives its batches once: give a function that makes it, fit(lambda: batches())",
            )
        record: dict[str, float] = {
            "epoch": position.epoch + 1,
            "step": position.step,
            "loss": position.loss_sum / max(position.rows, 1),
            **self._validate(),
            **self._rates.of_step(position.step - 1),
            "seconds": position.seconds,
        }
        self._rates.follow(record)
        position.plateaus = self._rates.plateaus
        position.end_epoch(record)
        for each in self._callbacks:
            each.on_epoch_end(self._trainer, record)
        return True

    def _batches(self, position: Position) -> None:
        # A step of a small network takes 60 µs: what is done for each batch stands here in local variables.
        trainer, watching, progress = self._trainer, self._watching, self._progress
        rates = self._rates if self._rates.of_step(position.step) else None
        run = trainer.session
        extra: tuple[Array, ...] = () if rates is None else rates.arrays(position.step)
        step, total, rows = position.step, position.loss_sum, position.rows
        first = step - position.batch
        try:
            for values in self._feed.epoch(position.seed, position.epoch, position.batch):
                if rates is not None:
                    extra = rates.arrays(step)
                loss = float(run(*values, *extra))
                if loss - loss != 0.0:  # NaN or infinite: what is left of a finite number is 0
                    self._note(position, step, step - first, total, rows)
                    trainer.reject_step(values, extra, loss)
                count = len(values[0])
                total += loss * count
                rows += count
                step += 1
                if step >= progress.due:
                    self._note(position, step, step - first, total, rows)
                    progress.show(position, loss)
                if watching:
                    self._note(position, step, step - first, total, rows)
                    for each in watching:
                        each.on_batch_end(trainer, loss)
                    if self.is_stopped:
                        break
        except OnnxsmithError as error:
            if not isinstance(error, NonFiniteLossError):
                error.message = f"batch {step - first + 1} of epoch {position.epoch + 1}: {error.message}"
                error.args = (error.message,)
                self._note(position, step, step - first, total, rows)
            raise
        else:
            self._note(position, step, step - first, total, rows)

    @staticmethod
    def _note(position: Position, step: int, batch: int, total: float, rows: int) -> None:
        position.step, position.batch, position.loss_sum, position.rows = step, batch, total, rows

"""The loop of `fit`: steps of training over batches and epochs, and the position that says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from onnxsmith.core.value import Array
from onnxsmith.errors import NonFiniteLossError, OnnxsmithError, TrainingDataError
from onnxsmith.training.callbacks import Callback
from onnxsmith.training.feeding import Batch, Feed
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
        position.records.append(record)
        position.epoch += 1
        position.batch, position.rows, position.loss_sum, position.seconds = 0, 0, 0.0, 0.0
        for each in self._callbacks:
            each.on_epoch_end(self._trainer, record)
        return True

    def _batches(self, position: Position) -> None:
        trainer, watching, rates, progress = self._trainer, self._watching, self._rates, self._progress
        run, has_rates = trainer.session, bool(rates.of_step(position.step))
        batches = iter(self._feed.epoch(position.seed, position.epoch, position.batch))
        extra: tuple[Array, ...] = ()
        while True:
            try:
                values = next(batches, None)
                if values is None:
                    return
                if has_rates:
                    extra = rates.arrays(position.step)
                loss = float(run(*values, *extra))
            except OnnxsmithError as error:
                raise self._placed(error, position) from None
            if loss - loss != 0.0:  # NaN or infinite: what is left of a finite number is 0
                trainer.reject_step(values, extra, loss)
            rows = len(values[0]) if values[0].ndim else 1
            position.loss_sum += loss * rows
            position.rows += rows
            position.batch += 1
            position.step += 1
            if position.step >= progress.due:
                progress.show(position, loss)
            for each in watching:
                each.on_batch_end(trainer, loss)
            if self.is_stopped:
                return

    def _placed(self, error: OnnxsmithError, position: Position) -> OnnxsmithError:
        """An error that says in which batch it is."""
        if isinstance(error, NonFiniteLossError) or not (position.step or position.batch):
            return error
        place = f"in batch {position.batch} of epoch {position.epoch + 1}"
        error.message = f"{place}: {error.message}"
        error.args = (error.message,)
        return error


def rows_of(batch: Batch) -> int:
    """How many examples a batch has."""
    return len(batch[0]) if batch[0].ndim else 1

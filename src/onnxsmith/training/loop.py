"""The loop of `fit`: steps of training over batches and epochs, and callbacks between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from onnxsmith.core.value import Array
from onnxsmith.errors import NonFiniteLossError, OnnxsmithError, TrainingDataError
from onnxsmith.training.callbacks import Callback, Training
from onnxsmith.training.feeding import Batch, Feed
from onnxsmith.training.position import Position
from onnxsmith.training.progress import Progress
from onnxsmith.training.rates import Rates


class Loop:
    """One fit: runs epochs from a position on. The trainer has the session and the position."""

    def __init__(
        self,
        trainer: Training,
        run: Callable[..., Any],
        feed: Feed,
        rates: Rates,
        callbacks: Sequence[Callback],
        validate: Callable[[], dict[str, float]],
        reject: Callable[[Batch, Sequence[Array], float], NonFiniteLossError],
        progress: Progress,
    ) -> None:
        self._trainer = trainer
        self._run = run
        self._feed = feed
        self._rates = rates
        self._callbacks = callbacks
        self._validate = validate
        self._reject = reject
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
        run = self._run
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
                    raise self._reject(values, extra, loss)
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

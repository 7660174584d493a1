"""Callbacks: what happens beside the steps of `Trainer.fit`, such as stopping early."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from onnxsmith.core.value import Array
from onnxsmith.errors import AttributeValueError, UnknownNameError, boundary
from onnxsmith.errors.arguments import check_flags, check_numbers
from onnxsmith.graphs.model import Model
from onnxsmith.training.checkpoints import Checkpoint
from onnxsmith.training.history import History
from onnxsmith.training.position import Position


class Training(Protocol):
    """A trainer as callbacks see it; `Trainer` is one.

    >>> from onnxsmith.training import Callback, Training
    >>> class Halving(Callback):
    ...     def on_epoch_end(self, trainer: Training, record: dict[str, float]) -> None:
    ...         if record["loss"] < trainer.history[0]["loss"] / 2:
    ...             trainer.stop()
    """

    #: How far it is.
    position: Position
    #: True while a fit goes on that began in another process.
    is_resumed: bool

    @property
    def state(self) -> dict[str, Array]:
        """A copy of weights, running statistics and what the optimiser keeps. Assign to go on from there."""
        ...

    @state.setter
    def state(self, state: Mapping[str, Array]) -> None: ...

    @property
    def model(self) -> Model:
        """The trained model as it is now."""
        ...

    @property
    def step(self) -> Model:
        """The step of training as a model."""
        ...

    @property
    def history(self) -> History:
        """The records of all epochs."""
        ...

    @property
    def resumed_from(self) -> Path | None:
        """The checkpoint that the fit goes on from."""
        ...

    def checkpoint(self) -> Checkpoint:
        """A checkpoint of the fit as it is now."""
        ...

    def stop(self) -> None:
        """End the fit."""
        ...


class Callback:
    """Base of callbacks: methods that `fit` calls. A subclass overrides those that it needs.

    `trainer.position` says how far the fit is, `trainer.state` has the arrays, and `trainer.stop()` ends the fit.

    >>> from onnxsmith.training import Callback
    >>> class Printing(Callback):
    ...     def on_epoch_end(self, trainer, record):
    ...         print(record["epoch"], round(record["loss"], 3))
    """

    #: True for a callback that is called behind all others, whose states it keeps.
    is_last: ClassVar[bool] = False

    def on_fit_begin(self, trainer: Training) -> None:
        """Called before the first batch."""

    def on_epoch_begin(self, trainer: Training) -> None:
        """Called before the first batch of an epoch."""

    def on_batch_end(self, trainer: Training, loss: float) -> None:
        """Called after each step, with its loss."""

    def on_epoch_end(self, trainer: Training, record: dict[str, float]) -> None:
        """Called after each epoch and its validation, with what the history has of it; more may be added to it."""

    def on_fit_end(self, trainer: Training) -> None:
        """Called after the last epoch; not where an error ended the fit."""

    def state(self) -> dict[str, Any]:
        """State of the callback that a checkpoint keeps: numbers, texts and arrays of numpy."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""


def watched(record: Mapping[str, float], monitor: str) -> float:
    """The value of an epoch under a name; without validation "val_loss" is the loss of training."""
    found = record.get(monitor)
    if found is None and monitor.startswith("val_") and not any(each.startswith("val_") for each in record):
        found = record.get(monitor.removeprefix("val_"))
    if found is None:
        raise UnknownNameError(
            f"an epoch has no value '{monitor}' to watch", help=f"it has {', '.join(record)}"
        )
    return float(found)


class EarlyStopping(Callback):
    """Ends a fit when a value has not got better for more than `patience` epochs, and takes the best weights again.

    `monitor` is a name of the history; without data for validation "val_loss" is the loss of training. A loss or error
    is better if it is less by more than `min_delta`, an accuracy or score (`mode="max"`) if it is greater.

    >>> from onnxsmith.training import EarlyStopping
    >>> EarlyStopping(monitor="val_accuracy", patience=3, mode="max")
    EarlyStopping('val_accuracy', patience=3, mode='max')
    """

    @boundary
    def __init__(
        self,
        monitor: str = "val_loss",
        *,
        patience: int = 5,
        min_delta: float = 0.0,
        mode: Literal["min", "max"] | None = None,
        restore_best: bool = True,
    ) -> None:
        check_numbers(patience=patience, min_delta=min_delta)
        check_flags(restore_best=restore_best)
        if mode not in (None, "min", "max"):
            raise AttributeValueError(f"mode is 'min' or 'max', not {mode!r}", culprit="mode")
        self.monitor: str = monitor
        self.patience: int = int(patience)
        self.min_delta: float = float(min_delta)
        self.mode: Literal["min", "max"] = mode or (
            "max" if monitor.removeprefix("val_") in ("accuracy", "r2") else "min"
        )
        self.restore_best: bool = bool(restore_best)
        self.best: float = math.nan
        self.best_epoch: int | None = None
        #: Epochs since the best.
        self.waited: int = 0
        self._best_state: dict[str, Any] | None = None
        self._clear()

    def _clear(self) -> None:
        self.best = math.inf if self.mode == "min" else -math.inf
        self.best_epoch, self.waited, self._best_state = None, 0, None

    def on_fit_begin(self, trainer: Training) -> None:
        if not trainer.is_resumed:
            self._clear()

    def on_epoch_end(self, trainer: Training, record: dict[str, float]) -> None:
        value = watched(record, self.monitor)
        gain = self.best - value if self.mode == "min" else value - self.best
        if gain > self.min_delta:
            self.best, self.best_epoch, self.waited = value, int(record["epoch"]), 0
            if self.restore_best:
                self._best_state = trainer.state
            return
        self.waited += 1
        if self.waited > self.patience:
            trainer.stop()

    def on_fit_end(self, trainer: Training) -> None:
        if self._best_state is not None and self.waited:
            trainer.state = self._best_state
        self._best_state = None

    def state(self) -> dict[str, Any]:
        kept = {f"best.{name}": each for name, each in (self._best_state or {}).items()}
        epoch = -1 if self.best_epoch is None else self.best_epoch
        return {"value": self.best, "epoch": epoch, "waited": self.waited, **kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.best, self.waited = float(state["value"]), int(state["waited"])
        self.best_epoch = None if state["epoch"] < 0 else int(state["epoch"])
        kept = {name[5:]: each for name, each in state.items() if name.startswith("best.")}
        self._best_state = kept or None

    def __repr__(self) -> str:
        return f"EarlyStopping({self.monitor!r}, patience={self.patience}, mode={self.mode!r})"

"""Between a fit and its checkpoints: what is kept of a fit, and whether a checkpoint belongs to one."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from onnxsmith.errors import AttributeTypeError, AttributeValueError, CheckpointError
from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.runtime.frames import Json
from onnxsmith.runtime.sessions import Session
from onnxsmith.runtime.settings import current, usable_cores
from onnxsmith.source import caller_span
from onnxsmith.training import fingerprints
from onnxsmith.training.callbacks import Callback, Training
from onnxsmith.training.checkpoints import Checkpoint, read_checkpoint, saved
from onnxsmith.training.feeding import ArrayFeed, Feed
from onnxsmith.training.position import Position
from onnxsmith.training.step import Objective
from onnxsmith.training.updates import Updates

#: What has to be the same, and how an error calls it.
_CALLED = {
    "model": "model",
    "loss": "loss or penalty",
    "optimizer": "optimizer, or another clipping or accumulation",
    "rates": "schedule of the learning rate",
    "data": "data",
    "batch_size": "batch_size",
    "shuffle": "shuffle",
    "seed": "seed",
    "steps": "number of steps, over which its schedule goes",
}
#: The name under which the state of a callback has its class.
_CLASS = "class"


class Resumable(Training, Protocol):
    """A trainer, with all that a checkpoint has to know of it."""

    @property
    def objective(self) -> Objective:
        """The loss that is minimised."""
        ...

    @property
    def updates(self) -> Updates:
        """The optimisers, and what is done to gradients."""
        ...

    @property
    def session(self) -> Session:
        """The session of the step."""
        ...


@dataclass(slots=True)
class Running:
    """Data, callbacks and settings of a fit: a checkpoint says of them what has to be the same."""

    feed: Feed | None
    callbacks: Sequence[Callback]
    batch_size: int
    shuffle: bool
    epochs: int
    #: The file that the fit goes on from.
    resumed_from: Path | None = None
    #: True if a callback had stopped the fit before its checkpoint was written.
    was_stopped: bool = False
    _fixed: dict[str, Json] | None = None

    @classmethod
    def nothing(cls) -> Running:
        """No fit at all, as long as none was begun."""
        return cls(None, (), 1, False, 0)

    def fixed(self, trainer: Resumable) -> dict[str, Json]:
        """Digests and settings that have to be the same; they are computed once, as nothing of it changes in a fit."""
        if self._fixed is None:
            objective, updates = trainer.objective, trainer.updates
            schedules = {
                name: schedule
                for pattern, name in updates.rates.items()
                if (schedule := updates.optimizers[pattern].schedule) is not None
            }
            trained = [*objective.names, *objective.state]
            self._fixed = {
                "model": fingerprints.of_model(objective.model, trained),
                "loss": fingerprints.of_model(objective.loss_model()),
                "optimizer": fingerprints.of_model(trainer.step),
                "rates": fingerprints.of_schedules(schedules),
                "data": self._data(),
                "batch_size": self.batch_size,
                "shuffle": self.shuffle,
                "seed": trainer.position.seed,
            }
            if any(each.needs_total for each in schedules.values()):
                batches = None if self.feed is None else self.feed.batches
                self._fixed["steps"] = None if batches is None else batches * self.epochs
        return self._fixed

    def _data(self) -> str:
        if isinstance(self.feed, ArrayFeed):
            return fingerprints.of_arrays(self.feed.columns)
        if self.feed is None:
            return "none"
        return f"streamed, {self.feed.rows} rows, {self.feed.batches} batches"


def checkpoint_of(
    trainer: Resumable, running: Running, rates: dict[str, float], *, is_stopped: bool
) -> Checkpoint:
    """The checkpoint of a fit now."""
    position = trainer.position
    entries = position.as_dict()
    records, plateaus = entries.pop("records"), entries.pop("plateaus")
    entries["rates"] = rates
    entries["is_stopped"] = is_stopped
    names = {*trainer.objective.names, *trainer.objective.state}
    state = trainer.state
    return Checkpoint(
        state,
        [each for each in state if each in names],
        entries,
        records,
        plateaus,
        [{_CLASS: type(each).__name__, **each.state()} for each in running.callbacks],
        running.fixed(trainer),
        _environment(trainer),
    )


def resume(trainer: Resumable, running: Running, given: str | os.PathLike[str]) -> Position | None:
    """Set a trainer and callbacks to a checkpoint, a file or the last of a folder; None where there is none yet.

    Nothing is changed before it is known that all of it fits.
    """
    try:
        place = path_of(given)
    except (AttributeTypeError, AttributeValueError) as error:
        message = "resume is the folder of SaveCheckpoint, or one of its files"
        raise type(error)(f"{message}: {error.message}", culprit="resume") from None
    if not place.exists() or (place.is_dir() and not saved(place)):
        if place.suffix:
            raise CheckpointError(
                f"there is no checkpoint {str(place)!r}",
                help="a folder begins without one, and a file does not",
            )
        return None
    file = saved(place)[-1] if place.is_dir() else place
    found = read_checkpoint(file)
    _check_fixed(found, running.fixed(trainer), file)
    restored = _matched(found, running.callbacks, file)
    wanted = trainer.state
    for name, each in wanted.items():
        kept = found.state.get(name)
        if kept is None or kept.shape != each.shape or kept.dtype != each.dtype:
            raise CheckpointError(
                f"the checkpoint {str(file)!r} has no '{name}' of {each.dtype}{list(each.shape)}"
            )
    _tell_of_bits(found, trainer, file)
    trainer.state = {name: found.state[name] for name in wanted}
    for callback, state in restored:
        callback.restore(state)
    running.resumed_from, running.was_stopped = file, bool(found.position.get("is_stopped"))
    return Position.of(
        {
            **found.position,
            "records": [dict(each) for each in found.history],
            "plateaus": {name: dict(each) for name, each in found.plateaus.items()},
        }
    )


def _check_fixed(found: Checkpoint, wanted: dict[str, Json], file: Path) -> None:
    for name, called in _CALLED.items():
        before, now = found.fixed.get(name), wanted.get(name)
        if before == now:
            continue
        shown = ""
        if not isinstance(before, str) and not isinstance(now, str):
            shown = f": it was {before!r}, and is {now!r}"
        raise CheckpointError(
            f"the checkpoint {str(file)!r} is of another {called}{shown}",
            help="a fit goes on with what it began with; to begin anew from its weights: "
            "trainer.state = {**trainer.state, **read_checkpoint(path).state}",
        )


def _matched(
    found: Checkpoint, callbacks: Sequence[Callback], file: Path
) -> list[tuple[Callback, dict[str, Any]]]:
    """The callbacks of this fit, each with its state; one that had a state and is not there any more is an error."""
    left = list(callbacks)
    matched: list[tuple[Callback, dict[str, Any]]] = []
    for kept in found.callbacks:
        state = {name: each for name, each in kept.items() if name != _CLASS}
        fitting = next((each for each in left if type(each).__name__ == kept[_CLASS]), None)
        if fitting is not None:
            left.remove(fitting)
            matched.append((fitting, state))
        elif state:
            raise CheckpointError(
                f"the checkpoint {str(file)!r} has the state of a callback {kept[_CLASS]}, and the fit has none",
                help=f"fit(…, callbacks=[{kept[_CLASS]}(…), …])",
            )
    return matched


def _environment(trainer: Resumable) -> dict[str, Json]:
    """Device, threads and versions, on which the last bits of a fit depend."""
    threads = current().intra_op_threads
    return {
        "device": trainer.session.device,
        "threads": usable_cores() if threads is None else threads,
        "onnxruntime": _version("onnxruntime"),
        "onnxsmith": _version("onnxsmith"),
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # it is not installed under that name
        return ""


def _tell_of_bits(found: Checkpoint, trainer: Resumable, file: Path) -> None:
    now = _environment(trainer)
    differing = [
        f"{name} {found.environment.get(name)} -> {each}"
        for name, each in now.items()
        if found.environment.get(name) != each
    ]
    if differing:
        tell(
            f"the checkpoint {file.name!r} was written elsewhere ({', '.join(differing)}): the fit goes on, and its "
            "numbers may differ in their last bits from those of a fit that was not interrupted",
            caller_span(),
        )

"""`SaveCheckpoint`: the callback that writes checkpoints while a fit runs, and keeps the last of them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from onnxsmith.errors import CheckpointError, boundary
from onnxsmith.errors.arguments import check_counts, check_flags
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.training.callbacks import Callback, Training
from onnxsmith.training.checkpoints import saved, step_of, write_checkpoint


class SaveCheckpoint(Callback):
    """Writes what a fit goes on from into a folder, after each epoch or after `every` so many steps.

    Each checkpoint is one file, written whole or not at all, and the last `keep` of them stay. `fit(…, resume=folder)`
    goes on from the last one: on the same device, with the same build and number of threads, to the same bits as a fit
    that was not interrupted. A folder with checkpoints of another fit is refused; with `overwrite` they are removed
    when the first new one is written.

    >>> from onnxsmith.training import SaveCheckpoint
    >>> SaveCheckpoint("run/", every=100, keep=2)
    SaveCheckpoint('run', every=100, keep=2)
    """

    is_last = True

    @boundary
    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        every: int | None = None,
        keep: int = 3,
        overwrite: bool = False,
    ) -> None:
        check_counts(every=every, keep=keep)
        check_flags(overwrite=overwrite)
        self.folder: Path = path_of(folder)
        self.every: int | None = every
        self.keep: int = int(keep)
        self.overwrite: bool = bool(overwrite)

    def on_fit_begin(self, trainer: Training) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise CheckpointError(
                f"{str(self.folder)!r} is a file, and checkpoints go into a folder",
                help='SaveCheckpoint("run/")',
            )
        beyond = [each for each in saved(self.folder) if step_of(each) > trainer.position.step]
        resumed = trainer.resumed_from
        is_own = resumed is not None and resumed.parent.resolve() == self.folder.resolve()
        if beyond and not is_own and not self.overwrite:
            raise CheckpointError(
                f"there are checkpoints of another fit in {str(self.folder)!r}: {beyond[-1].name}",
                help=f"fit(…, resume={str(self.folder)!r}) goes on from it; overwrite=True lets new ones replace it",
            )

    def on_batch_end(self, trainer: Training, loss: float) -> None:
        if self.every is not None and trainer.position.step % self.every == 0:
            self._save(trainer)

    def on_epoch_end(self, trainer: Training, record: dict[str, float]) -> None:
        if self.every is None:
            self._save(trainer)

    def _save(self, trainer: Training) -> None:
        file = write_checkpoint(trainer.checkpoint(), self.folder)
        # Those of later steps are of a fit that was not gone on from.
        others = [each for each in saved(self.folder) if each != file]
        later = [each for each in others if step_of(each) > trainer.position.step]
        earlier = [each for each in others if each not in later]
        for each in (*later, *earlier[: max(len(earlier) - self.keep + 1, 0)]):
            with contextlib.suppress(OSError):  # one that cannot be removed does no harm
                each.unlink()

    def __repr__(self) -> str:
        every = "" if self.every is None else f", every={self.every}"
        return f"SaveCheckpoint({str(self.folder)!r}{every}, keep={self.keep})"

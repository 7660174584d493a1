"""Checkpoints: what a fit goes on from, each one file of safetensors in a folder, written whole or not at all.

A file has the weights by their names, what the optimiser keeps, and notes in its metadata. Knows no trainer: which
checkpoint fits one stands in `resuming`.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.errors import CheckpointError, WeightError, boundary
from onnxsmith.graphs import safetensors_file
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.graphs.temporary_files import remove_orphans
from onnxsmith.runtime.frames import Json

_PREFIX, _ENDING = "step-", ".safetensors"
_NAME = re.compile(rf"{_PREFIX}(\d+)\{_ENDING}")
#: The name of the notes in the metadata of a file, and the layout that they have.
_NOTES, _LAYOUT = "checkpoint", 1
#: What notes have as it is.
_NOTED = ("weights", "position", "history", "plateaus", "fixed", "environment")
#: What arrays are called that callbacks keep.
_OF_CALLBACK = "onnxsmith.callback"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A fit at one step, to go on from; `read_checkpoint` reads one, and `SaveCheckpoint` writes them.

    >>> import numpy as np
    >>> from onnxsmith.training import Checkpoint
    >>> Checkpoint({"w": np.zeros(2, np.float32)}, ["w"], {"step": 10})
    Checkpoint(step 10, 1 weight, 0 epochs)
    """

    #: Weights, what the optimiser keeps, and state of the model, by the names that the step has for them.
    state: Mapping[str, Array]
    #: The names of those that are the model's own: weights and running statistics.
    weights: Sequence[str]
    #: How far the fit is: epoch, batch, step, and what else the trainer counts.
    position: Mapping[str, Json]
    #: A dict for each epoch.
    history: Sequence[Mapping[str, float]] = ()
    #: What plateaus and callbacks have seen.
    plateaus: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Any])
    callbacks: Sequence[Mapping[str, Any]] = ()
    #: What has to be the same where the fit goes on: digests of model, loss, optimiser and data, and settings.
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Any])
    #: What the last bits depend on: device, threads, versions.
    environment: Mapping[str, Json] = field(default_factory=dict[str, Any])

    def __repr__(self) -> str:
        count = f"{len(self.weights)} weight{'s' * (len(self.weights) != 1)}"
        epochs = f"{len(self.history)} epoch{'s' * (len(self.history) != 1)}"
        return f"Checkpoint(step {self.position.get('step', 0)}, {count}, {epochs})"


# -- files -----------------------------------------------------------------------------------------------------------


def write_checkpoint(checkpoint: Checkpoint, folder: Path) -> Path:
    """Write a checkpoint into a folder, which is made where there is none; it takes the place of one of that step."""
    file = folder / f"{_PREFIX}{int(cast(int, checkpoint.position['step'])):08d}{_ENDING}"
    arrays = dict(checkpoint.state)
    callbacks: list[dict[str, Any]] = []
    for number, kept in enumerate(checkpoint.callbacks):
        plain: dict[str, Any] = {}
        for name, value in kept.items():
            if isinstance(value, np.ndarray):
                arrays[f"{_OF_CALLBACK}:{number}:{name}"] = value
            else:
                plain[name] = value
        callbacks.append(plain)
    notes = {
        **{name: getattr(checkpoint, name) for name in _NOTED},
        "layout": _LAYOUT,
        "callbacks": callbacks,
        "names": list(checkpoint.state),
    }
    text = json.dumps(notes, default=_number)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_orphans(folder, f".{_PREFIX}")
        safetensors_file.write(
            {name: array_to_ir(each, name) for name, each in arrays.items()},
            file,
            overwrite=True,
            notes={_NOTES: text, "sum": _sum(text, arrays)},
            is_synced=True,
        )
    except OSError as error:
        raise CheckpointError(
            f"cannot write the checkpoint {str(file)!r}: {error.strerror or error}",
            help="the trainer is as it was, and so are checkpoints of before: make room, and fit(…, resume=…)",
        ) from None
    return file


def _number(value: object) -> Json:
    """A number of numpy as one of Python; json refuses the rest."""
    if isinstance(value, np.generic):
        return cast(Json, cast(Any, value).item())
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[Json]", value))
    raise CheckpointError(
        f"a checkpoint keeps numbers, texts and arrays of numpy, not {type(value).__name__}",
        help="the method `state` of a callback gives what is kept of it",
    )


def _sum(text: str, arrays: Mapping[str, Array]) -> str:
    """A check sum of notes and arrays: a disk that changes a bit is noticed."""
    found = zlib.crc32(text.encode())
    for name in sorted(arrays):
        each = np.ascontiguousarray(arrays[name])
        found = zlib.crc32(f"{name} {each.dtype} {each.shape}".encode(), found)
        found = zlib.crc32(cast(Any, each).reshape(-1).view(np.uint8), found)
    return f"{found:08x}"


@boundary
def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """The checkpoint of a file, or the last one of a folder: its weights, state and history.

    The weights are by their names, and torch's `safetensors.torch.load_file` reads the same file. Nothing that the file
    holds is run.

    >>> import tempfile
    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import SaveCheckpoint, Trainer, read_checkpoint, sgd
    >>> weight = np.zeros((2, 1), np.float32)
    >>> trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2]), "squared", sgd(0.1))
    >>> x = np.float32([[1, 0], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     history = trainer.fit(x, x[:, :1], epochs=3, callbacks=[SaveCheckpoint(folder)], progress=False)
    ...     read_checkpoint(folder)
    Checkpoint(step 3, 1 weight, 3 epochs)
    """
    place = path_of(path)
    if not place.is_dir():
        return _read(place)
    found = saved(place)
    if not found:
        raise CheckpointError(
            f"there is no checkpoint in {str(place)!r}",
            help="fit(…, callbacks=[SaveCheckpoint(folder)]) writes them",
        )
    return _read(found[-1])


def saved(folder: Path) -> list[Path]:
    """The checkpoints of a folder, in the order of their steps."""
    if not folder.is_dir():
        return []
    return sorted((each for each in folder.iterdir() if _NAME.fullmatch(each.name)), key=step_of)


def step_of(file: Path) -> int:
    """The step that a checkpoint was written after, as its name says it."""
    found = _NAME.fullmatch(file.name)
    assert found is not None  # only checkpoints are asked for
    return int(found[1])


def _read(file: Path) -> Checkpoint:
    try:
        notes = safetensors_file.read_notes(file)
        tensors = safetensors_file.read(file)
        arrays = {name: np.array(each.numpy()) for name, each in tensors.items()}
    except WeightError as error:
        raise _damaged(file, error.message) from None
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise _damaged(file, str(error)) from None
    text = notes.get(_NOTES)
    if text is None:
        raise _damaged(file, "it does not say that it is a checkpoint")
    size = file.stat().st_size
    if size != safetensors_file.size_of(file):
        raise _damaged(file, f"it has {size:,} bytes, and its header says {safetensors_file.size_of(file):,}")
    if notes.get("sum") != _sum(text, arrays):
        raise _damaged(file, "its content is not what was written: the check sum is another")
    try:
        return _checkpoint(json.loads(text), arrays)
    except CheckpointError as error:
        raise CheckpointError(f"the checkpoint {str(file)!r} {error.message}", help=error.help) from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise _damaged(file, f"its notes cannot be read ({type(error).__name__})") from None


def _checkpoint(notes: Any, arrays: Mapping[str, Array]) -> Checkpoint:
    if notes["layout"] != _LAYOUT:
        raise CheckpointError(
            f"has the layout {notes['layout']!r}, and this version of onnxsmith reads {_LAYOUT}",
            help="read it with the version that wrote it",
        )
    callbacks: list[dict[str, Any]] = [dict(each) for each in notes["callbacks"]]
    for name in arrays.keys() - set(notes["names"]):
        _, number, called = name.split(":", 2)
        callbacks[int(number)][called] = arrays[name]
    return Checkpoint(
        {name: arrays[name] for name in notes["names"]},
        callbacks=callbacks,
        **{name: notes[name] for name in _NOTED},
    )


def _damaged(file: Path, why: str) -> CheckpointError:
    """The error for a file that is no whole checkpoint; the one before is named, where there is one."""
    others = [each for each in saved(file.parent) if each != file]
    earlier = [each for each in others if not _NAME.fullmatch(file.name) or step_of(each) < step_of(file)]
    return CheckpointError(
        f"the checkpoint {str(file)!r} is damaged: {why}",
        help=f"the one before is {str(earlier[-1])!r}: fit(…, resume={str(earlier[-1])!r})"
        if earlier
        else "there is none before it: fit without resume begins anew",
    )

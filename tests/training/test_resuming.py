"""Fits that go on from a checkpoint: to the same bits, and refused where it is of another fit."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CheckpointError, ModelWarning
from onnxsmith.runtime import using
from onnxsmith.training import (
    Callback,
    Checkpoint,
    EarlyStopping,
    History,
    SaveCheckpoint,
    Trainer,
    adam,
    read_checkpoint,
    sgd,
)
from onnxsmith.training.checkpoints import saved, write_checkpoint
from onnxsmith.training.schedules import cosine, plateau

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(100, 4)).astype(np.float32)
Y = RANDOM.integers(0, 3, 100)
WEIGHT = RANDOM.normal(size=(4, 3)).astype(np.float32)


def model(*, is_tanh: bool = False) -> Model:
    return trace(lambda x: op.Tanh(x @ WEIGHT) if is_tanh else op.Sin(x @ WEIGHT), FLOAT["N", 4])


def trainer(**options: Any) -> Trainer:
    given: dict[str, Any] = {"loss": "cross_entropy", "optimizer": adam(plateau(1e-2, patience=0)), "seed": 3}
    return Trainer(options.pop("model", model()), **{**given, **options})


class Failing(Callback):
    """Ends a fit in its midst, as a killed process does."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_batch_end(self, trainer: Trainer, loss: float) -> None:
        if trainer.position.step == self.step:
            raise KeyboardInterrupt


def fit(made: Trainer, callbacks: Sequence[Callback] = (), **options: Any) -> History:
    given: dict[str, Any] = {"epochs": 5, "batch_size": 16, "validation": 0.2, "progress": False}
    return made.fit(options.pop("data", X), Y, callbacks=callbacks, **{**given, **options})


def interrupted(folder: Path, step: int = 7, **options: Any) -> None:
    callbacks = [SaveCheckpoint(folder, every=options.pop("every", None)), EarlyStopping(), Failing(step)]
    with pytest.raises(KeyboardInterrupt):
        fit(trainer(), callbacks, **options)


def bits(made: Trainer) -> dict[str, bytes]:
    return {name: each.tobytes() for name, each in made.state.items()}


# -- the same bits -------------------------------------------------------------------------------------------------

OPTIMIZERS: dict[str, Any] = {
    "plateau": dict,
    "schedule": lambda: {"optimizer": adam(cosine(1e-2, warmup=3))},
    "groups and clipping": lambda: {"optimizer": {"*": sgd(0.1, momentum=0.9)}, "clip_norm": 0.1},
    "accumulation and average": lambda: {"accumulate": 3, "average": 0.9},
}


@pytest.mark.parametrize(
    ("name", "every", "step"),
    [
        ("plateau", None, 12),  # in the midst of an epoch
        ("plateau", 5, 13),  # saved at ends of epochs, before their validation
        ("schedule", 4, 3),  # before the first checkpoint
        ("groups and clipping", 4, 7),
        ("accumulation and average", 4, 9),
    ],
)
def test_a_fit_goes_on_to_the_same_bits(name: str, every: int | None, step: int, tmp_path: Path) -> None:
    whole = trainer(**OPTIMIZERS[name]())
    history = fit(whole, [EarlyStopping()])
    callbacks = [SaveCheckpoint(tmp_path, every=every), EarlyStopping(), Failing(step)]
    with pytest.raises(KeyboardInterrupt):
        fit(trainer(**OPTIMIZERS[name]()), callbacks)
    again = trainer(**OPTIMIZERS[name]())
    found = fit(again, [SaveCheckpoint(tmp_path, every=every), EarlyStopping()], resume=tmp_path)
    assert bits(again) == bits(whole)
    without = [
        [{name: each for name, each in record.items() if name != "seconds"} for record in given]
        for given in (history, found)
    ]
    assert without[0] == without[1]


def test_a_fit_that_was_stopped_stays_so(tmp_path: Path) -> None:
    """The checkpoint of the last epoch is written before the best weights are taken."""
    callbacks = [EarlyStopping(patience=0, min_delta=10.0), SaveCheckpoint(tmp_path)]
    whole = trainer()
    fit(whole, callbacks)
    again = trainer()
    history = fit(again, [EarlyStopping(patience=0, min_delta=10.0)], resume=tmp_path)
    assert len(history) == 2
    assert bits(again) == bits(whole)


def test_the_callback_that_saves_comes_last(tmp_path: Path) -> None:
    """A checkpoint has the states of the others behind the epoch, wherever they stand in the list."""
    stopping = EarlyStopping()
    fit(trainer(), [SaveCheckpoint(tmp_path), stopping], epochs=3)
    states = {each["class"]: each for each in read_checkpoint(tmp_path).callbacks}
    assert states["EarlyStopping"]["epoch"] == stopping.best_epoch


def test_more_epochs_go_on_from_the_end(tmp_path: Path) -> None:
    whole = trainer()
    fit(whole, epochs=5)
    fit(trainer(), [SaveCheckpoint(tmp_path)], epochs=3)
    again = trainer()
    history = fit(again, epochs=5, resume=saved(tmp_path)[-1])
    assert len(history) == 5
    assert bits(again) == bits(whole)


def test_a_folder_without_checkpoints_begins_anew(tmp_path: Path) -> None:
    made = trainer()
    assert len(fit(made, [SaveCheckpoint(tmp_path / "run")], epochs=2, resume=tmp_path / "run")) == 2
    assert len(saved(tmp_path / "run")) == 2


def test_fits_that_are_killed_go_on_to_the_same_bits() -> None:
    words = [sys.executable, "-m", "tests.training.killed_fits", "--moments", "4", "--seed", "7"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.endswith("4 moments, 0 failures\n")


# -- what is kept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "keep", "steps"), [(None, 2, [20, 25]), (10, 1, [20]), (7, 9, [7, 14, 21])]
)
def test_the_last_checkpoints_stay(every: int | None, keep: int, steps: list[int], tmp_path: Path) -> None:
    fit(trainer(), [SaveCheckpoint(tmp_path, every=every, keep=keep)])
    assert [int(each.name[5:13]) for each in saved(tmp_path)] == steps


def test_a_folder_of_another_fit(tmp_path: Path) -> None:
    fit(trainer(), [SaveCheckpoint(tmp_path)])
    made = trainer()
    first = bits(made)
    with pytest.raises(CheckpointError, match="there are checkpoints of another fit") as caught:
        fit(made, [SaveCheckpoint(tmp_path)])
    assert "overwrite=True" in str(caught.value.help)
    assert bits(made) == first
    fit(made, [SaveCheckpoint(tmp_path, overwrite=True)], epochs=1)
    assert [int(each.name[5:13]) for each in saved(tmp_path)] == [5]


def test_a_second_fit_of_one_trainer_goes_on_in_the_folder(tmp_path: Path) -> None:
    made, saving = trainer(), SaveCheckpoint(tmp_path)
    fit(made, [saving], epochs=1)
    fit(made, [saving], epochs=1)
    assert [int(each.name[5:13]) for each in saved(tmp_path)] == [5, 10]


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(CheckpointError, match="is a file, and checkpoints go into a folder"):
        fit(trainer(), [SaveCheckpoint(tmp_path / "run")])


@pytest.mark.parametrize("failing", ["os.replace", "os.fsync"])
def test_a_full_disk(failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trainer()
    fit(whole)
    made = trainer()
    fit(made, [SaveCheckpoint(tmp_path)], epochs=2)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    again = trainer()
    with monkeypatch.context() as patched:
        patched.setattr(failing, full)
        with pytest.raises(CheckpointError, match="No space left on device"):
            fit(again, [SaveCheckpoint(tmp_path)], resume=tmp_path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert again.position.epoch == 3  # the epoch is done, and the trainer can be used
    last = trainer()
    fit(last, [SaveCheckpoint(tmp_path)], resume=tmp_path)
    assert bits(last) == bits(whole)


# -- another fit ---------------------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "model": ({"model": model(is_tanh=True)}, {}, "another model"),
    "loss": ({"penalty": lambda weight: (weight * weight).sum()}, {}, "another loss or penalty"),
    "optimizer": ({"optimizer": adam(plateau(1e-2, patience=0), eps=1e-4)}, {}, "another optimizer"),
    "clipping": ({"clip_norm": 1.0}, {}, "another optimizer, or another clipping"),
    "rates": ({"optimizer": adam(plateau(1e-3, patience=0))}, {}, "another schedule of the learning rate"),
    "data": ({}, {"data": X + 1.0}, "another data"),
    "validation": ({}, {"validation": 0.3}, "another data"),
    "batch_size": ({}, {"batch_size": 8}, "another batch_size: it was 16, and is 8"),
    "shuffle": ({}, {"shuffle": False}, "another shuffle: it was True, and is False"),
    "seed": ({"seed": 4}, {"validation": (X[80:], Y[80:])}, "another seed: it was 3, and is 4"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_fit_is_refused_by_name(name: str, tmp_path: Path) -> None:
    options, fitting, told = OTHERS[name]
    given = {"validation": fitting["validation"]} if name == "seed" else {}
    fit(trainer(), [SaveCheckpoint(tmp_path)], epochs=1, **given)
    made = trainer(**options)
    first = bits(made)
    with pytest.raises(CheckpointError) as caught:
        fit(made, resume=tmp_path, **fitting)
    assert f"is of {told}" in caught.value.message
    assert bits(made) == first
    assert made.position.step == 0


def test_the_schedule_over_all_steps_has_as_many(tmp_path: Path) -> None:
    fit(trainer(optimizer=adam(cosine(0.1))), [SaveCheckpoint(tmp_path)], epochs=3)
    with pytest.raises(CheckpointError, match=r"another number of steps.*: it was 15, and is 25"):
        fit(trainer(optimizer=adam(cosine(0.1))), epochs=5, resume=tmp_path)


def test_a_callback_whose_state_nobody_takes(tmp_path: Path) -> None:
    interrupted(tmp_path)
    with pytest.raises(CheckpointError, match="the state of a callback EarlyStopping, and the fit has none"):
        fit(trainer(), resume=tmp_path)


def test_a_file_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        fit(trainer(), resume=tmp_path / "step-00000001.safetensors")


def test_a_damaged_checkpoint_leaves_the_trainer_as_it_was(tmp_path: Path) -> None:
    fit(trainer(), [SaveCheckpoint(tmp_path)], epochs=3)
    last, before = saved(tmp_path)[-1], saved(tmp_path)[-2]
    last.write_bytes(last.read_bytes()[:-5])
    made = trainer()
    first = bits(made)
    with pytest.raises(CheckpointError, match="is damaged") as caught:
        fit(made, resume=tmp_path)
    assert str(before) in str(caught.value.help)
    assert bits(made) == first
    assert len(fit(made, resume=before)) == 5


def test_another_number_of_threads_is_told(tmp_path: Path) -> None:
    with using(intra_op_threads=1):
        fit(trainer(), [SaveCheckpoint(tmp_path)], epochs=1)
    with using(intra_op_threads=2), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(trainer(), epochs=2, resume=tmp_path)
    assert [each.category for each in told] == [ModelWarning]
    assert "threads 1 -> 2" in str(told[0].message)


def test_a_state_of_other_shapes(tmp_path: Path) -> None:
    fit(trainer(), [SaveCheckpoint(tmp_path)], epochs=1)
    found = read_checkpoint(tmp_path)
    names = {field: getattr(found, field) for field in Checkpoint.__dataclass_fields__}
    spoiled = Checkpoint(**{**names, "state": {**found.state, "WEIGHT": np.zeros((4, 2), np.float32)}})
    file = write_checkpoint(spoiled, tmp_path)
    with pytest.raises(CheckpointError, match=r"has no 'WEIGHT' of float32\[4, 3\]"):
        fit(trainer(), resume=file)

"""Fits that are killed at random moments: each goes on from its folder to the bits of one that was not interrupted.

`python -m tests.training.killed_fits --moments 30` prints what was found. A process without sessions forks the fits, so
that the package is imported once, and kills them.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CheckpointError
from onnxsmith.runtime import using
from onnxsmith.training import EarlyStopping, SaveCheckpoint, Trainer, adam, read_checkpoint
from onnxsmith.training.checkpoints import saved
from onnxsmith.training.schedules import plateau


def trainer() -> Trainer:
    random_numbers = np.random.default_rng(0)
    first = random_numbers.normal(size=(32, 64)).astype(np.float32)
    second = random_numbers.normal(size=(64, 3)).astype(np.float32)
    model = trace(lambda x: op.Tanh(x @ first) @ second, FLOAT["N", 32])
    return Trainer(model, "cross_entropy", adam(plateau(1e-3, patience=1)), seed=5, metrics=["accuracy"])


def fit(made: Trainer, folder: Path, result: Path) -> None:
    """A fit of some hundred milliseconds, which saves after every third step, and leaves its state in a file."""
    numbers = np.random.default_rng(1)
    x, y = numbers.normal(size=(640, 32)).astype(np.float32), numbers.integers(0, 3, 640)
    with using(intra_op_threads=1):
        history = made.fit(
            x,
            y,
            validation=0.2,
            epochs=8,
            batch_size=32,
            callbacks=[SaveCheckpoint(folder, every=3), EarlyStopping(patience=4)],
            progress=False,
            resume=folder,
        )
    np.savez(result, loss=history["loss"], **made.state)


def run(made: Trainer, folder: Path, result: Path, kill_after: float | None = None) -> bool:
    """Run a fit in a process of its own; True if it came to its end before it was killed."""
    child = os.fork()
    if not child:
        status = 1
        try:
            fit(made, folder, result)
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a fit failed"
    return not os.WIFSIGNALED(status)


def half_files(folder: Path) -> list[str]:
    """The checkpoints of a folder that cannot be read."""
    wrong: list[str] = []
    for each in saved(folder):
        try:
            read_checkpoint(each)
        except CheckpointError as error:
            wrong.append(error.message)
    return wrong


def failures(moments: int, seed: int) -> list[str]:
    """Kill fits at so many moments; what went wrong, and nothing where nothing did."""
    made, draw, found = trainer(), random.Random(seed), list[str]()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        begun = time.perf_counter()
        run(made, place / "whole", place / "whole.npz")
        lasted = time.perf_counter() - begun
        whole = np.load(place / "whole.npz")
        for number in range(moments):
            folder, result = place / f"run-{number}", place / f"result-{number}.npz"
            after = draw.uniform(0.0, lasted)
            is_done = run(made, folder, result, after)
            found += [f"moment {number}: {each}" for each in half_files(folder)]
            if not is_done:
                kept = [each.name for each in saved(folder)]
                run(made, folder, result)
                print(f"killed after {after:.3f} s of {lasted:.3f}, with {kept[-1:] or 'no checkpoint'}")
            again = np.load(result)
            differing = [each for each in whole.files if whole[each].tobytes() != again[each].tobytes()]
            if differing:
                found.append(f"moment {number}: after {after:.3f} s, other bits in {', '.join(differing)}")
            left = [each for each in os.listdir(folder) if each.endswith(".tmp")]
            found += [f"moment {number}: {each} was left" for each in left]
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("error")
    wrong = failures(options.moments, options.seed)
    print("\n".join(wrong) or f"{options.moments} moments, 0 failures")
    sys.exit(bool(wrong))

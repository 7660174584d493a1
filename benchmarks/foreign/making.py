"""A model that another exporter wrote, with inputs and the results of its own framework. Needs numpy and onnx alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx

Array: TypeAlias = "np.ndarray[Any, Any]"
SEED = 25


@dataclass(frozen=True)
class Made:
    """A model, inputs in the order of its own, and what the framework that it comes from gives for them."""

    proto: onnx.ModelProto
    inputs: Sequence[Array]
    outputs: Sequence[Array]


Maker: TypeAlias = Callable[[], Made]


def normal(*shape: int) -> Array:
    """Inputs for a network."""
    return np.random.default_rng(SEED).standard_normal(shape).astype(np.float32)


def write(folder: Path, name: str, made: Made) -> None:
    """Write a model with its inputs and outputs; `read` has them back."""
    onnx.save(made.proto, folder / f"{name}.onnx")
    arrays = {f"input_{number}": each for number, each in enumerate(made.inputs)}
    arrays |= {f"output_{number}": np.asarray(each) for number, each in enumerate(made.outputs)}
    np.savez(folder / f"{name}.npz", **arrays)


def read(place: Path) -> Made:
    """A model that was written, with its arrays."""
    with np.load(place.with_suffix(".npz")) as held:
        arrays = {
            kind: [held[f"{kind}_{n}"] for n in range(len(held.files)) if f"{kind}_{n}" in held.files]
            for kind in ("input", "output")
        }
    return Made(onnx.load(place), arrays["input"], arrays["output"])

"""Calls of the operators that draw, and what their results must be like: type, shape, support, moments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsmith.types.dtypes import DType
from tests.laws.case import Case, node_case

COUNT = 4096
OPSET = 21


@dataclass(frozen=True)
class Drawn:
    """A call with the lowest and highest value, mean and standard deviation of what it draws."""

    name: str
    inputs: tuple[np.ndarray, ...]
    attributes: Mapping[str, Any]
    support: tuple[float, float]
    mean: float
    deviation: float
    dtype: DType = DType.FLOAT
    shape: tuple[int, ...] = (COUNT,)

    def case(self, seed: int | None) -> Case:
        """The call, with a seed or without."""
        attributes = dict(self.attributes)
        if seed is not None:
            attributes["seed"] = seed if self.name == "Dropout" else float(seed)
        title = f"{self.name}_seed_{seed}"
        return node_case(title, self.name, OPSET, self.inputs, attributes, dtypes=[self.dtype])

    def objection(self, value: np.ndarray) -> str | None:
        """What a result has that it may not have; None when it is as it should be."""
        if value.dtype != self.dtype.numpy or value.shape != self.shape:
            return f"{value.dtype} {value.shape}, not {self.dtype} {self.shape}"
        numbers = value.astype(np.float64)
        if numbers.min() < self.support[0] or numbers.max() > self.support[1]:
            return f"from {numbers.min()} to {numbers.max()}, not {self.support}"
        # Six standard errors: one test in five hundred million fails without a reason.
        if abs(numbers.mean() - self.mean) > 6 * self.deviation / np.sqrt(numbers.size):
            return f"mean {numbers.mean()}, not {self.mean}"
        if self.deviation and abs(numbers.std() / self.deviation - 1) > 0.2:
            return f"standard deviation {numbers.std()}, not {self.deviation}"
        return None


def _full(value: float, *shape: int) -> np.ndarray:
    return np.full(shape or (COUNT,), value, np.float32)


_LOG_QUARTERS = np.log(np.array([[0.25, 0.25, 0.25, 0.25]], np.float32))

DRAWN: tuple[Drawn, ...] = (
    Drawn("RandomNormal", (), {"shape": (COUNT,), "mean": 3.0, "scale": 2.0}, (-20, 20), 3.0, 2.0),
    Drawn("RandomUniform", (), {"shape": (COUNT,), "low": 1.0, "high": 3.0}, (1, 3), 2.0, 2 / 12**0.5),
    Drawn("RandomNormalLike", (_full(0),), {"mean": -1.0}, (-20, 20), -1.0, 1.0),
    Drawn("RandomUniformLike", (_full(0),), {}, (0, 1), 0.5, 1 / 12**0.5),
    Drawn("Bernoulli", (_full(0.25),), {}, (0, 1), 0.25, 0.1875**0.5),
    Drawn("Bernoulli", (_full(0),), {}, (0, 0), 0.0, 0.0),
    Drawn("Bernoulli", (_full(1),), {}, (1, 1), 1.0, 0.0),
    Drawn(
        "Multinomial",
        (_LOG_QUARTERS,),
        {"sample_size": COUNT},
        (0, 3),
        1.5,
        1.25**0.5,
        DType.INT32,
        (1, COUNT),
    ),
    Drawn("Dropout", (_full(1), np.array(0.5, np.float32), np.array(True)), {}, (0, 2), 1.0, 1.0),
)

"""Evaluation: the loss and the metrics of data, with the weights that a trainer has now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.errors import TrainingDataError
from onnxsmith.graphs.model import Model
from onnxsmith.passes import optimize
from onnxsmith.runtime.sessions import Session
from onnxsmith.training.feeding import BatchPlan, Feed
from onnxsmith.training.metrics import Metric, measured
from onnxsmith.training.step import Objective


class Evaluation:
    """A model of the loss and the predictions, opened once; weights are inputs of it."""

    def __init__(
        self, objective: Objective, plan: BatchPlan, *, is_averaged: bool, device: str | None
    ) -> None:
        self.model: Model = optimize(objective.loss_model(gives_predictions=True), opset="keep")
        self._plan = plan
        self._names = [each.name for each in self.model.inputs[len(plan.ports) :]]
        self._trained = set(objective.names) if is_averaged else set[str]()
        self._device = device
        self._session: Session | None = None

    def measure(
        self, feed: Feed, state: Mapping[str, Array], metrics: Mapping[str, Metric]
    ) -> dict[str, float]:
        """The loss, as the mean over all examples, and the metrics of all predictions."""
        if self._session is None:
            self._session = Session(self.model, device=self._device)
        weights = [
            np.asarray(state[f"{name}_average" if name in self._trained else name]) for name in self._names
        ]
        total, rows = 0.0, 0
        targets: list[Array] = []
        predictions: list[tuple[Array, ...]] = []
        for batch in feed.epoch(0, 0):
            loss, *found = cast("tuple[Any, ...]", self._session(*batch, *weights))
            count = len(batch[0]) if batch[0].ndim else 1
            total += float(loss) * count
            rows += count
            if metrics:
                predictions.append(tuple(found))
                if self._plan.has_target:
                    targets.append(batch[self._plan.inputs])
        if not rows:
            raise TrainingDataError("the data has no batches")
        values = {"loss": total / rows}
        if metrics:
            outputs = [_joined(each) for each in zip(*predictions, strict=True)]
            target = _joined(targets) if targets else None
            values.update({name: measured(name, each, outputs, target) for name, each in metrics.items()})
        return values


def _joined(parts: Sequence[Array]) -> Array:
    """The parts of all batches as one array; single numbers and ragged parts one after the other."""
    arrays = [np.atleast_1d(each) for each in parts]
    if len({each.shape[1:] for each in arrays}) == 1:
        return np.concatenate(arrays)
    return np.concatenate([each.reshape(-1) for each in arrays])

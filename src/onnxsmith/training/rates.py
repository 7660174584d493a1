"""The learning rates of a fit: what schedules say for each step, and what a plateau makes of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.errors import AttributeValueError
from onnxsmith.training.callbacks import watched
from onnxsmith.training.schedules import Schedule
from onnxsmith.training.updates import Updates


class Rates:
    """The rates of all optimisers whose rate is an input of the step, in the order of those inputs."""

    def __init__(self, updates: Updates) -> None:
        self._schedules: dict[str, Schedule] = {}
        for pattern, name in updates.rates.items():
            schedule = updates.optimizers[pattern].schedule
            if schedule is None:
                raise AttributeValueError(
                    "the rate of the optimizer is open, and a trainer has to know it",
                    help="give a number or a schedule: adam(1e-3), adam(cosine(1e-3))",
                    culprit="optimizer",
                )
            self._schedules[name] = schedule
        #: What plateaus have seen: by the name of the rate its factor, the best value, and epochs without a better one.
        self.plateaus: dict[str, dict[str, float]] = {
            name: {"factor": 1.0, "best": math.inf, "waited": 0.0}
            for name, each in self._schedules.items()
            if each.plateau is not None
        }
        self._total, self._first = 1, 0

    @property
    def needs_total(self) -> bool:
        """True if a schedule has to know how many steps there are."""
        return any(each.needs_total for each in self._schedules.values())

    def begin(self, first: int, total: int | None) -> None:
        """Say at which step a fit begins, and how many it has."""
        self._first, self._total = first, total or 1

    def of_step(self, step: int) -> dict[str, float]:
        """The rates of a step, by name.

        A schedule over all steps is one over those of the fit, and begins anew with it; others go on.
        """
        found: dict[str, float] = {}
        for name, schedule in self._schedules.items():
            number = step - self._first if schedule.needs_total else step
            rate = float(schedule.rate(number, self._total))
            if not 0.0 <= rate < math.inf:
                raise AttributeValueError(
                    f"the schedule gives the rate {rate!r} for step {number}, and a rate is a number from 0 on"
                )
            if schedule.plateau is not None:
                factor = self.plateaus[name]["factor"]
                rate = max(rate * factor, schedule.plateau.smallest) if factor < 1.0 else rate
            found[name] = rate
        return found

    def arrays(self, step: int) -> tuple[Array, ...]:
        """The rates of a step as the step of training takes them."""
        return tuple(np.array(each, np.float64) for each in self.of_step(step).values())

    def follow(self, record: Mapping[str, float]) -> None:
        """Lower rates by what an epoch gave."""
        for name, seen in self.plateaus.items():
            plateau = self._schedules[name].plateau
            assert plateau is not None  # only those are followed
            value = watched(record, plateau.monitor)
            if value < seen["best"] * (1.0 - plateau.least):
                seen["best"], seen["waited"] = value, 0.0
            else:
                seen["waited"] += 1.0
            if seen["waited"] > plateau.patience:
                seen["factor"] *= plateau.factor
                seen["waited"] = 0.0

    def restore(self, plateaus: Mapping[str, Mapping[str, Any]]) -> None:
        """Go on from what plateaus have seen."""
        for name, seen in plateaus.items():
            if name in self.plateaus:
                self.plateaus[name] = {key: float(each) for key, each in seen.items()}

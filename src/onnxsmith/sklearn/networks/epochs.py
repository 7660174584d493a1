"""When a fit ends, and how its rate falls: scikit-learn's rules, as a callback of `Trainer.fit`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from onnxsmith.core.value import Array
from onnxsmith.training import Callback, Schedule, Training

#: Below this rate an adaptive one is not lowered any more, and the factor by which it is.
_SMALLEST, _FACTOR = 1e-6, 5.0

#: How the rate changes, by scikit-learn's names.
RateRule = Literal["constant", "invscaling", "adaptive"]


@dataclass(slots=True)
class Rate:
    """The learning rate of now."""

    value: float

    def schedule(self) -> Schedule:
        """A schedule that gives it in every step."""
        return Schedule(lambda step, total: self.value)


@dataclass(slots=True)
class Progressing:
    """Losses and scores of the epochs of an estimator; a fit that starts warm goes on from them."""

    losses: list[float]
    scores: list[float]
    best_loss: float = math.inf
    best_score: float = -math.inf
    best_weights: dict[str, Array] | None = None
    waited: int = 0
    rows_seen: int = 0


class Epochs(Callback):
    """Follows the loss, or the score of rows that are held out, and ends a fit that gets no better."""

    def __init__(
        self,
        seen: Progressing,
        rate: Rate,
        *,
        rows: int,
        tol: float,
        patience: float,
        rule: RateRule,
        first_rate: float,
        power: float,
        score: Callable[[dict[str, Array]], float] | None,
    ) -> None:
        self._seen, self._rate, self._rows = seen, rate, rows
        self._tol, self._patience, self._rule = tol, patience, rule
        self._first, self._power, self._score = first_rate, power, score
        self.has_converged = False

    def on_epoch_end(self, trainer: Training, record: dict[str, float]) -> None:
        seen = self._seen
        seen.losses.append(record["loss"])
        seen.rows_seen += self._rows
        if self._has_improved(trainer):
            seen.waited = 0
        else:
            seen.waited += 1
        if self._rule == "invscaling":
            self._rate.value = self._first / (seen.rows_seen + 1) ** self._power
        if seen.waited <= self._patience:
            return
        if self._rule == "adaptive" and self._rate.value > _SMALLEST:
            self._rate.value /= _FACTOR
            seen.waited = 0
            return
        self.has_converged = True
        trainer.stop()

    def _has_improved(self, trainer: Training) -> bool:
        seen = self._seen
        if self._score is None:
            loss = seen.losses[-1]
            has_improved = loss <= seen.best_loss - self._tol
            seen.best_loss = min(seen.best_loss, loss)
            return has_improved
        state = trainer.state
        score = self._score(state)
        seen.scores.append(score)
        has_improved = score >= seen.best_score + self._tol
        if score > seen.best_score:
            seen.best_score, seen.best_weights = score, state
        return has_improved

"""`Trainer`: a model, a loss and an optimiser; `fit` trains the model on data, in a session whose state stays."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    NonFiniteLossError,
    SessionStateError,
    boundary,
)
from onnxsmith.errors.arguments import check_counts, check_flags
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs.batches import GivenRows
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.runtime.sessions import Session, arrays_on_device, step_back
from onnxsmith.training.callbacks import Callback
from onnxsmith.training.checkpoints import Checkpoint
from onnxsmith.training.diagnosis import why_not_finite
from onnxsmith.training.evaluating import Evaluation
from onnxsmith.training.feeding import ArrayFeed, Batch, BatchPlan, Feed, feed_of
from onnxsmith.training.history import History
from onnxsmith.training.inference import model_in_use
from onnxsmith.training.loop import Loop
from onnxsmith.training.losses import loss_of
from onnxsmith.training.metrics import Metric, read_metrics
from onnxsmith.training.optimizers import Optimizer, adam
from onnxsmith.training.packaging import Kind, package_of, planned_rates
from onnxsmith.training.position import Position
from onnxsmith.training.progress import Progress
from onnxsmith.training.rates import Rates
from onnxsmith.training.resuming import Running, checkpoint_of
from onnxsmith.training.resuming import resume as resume_from
from onnxsmith.training.schedules import Schedule
from onnxsmith.training.shuffling import split
from onnxsmith.training.step import TARGET, Objective, initial_state, step_of
from onnxsmith.training.summary import Summary, summary_of
from onnxsmith.training.targets import Loss, classes_of
from onnxsmith.training.updates import Updates, read_updates
from onnxsmith.types.annotations import Annotation
from onnxsmith.types.value_types import TensorType


class Trainer:
    """Trains the weights of a model on ONNX Runtime, on any device.

    `loss` is the name of a function of `onnxsmith.training.losses`, any function of predictions and a target, or the
    name of an output of the model that is the loss. `weights` and `freeze` say which weights are trained, and the
    other options are those of `training_step`. Weights that the loss does not depend on stay as they are.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import Trainer, sgd
    >>> weight = np.zeros((2, 1), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> trainer = Trainer(model, loss="squared", optimizer=sgd(0.2))
    >>> x = np.float32([[1, 0], [0, 1], [1, 1], [2, 1]])
    >>> trainer.fit(x, x @ np.float32([[2], [3]]), epochs=100, batch_size=2)["loss"][-1] < 1e-6
    True
    >>> trainer.model(np.float32([[1, 1]])).round(2)
    array([[5.]], dtype=float32)
    """

    @boundary
    def __init__(
        self,
        model: ModelLike,
        loss: str | Loss = "cross_entropy",
        optimizer: Optimizer | Mapping[str, Optimizer] | None = None,
        *,
        weights: str | Sequence[str] | None = None,
        freeze: str | Sequence[str] | None = None,
        target: Annotation | None = None,
        penalty: Callable[..., Any] | None = None,
        sample_weight: bool = False,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        accumulate: int = 1,
        average: float | None = None,
        metrics: str | Metric | Sequence[str | Metric] | Mapping[str, str | Metric] = (),
        device: str | None = None,
        seed: int = 0,
    ) -> None:
        check_flags(sample_weight=sample_weight)
        if isinstance(seed, bool) or not isinstance(cast(object, seed), int | np.integer) or seed < 0:
            raise AttributeTypeError(f"seed is a whole number from 0 on, not {seed!r}", culprit="seed")
        self._given = model_of(model, "Trainer")
        self._device = device
        self._metrics = read_metrics(cast(Given, metrics))
        self._updates = read_updates(
            adam(1e-3) if optimizer is None else optimizer,
            clip_norm=clip_norm,
            clip_value=clip_value,
            accumulate=accumulate,
            average=average,
        )
        self._rates = Rates(self._updates)
        self._skips = weights is None
        self._objective = Objective.of(
            self._given,
            loss_of(loss, [each.name for each in self._given.outputs]),
            weights=weights,
            freeze=freeze,
            target=target,
            penalty=penalty,
            is_weighted=sample_weight,
            seed=int(seed),
        )
        #: How far training is; checkpoints have it beside the state.
        self.position: Position = Position(seed=int(seed))
        #: True while a fit goes on that began in another process.
        self.is_resumed: bool = False
        self._session: Session | None = None
        self._evaluation: Evaluation | None = None
        self._loop: Loop | None = None
        #: The fit that runs, or ran last; checkpoints say of it what has to be the same.
        self.running: Running = Running.nothing()
        self._make()

    def _make(self) -> None:
        """Make the step of the objective, and what follows of it."""
        self._step = step_of(self._objective, self._updates, skips=self._skips)
        self._initial = initial_state(self._objective.model, self._step)
        reached = [each for each in self._objective.names if each in self._initial]
        self._objective = self._objective.with_weights(reached)
        self._plan = _plan(self._objective, self._step)
        self._evaluation = None

    # -- what there is -------------------------------------------------------------------------------------------

    @property
    def step(self) -> Model:
        """One step of training as a model, as `training_step` makes it."""
        return self._step

    @property
    def evaluation(self) -> Model:
        """The model of the loss and the predictions: it takes a batch, running statistics and weights."""
        return self._evaluated().model

    @property
    def trained(self) -> list[str]:
        """The names of the weights that are trained."""
        return list(self._objective.names)

    @property
    def objective(self) -> Objective:
        """The loss that is minimised, with the model and the weights that are trained."""
        return self._objective

    @property
    def resumed_from(self) -> Path | None:
        """The checkpoint that the fit goes on from, or that of the last fit."""
        return self.running.resumed_from

    def checkpoint(self) -> Checkpoint:
        """A checkpoint of the fit as it is now; callbacks ask for it, and `SaveCheckpoint` writes it."""
        is_stopped = self._loop is not None and self._loop.is_stopped
        return checkpoint_of(
            self, self.running, self._rates.of_step(self.position.step), is_stopped=is_stopped
        )

    @property
    def updates(self) -> Updates:
        """The optimisers and what is done to gradients."""
        return self._updates

    @property
    def model(self) -> Model:
        """The trained model: that which was given, in use, with the weights and running statistics of now.

        Of a module that was exported in training it is what the module is in `eval()`. With `average` its weights are
        the means.
        """
        state = self._current()
        names = [*self._objective.names, *(each for each in self._objective.state if each in self._held)]
        suffix = "_average" if self._updates.average is not None else ""
        arrays = {name: state.get(f"{name}{suffix}", state[name]) for name in dict.fromkeys(names)}
        copies = {name: np.array(each) for name, each in arrays.items()}
        return model_in_use(self._given, copies)

    @property
    def _held(self) -> set[str]:
        return set(self._given.ir.graph.initializers)

    @property
    def state(self) -> dict[str, Array]:
        """A copy of weights, running statistics and what the optimiser keeps, by name. Assign to go on from there."""
        if self._session is not None:
            return self._session.state
        return {name: each.copy() for name, each in self._initial.items()}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        strange = next((each for each in state if each not in self._initial), None)
        missing = next((each for each in self._initial if each not in state), None)
        if strange is not None or missing is not None:
            raise SessionStateError(
                f"the state of the trainer has no '{strange}'"
                if strange is not None
                else f"'{missing}' is missing",
                help="the state has " + ", ".join(self._initial),
            )
        if self._session is not None:
            self._session.state = state
            return
        for name, each in state.items():
            given, wanted = np.asarray(each), self._initial[name]
            if given.shape != wanted.shape or given.dtype != wanted.dtype:
                raise SessionStateError(
                    f"'{name}' is {wanted.dtype}{list(wanted.shape)}, and was given {given.dtype}{list(given.shape)}"
                )
        self._initial = {name: np.array(state[name]) for name in self._initial}

    @property
    def history(self) -> History:
        """The records of all epochs, those of earlier fits included."""
        return History(self.position.records)

    @property
    def steps_done(self) -> int:
        """How many steps were made, by all fits."""
        return self.position.step

    @property
    def session(self) -> Session:
        """The session of the step; opened when it is asked for first."""
        if self._session is None:
            self._session = Session(self._step, device=self._device, state=self._initial)
        return self._session

    def summary(self) -> Summary:
        """A table of what is trained, what stays, and what is kept beside it, before anything runs.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> from onnxsmith.training import Trainer, sgd
        >>> weight = np.zeros((2, 1), np.float32)
        >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
        >>> Trainer(model, loss="squared", optimizer=sgd(0.1)).summary().trained
        {'weight': (2, 1)}
        """
        return summary_of(self._objective, self._updates, self._step, self._initial)

    def restarted(
        self, *, seed: int = 0, schedule: Schedule | None = None, device: str | None = None
    ) -> Trainer:
        """A trainer of the same step from its start, without compiling it again; `schedule` is another one for rates.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> from onnxsmith.training import Trainer, sgd
        >>> weight = np.zeros((2, 1), np.float32)
        >>> trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2]), "squared", sgd(0.1))
        >>> trainer.restarted(seed=1).step is trainer.step
        True
        """
        made = copy.copy(self)
        made._session = made._loop = None
        made._initial = initial_state(made._objective.model, made._step)
        made.position, made.running = Position(seed=seed), Running.nothing()
        if schedule is not None:
            optimizers = {
                pattern: replace(each, schedule=schedule) if each.lr is None else each
                for pattern, each in made._updates.optimizers.items()
            }
            made._updates = replace(made._updates, optimizers=optimizers)
        made._rates = Rates(made._updates)
        made._device = self._device if device is None else device
        return made

    def stop(self) -> None:
        """End the fit that runs after this batch, or after this epoch if it is done. Callbacks call it."""
        if self._loop is not None:
            self._loop.is_stopped = True

    # -- training ------------------------------------------------------------------------------------------------

    @boundary
    def fit(
        self,
        data: GivenRows,
        target: GivenRows = None,
        *,
        validation: GivenRows = None,
        epochs: int = 1,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: GivenRows = None,
        callbacks: Sequence[Callback] = (),
        progress: bool | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> History:
        """Train on data for some epochs, and give what each of them gave.

        `data` is an array, a dict of arrays by the names of inputs, a frame, a table, or the path of a parquet file. It
        may also be a loader or dataset of torch, or a function that makes a generator of batches. `target` is an array
        or the name of a column. Loaders and generators give batches of their own: (x, target), or dicts. `validation`
        is a share of the rows, or data as (X, y). Arrays are shuffled by the seed as a whole, files through a buffer of
        65,536 rows, or of as many as 64 MB hold; loaders shuffle themselves.

        `resume` is a checkpoint that `SaveCheckpoint` wrote, or a folder of them, whose last one is taken: the fit goes
        on from there, with the model, optimiser and data that it began with. A folder without one begins anew.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> from onnxsmith.training import Trainer
        >>> weight = np.zeros((2, 3), np.float32)
        >>> trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2]), metrics=["accuracy"])
        >>> x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
        >>> history = trainer.fit(x, (x[:, 0] > 0) * 1, validation=0.25, epochs=2)
        >>> history.names
        ['epoch', 'step', 'loss', 'val_loss', 'val_accuracy', 'seconds']
        """
        check_counts(epochs=epochs, batch_size=batch_size)
        check_flags(shuffle=shuffle)
        called = sorted(_callbacks(callbacks), key=lambda each: each.is_last)
        if sample_weight is not None and not self._objective.is_weighted:
            self._weigh()
        size = int(batch_size)
        feed: Feed = feed_of(data, target, sample_weight, self._plan, size, shuffle=bool(shuffle))
        feed, held_out = self._validation(feed, validation, size)
        if feed.is_once and epochs > 1:
            raise AttributeValueError(
                f"a generator gives its batches once, and {epochs} epochs read them as often",
                help="give a function that makes it anew: fit(lambda: batches(), epochs=…)",
                culprit="epochs",
            )
        self.running = Running(feed, called, size, bool(shuffle), int(epochs))
        position = self._begin(resume, feed, int(epochs))

        def validate() -> dict[str, float]:
            if held_out is None:
                return self._measured(feed, is_validation=False) if self._metrics and not feed.is_once else {}
            return self._measured(held_out, is_validation=True)

        self._loop = Loop(
            self, self.session, feed, self._rates, called, validate, self._rejected, Progress(progress)
        )
        self._loop.is_stopped = self.running.was_stopped
        try:
            self._loop.run(position.first_epoch + int(epochs))
        finally:
            self._loop, self.is_resumed = None, False
        return History(position.records[position.first_epoch :])

    def _begin(self, resume: str | os.PathLike[str] | None, feed: Feed, epochs: int) -> Position:
        """Set the position of a fit: it begins here, or goes on from that of another."""
        found = None if resume is None else resume_from(self, self.running, resume)
        self.is_resumed = found is not None
        if found is not None:
            self.position = found
        else:
            position = self.position
            position.begin()
            if self._session is not None:  # what an update that is no number falls back to
                self._initial = self._session.state
            position.total_steps = None if feed.batches is None else feed.batches * epochs
            if self._rates.needs_total and position.total_steps is None:
                raise AttributeValueError(
                    "the schedule is over all steps, and the data does not say how many batches it has",
                    help="say how many steps there are: cosine(1e-3, steps=10_000)",
                )
        self._rates.restore(self.position.plateaus)
        self._rates.begin(self.position.first_step, self.position.total_steps)
        return self.position

    def _weigh(self) -> None:
        """Make the step one that takes weights of examples; the state is the same."""
        state = self.state
        given = self._objective
        self._objective = Objective.of(
            self._given,
            given.loss,
            weights=given.names,
            target=given.target,
            penalty=given.penalty,
            is_weighted=True,
            seed=self.position.seed,
        )
        self._make()
        self._session, self._initial = None, {name: state[name] for name in self._initial}

    def _validation(self, feed: Feed, validation: GivenRows, size: int) -> tuple[Feed, Feed | None]:
        if validation is None:
            return feed, None
        if isinstance(validation, int | float) and not isinstance(validation, bool):
            if not isinstance(feed, ArrayFeed):
                raise AttributeValueError(
                    "a share for validation is split off data in memory, and this is read batch by batch",
                    help="give the data for validation: validation=(X, y)",
                    culprit="validation",
                )
            rows = cast(int, feed.rows)
            if not 0.0 < validation < 1.0 or rows < 2:
                raise AttributeValueError(
                    f"validation is a share of the rows between 0 and 1, not {validation!r}",
                    culprit="validation",
                )
            train, held_out = split(rows, float(validation), self.position.seed)
            return feed.taken(train), feed.taken(held_out, shuffle=False)
        found = feed_of(validation, None, None, self._plan, size, shuffle=False)
        if found.is_once:
            raise AttributeValueError(
                "a generator gives its batches once, and each epoch reads the data for validation",
                help="give a function that makes it anew, or arrays",
                culprit="validation",
            )
        return feed, found

    def _rejected(self, batch: Batch, rates: Sequence[Array], loss: float) -> NonFiniteLossError:
        """Take the state of before a step whose loss is no number again; the error says why."""
        step_back(self.session)
        position = self.position
        names = [each.name for each in self._step.inputs]
        feeds = dict(zip(names, [*batch, *rates], strict=False))
        reason = why_not_finite(self._step, {**feeds, **self.session.state}, self._plan.names)
        error = NonFiniteLossError(
            f"the loss is {loss} in step {position.step + 1}, batch {position.batch + 1} of epoch "
            f"{position.epoch + 1}: {reason.text}",
            help=reason.help,
        )
        if reason.is_of_state:
            self.session.state = self._initial
            position.rewind()
        return error.locate_at_caller().also(reason.place, "this makes the node")

    # -- packages ------------------------------------------------------------------------------------------------

    @boundary
    def package(
        self,
        folder: str | os.PathLike[str],
        kind: Kind,
        *,
        steps: int | None = None,
        inference: ModelLike | None = None,
    ) -> Path:
        """Write the step, evaluation, inference and the state of now as files, with a loop that trains elsewhere.

        `kind` is "python", for onnxruntime and numpy alone, or "web", for onnxruntime-web. The folder is made; one
        that holds anything but such a package is refused. `steps` is the number of steps whose rates are written,
        where these follow a schedule: by default that of the last fit. `inference` is the model in evaluation, where
        it was exported in training; the names of weights, inputs and outputs are the same.

        >>> import numpy as np, os, tempfile
        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> from onnxsmith.training import Trainer, sgd
        >>> weight = np.zeros((2, 1), np.float32)
        >>> trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2]), "squared", sgd(0.1))
        >>> folder = trainer.package(os.path.join(tempfile.mkdtemp(), "package"), "python")
        >>> sorted(os.listdir(folder))
        ['evaluation.onnx', 'inference.onnx', 'state.bin', 'train.py', 'training.json', 'training_step.onnx']
        """
        position = self.position
        count = position.total_steps if steps is None else steps
        made = package_of(
            self._objective,
            self._updates,
            step=self._step,
            state=self.state,
            rates=planned_rates(self._updates, count, first=position.step, plateaus=position.plateaus),
            inference=None if inference is None else model_of(inference, "package"),
        )
        return made.write(folder, kind)

    # -- evaluation ----------------------------------------------------------------------------------------------

    @boundary
    def evaluate(
        self,
        data: GivenRows,
        target: GivenRows = None,
        *,
        sample_weight: GivenRows = None,
        batch_size: int = 256,
    ) -> dict[str, float]:
        """The loss and the metrics of data, which is given as to `fit`. Penalties are no part of the loss here.

        >>> import numpy as np
        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> from onnxsmith.training import Trainer
        >>> weight = np.eye(2, dtype=np.float32)
        >>> trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2]), metrics=["accuracy"])
        >>> trainer.evaluate(np.float32([[9, 0], [0, 9]]), np.array([0, 0]))["accuracy"]
        0.5
        """
        check_counts(batch_size=batch_size)
        size = self._plan.fixed_rows or int(batch_size)
        found = feed_of(data, target, sample_weight, self._plan, size, shuffle=False)
        return self._measured(found, is_validation=False, has_loss=True)

    def _measured(self, feed: Feed, *, is_validation: bool, has_loss: bool = False) -> dict[str, float]:
        values = self._evaluated().measure(feed, self._current(), self._metrics)
        if is_validation:
            return {f"val_{name}": each for name, each in values.items()}
        return values if has_loss else {name: each for name, each in values.items() if name != "loss"}

    def _evaluated(self) -> Evaluation:
        if self._evaluation is None:
            self._evaluation = Evaluation(
                self._objective,
                self._plan,
                is_averaged=self._updates.average is not None,
                device=self._device,
            )
        return self._evaluation

    def _current(self) -> dict[str, Array]:
        """The state, not copied where it lies on the CPU."""
        if self._session is None:
            return self._initial
        return {name: each.numpy() for name, each in arrays_on_device(self._session).items()}

    def __repr__(self) -> str:
        count = sum(int(np.prod(self._initial[each].shape)) for each in self._objective.names)
        names = ", ".join(dict.fromkeys(self._objective.names[:3]))
        more = ", ..." if len(self._objective.names) > 3 else ""
        return f"Trainer({count} numbers in {names}{more}; {self.position.step} steps done)"


def _callbacks(callbacks: Given) -> list[Callback]:
    given = [callbacks] if isinstance(callbacks, Callback) else callbacks
    found = list(cast("Sequence[object]", given)) if isinstance(given, Sequence) else [given]
    for each in found:
        if not isinstance(each, Callback):
            raise AttributeTypeError(
                f"a callback is an object of a subclass of Callback, not {each!r}",
                help="class Printing(Callback): def on_epoch_end(self, trainer, record): …",
                culprit="callbacks",
            )
    return cast("list[Callback]", found)


def _plan(objective: Objective, step: Model) -> BatchPlan:
    """The plan of batches, by a step."""
    names = list(objective.data)
    ports = {each.name: each for each in step.inputs}
    found = tuple(Port(name, ports[name].type) for name in names)
    has_target = TARGET in names
    kind = next(each.type for each in objective.model.outputs if each.name == objective.predictions[0])
    classes, ignored = (None, None)
    if has_target and isinstance(kind, TensorType) and not isinstance(objective.loss, str):
        classes, ignored = classes_of(objective.loss, kind)
    first = cast(TensorType, found[0].type).shape
    rows = first[0] if first and isinstance(first[0], int) else None
    count = len(objective.model_inputs)
    return BatchPlan(found, count, has_target, objective.is_weighted, classes, ignored, rows)

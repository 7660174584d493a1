"""`Trainer` against torch: the same steps, the same losses; and what it takes, gives and keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    LossError,
    MetricError,
    ModelInputError,
    NonFiniteLossError,
    NotDifferentiableError,
    OnnxsmithError,
    SessionStateError,
    TrainingDataError,
)
from onnxsmith.training import (
    Callback,
    EarlyStopping,
    SaveCheckpoint,
    Trainer,
    adam,
    losses,
    optimizers,
    read_checkpoint,
    schedules,
    sgd,
)
from tests.training.networks import NETWORKS

X = np.random.default_rng(0).normal(size=(90, 8)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0)


def perceptron(**options: Any) -> Trainer:
    random = np.random.default_rng(1)
    first = random.normal(size=(8, 16)).astype(np.float32) * np.float32(0.3)
    bias = np.zeros(16, np.float32)
    second = random.normal(size=(16, 3)).astype(np.float32) * np.float32(0.3)
    model = trace(lambda x: op.MatMul(op.Relu(op.MatMul(x, first) + bias), second), FLOAT["N", 8])
    return Trainer(model, **options)


def regression(**options: Any) -> Trainer:
    weight = np.zeros((8, 1), np.float32)
    return Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 8]), loss="squared", **options)


@pytest.mark.parametrize("name", NETWORKS)
def test_epochs_are_those_of_a_torch_loop(name: str) -> None:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    network = make()
    rows, size = 5 * shape[0] + 2, shape[0]
    x = torch.randn(rows, *shape[1:])
    y = torch.randint(0, 5, (rows,))
    model = onnxsmith.torch.export(network, (x[:size],), dynamic_shapes=({0: "N"},))
    weights = dict(network.named_parameters())
    trainer = Trainer(model, optimizer=adam(1e-3))
    assert sorted(trainer.trained) == sorted(weights)
    history = trainer.fit(x.numpy(), y.numpy(), epochs=6, batch_size=size, shuffle=False)
    theirs = torch.optim.Adam(network.parameters(), 1e-3)
    found: list[float] = []
    for _ in range(6):
        total = 0.0
        for begin in range(0, rows, size):
            part = slice(begin, begin + size)
            loss = nn.functional.cross_entropy(network(x[part]), y[part])
            theirs.zero_grad()
            loss.backward()
            theirs.step()
            total += loss.item() * len(x[part])
        found.append(total / rows)
    assert trainer.steps_done == 36
    np.testing.assert_allclose(history["loss"], found, rtol=2e-5)
    for key, weight in weights.items():
        wanted = weight.detach().numpy()
        assert np.linalg.norm(trainer.state[key] - wanted) <= 1e-4 * np.linalg.norm(wanted), key
    mine = trainer.model(x.numpy()[:size])
    np.testing.assert_allclose(mine, network(x[:size]).detach().numpy(), rtol=1e-3, atol=1e-4)


def test_running_statistics_go_into_the_model() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)).train()
    model = onnxsmith.torch.export(
        network, (torch.randn(8, 4),), dynamic_shapes=({0: "N"},), keep_mutations=True
    )
    x, y = torch.randn(40, 4), torch.randint(0, 3, (40,))
    trainer = Trainer(model, optimizer=sgd(0.1))
    trainer.fit(x.numpy(), y.numpy(), epochs=2, batch_size=8, shuffle=False)
    theirs = torch.optim.SGD(network.parameters(), 0.1)
    for _ in range(2):
        for begin in range(0, 40, 8):
            theirs.zero_grad()
            nn.functional.cross_entropy(network(x[begin : begin + 8]), y[begin : begin + 8]).backward()
            theirs.step()
    for name in ("1.running_mean", "1.running_var"):
        np.testing.assert_allclose(trainer.state[name], network.state_dict()[name].numpy(), rtol=1e-4)
        np.testing.assert_array_equal(trainer.model.weights[name], trainer.state[name])


def _frame() -> Any:
    import pandas

    return pandas.DataFrame({**{f"f{k}": X[:, k] for k in range(8)}, "label": Y})


def _table(tmp: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(_frame())


def _parquet(tmp: Any) -> Any:
    _frame().to_parquet(tmp / "rows.parquet")
    return str(tmp / "rows.parquet")


def _dataset(tmp: Any) -> Any:
    return torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))


def _batches() -> Any:
    return ((X[k : k + 32], Y[k : k + 32]) for k in range(0, 90, 32))


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (lambda tmp: X, Y),
        (lambda tmp: X.tolist(), Y.tolist()),
        (lambda tmp: X.astype(np.float64), Y.astype(np.int8)),
        (lambda tmp: (X, Y), None),
        (lambda tmp: {"x": X, "target": Y}, None),
        (lambda tmp: {"x": X, "label": Y}, "label"),
        (lambda tmp: torch.tensor(X), torch.tensor(Y)),
        (lambda tmp: _frame(), "label"),
        (lambda tmp: _frame().drop(columns="label"), Y),
        (_table, "label"),
        (_parquet, "label"),
        (_dataset, None),
        (lambda tmp: torch.utils.data.DataLoader(_dataset(tmp), batch_size=32), None),
        (lambda tmp: _batches, None),
        (lambda tmp: lambda: ({"x": x, "target": y} for x, y in _batches()), None),
    ],
)
def test_all_forms_of_data_train_the_same(data: Callable[[Any], Any], target: Any, tmp_path: Any) -> None:
    wanted = perceptron()
    wanted.fit(X, Y, epochs=2, shuffle=False)
    trainer = perceptron()
    history = trainer.fit(data(tmp_path), target, epochs=2, shuffle=False)
    assert len(history) == 2
    for name, each in wanted.state.items():
        np.testing.assert_array_equal(trainer.state[name], each, err_msg=name)


def test_a_generator_is_one_epoch() -> None:
    trainer = perceptron()
    trainer.fit(_batches())
    assert trainer.steps_done == 3
    with pytest.raises(AttributeValueError, match="gives its batches once, and 2 epochs"):
        trainer.fit(_batches(), epochs=2)


def test_ragged_batches() -> None:
    weight = np.zeros((8, 3), np.float32)
    model = trace(lambda x: op.MatMul(op.ReduceMean(x, [1], keepdims=0), weight), FLOAT["N", "T", 8])
    batches = [(np.ones((n, t, 8), np.float32), np.zeros(n, np.int64)) for n, t in ((4, 3), (2, 9), (5, 1))]
    trainer = Trainer(model)
    assert trainer.fit(lambda: iter(batches), epochs=2)["loss"][1] < trainer.history["loss"][0]


def test_shuffling_depends_on_the_seed_and_the_epoch_alone() -> None:
    first, again, other = perceptron(seed=3), perceptron(seed=3), perceptron(seed=4)
    for each in (first, again, other):
        each.fit(X, Y, epochs=2)
    assert first.history["loss"] == again.history["loss"] != other.history["loss"]


def test_a_fit_that_was_broken_off_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    class Leaving(Callback):
        def on_batch_end(self, trainer: Trainer, loss: float) -> None:
            if trainer.position.step == 8:
                raise RuntimeError("the process ends")

    options: dict[str, Any] = {"optimizer": adam(schedules.cosine(1e-2)), "seed": 5, "metrics": ["accuracy"]}
    whole, left, resumed = (perceptron(**options) for _ in range(3))
    whole.fit(X, Y, epochs=4, validation=0.2)
    with pytest.raises(RuntimeError, match="the process ends"):
        left.fit(X, Y, epochs=4, validation=0.2, callbacks=[Leaving(), SaveCheckpoint(tmp_path, every=7)])
    position = read_checkpoint(tmp_path).position
    assert (position["batch"], position["step"]) == (1, 7)
    resumed.fit(X, Y, epochs=4, validation=0.2, resume=tmp_path)
    assert resumed.history["loss"] == whole.history["loss"]
    assert resumed.history["val_accuracy"] == whole.history["val_accuracy"]
    for name, each in whole.state.items():
        np.testing.assert_array_equal(resumed.state[name], each)


def test_validation_and_metrics() -> None:
    trainer = perceptron(metrics={"accuracy": "accuracy", "worst": lambda p, t: float(np.abs(p).max())})
    history = trainer.fit(X, Y, epochs=2, validation=(X[:30], Y[:30]))
    found = trainer.evaluate(X[:30], Y[:30], batch_size=7)
    scores = trainer.model(X[:30])
    assert found["accuracy"] == history["val_accuracy"][-1] == (scores.argmax(1) == Y[:30]).mean()
    wanted = nn.functional.cross_entropy(torch.tensor(scores), torch.tensor(Y[:30])).item()
    assert found["loss"] == pytest.approx(wanted, rel=1e-5)
    assert history["val_worst"][-1] == pytest.approx(np.abs(scores).max(), rel=1e-5)
    assert "accuracy" in perceptron(metrics="accuracy").fit(X, Y).names


def test_a_share_for_validation_is_not_trained_on() -> None:
    targets = np.zeros((90, 1), np.float32)
    seen: list[float] = []
    trainer = regression(metrics=[lambda p, t: seen.extend(t[:, 0].tolist()) or 0.0])
    targets[:, 0] = np.arange(90)
    trainer.fit(X, targets, validation=0.2, epochs=1)
    assert len(seen) == len(set(seen)) == 18
    assert trainer.steps_done == 3  # of 72 rows


def test_sample_weights_are_those_of_repeated_rows() -> None:
    weighted, repeated = regression(optimizer=sgd(0.1)), regression(optimizer=sgd(0.1))
    y = X[:, :1] * 2
    counts = np.arange(90) % 3
    weighted.fit(X, y, sample_weight=counts.astype(np.float32), batch_size=90, epochs=5)
    rows = np.repeat(np.arange(90), counts)
    repeated.fit(X[rows], y[rows], batch_size=90, epochs=5)
    np.testing.assert_allclose(weighted.state["weight"], repeated.state["weight"], rtol=1e-4)
    weighted.fit(X, y)  # without weights again


@pytest.mark.parametrize(
    ("schedule", "theirs"),
    [
        (schedules.exponential(0.1, 0.9), lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9)),
        (schedules.cosine(0.1), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 9)),
    ],
)
def test_schedules_are_followed(schedule: Any, theirs: Any) -> None:
    trainer = regression(optimizer=sgd(schedule))
    trainer.fit(X, X[:, 0], epochs=3, shuffle=False)
    weight = torch.zeros(8, 1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    scheduler = theirs(optimizer)
    for _ in range(3):
        for begin in range(0, 90, 32):
            optimizer.zero_grad()
            part = torch.tensor(X[begin : begin + 32])
            (part @ weight - part[:, :1]).square().mean().backward()
            optimizer.step()
            scheduler.step()
    np.testing.assert_allclose(trainer.state["weight"], weight.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_plateaus_lower_the_rate_as_those_of_torch() -> None:
    trainer = regression(optimizer=sgd(schedules.plateau(0.5, factor=0.5, patience=1, smallest=0.05)))
    history = trainer.fit(
        X, np.random.default_rng(0).normal(size=90), epochs=14, shuffle=False, batch_size=90
    )
    optimizer = torch.optim.SGD([torch.zeros(1)], 0.5)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, min_lr=0.05)
    wanted: list[float] = []
    for loss in history["loss"]:
        wanted.append(optimizer.param_groups[0]["lr"])
        plateau.step(loss)
    assert history["lr"] == wanted
    assert wanted[-1] < 0.5


def test_means_of_weights_are_the_model_and_what_is_evaluated() -> None:
    trainer = perceptron(average=0.5)
    trainer.fit(X, Y, epochs=2)
    np.testing.assert_array_equal(trainer.model.weights["first"], trainer.state["first_average"])
    wanted = nn.functional.cross_entropy(torch.tensor(trainer.model(X)), torch.tensor(Y)).item()
    assert trainer.evaluate(X, Y)["loss"] == pytest.approx(wanted, rel=1e-5)


def test_frozen_weights_stay_and_the_given_model_is_as_it_was() -> None:
    trainer = perceptron(freeze="first")
    before = trainer.model.weights
    kept = {name: np.array(before[name]) for name in before}
    trainer.fit(X, Y, epochs=2)
    np.testing.assert_array_equal(trainer.model.weights["first"], kept["first"])
    assert (np.asarray(trainer.model.weights["second"]) != kept["second"]).any()
    assert [each.name for each in trainer.model.inputs] == ["x"]
    assert set(trainer.summary().frozen) == {"first"}
    text = str(trainer.summary())
    assert "64 numbers trained, 128 numbers frozen" in text
    assert "target: INT64['N']" in text


def test_state_is_settable_before_and_after_a_fit() -> None:
    trainer, other = perceptron(), perceptron()
    trainer.fit(X, Y)
    other.state = trainer.state
    for each in (trainer, other):
        each.fit(X, Y, shuffle=False)
    np.testing.assert_array_equal(trainer.state["second"], other.state["second"])
    with pytest.raises(SessionStateError, match="has no 'third'"):
        perceptron().state = {**trainer.state, "third": X}
    with pytest.raises(SessionStateError, match="'first' is float32"):
        perceptron().state = {**trainer.state, "first": X}


def test_early_stopping_takes_the_best_weights_again() -> None:
    best: dict[float, Any] = {}

    class Watching(Callback):
        def on_epoch_end(self, trainer: Trainer, record: dict[str, float]) -> None:
            best[record["val_loss"]] = trainer.state["first"]

    trainer = perceptron(optimizer=sgd(2.0))
    history = trainer.fit(X, Y, validation=0.3, epochs=100, callbacks=[Watching(), EarlyStopping(patience=2)])
    assert len(history) < 100
    assert int(np.argmin(history["val_loss"])) == len(history) - 4
    np.testing.assert_array_equal(trainer.state["first"], best[min(best)])


@pytest.mark.parametrize(
    ("fit", "error", "text"),
    [
        (lambda: perceptron().fit(X, Y + 1), TrainingDataError, "the label 3 in row"),
        (lambda: perceptron().fit(X, Y[:, None]), ModelInputError, "'target' has shape"),
        (lambda: perceptron().fit(X, Y[:5]), TrainingDataError, "'x' has 90 rows, and 'target' has 5"),
        (lambda: perceptron().fit(X, Y * 1.0), ModelInputError, "'target' is int64, and was given float64"),
        (lambda: perceptron().fit(X[:0], Y[:0]), TrainingDataError, "no rows"),
        (lambda: perceptron().fit(X), TrainingDataError, "no target"),
        (lambda: perceptron().fit(iter([])), TrainingDataError, "no batches"),
        (lambda: perceptron().fit(_frame(), "lable"), TrainingDataError, "no column 'lable'"),
        (lambda: perceptron().fit(X, Y, epochs=0), AttributeValueError, "epochs"),
        (lambda: perceptron().fit(X, Y, validation=1.5), AttributeValueError, "validation is a share"),
        (lambda: perceptron().fit(X, Y, callbacks=[print]), AttributeTypeError, "a callback is"),
        (lambda: perceptron(optimizer=sgd(None)), AttributeValueError, "the rate of the optimizer is open"),
        (lambda: perceptron(optimizer=sgd(lambda step: -1.0)).fit(X, Y), AttributeValueError, "rate -1.0"),
        (lambda: perceptron(loss="squard"), LossError, "no loss 'squard'"),
        (lambda: perceptron(loss=lambda p, t: p), LossError, "gradient is that of one number"),
        (lambda: perceptron(metrics=["acuracy"]), AttributeTypeError, "no metric 'acuracy'"),
        (lambda: perceptron(metrics=[lambda p, t: p]).fit(X, Y), MetricError, "gives a ndarray"),
        (lambda: perceptron(metrics=[lambda p, t: 1 / 0]).fit(X, Y), MetricError, "ZeroDivisionError"),
        (lambda: perceptron(seed=-1), AttributeTypeError, "seed"),
    ],
)
def test_mistakes(fit: Callable[[], Any], error: type[OnnxsmithError], text: str) -> None:
    with pytest.raises(error, match=text):
        fit()


def test_whole_numbers_are_not_trained() -> None:
    weight = np.ones((2, 2), np.int64)
    with pytest.raises(NotDifferentiableError, match="whole numbers have no gradient"):
        Trainer(trace(lambda x: op.MatMul(x, weight), INT64["N", 2]), weights="weight")


def test_a_batch_of_another_type_is_named_and_the_state_is_that_of_before() -> None:
    def batches() -> Any:
        yield X[:32], Y[:32]
        yield X[32:64], Y[32:64].astype(np.int32)

    trainer, wanted = perceptron(), perceptron()
    with pytest.raises(ModelInputError, match="batch 2 of epoch 1: 'target' is int64, and was given int32"):
        trainer.fit(batches())
    wanted.fit(X[:32], Y[:32], shuffle=False)
    np.testing.assert_array_equal(trainer.state["second"], wanted.state["second"])


def test_nan_in_data_is_named() -> None:
    wrong = X.copy()
    wrong[40, 3] = np.nan
    trainer, wanted = perceptron(), perceptron()
    with pytest.raises(
        NonFiniteLossError, match=r"step 2, batch 2 of epoch 1: 'x' of the batch is NaN at \[8, 3\]"
    ):
        trainer.fit(wrong, Y, shuffle=False)
    wanted.fit(X[:32], Y[:32], shuffle=False)
    np.testing.assert_array_equal(trainer.state["second"], wanted.state["second"])


def test_the_first_node_that_makes_a_nan_is_named() -> None:
    weight = np.ones((8, 1), np.float32)
    model = trace(lambda x: op.Exp(op.MatMul(op.Sqrt(op.Neg(x)), weight)), FLOAT["N", 8])
    trainer = Trainer(model, loss="squared")
    with pytest.raises(NonFiniteLossError, match=r"the first node that made one is Sqrt .* \(NaN\)"):
        trainer.fit(np.abs(X) + 1, X[:, 0])
    assert trainer.steps_done == 0
    np.testing.assert_array_equal(trainer.state["weight"], weight)


def test_weights_that_are_no_numbers_fall_back_to_those_of_before_the_fit() -> None:
    # The gradient of a root at 0 is infinite, and the loss is not.
    weight = np.ones((8, 1), np.float32)
    model = trace(lambda x: op.Sqrt(op.Abs(op.MatMul(x, weight))), FLOAT["N", 8])
    trainer = Trainer(model, loss="squared", optimizer=sgd(0.1))
    trainer.fit(np.abs(X), X[:, 0], batch_size=90)
    before = trainer.state["weight"]
    with pytest.raises(NonFiniteLossError, match=r"'weight' is NaN at .* since the step before"):
        trainer.fit(np.zeros_like(X), X[:, 0] + 1, batch_size=10)
    np.testing.assert_array_equal(trainer.state["weight"], before)
    assert (trainer.steps_done, len(trainer.history)) == (1, 1)


def test_a_model_of_one_batch_size() -> None:
    weight = np.zeros((8, 3), np.float32)
    trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT[20, 8]))
    with pytest.raises(TrainingDataError, match="takes batches of 20 rows, and batch_size is 32"):
        trainer.fit(X, Y)
    trainer.fit(X, Y, batch_size=20, epochs=2)
    assert trainer.steps_done == 8


def test_losses_by_name_output_and_function() -> None:
    weight = np.zeros((8, 1), np.float32)

    def with_loss(x: Any, y: Any) -> Any:
        p = op.MatMul(x, weight)
        return p, op.ReduceMean((p - y) * (p - y), keepdims=0)

    inside = Trainer(
        trace(with_loss, FLOAT["N", 8], FLOAT["N", 1], output_names=["p", "cost"]),
        loss="cost",
        optimizer=sgd(0.1),
    )
    named, given = regression(optimizer=sgd(0.1)), regression(optimizer=optimizers.sgd(0.1))
    inside.fit({"x": X, "y": X[:, :1]}, epochs=3)
    named.fit(X, X[:, :1], epochs=3)
    given.fit(X, X[:, 0], epochs=3)
    assert inside.history["loss"] == named.history["loss"] == given.history["loss"]
    assert losses.loss_of("huber", []) is not None

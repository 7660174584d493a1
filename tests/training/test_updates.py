"""Beside the optimiser: clipping, accumulation, groups, a moving average, frozen and tied weights, open rates."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import onnxsmith.torch  # noqa: E402  # torch may be missing
from onnxsmith import FLOAT, trace  # noqa: E402
from onnxsmith.errors import (  # noqa: E402
    AttributeTypeError,
    AttributeValueError,
    CallError,
    LossError,
    UnknownNameError,
    UnreachedError,
)
from onnxsmith.training import adam, initial_state, losses, optimizers, schedules, sgd, training_step  # noqa: E402
from onnxsmith.training.updates import STARTS_KEY, read_starts  # noqa: E402
from tests.training.networks import perceptron  # noqa: E402

ROWS = 8


def network(dtype: Any = np.float32) -> Any:
    """A network of torch, its model, and three batches."""
    torch.manual_seed(0)
    theirs = perceptron().to(torch.float64 if dtype is np.float64 else torch.float32)
    rng = np.random.default_rng(0)
    batches = [(rng.normal(size=(ROWS, 7)).astype(dtype), rng.integers(0, 5, ROWS)) for _ in range(6)]
    return theirs, onnxsmith.torch.export(theirs.train(), (torch.tensor(batches[0][0]),)), batches


def trained(model: Any, batches: Any, optimizer: Any, given: Any = None, **options: Any) -> dict[str, Any]:
    step = training_step(model, losses.cross_entropy, optimizer, **options)
    session = step.session(state=initial_state(model, step))
    for x, y in batches:
        session(x, y, *(given or ()))
    return session.state


def slopes(theirs: Any, x: Any, y: Any, *, share: float = 1.0) -> None:
    (torch.nn.functional.cross_entropy(theirs(torch.tensor(x)), torch.tensor(y)) * share).backward()


def check(state: dict[str, Any], theirs: Any) -> None:
    for name, each in theirs.named_parameters():
        np.testing.assert_allclose(state[name], each.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "clip"),
    [
        ({"clip_norm": 0.1}, lambda p: torch.nn.utils.clip_grad_norm_(p, 0.1)),
        ({"clip_norm": 100.0}, lambda p: torch.nn.utils.clip_grad_norm_(p, 100.0)),
        ({"clip_value": 0.02}, lambda p: torch.nn.utils.clip_grad_value_(p, 0.02)),
    ],
)
def test_clipping_is_that_of_torch(options: Any, clip: Any) -> None:
    theirs, model, batches = network()
    optimizer = torch.optim.SGD(theirs.parameters(), 0.5, momentum=0.9)
    state = trained(model, batches, sgd(0.5, momentum=0.9), **options)
    for x, y in batches:
        optimizer.zero_grad()
        slopes(theirs, x, y)
        clip(list(theirs.parameters()))
        optimizer.step()
    check(state, theirs)


def test_accumulation_is_that_of_a_torch_loop() -> None:
    theirs, model, batches = network()
    optimizer = torch.optim.Adam(theirs.parameters(), 0.01)
    state = trained(model, batches[:5], adam(0.01), accumulate=2)
    for number, (x, y) in enumerate(batches[:5]):
        slopes(theirs, x, y, share=0.5)
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    check(state, theirs)
    # One gradient is left over, and waits for the next.
    assert (state["step"], state["accumulated"]) == (2, 1)
    left = dict(theirs.named_parameters())["0.weight"].grad.numpy()
    np.testing.assert_allclose(state["0.weight_accumulated"], left, rtol=1e-4, atol=1e-7)


def test_a_moving_average_begins_with_the_weights() -> None:
    _, model, batches = network(np.float64)
    first = {name: np.array(each) for name, each in model.weights.items()}
    wanted = first["0.weight"]
    for count in range(1, 4):
        state = trained(model, batches[:count], sgd(0.5), average=0.75)
        wanted = wanted * 0.75 + state["0.weight"] * 0.25
    np.testing.assert_allclose(state["0.weight_average"], wanted, rtol=1e-12)


def test_groups_have_optimisers_of_their_own() -> None:
    theirs, model, batches = network()
    named = dict(theirs.named_parameters())
    biases = [each for name, each in named.items() if name.endswith("bias")]
    others = [each for name, each in named.items() if not name.endswith("bias")]
    first, second = torch.optim.SGD(biases, 0.3), torch.optim.AdamW(others, 0.01, weight_decay=0.1)
    state = trained(model, batches, {"*.bias": sgd(0.3), "*": optimizers.adamw(0.01, weight_decay=0.1)})
    for x, y in batches:
        first.zero_grad()
        second.zero_grad()
        slopes(theirs, x, y)
        first.step()
        second.step()
    check(state, theirs)
    assert "0.bias_mean" not in state
    assert "0.weight_mean" in state


def test_open_rates_of_groups_are_inputs() -> None:
    _, model, batches = network()
    step = training_step(model, losses.cross_entropy, {"0.*": sgd(None), "*": sgd(None)})
    assert [each.name for each in step.inputs][2:4] == ["lr_1", "lr_2"]
    state = initial_state(model, step)
    x, y = batches[0]
    _, *new = step(x, y, np.float32(0.0), np.float32(0.1), *state.values())
    after = dict(zip(state, new, strict=True))
    np.testing.assert_array_equal(after["0.weight"], state["0.weight"])
    assert (after["2.bias"] != state["2.bias"]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_schedule_makes_the_rate_an_input_in_float64(dtype: Any) -> None:
    _, model, batches = network(dtype)
    scheduled = sgd(schedules.exponential(0.1, 0.5))
    assert scheduled.schedule is not None
    assert scheduled.schedule.rates(2) == [0.1, 0.05]
    state = trained(model, batches[:1], scheduled, given=[np.float64(0.1)])
    wanted = trained(model, batches[:1], sgd(0.1))["0.weight"]
    np.testing.assert_allclose(state["0.weight"], wanted, rtol=1e-6 if dtype is np.float32 else 1e-15)
    of_function = sgd(lambda step: 0.1 / (step + 1)).schedule
    assert of_function is not None
    assert of_function.rates(2) == [0.1, 0.05]


def test_frozen_weights_stay() -> None:
    _, model, batches = network()
    state = trained(model, batches, sgd(0.1), freeze="0.*")
    assert list(state) == ["2.weight", "2.bias"]
    with pytest.raises(UnknownNameError, match="all weights are frozen"):
        trained(model, batches, sgd(0.1), freeze="*")
    with pytest.raises(UnknownNameError, match="no weight 'body"):
        trained(model, batches, sgd(0.1), freeze="body.*")


class Tied(torch.nn.Module):
    """Two layers that are one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)
        self.second.weight = self.first.weight

    def forward(self, x: Any) -> Any:
        return self.second(torch.tanh(self.first(x)))


def test_tied_weights_stay_tied() -> None:
    torch.manual_seed(0)
    theirs = Tied()
    x, y = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32), np.int64([0, 1, 2, 3])
    model = onnxsmith.torch.export(theirs.train(), (torch.tensor(x),))
    state = trained(model, [(x, y)] * 5, sgd(0.1))
    optimizer = torch.optim.SGD(theirs.parameters(), 0.1)
    for _ in range(5):
        optimizer.zero_grad()
        slopes(theirs, x, y)
        optimizer.step()
    assert len(state) == 3
    check(state, theirs)


def test_weights_of_examples_are_an_input() -> None:
    _, model, batches = network()
    x, y = batches[0]
    weights = np.float32([1, 0, 1, 0, 1, 1, 1, 1])
    state = trained(model, [(x, y)], sgd(0.1), given=[weights], sample_weight=True)
    kept = weights > 0
    step = training_step(model, losses.cross_entropy, sgd(0.1), sample_weight=True)
    scores = torch.tensor(np.asarray(model(x)))
    loss, *_ = step(x, y, weights, *initial_state(model, step).values())
    each = torch.nn.functional.cross_entropy(scores, torch.tensor(y), reduction="none").numpy()
    assert float(loss) == pytest.approx(float(each[kept].mean()), rel=1e-5)
    assert (state["2.bias"] != initial_state(model, step)["2.bias"]).any()


def line() -> Any:
    weight = np.zeros((2, 1), np.float32)
    return trace(lambda x: x @ weight, FLOAT["N", 2])


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a norm of nothing": ({"clip_norm": 0.0}, AttributeValueError, "clip_norm is the most that is left"),
    "a negative limit": ({"clip_value": -1.0}, AttributeValueError, "clip_value is a number from 0 on"),
    "no gradient": ({"accumulate": 0}, AttributeValueError, "accumulate is a whole number from 1 on"),
    "all of it": ({"average": 1.0}, AttributeValueError, "average is how much is kept"),
    "no optimizer": ({"optimizer": 0.1}, AttributeTypeError, "the optimizer is one that sgd"),
    "no group": ({"optimizer": {}}, AttributeTypeError, "no optimizer for any weight"),
    "a weight in no group": (
        {"optimizer": {"b*": sgd(0.1)}},
        UnknownNameError,
        "no optimizer is for the weight",
    ),
    "a loss without weights": (
        {"loss": lambda a, b: ((a - b) ** 2.0).mean(), "sample_weight": True},
        LossError,
        "takes no weights of examples",
    ),
    "a weight that is not reached": (
        {"loss": lambda a, b: (b * b).mean(), "weights": "weight"},
        UnreachedError,
        "does not depend|depends on none",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    options, kind, words = WRONG[name]
    given = {"loss": losses.squared, "optimizer": sgd(0.1), **options}
    with pytest.raises(kind, match=words):
        training_step(line(), given.pop("loss"), given.pop("optimizer"), **given)


def test_a_name_that_the_step_needs_is_refused() -> None:
    a, b = np.ones((2, 1), np.float32), np.ones(1, np.float32)
    model = trace(lambda x: x @ a + b, FLOAT["N", 2]).rename({"a": "w", "b": "w_momentum"})
    with pytest.raises(CallError, match="keeps state under that name"):
        training_step(model, losses.squared, sgd(0.1, momentum=0.9))


@pytest.mark.parametrize("text", ["[", "[1]", '{"a": [1]}', "[" * 10000])
def test_first_values_of_a_file_may_be_anything(text: str) -> None:
    assert read_starts({STARTS_KEY: text}) == {}
    assert read_starts({STARTS_KEY: json.dumps({"a": 0.5})}) == {"a": 0.5}

"""Optimisers against torch.optim: step by step on one weight, and thirty steps on networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import onnxsmith.torch  # noqa: E402  # torch may be missing
from onnxsmith.errors import AttributeTypeError, AttributeValueError  # noqa: E402
from onnxsmith.training import initial_state, losses, optimizers, training_step  # noqa: E402
from tests.algorithms.running import computed  # noqa: E402
from tests.training.networks import NETWORKS  # noqa: E402

STEPS = 30
CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sgd": (optimizers.sgd(0.05), lambda w: torch.optim.SGD(w, 0.05)),
    "sgd, decay": (
        optimizers.sgd(0.05, weight_decay=0.2),
        lambda w: torch.optim.SGD(w, 0.05, weight_decay=0.2),
    ),
    "sgd, dampening": (
        optimizers.sgd(0.05, momentum=0.9, dampening=0.3),
        lambda w: torch.optim.SGD(w, 0.05, momentum=0.9, dampening=0.3),
    ),
    "sgd, nesterov": (
        optimizers.sgd(0.05, momentum=0.5, nesterov=True, weight_decay=0.1),
        lambda w: torch.optim.SGD(w, 0.05, momentum=0.5, nesterov=True, weight_decay=0.1),
    ),
    "adagrad": (optimizers.adagrad(), lambda w: torch.optim.Adagrad(w)),
    "adagrad, all": (
        optimizers.adagrad(0.05, lr_decay=0.1, initial_accumulator_value=0.2, weight_decay=0.01),
        lambda w: torch.optim.Adagrad(
            w, 0.05, lr_decay=0.1, initial_accumulator_value=0.2, weight_decay=0.01
        ),
    ),
    "rmsprop": (optimizers.rmsprop(1e-3), lambda w: torch.optim.RMSprop(w, 1e-3)),
    "rmsprop, all": (
        optimizers.rmsprop(1e-3, alpha=0.9, momentum=0.9, centered=True, weight_decay=0.01),
        lambda w: torch.optim.RMSprop(w, 1e-3, alpha=0.9, momentum=0.9, centered=True, weight_decay=0.01),
    ),
    "adam": (optimizers.adam(1e-3), lambda w: torch.optim.Adam(w, 1e-3)),
    "adam, all": (
        optimizers.adam(1e-3, betas=(0.7, 0.95), eps=1e-3, weight_decay=0.2, amsgrad=True),
        lambda w: torch.optim.Adam(w, 1e-3, (0.7, 0.95), 1e-3, weight_decay=0.2, amsgrad=True),
    ),
    "adamw": (optimizers.adamw(), lambda w: torch.optim.AdamW(w)),
    "adamw, amsgrad": (
        optimizers.adamw(1e-2, weight_decay=0.1, amsgrad=True),
        lambda w: torch.optim.AdamW(w, 1e-2, weight_decay=0.1, amsgrad=True),
    ),
    "nadam": (optimizers.nadam(weight_decay=0.1), lambda w: torch.optim.NAdam(w, weight_decay=0.1)),
    "nadam, decoupled": (
        optimizers.nadam(weight_decay=0.1, decoupled_weight_decay=True, momentum_decay=0.1),
        lambda w: torch.optim.NAdam(w, weight_decay=0.1, decoupled_weight_decay=True, momentum_decay=0.1),
    ),
    "radam": (optimizers.radam(), lambda w: torch.optim.RAdam(w)),
    "radam, decoupled": (
        optimizers.radam(weight_decay=0.1, betas=(0.8, 0.99), decoupled_weight_decay=True),
        lambda w: torch.optim.RAdam(w, weight_decay=0.1, betas=(0.8, 0.99), decoupled_weight_decay=True),
    ),
    "adamax": (optimizers.adamax(weight_decay=0.1), lambda w: torch.optim.Adamax(w, weight_decay=0.1)),
}


@pytest.fixture
def doubles() -> Any:
    """NAdam of torch keeps a product in the default element type, whatever that of the weights is."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def moved(ours: Any, weight: Any, slopes: Any) -> list[Any]:
    """The weight after each step, in a model of one step."""
    kept = [
        np.full(() if slot in ours.single else weight.shape, ours.starts.get(slot, 0.0))
        for slot in ours.slots
    ]

    def step(weight: Any, slope: Any, number: Any, *kept: Any) -> Any:
        made, left = ours.update(weight, slope, ours.lr, number, kept)
        return [made, *left]

    found = []
    for count, slope in enumerate(slopes, 1):
        weight, *kept = computed(step, weight, slope, np.int64(count), *kept)
        found.append(weight)
    return found


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_torch(name: str) -> None:
    ours, make = CASES[name]
    rng = np.random.default_rng(0)
    weight, slopes = rng.normal(size=3), rng.normal(size=(8, 3))
    slopes[1, 2] = 0.0
    held = torch.nn.Parameter(torch.tensor(weight))
    theirs = make([held])
    for slope, found in zip(slopes, moved(ours, weight, slopes), strict=True):
        held.grad = torch.tensor(slope)
        theirs.step()
        np.testing.assert_allclose(found, held.detach().numpy(), rtol=1e-12)


def test_lion_is_that_of_its_paper() -> None:
    rng = np.random.default_rng(0)
    weight, slopes = rng.normal(size=3), rng.normal(size=(8, 3))
    wanted, mean = weight, np.zeros(3)
    for slope, found in zip(
        slopes, moved(optimizers.lion(0.01, betas=(0.8, 0.95), weight_decay=0.1), weight, slopes), strict=True
    ):
        wanted = wanted - 0.01 * (np.sign(0.8 * mean + 0.2 * slope) + 0.1 * wanted)
        mean = 0.95 * mean + 0.05 * slope
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


ON_NETWORKS = [
    (name, list(NETWORKS)[number % 3], dtype)
    for number, (name, dtype) in enumerate(
        (name, dtype) for name in CASES if "all" not in name for dtype in ("float32", "float64")
    )
]


@pytest.mark.parametrize(("name", "network", "dtype"), ON_NETWORKS[::2] + ON_NETWORKS[1::6])
def test_thirty_steps_of_a_network_are_those_of_torch(
    name: str, network: str, dtype: str, request: Any
) -> None:
    if dtype == "float64":
        request.getfixturevalue("doubles")
    torch.manual_seed(0)
    make, shape = NETWORKS[network]
    theirs = make().to(getattr(torch, dtype))
    x = torch.randn(shape, dtype=getattr(torch, dtype))
    y = torch.randint(0, 5, (shape[0],))
    ours, of_torch = CASES[name]
    model = onnxsmith.torch.export(theirs.train(), (x,))
    step = training_step(model, losses.cross_entropy, ours)
    session = step.session(state=initial_state(model, step))
    optimizer = of_torch(list(theirs.parameters()))
    for _ in range(STEPS):
        optimizer.zero_grad()
        wanted = torch.nn.functional.cross_entropy(theirs(x), y)
        wanted.backward()
        optimizer.step()
        assert float(session(x.numpy(), y.numpy())) == pytest.approx(wanted.item(), abs=1e-6)
    state, limit = session.state, 1e-5 if dtype == "float32" else 1e-12
    for key, each in theirs.named_parameters():
        array = each.detach().numpy()
        assert np.linalg.norm(state[key] - array) <= limit * np.linalg.norm(array), key


def test_refused() -> None:
    with pytest.raises(AttributeValueError, match="looks ahead by a momentum"):
        optimizers.sgd(0.1, nesterov=True)
    with pytest.raises(AttributeValueError, match="without dampening"):
        optimizers.sgd(0.1, momentum=0.9, dampening=0.5, nesterov=True)
    for betas in ((0.9,), 0.9):
        wrong: Any = betas
        with pytest.raises(AttributeTypeError, match="betas are two numbers"):
            optimizers.adam(0.1, betas=wrong)
    for make in (optimizers.adagrad, optimizers.rmsprop, optimizers.nadam, optimizers.radam, optimizers.lion):
        with pytest.raises(AttributeValueError, match="lr is a number from 0 on"):
            make(-1.0)
    with pytest.raises(AttributeValueError, match="alpha is how much is kept"):
        optimizers.rmsprop(alpha=1.0)
    assert optimizers.sgd(None).lr is None


@pytest.mark.parametrize("name", ["sgd", "adam", "adamax"])
def test_counting(name: str) -> None:
    assert CASES[name][0].counts == (name != "sgd")

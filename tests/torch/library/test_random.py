"""Random operators: shapes, element types, and the ranges and moments of what they draw."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

import numpy as np  # noqa: E402

import onnxsmith  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::onnxsmith.errors.torch.TrainingModeWarning")

X = torch.linspace(-1, 1, 4000).reshape(40, 100)

#: What is drawn, its least and greatest value, its mean and deviation.
DRAWN: dict[str, tuple[Any, float, float, float, float]] = {
    "rand_like": (torch.rand_like, 0, 1, 0.5, 12**-0.5),
    "rand": (lambda x: x * 0 + torch.rand(40, 100), 0, 1, 0.5, 12**-0.5),
    "randn_like": (torch.randn_like, -9, 9, 0, 1),
    "randn": (lambda x: x * 0 + torch.randn(40, 100), -9, 9, 0, 1),
    "randint": (lambda x: x * 0 + torch.randint(7, (40, 100)), 0, 6, 3, 2),
    "randint, low": (lambda x: x * 0 + torch.randint(-3, 4, (40, 100)), -3, 3, 0, 2),
    "randint_like": (lambda x: torch.randint_like(x, 7), 0, 6, 3, 2),
    "randint_like, low": (lambda x: torch.randint_like(x, 2, 9), 2, 8, 5, 2),
    "normal": (lambda x: torch.normal(x * 0 + 2, 0.5), -9, 9, 2, 0.5),
    "normal, std": (lambda x: torch.normal(1.0, x * 0 + 3), -30, 30, 1, 3),
    "normal, both": (lambda x: torch.normal(x * 0 + 2, x * 0 + 0.5), -9, 9, 2, 0.5),
    "uniform": (lambda x: x.clone().uniform_(2, 4), 2, 4, 3, 3**-0.5),
    "exponential": (lambda x: x.clone().exponential_(2.0), 0, 30, 0.5, 0.5),
    "log_normal": (lambda x: x.clone().log_normal_(0.0, 0.25).log(), -9, 9, 0, 0.25),
    "geometric": (lambda x: x.clone().geometric_(0.5), 1, 40, 2, 2**0.5),
    "bernoulli": (lambda x: torch.bernoulli(x * 0 + 0.25), 0, 1, 0.25, 0.1875**0.5),
    "bernoulli, p": (lambda x: torch.bernoulli(x, p=0.25), 0, 1, 0.25, 0.1875**0.5),
    "cauchy": (
        lambda x: x.clone().cauchy_(1.0, 2.0).sub(1).div(2).atan(),
        -1.58,
        1.58,
        0,
        torch.pi / 12**0.5,
    ),
    "randperm": (lambda x: torch.randperm(4000).reshape(40, 100) * 1.0, 0, 3999, 1999.5, 4000 / 12**0.5),
    "multinomial": (
        lambda x: (
            torch.multinomial(x[:, :4] * 0 + torch.tensor([0.0, 1.0, 1.0, 2.0]), 100, replacement=True) * 1.0
        ),
        *(1, 3, 2.25, 0.6875**0.5),
    ),
    "rrelu": (
        lambda x: torch.nn.functional.rrelu(x * 0 - 1, 0.2, 0.6, training=True),
        -0.6,
        -0.2,
        -0.4,
        0.4 / 12**0.5,
    ),
}


class Draws(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return [function(x) for function, *_ in DRAWN.values()]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    model = onnxsmith.torch.export(Draws(), (X,))
    return dict(zip(DRAWN, model(X.numpy()), strict=True))


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn(name: str, results: dict[str, Any]) -> None:
    function, low, high, mean, deviation = DRAWN[name]
    found, like = np.asarray(results[name]), function(X)
    assert found.dtype == like.numpy().dtype
    assert found.shape == tuple(like.shape)
    assert low <= found.min()
    assert found.max() <= high
    assert found.mean() == pytest.approx(mean, abs=6 * deviation / 4000**0.5)
    assert found.std() == pytest.approx(deviation, rel=0.15)


def test_slopes_of_what_is_not_negative_stay() -> None:
    class Leaky(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.nn.functional.rrelu(x, 0.2, 0.6, training=True), torch.nn.functional.rrelu(
                x, 0.2, 0.6
            )

    x = torch.tensor([-1.0, 0.0, 2.0])
    random, fixed = onnxsmith.torch.export(Leaky(), (x,))(x.numpy())
    assert -0.6 <= random[0] <= -0.2
    assert random[1:].tolist() == [0.0, 2.0]
    np.testing.assert_allclose(fixed, [-0.4, 0.0, 2.0], rtol=1e-6)


def test_drawn_without_replacement() -> None:
    class Chosen(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.multinomial(x, 3)

    x = torch.tensor([[0.0, 1.0, 2.0, 3.0]]).repeat(50, 1)
    found = onnxsmith.torch.export(Chosen(), (x,))(x.numpy())
    assert [sorted(row) for row in found.tolist()] == [[1, 2, 3]] * 50

"""Losses, by their formulas in numpy, and the types of their targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import AttributeTypeError, AttributeValueError, InputTypeError, LiteralError
from onnxsmith.grad import value_and_grad
from onnxsmith.training import losses
from onnxsmith.training.targets import target_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

X = np.array([[0.5, -2.0, 3.0], [1.5, 0.25, -1.0]])
Y = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
SIZE = np.abs(X - Y)
FUNCTIONS: dict[str, tuple[Any, Any, float]] = {
    "squared": (losses.squared, Y, ((X - Y) ** 2).mean()),
    "absolute": (losses.absolute, Y, SIZE.mean()),
    "huber": (losses.huber(), Y, np.where(SIZE < 1, SIZE**2 / 2, SIZE - 0.5).mean()),
    "huber, delta": (losses.huber(2.0), Y, np.where(SIZE < 2, SIZE**2 / 2, 2 * (SIZE - 1)).mean()),
    "hinge": (losses.hinge, Y, np.maximum(1 - X * Y, 0).mean()),
    "binary": (
        losses.binary_cross_entropy,
        (Y + 1) / 2,
        -np.log(np.where(Y > 0, 1 / (1 + np.exp(-X)), 1 / (1 + np.exp(X)))).mean(),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes(name: str) -> None:
    loss, target, wanted = FUNCTIONS[name]
    value, slope = value_and_grad(loss)(X, target)
    assert float(value) == pytest.approx(wanted, rel=1e-6)
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = 1e-6
        ahead, back = (float(value_and_grad(loss)(X + sign * step, target)[0]) for sign in (1, -1))
        assert slope[place] == pytest.approx((ahead - back) / 2e-6, abs=1e-5)


def test_of_classes() -> None:
    scores, classes = X.astype(np.float32), np.array([2, 0])
    logs = X - np.log(np.exp(X).sum(1, keepdims=True))
    wanted = -logs[[0, 1], classes].mean()
    assert float(value_and_grad(losses.cross_entropy)(scores, classes)[0]) == pytest.approx(wanted, rel=1e-5)
    found = value_and_grad(losses.negative_log_likelihood)(logs.astype(np.float32), classes)[0]
    assert float(found) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("loss", "shape", "wanted"),
    [
        (losses.cross_entropy, (4, 3), TensorType(DType.INT64, (4,))),
        (losses.negative_log_likelihood, (4, 3, 5), TensorType(DType.INT64, (4, 5))),
        (losses.cross_entropy, None, TensorType(DType.INT64, None)),
        (losses.squared, (4, 3), TensorType(DType.FLOAT, (4, 3))),
        (abs, (4, 3), TensorType(DType.FLOAT, (4, 3))),
    ],
)
def test_types_of_targets(loss: Any, shape: Any, wanted: TensorType) -> None:
    assert target_type(loss, TensorType(DType.FLOAT, shape)) == wanted


@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.0), (0.0, 0.25), (0.5, 0.25)])
def test_penalties(l1: float, l2: float) -> None:
    penalty: Any = losses.elastic_penalty(l1=l1, l2=l2)
    value, slope = value_and_grad(lambda w: penalty(w, w[0]))(X)
    wanted = sum(l1 * np.abs(each).sum() + l2 / 2 * (each**2).sum() for each in (X, X[0]))
    assert float(value) == pytest.approx(wanted)
    own = l1 * np.sign(X) + l2 * X
    np.testing.assert_allclose(slope, own * [[2], [1]], rtol=1e-6)


def test_a_penalty_of_nothing() -> None:
    assert losses.elastic_penalty()(X) == 0.0


torch = pytest.importorskip("torch")
TORCHS: dict[str, tuple[Any, Any]] = {
    "squared": (losses.squared, torch.nn.functional.mse_loss),
    "absolute": (losses.absolute, torch.nn.functional.l1_loss),
    "huber": (None, lambda x, y, reduction: torch.nn.functional.huber_loss(x, y, reduction, 0.7)),
    "poisson": (losses.poisson, lambda x, y, reduction: _poisson(x, y, reduction, is_log=True)),
    "poisson, expected": (
        lambda x, y, reduction: losses.poisson(x, y, is_log=False, reduction=reduction),
        lambda x, y, reduction: _poisson(x, y, reduction, is_log=False),
    ),
    "binary": (
        losses.binary_cross_entropy,
        torch.nn.functional.binary_cross_entropy_with_logits,
    ),
    "binary, positive": (
        lambda x, y, reduction: losses.binary_cross_entropy(x, y, positive_weight=3.0, reduction=reduction),
        lambda x, y, reduction: torch.nn.functional.binary_cross_entropy_with_logits(
            x, y, pos_weight=torch.tensor(3.0), reduction=reduction
        ),
    ),
}


def _poisson(x: Any, y: Any, reduction: str, *, is_log: bool) -> Any:
    return torch.nn.functional.poisson_nll_loss(x, y, log_input=is_log, reduction=reduction)


def check_with_torch(ours: Any, theirs: Any, x: Any, y: Any) -> None:
    held = torch.tensor(x, requires_grad=True)
    wanted = theirs(held, torch.tensor(y))
    wanted.backward()
    value, slope = value_and_grad(ours)(x, y)
    np.testing.assert_allclose(value, wanted.item(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slope, held.grad.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 50.0])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("name", TORCHS)
def test_losses_and_slopes_are_those_of_torch(name: str, reduction: Any, scale: float) -> None:
    ours, theirs = TORCHS[name]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)).astype(np.float32), rng.poisson(1.0, (6, 4)).astype(np.float32)
    x = np.abs(x) + np.float32(0.1) if "expected" in name else x
    x = x * np.float32(1.0 if "poisson" in name else scale)
    y = y.clip(max=1.0) if "binary" in name else y
    if ours is None:
        check_with_torch(losses.huber(0.7, reduction=reduction), lambda a, b: theirs(a, b, reduction), x, y)
        return
    check_with_torch(
        lambda a, b: ours(a, b, reduction=reduction), lambda a, b: theirs(a, b, reduction=reduction), x, y
    )


CLASS_WEIGHTS = [0.1, 2.0, 0.5, 1.0]
OF_CLASSES = [
    (shape, weight, ignored, smoothing, reduction)
    for shape in ((6, 4), (3, 4, 5), (6, 1))
    for weight in ((None, CLASS_WEIGHTS) if shape[1] > 1 else (None,))
    for ignored in (None, -100, "all")
    for smoothing, reduction in ((0.0, "mean"), (0.1, "mean"), (0.1, "sum"))
]


@pytest.mark.parametrize(("shape", "weight", "ignored", "smoothing", "reduction"), OF_CLASSES, ids=str)
def test_cross_entropy_is_that_of_torch(
    shape: Any, weight: Any, ignored: Any, smoothing: float, reduction: Any
) -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) * 20).astype(np.float32)
    y = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    if ignored == "all":
        y[:], ignored = 0, 0
    elif ignored is not None:
        y.flat[0] = ignored

    def ours(a: Any, b: Any) -> Any:
        return losses.cross_entropy(
            a, b, label_smoothing=smoothing, weight=weight, ignore_index=ignored, reduction=reduction
        )

    def theirs(a: Any, b: Any) -> Any:
        return torch.nn.functional.cross_entropy(
            a,
            b,
            None if weight is None else torch.tensor(weight),
            ignore_index=-100 if ignored is None else ignored,
            label_smoothing=smoothing,
            reduction=reduction,
        )

    check_with_torch(ours, theirs, x, y)
    if not smoothing:
        logarithms = torch.log_softmax(torch.tensor(x), 1).numpy()
        check_with_torch(
            lambda a, b: losses.negative_log_likelihood(
                a, b, weight=weight, ignore_index=ignored, reduction=reduction
            ),
            lambda a, b: torch.nn.functional.nll_loss(
                a,
                b,
                None if weight is None else torch.tensor(weight),
                ignore_index=-100 if ignored is None else ignored,
                reduction=reduction,
            ),
            logarithms,
            y,
        )


def test_quantile_and_probabilities() -> None:
    y = np.float32([0.0, 1.0, 2.0, 3.0])
    for share in (0.25, 0.9):
        x = np.full(4, 1.4, np.float32)
        wanted = np.where(y > x, share * (y - x), (1 - share) * (x - y)).mean()
        assert float(losses.quantile(share)(x, y)) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(AttributeValueError, match="between 0 and 1"):
        losses.quantile(1.0)
    shares = np.float32([[0.2, 0.8], [1.0, 0.0]])
    wanted = -(np.log(0.8) + np.log(1e-7)) / 2
    found = losses.probability_cross_entropy(shares, np.int64([1, 1]))
    assert float(found) == pytest.approx(wanted, rel=1e-6)


SAMPLE_WEIGHTS = np.float32([1.0, 0.0, 0.5])


@pytest.mark.parametrize(
    "loss",
    [losses.squared, losses.absolute, losses.huber(0.5), losses.hinge, losses.poisson, losses.quantile(0.3)],
)
@pytest.mark.parametrize("shape", [(3,), (3, 4)])
def test_weights_of_examples_give_the_weighted_mean(loss: Any, shape: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape).astype(np.float32), np.abs(rng.normal(size=shape)).astype(np.float32)
    each = np.array([float(loss(x[k : k + 1], y[k : k + 1])) for k in range(3)])
    wanted = (each * SAMPLE_WEIGHTS).sum() / SAMPLE_WEIGHTS.sum()
    assert float(loss(x, y, SAMPLE_WEIGHTS)) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2)])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_weights_of_examples_with_weights_of_classes(shape: Any, smoothing: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.integers(0, 4, (3, *shape[2:]))
    found = losses.cross_entropy(
        x,
        y,
        SAMPLE_WEIGHTS.astype(np.float64),
        label_smoothing=smoothing,
        weight=CLASS_WEIGHTS,
        ignore_index=1,
    )
    part = {"weight": torch.tensor(CLASS_WEIGHTS, dtype=torch.float64), "ignore_index": 1}
    each = torch.nn.functional.cross_entropy(
        torch.tensor(x), torch.tensor(y), reduction="none", label_smoothing=smoothing, **part
    ).numpy()
    weights = SAMPLE_WEIGHTS.reshape(-1, *[1] * (len(shape) - 2))
    counts = np.where(y == 1, 0.0, np.array(CLASS_WEIGHTS)[y]) * weights
    assert float(found) == pytest.approx((each * weights).sum() / counts.sum(), rel=1e-9)


CLASSES = np.array([2, 0])
#: As a user without a type checker has them.
LOSSES: Any = losses
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "whole numbers": (
        lambda: LOSSES.absolute(np.uint8([1]), np.uint8([2])),
        InputTypeError,
        "floating-point numbers",
    ),
    "a reduction of PyTorch": (lambda: LOSSES.squared(X, Y, reduction="none"), AttributeValueError, "'none'"),
    "the same, beforehand": (lambda: LOSSES.huber(reduction="none"), AttributeValueError, "'none'"),
    "a dict": (lambda: LOSSES.absolute(X, {}), InputTypeError, "absolute cannot take dict as target"),
    "dates": (lambda: LOSSES.squared(X.astype("M8[Y]"), Y), InputTypeError, "squared was given"),
    "texts for weights": (
        lambda: LOSSES.cross_entropy(X, CLASSES, weight=[1, "two"]),
        LiteralError,
        "holds strings",
    ),
    "one weight": (lambda: LOSSES.cross_entropy(X, CLASSES, weight=2.0), AttributeTypeError, "each class"),
    "a fraction": (
        lambda: LOSSES.cross_entropy(X, CLASSES, ignore_index=1.5),
        AttributeTypeError,
        "number of a class",
    ),
    "a text": (lambda: LOSSES.binary_cross_entropy(X, Y, positive_weight="a"), AttributeTypeError, "number"),
    "no flag": (lambda: LOSSES.poisson(X, Y, is_log="no"), AttributeTypeError, "True or False"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kinds(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()


def test_lists_are_arrays() -> None:
    assert float(LOSSES.hinge([2.0, 0.0], [1, 1])) == 0.5
    assert float(LOSSES.squared(np.float32([1, 3]), 1.0)) == 2.0

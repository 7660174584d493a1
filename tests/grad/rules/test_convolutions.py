"""Gradients of convolutions by tensor, weight and bias: strides, dilations, groups, padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

NUMBERS = np.random.default_rng(0)
X, WIDE = NUMBERS.standard_normal((1, 2, 5)), NUMBERS.standard_normal((1, 2, 4, 3))
W, GROUPED, B = (
    NUMBERS.standard_normal((3, 2, 2)),
    NUMBERS.standard_normal((4, 1, 2)),
    np.array([0.1, 0.2, 0.3]),
)
W2, TURNED = NUMBERS.standard_normal((2, 2, 2, 2)), NUMBERS.standard_normal((2, 3, 2))
DEPTHWISE = NUMBERS.standard_normal((2, 1, 2, 2))
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Conv": (lambda x, w, b: op.Conv(x, w, b), X, W, B),
    "Conv, strides": (lambda x, w: op.Conv(x, w, strides=[2]), X, W),
    "Conv, dilations": (lambda x, w: op.Conv(x, w, dilations=[2]), X, W),
    "Conv, pads": (lambda x, w: op.Conv(x, w, pads=[2, 1]), X, W),
    "Conv, strides that leave a rest": (lambda x, w: op.Conv(x, w, strides=[3], pads=[1, 0]), X, W),
    "Conv, groups": (lambda x, w: op.Conv(x, w, group=2), X, GROUPED),
    "Conv, a window for each channel": (
        lambda x, w: op.Conv(x, w, group=2, pads=[1, 0, 1, 1]),
        WIDE,
        DEPTHWISE,
    ),
    "Conv, a window for each channel, strides": (
        lambda x, w: op.Conv(x, w, group=2, strides=[2, 2], pads=[1, 1, 1, 1]),
        WIDE,
        DEPTHWISE,
    ),
    "Conv, a window for each channel, strides that leave a rest": (
        lambda x, w: op.Conv(x, w, group=2, strides=[3, 3], pads=[0, 1, 0, 1]),
        WIDE,
        DEPTHWISE,
    ),
    "Conv, a window for each channel, dilations and strides": (
        lambda x, w: op.Conv(x, w, group=2, strides=[2, 1], dilations=[1, 2]),
        WIDE,
        DEPTHWISE,
    ),
    "Conv, two axes": (lambda x, w: op.Conv(x, w, pads=[1, 0, 0, 1], strides=[2, 1]), WIDE, W2),
    "Conv, same size": (lambda x, w: op.Conv(x, w, auto_pad="SAME_UPPER"), X, W),
    "ConvTranspose": (lambda x, w, b: op.ConvTranspose(x, w, b), X, TURNED, B),
    "ConvTranspose, strides": (
        lambda x, w: op.ConvTranspose(x, w, strides=[2], output_padding=[1]),
        X,
        TURNED,
    ),
    "ConvTranspose, pads": (lambda x, w: op.ConvTranspose(x, w, pads=[1, 0]), X, TURNED),
    "Col2Im": (lambda x: op.Col2Im(x, [3, 3], [2, 2]), NUMBERS.standard_normal((1, 4, 4))),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("convolutions") == []


@pytest.mark.parametrize(("strides", "form"), [([1, 1], "Mul"), ([2, 2], "SpaceToDepth"), ([2, 1], "Conv")])
def test_windows_of_single_channels_are_sums(strides: list[int], form: str) -> None:
    """One convolution is the way forward; with a stride for each axis another one is the way back."""
    model = trace(
        lambda x, w: op.ReduceSum(op.Conv(x, w, group=2, strides=strides) ** 2.0, keepdims=0),
        FLOAT[3, 2, 6, 6],
        FLOAT[2, 1, 3, 3],
    )
    made = [each.op_type for each in model.gradient(wrt=["w"]).ir.graph]
    assert form in made
    assert made.count("Conv") == (2 if form == "Conv" else 1)

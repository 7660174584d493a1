"""Frames without samples are refused in words, in an eager call and in a model; the kernel would divide by zero."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OperatorFailedError
from onnxsmith.runtime.facts import signal
from tests.runtime.facts.probing import wrong_probes

_X = np.ones((1, 16, 1), np.float32)
_STEP = np.array(4)
#: The window, the length of a frame, and what is wrong.
EMPTY = {
    "length of zero": (None, 0, "frame_length is not positive"),
    "negative length": (None, -1, "frame_length is not positive"),
    "window": (0, None, "the window has no elements"),
    "both": (0, 0, "the window has no elements"),
    "length with a window": (4, 0, "frame_length is not positive"),
}


def _arguments(window: int | None, length: int | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (
        None if window is None else np.ones(window, np.float32),
        None if length is None else np.array(length),
    )


def _model() -> Model:
    return trace(lambda x, step, w, n: op.STFT(x, step, w, n), FLOAT[1, "L", 1], INT64, FLOAT["W"], INT64)


@pytest.mark.parametrize(("window", "length", "wrong"), EMPTY.values(), ids=EMPTY)
def test_an_eager_call(window: int | None, length: int | None, wrong: str):
    with pytest.raises(OperatorFailedError, match=wrong):
        op.STFT(_X, _STEP, *_arguments(window, length))


@pytest.mark.parametrize(("window", "length"), [(0, 0), (4, 0), (0, 4)])
def test_a_model_on_inputs(window: int, length: int):
    with pytest.raises(OperatorFailedError, match=r"no elements|not positive"):
        _model()(_X, _STEP, *_arguments(window, length))


@pytest.mark.parametrize(("window", "length"), [(0, None), (None, 0)])
def test_a_model_of_constants(window: int | None, length: int | None):
    """Nothing of it is folded: the kernel runs only where a check stands before it."""
    model = trace(lambda x: op.STFT(x, _STEP, *_arguments(window, length)), FLOAT[1, 16, 1]).optimize()
    with pytest.raises(OperatorFailedError, match=r"no elements|not positive"):
        model(_X)


def test_frames_with_samples():
    made = _model()(_X, _STEP, *_arguments(4, 4))
    np.testing.assert_allclose(made, op.STFT(_X, _STEP, np.ones(4, np.float32)))
    assert np.asarray(made).shape == (1, 4, 3, 2)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(signal) == []

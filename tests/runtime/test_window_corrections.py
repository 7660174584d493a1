"""Operators on windows: both runtimes agree, whatever the window is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.runtime import using
from tests.runtime.calls import call

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((2, 4, 7, 6)).astype(np.float32)
#: How many programs each law draws.
TIMES = 40


def agree(name: str, *inputs: np.ndarray, version: int = 22, outputs: int = 1, **attributes: Any) -> None:
    results: list[Any] = []
    for runtime in ("onnxruntime", "reference"):
        with using(runtime=runtime):
            results.append(call(name, *inputs, version=version, outputs=outputs, **attributes))
    first, second = (each if isinstance(each, tuple | list) else (each,) for each in results)
    for theirs, ours in zip(first, second, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=f"{name} {attributes}")


def drawn(numbers: np.random.Generator, *choices: int) -> list[int]:
    return [int(each) for each in numbers.choice(choices, 2)]


@pytest.mark.parametrize("seed", range(TIMES))
def test_transposed_convolutions(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    group = int(numbers.choice([1, 2, 4]))
    kernel, strides, dilations = drawn(numbers, 1, 2, 3), drawn(numbers, 1, 2, 3), drawn(numbers, 1, 2)
    attributes: dict[str, Any] = {"group": group, "strides": strides, "dilations": dilations}
    reach = [dilation * (k - 1) + 1 for k, dilation in zip(kernel, dilations, strict=True)]
    pads = [int(numbers.integers(0, (each + 1) // 2)) for each in reach * 2]
    # ONNX Runtime gives fewer than size times stride, which is what the specification says, for shorter windows.
    has_words = all(each >= stride for each, stride in zip(reach, strides, strict=True))
    words = ["SAME_UPPER", "SAME_LOWER", "VALID"] if has_words else ["VALID"]
    how = numbers.choice(["pads", *words])
    if how == "pads":
        attributes["pads"] = pads
        attributes["output_padding"] = [int(numbers.integers(0, stride)) for stride in strides]
    else:
        attributes["auto_pad"] = str(how)
    weight = numbers.standard_normal((4, 3, *kernel)).astype(np.float32)
    bias = numbers.standard_normal(3 * group).astype(np.float32)
    agree("ConvTranspose", X, weight, bias, **attributes)


@pytest.mark.parametrize("seed", range(TIMES))
def test_greatest_of_windows_and_their_places(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    kernel, strides, dilations = drawn(numbers, 1, 2, 3), drawn(numbers, 1, 2, 3), drawn(numbers, 1, 2)
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": strides,
        "dilations": dilations,
        "ceil_mode": int(numbers.integers(2)),
        "pads": [int(numbers.integers(0, (k + 1) // 2)) for k in kernel * 2],
        "storage_order": int(numbers.integers(2)),
    }
    agree("MaxPool", X, outputs=int(numbers.choice([1, 2])), **attributes)


@pytest.mark.parametrize("how", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_greatest_of_windows_that_are_padded_by_a_word(how: str) -> None:
    agree("MaxPool", X, outputs=2, kernel_shape=[3, 2], strides=[2, 3], auto_pad=how)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize(
    "pads", [[0, 0, -1, 2, 0, -2, 1, -3], [0, -1, -2, -3, 0, -2, 0, 0], [0, 0, 1, 2, 1, 0, 2, 1]]
)
def test_padding_that_takes_away(mode: str, pads: list[int]) -> None:
    agree("Pad", X, np.int64(pads), mode=mode)


def test_padding_along_some_axes() -> None:
    agree("Pad", X, np.int64([-1, 2, 3, -2]), np.array(7, np.float32), np.int64([-1, 1]))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (5, 2, 3, 4)])
def test_responses_of_channels(size: int, shape: tuple[int, ...]) -> None:
    x = RANDOM.standard_normal(shape).astype(np.float32)
    agree("LRN", x, version=13, size=size, alpha=0.3, beta=0.6, bias=1.5)

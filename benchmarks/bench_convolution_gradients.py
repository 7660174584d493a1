"""The gradient of a convolution's weights: the form that the rule chooses, the other forms, and torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import time_in_turns

NAME = "convolution_gradients"
DESCRIPTION = (
    "the gradient of a convolution's weights, by the form that is chosen and by others; one thread, CPU time"
)

#: Batch, channels of the image, channels of the result, size of the image, size of the window, stride.
_SHAPES = (
    (32, 1, 6, 28, 5, 1),
    (8, 3, 64, 64, 7, 2),
    (32, 6, 16, 14, 5, 1),
    (8, 16, 32, 28, 3, 2),
    (8, 32, 32, 28, 3, 1),
    (8, 64, 64, 56, 3, 1),
    (32, 64, 64, 8, 3, 1),
    (8, 128, 128, 14, 3, 1),
    (8, 256, 256, 7, 3, 1),
)


def run(context: Context) -> list[Row]:
    """A row for each shape: the form that is chosen, beside the fastest of the others."""
    del context
    return [row for shape in _SHAPES for row in _rows(*shape)]


def _rows(batch: int, channels: int, results: int, size: int, window: int, stride: int) -> list[Row]:
    from onnxsmith.grad.rules import convolutions
    from onnxsmith.grad.windows import Window

    pad = window // 2
    count = (size + 2 * pad - window) // stride + 1
    covered = (count - 1) * stride + window
    slid = Window((window,) * 2, (stride,) * 2, (1, 1), (pad,) * 2, (covered - size - pad,) * 2)
    drawn = np.random.default_rng(0)
    x = drawn.standard_normal((batch, channels, size, size), dtype=np.float32)
    g = drawn.standard_normal((batch, results, count, count), dtype=np.float32)
    weight = np.zeros((results, channels, window, window), np.float32)
    forms: dict[str, Callable[..., Any]] = {
        "ours": lambda x, g, w: convolutions.weight_cotangent(x, g, slid, 1, w),
        "a convolution": lambda x, g, w: convolutions.by_convolution(x, g, slid),
        "products at once": lambda x, g, w: convolutions.by_products(x, g, slid, at_once=True),
        "products by image": lambda x, g, w: convolutions.by_products(x, g, slid, at_once=False),
    }
    contestants = {name: _runner(form, x, g, weight) for name, form in forms.items()}
    theirs = _torch(x, g, weight.shape, stride, pad)
    if theirs is not None:
        contestants["torch"] = theirs
    seconds = time_in_turns(contestants, rounds=5, choose=min)
    others = [each for each in forms if each != "ours"]
    best = min(others, key=lambda each: seconds[each])
    ours = seconds["ours"] * 1e3
    name = f"{batch} × {channels} × {size}², {results} × {window}², stride {stride}"
    rows = [Row(name, ours, "ms", best, seconds[best] * 1e3, ratio_at_most(1.25))]
    if theirs is not None:
        rows.append(Row(name, ours, "ms", "torch", seconds["torch"] * 1e3))
    return rows


def _runner(form: Callable[..., Any], *arrays: Any) -> Callable[[], object]:
    from onnxsmith import FLOAT, trace
    from onnxsmith.passes import optimize
    from onnxsmith.runtime import using

    model = optimize(trace(form, *[FLOAT[each.shape] for each in arrays], opset_version=21), opset="keep")
    with using(intra_op_threads=1):
        run = model.runner()
        run(list(arrays))
    return lambda: run(list(arrays))


def _torch(x: Any, g: Any, shape: tuple[int, ...], stride: int, pad: int) -> Callable[[], object] | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    given, cotangent = torch.from_numpy(x), torch.from_numpy(g)
    return lambda: torch.nn.grad.conv2d_weight(given, shape, cotangent, stride=stride, padding=pad)

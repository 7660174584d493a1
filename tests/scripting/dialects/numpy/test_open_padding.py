"""`np.pad` in numpy code with widths that only the model knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp

WIDTHS: dict[str, Any] = {
    "a number": lambda n: n // 2,
    "a pair": lambda n: (n, 1),
    "pairs": lambda n: ((n // 2, n), (0, n - 1)),
    "one pair in a list": lambda n: [[n, 2]],
    "a number in a tuple": lambda n: (n,),
}


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("name", WIDTHS)
def test_widths_of_the_model(name: str, mode: str):
    widths = WIDTHS[name]

    def padded(x: Any) -> Any:
        return np.pad(x, widths(x.shape[0]), mode=mode)

    fast = xp.jit(padded)
    for size in (1, 2, 5):
        x = np.arange(size * 3.0).reshape(size, 3)
        np.testing.assert_array_equal(fast(x), padded(x))

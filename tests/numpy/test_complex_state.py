"""Complex arrays that a loop of numpy code carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError


def test_text_that_becomes_a_complex_array_in_a_loop_is_named() -> None:
    def last(x: Any) -> Any:
        found = "none"
        for i in range(len(x)):
            found = x[i] * 1j
        return found

    with pytest.raises(LoopTypeError, match="'none' before an iteration and an array of complex128"):
        xp.jit(last)(np.ones(3))

"""Complex arrays that a loop of numpy code carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import LoopTypeError, TensorAssignmentError
from tests.scripting.dialects.numpy.agreeing import check


def test_text_that_becomes_a_complex_array_in_a_loop_is_named() -> None:
    def last(x: Any) -> Any:
        found = "none"
        for i in range(len(x)):
            found = x[i] * 1j
        return found

    with pytest.raises(LoopTypeError, match="'none' before an iteration and an array of complex128"):
        xp.jit(last)(np.ones(3))


def test_a_complex_argument_lies_in_memory_as_it_does() -> None:
    def written(z: Any) -> Any:
        flat = z.reshape(-1)
        flat[0] = 9
        return z, flat

    check(written, np.arange(6.0).reshape(2, 3) + 0j)
    with pytest.raises(TensorAssignmentError):
        xp.jit(written)((np.arange(6.0).reshape(2, 3) + 0j).T)


def test_a_complex_argument_without_dimensions_is_an_array() -> None:
    check(lambda z: (z, z + 1), np.array(1 + 2j))
    check(lambda z: (z, z + 1), np.complex64(1j))

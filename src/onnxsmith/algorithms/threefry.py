"""Threefry-2x32: random words of a key and a counter, in integer arithmetic that gives the same bits everywhere.

A block cipher of additions, rotations and exclusive ors, 20 rounds (Salmon and others, 2011). Words of 32 bits are held
in INT64, whose operators every runtime has.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted
from onnxsmith.types.dtypes import DType

_MASK = np.int64(0xFFFFFFFF)
#: What the third word of the key is made with.
_PARITY = np.int64(0x1BD11BDA)
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: tuple[Tensor, Tensor], counter: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Two random words for each counter; all are INT64 with values from 0 to 2**32 - 1, and broadcast."""
    words = (key[0], key[1], op.BitwiseXor(op.BitwiseXor(key[0], key[1]), _PARITY))
    x, y = _sum(counter[0], words[0]), _sum(counter[1], words[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = _sum(x, y)
            y = op.BitwiseXor(_rotated(y, rotation), x)
        x = _sum(x, words[(group + 1) % 3])
        y = _sum(y + words[(group + 2) % 3], np.int64(group + 1))
    return x, y


def fraction(words: tuple[Tensor, Tensor], *, is_wide: bool) -> Tensor:
    """Words as evenly spaced fractions from 0 on, below 1: 53 bits in DOUBLE, or 24 in FLOAT."""
    if not is_wide:
        return converted(op.Div(words[0], np.int64(2**8)), DType.FLOAT) * np.float32(2.0**-24)
    high, low = op.Div(words[0], np.int64(2**5)), op.Div(words[1], np.int64(2**6))
    whole = high * (2**26) + low
    return converted(whole, DType.DOUBLE) * (2.0**-53)


def _sum(a: Tensor, b: Tensor | np.int64) -> Tensor:
    return op.BitwiseAnd(a + b, _MASK)


def _rotated(word: Tensor, places: int) -> Tensor:
    """To the left; shifts are products and quotients, as ONNX shifts unsigned numbers alone."""
    high = op.BitwiseAnd(word * (2**places), _MASK)
    return high + op.Div(word, np.int64(2 ** (32 - places)))

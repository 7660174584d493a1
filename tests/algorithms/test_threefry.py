"""Threefry's words are those that its authors publish."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import INT64, trace
from onnxsmith.algorithms.threefry import threefry

#: The known answers of Threefry-2x32 with 20 rounds: counter, key, words.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers(counter: tuple[int, int], key: tuple[int, int], words: tuple[int, int]) -> None:
    model = trace(lambda a, b, c, d: threefry((a, b), (c, d)), *[INT64] * 4)
    assert tuple(int(each) for each in model(*map(np.int64, (*key, *counter)))) == words

"""The cache of calls is bounded, keeps what is used, and makes each entry once."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith.core.call_cache import CallCache


@given(st.integers(1, 5), st.lists(st.integers(0, 8)))
def test_keeps_the_most_recently_used(limit, keys) -> None:
    cache = CallCache[int](limit)
    recent: list[int] = []
    for key in keys:
        expected = key if key in recent else None
        assert cache.find(key) == (None if expected is None else key * 10 + 1)
        assert cache.get(key) == cache.find(key)
        if expected is None:
            cache.put(key, key * 10 + 1)
        recent = [*(each for each in recent if each != key), key][-limit:]
        assert len(cache) == len(recent)


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9))))
def test_weights_stay_below_the_limit(limit, entries) -> None:
    cache = CallCache[int](limit)
    held: dict[int, int] = {}
    for key, weight in entries:
        cache.put(key, weight, weight)
        held[key] = weight
        while sum(held.values()) > limit and len(held) > 1:
            del held[next(iter(held))]
        assert cache.values() == list(held.values())
    cache.clear()
    cache.put(0, 1, limit)
    assert cache.values() == [1]


def test_makes_once_for_all_threads() -> None:
    cache = CallCache[int](4)
    made: list[int] = []

    def make() -> int:
        time.sleep(0.01)
        made.append(1)
        return 7

    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(cache.get_or_make("key", make))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert results == [7] * 8


def test_a_failure_is_not_kept() -> None:
    cache = CallCache[int](4)
    for _ in range(2):
        with contextlib.suppress(ZeroDivisionError):
            cache.get_or_make("key", lambda: 1 // 0)
    assert cache.get_or_make("key", lambda: 3) == 3
    cache.clear()
    assert len(cache) == 0


FORKING = """
import os
import numpy as np
from onnxsmith import opset21 as op
from onnxsmith.runtime import clear_cache
x = np.ones((64, 64), np.float32)
op.MatMul(x, x)
child = os.fork()
if child == 0:
    op.MatMul(x, x)
    op.Softmax(x)
    clear_cache()  # ends the sessions, whose threads are not there
    op.MatMul(x, x)
    os._exit(3)  # as multiprocessing does
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_runs_and_forgets() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")

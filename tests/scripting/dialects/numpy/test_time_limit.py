"""A function that does not end on made-up arguments is left, and the report says so."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.scripting.dialects.numpy import verifying
from onnxsmith.scripting.dialects.numpy.time_limit import TooLongError, within


def test_what_comes_to_its_end_is_given():
    assert within(10.0, lambda: 3) == 3


def test_what_does_not_is_ended():
    def endless() -> None:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.001)

    with pytest.raises(TooLongError):
        within(0.1, endless)
    time.sleep(0.01)  # nothing comes later


def test_errors_of_the_function_are_its_own():
    with pytest.raises(ZeroDivisionError):
        within(10.0, lambda: 1 // 0)


def test_a_model_is_made_all_the_same(monkeypatch):
    monkeypatch.setattr(verifying, "SECONDS", 0.3)
    model = xp.to_model(endless_where_negative, DOUBLE["N"])
    assert "left out, the function runs for more than 0.3 s" in str(model.report)
    np.testing.assert_array_equal(model(np.array([4.0, 4.0])), [0.5, 0.5])


def endless_where_negative(x):
    while x.sum() > 1.0 or x.sum() < -1e300:
        x = x / 2.0
    while x.sum() < 0.0:
        x = x * 1.0
    return x


def test_a_profiler_runs_after_it():
    """Python 3.11 hangs where an error of another thread was taken back and a profiler runs."""
    program = """
        import sys
        from onnxsmith.scripting.dialects.numpy.time_limit import TooLongError, within
        def counted(n):
            return sum(range(n))
        within(10.0, lambda: 3)
        try:
            within(0.01, lambda: [None for _ in iter(int, 1)])
        except TooLongError:
            pass
        sys.setprofile(lambda *_: None)
        assert counted(10) == 45
        sys.setprofile(None)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)

"""No operator call takes the process down: hostile ones are refused in words, defined ones give their result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.runtime.hostile import DEFINED, HOSTILE, run


def test_hostile_calls_are_refused() -> None:
    script = Path(__file__).with_name("hostile.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1], done.stderr[-500:])
    assert len(lines) == len(HOSTILE)
    accepted = [line for line in lines if line.split()[2] != "refused"]
    assert not accepted, "\n".join(accepted)


@pytest.mark.parametrize(
    ("name", "version", "inputs", "attributes", "expected"),
    DEFINED,
    ids=[f"{case[0]}-{k}" for k, case in enumerate(DEFINED)],
)
def test_what_is_defined_is_given(name, version, inputs, attributes, expected) -> None:
    result = run(name, version, inputs, attributes, 1)[0]
    if expected is not None:
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result.reshape(expected.shape), expected, atol=1e-6)
        assert result.shape[-len(expected.shape) :] == expected.shape

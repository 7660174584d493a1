"""Clocks and random generators are refused in a function that is traced, at the line that asks them."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, INT64, trace
from onnxsmith.errors import LastingChangeError

GENERATOR = np.random.default_rng(0)
OLD = np.random.RandomState(0)
OWN = random.Random(0)
SYSTEM = random.SystemRandom()


def _helper() -> float:
    return float(GENERATOR.normal())


class _Layer:
    def __init__(self) -> None:
        self.generator = np.random.default_rng(1)

    def __call__(self, x: Any) -> Any:
        return x * float(self.generator.normal())


CASES: dict[str, Callable[[Any], Any]] = {
    "np.random.normal": lambda x: x * np.random.normal(),  # noqa: NPY002  # people write it
    "np.random.rand": lambda x: x + np.random.rand(),  # noqa: NPY002
    "a generator from outside": lambda x: x * float(GENERATOR.normal()),
    "an old generator": lambda x: x * OLD.rand(),
    "random.random": lambda x: x * random.random(),
    "random.uniform": lambda x: x * random.uniform(0, 1),
    "a generator of random": lambda x: x * OWN.gauss(0, 1),
    "a helper": lambda x: x * _helper(),
    "time.time": lambda x: x * time.time(),
    "perf_counter": lambda x: x * perf_counter(),
    "the system's generator": lambda x: x * SYSTEM.random(),
    "a layer": _Layer(),
    "a method": _Layer().__call__,
}


@pytest.mark.parametrize("function", CASES.values(), ids=CASES)
def test_what_gives_something_else_each_time_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(LastingChangeError) as caught:
        trace(function, FLOAT["N"])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_the_line_is_that_of_the_call() -> None:
    def noisy(x: Any) -> Any:
        x = x + 1.0
        x = x * GENERATOR.normal()
        return x - 1.0

    with pytest.raises(LastingChangeError) as caught:
        trace(noisy, FLOAT["N"])
    assert caught.value.span is not None
    assert caught.value.span.line == noisy.__code__.co_firstlineno + 2


def test_a_generator_made_inside_gives_the_same_each_time() -> None:
    model = trace(lambda x: x * float(np.random.default_rng(0).random()), FLOAT["N"])
    expected = np.float32(np.random.default_rng(0).random())
    np.testing.assert_array_equal(model(np.ones(2, np.float32)), [expected, expected])


def test_what_is_only_named_is_allowed() -> None:
    model = trace(lambda x: x * (1.0 if GENERATOR is not None and time is not None else 2.0), FLOAT["N"])
    np.testing.assert_array_equal(model(np.ones(1, np.float32)), [1])


def test_random_numbers_of_a_key_are_allowed() -> None:
    def noisy(x: Any, seed: Any) -> Any:
        return xp.random.normal(xp.random.key(xp.asarray(seed)), xp.asarray(x).shape).tensor

    assert trace(noisy, FLOAT["N"], INT64)(np.ones(3, np.float32), np.int64(1)).shape == (3,)


def test_the_second_of_two_normal_numbers_is_drawn_too() -> None:
    generator = np.random.RandomState(0)
    generator.normal()  # the next one is kept, and drawing it changes no bit
    with pytest.raises(LastingChangeError):
        trace(lambda x: x + np.float32(generator.normal()), FLOAT["N"])


def test_the_first_number_of_a_process_is_drawn_too() -> None:
    program = """
import numpy as np
from onnxsmith import FLOAT, trace
from onnxsmith.errors import LastingChangeError
try:
    trace(lambda x: x + np.float32(np.random.normal()), FLOAT["N"])
except LastingChangeError:
    print("refused")
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "refused\n"

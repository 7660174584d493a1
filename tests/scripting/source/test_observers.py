"""Decorators that time, log and try again, on helpers and on either side of `@script`."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.source.observers import observed

log = logging.getLogger(__name__)
CALLS = {"n": 0}
X = np.array([-1, 2, 3], np.float32)


def timed(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            log.info("%s took %s", function.__name__, time.perf_counter() - start)

    return wrapper


def printing(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = datetime.now()
        result = function(*args, **kwargs)
        took = (datetime.now() - start).total_seconds()
        print(f"{function.__name__}{args} took {took:.3f} s and gave {result}")
        return result

    return wrapper


def retried(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        for attempt in range(3):
            try:
                return function(*args)
            except RuntimeError:
                if attempt == 2:
                    raise
                time.sleep(0.1)
        raise AssertionError

    return wrapper


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2

    return wrapper


def changed_arguments(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        args = (args[0] + 1, *args[1:])
        return function(*args, **kwargs)

    return wrapper


def counted(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        CALLS["n"] += 1
        return function(*args, **kwargs)

    return wrapper


def unknown_call(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        CALLS.update(n=1)
        return function(*args, **kwargs)

    return wrapper


def shadowing(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        print = CALLS.update
        print(n=1)
        return function(*args, **kwargs)

    return wrapper


def perhaps(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if time.time() > 1e12:
            return function(*args, **kwargs)
        return None

    return wrapper


def stepped(x: FLOAT["N"]):
    if x.sum() > 0:
        x = x * 2
    return x


@pytest.mark.parametrize("decorate", [timed, printing, retried])
@pytest.mark.filterwarnings("ignore")
def test_what_looks_on_is_no_part_of_the_model(decorate: Callable[[Any], Any]) -> None:
    assert observed(decorate(stepped)) is stepped
    helper = decorate(stepped)

    @script
    def in_a_branch(x: FLOAT["N"]):
        if x.sum() > 1:
            x = helper(x)
        return x

    outside = decorate(script(stepped))
    calling = script(lambda x: outside(x) + 0.0)
    inside = script(decorate(stepped))
    np.testing.assert_array_equal(outside(X), [-2, 4, 6])
    for each in (in_a_branch, calling, inside):
        np.testing.assert_array_equal(each(X), [-2, 4, 6])
        np.testing.assert_array_equal(each.to_model(input_types={"x": FLOAT["N"]})(X), [-2, 4, 6])


@pytest.mark.parametrize(
    "decorate",
    [doubled, changed_arguments, counted, unknown_call, shadowing, perhaps],
    ids=lambda each: each.__name__,
)
def test_what_does_more_is_seen(decorate: Callable[[Any], Any]) -> None:
    assert observed(decorate(stepped)) is None


def test_what_changes_the_result_is_part_of_the_model() -> None:
    assert script(doubled(stepped)).to_model()(X).tolist() == [-4, 8, 12]
    with pytest.raises(OnnxsmithError, match="'CALLS' is changed by this"):
        script(counted(stepped))
    assert CALLS == {"n": 0}

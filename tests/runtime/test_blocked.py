"""Chains of elementwise nodes on large arrays give what they give in one piece, whatever their shapes are."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, DOUBLE, FLOAT, INT64, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import DivisionByZeroError
from onnxsmith.runtime import blocked


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Shapes of results that were put together of blocks of 64 bytes."""
    seen: list[tuple[int, ...]] = []
    whole: Any = blocked._in_blocks

    def watched(run: Any, arrays: Any, shape: tuple[int, ...], length: int, threads: int) -> Any:
        seen.append(shape)
        return whole(run, arrays, shape, length, threads)

    monkeypatch.setattr(blocked, "_in_blocks", watched)
    monkeypatch.setattr(blocked, "_BLOCK_BYTES", 64)
    return seen


def _chain(x: Any, y: Any) -> Any:
    return op.Sqrt(op.Abs(x * y + 1.0)) - x, op.Less(x, y)


def _by_numpy(x: Any, y: Any) -> Any:
    return np.sqrt(np.abs(x * y + 1)) - x, x < y


def _model(rank: int) -> Model:
    names = ("N", "M", "K")[:rank]
    return trace(_chain, DOUBLE[names], DOUBLE[names])


@pytest.mark.parametrize("shape", [(1000,), (17, 61), (1, 999), (3, 5, 71), (16,), (17,)])
def test_blocks_give_what_the_whole_gives(shape: tuple[int, ...], blocks: list[tuple[int, ...]]):
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=shape), draw.normal(size=shape)
    results = _model(len(shape)).run(x, y)
    for found, expected in zip(results, _by_numpy(x, y), strict=True):
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert blocks == [shape]


def test_a_number_goes_with_every_block(blocks: list[tuple[int, ...]]):
    x = np.arange(100.0)
    results = trace(_chain, DOUBLE["N"], DOUBLE).run(x, np.array(2.0))
    np.testing.assert_array_equal(results[0], _by_numpy(x, 2.0)[0])
    assert blocks == [(100,)]


@pytest.mark.parametrize("case", ["small", "transposed", "broadcast", "empty"])
def test_other_arrays_are_taken_whole(case: str, blocks: list[tuple[int, ...]]):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(20, 30))
    y = {"small": x, "transposed": draw.normal(size=(30, 20)).T, "broadcast": x[:1], "empty": x}[case]
    if case == "small":
        x = y = x[:1, :10]
    elif case == "empty":
        x = y = x[:0]
    types = DOUBLE["N", "M"], DOUBLE["P", "M"] if case == "broadcast" else DOUBLE["N", "M"]
    results = trace(_chain, *types).run(x, y)
    np.testing.assert_array_equal(results[0], _by_numpy(x, y)[0])
    assert not blocks


def test_an_output_of_one_element_is_not_cut(blocks: list[tuple[int, ...]]):
    model = trace(lambda x, y: (x + y + 1.0, y * 2.0), DOUBLE["N"], DOUBLE)
    x = np.arange(100.0)
    results = model.run(x, np.array(3.0))
    np.testing.assert_array_equal(results[0], x + 4)
    assert results[1] == 6
    assert not blocks


@pytest.mark.parametrize(
    "model",
    [
        trace(lambda x: op.CumSum(op.Abs(x) + 1.0, 0) * 2.0, FLOAT["N"]),
        trace(lambda x: op.Softmax(op.Abs(x) + 1.0) * 2.0, FLOAT["N"]),
        trace(lambda x: op.Abs(x) * np.float32([1, 2, 3]) + 1.0, FLOAT[3]),
    ],
)
def test_what_is_not_elementwise_is_not_cut(model: Model, blocks: list[tuple[int, ...]]):
    size = 3 if model.inputs[0].type.shape == (3,) else 100
    model.run(np.ones(size, np.float32))
    assert not blocks


def test_types_of_other_sizes_are_cut_alike(blocks: list[tuple[int, ...]]):
    model = trace(lambda c, x, k: op.Where(c, x, op.Cast(k, to=1)) * 2.0, BOOL["N"], FLOAT["N"], INT64["N"])
    c, x, k = np.arange(99) % 3 == 0, np.arange(99, dtype=np.float32), np.arange(99)[::-1].copy()
    np.testing.assert_array_equal(model.run(c, x, k), np.where(c, x, k.astype(np.float32)) * 2)
    assert blocks == [(99,)]


def test_an_error_is_told_of_the_arrays_that_were_given(blocks: list[tuple[int, ...]]):
    model = trace(lambda x, y: op.Div(x + 1, y) * 2, INT64["N"], INT64["N"])
    y = np.ones(100, np.int64)
    y[70] = 0
    with pytest.raises(DivisionByZeroError, match=r"y: int64 of shape \(100,\)"):
        model.run(np.arange(100), y)
    assert blocks == [(100,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    program = """
        import os
        import numpy as np
        from onnxsmith import DOUBLE, trace
        model = trace(lambda x: abs(x) * 2.0 + 1.0, DOUBLE["N"])
        x = np.arange(2.0**20)
        expected = model.run(x)
        child = os.fork()
        if not child:
            os._exit(int(not np.array_equal(model.run(x), expected)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], check=True, timeout=60)

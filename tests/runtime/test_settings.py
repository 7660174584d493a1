"""`using`: what holds inside a block, and what is refused."""

from __future__ import annotations

import contextvars
import subprocess
import sys
import threading

import pytest

from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.runtime import using
from onnxsmith.runtime.settings import Settings, current, usable_cores
from tests.runtime.calls import call, floats


def test_blocks_nest_and_end() -> None:
    outside = current()
    with using(intra_op_threads=1):
        with using(runtime="reference") as inner:
            assert inner == Settings("reference", (), 1)
        assert current().runtime == "onnxruntime"
    assert current() == outside


def test_a_block_may_be_entered_again() -> None:
    scope = using(cache_size=4)
    for _ in range(2):
        with scope as settings:
            assert settings.cache_size == 4


def test_other_threads_are_not_concerned() -> None:
    seen: list[str] = []
    with using(runtime="reference"):
        thread = threading.Thread(target=lambda: seen.append(current().runtime))
        thread.start()
        thread.join()
        contextvars.copy_context().run(lambda: seen.append(current().runtime))
    assert seen == ["onnxruntime", "reference"]


def test_providers() -> None:
    with using(providers=["CPUExecutionProvider"]):
        assert call("Neg", floats(1)).tolist() == [-1]
    with using(
        providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
    ) as settings:
        assert settings.providers == (
            ("CPUExecutionProvider", (("arena_extend_strategy", "kSameAsRequested"),)),
        )
        assert call("Neg", floats(1)).tolist() == [-1]


@pytest.mark.parametrize(
    ("choice", "error", "words"),
    [
        ({"providers": ["CUDAExecutionProvidr"]}, AttributeValueError, "available here: "),
        (
            {"providers": ["CPUexecutionprovider"]},
            AttributeValueError,
            "did you mean 'CPUExecutionProvider'?",
        ),
        ({"providers": "CPUExecutionProvider"}, AttributeTypeError, "providers=['CPUExecutionProvider']"),
        ({"runtime": "tvm"}, AttributeValueError, "'onnxruntime' and 'reference'"),
        ({"intra_op_threads": 0}, AttributeValueError, "positive"),
        ({"intra_op_threads": 999_999}, AttributeValueError, "1024 at the most"),
        ({"intra_op_threads": True}, AttributeTypeError, "positive"),
        ({"cache_size": -1}, AttributeValueError, "positive"),
    ],
)
def test_mistakes(choice, error, words) -> None:
    with pytest.raises(error) as caught:
        using(**choice)
    assert words in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_cores() -> None:
    assert usable_cores() >= 1


WITHOUT = """
import sys
sys.modules["onnxruntime"] = None
import numpy as np
import onnxsmith
from onnxsmith import opset21 as op
from onnxsmith.runtime import engine, load_session, using
from onnxsmith.errors import MissingDependencyError
x = np.array([[1, 2], [3, 4]], np.float32)
assert op.Add(x, x).tolist() == [[2, 4], [6, 8]]
assert op.Softmax(op.MatMul(x, x.T), axis=-1).shape == (2, 2)
assert op.Cast(x, to=16).dtype.name == "bfloat16"
try:
    op.Add(x, np.zeros(3, np.float32))
except onnxsmith.errors.ShapeError:
    pass
else:
    raise AssertionError
for choice in ({"runtime": "onnxruntime"}, {"providers": ["CPUExecutionProvider"]}):
    try:
        using(**choice)
    except MissingDependencyError:
        pass
    else:
        raise AssertionError
import onnx
text = '<ir_version: 8, opset_import: ["" : 14]> g (float[N] x) => (float[N] y) {y = Add(x, x)}'
assert load_session(onnx.parser.parse_model(text))([x])[0].tolist() == [[2, 4], [6, 8]]
"""


def test_without_onnx_runtime() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

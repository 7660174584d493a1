"""Sequences in a graph: elements can be taken, nothing can be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import TensorIndexError, TracedValueError
from tests.core.laws import nodes


def pair(x: Any) -> Any:
    return op.SequenceConstruct(x, x + 1.0)


def test_elements() -> None:
    model = trace(lambda x: pair(x)[-1], FLOAT[2])
    assert nodes(model) == ["Add", "SequenceConstruct", "SequenceAt"]
    np.testing.assert_array_equal(model(np.zeros(2, np.float32)), np.ones(2, np.float32))
    model = trace(lambda x, i: pair(x)[i], FLOAT[2], INT64)
    np.testing.assert_array_equal(model(np.zeros(2, np.float32), np.array(0)), np.zeros(2, np.float32))


@pytest.mark.parametrize(
    ("program", "kind", "message", "help_text"),
    [
        (
            lambda s: len(s),
            TracedValueError,
            "how many elements a sequence has is known only when the model runs",
            "op.SequenceLength(s) is its length as a tensor",
        ),
        (
            lambda s: list(s),
            TracedValueError,
            "how many elements a sequence has is known only when the model runs, so Python cannot iterate over it",
            "call op.SequenceMap or op.Loop; a 'for' statement of a @script function runs over it in the model",
        ),
        (
            lambda s: 1 if s else 2,
            TracedValueError,
            "whether a sequence has elements is known only when the model runs",
            "op.SequenceLength(s) > 0",
        ),
        (
            lambda s: s.append(s[0]),
            TracedValueError,
            "a sequence in a graph cannot be changed in place, as append(v) would",
            "s = op.SequenceInsert(s, v)",
        ),
        (
            lambda s: s.extend([s[0]]),
            TracedValueError,
            "a sequence in a graph cannot be changed in place, as extend(values) would",
            "for each of them: s = op.SequenceInsert(s, v)",
        ),
        (
            lambda s: s.clear(),
            TracedValueError,
            "a sequence in a graph cannot be changed in place, as clear() would",
            "s = op.SequenceEmpty(dtype=FLOAT)",
        ),
        *(
            (
                join,
                TracedValueError,
                "ONNX cannot join a sequence with another one, or with a list",
                "insert one element after the other: s = op.SequenceInsert(s, v)",
            )
            for join in (lambda s: s + s, lambda s: s.__iadd__([s[0]]), lambda s: s.__radd__([s[0]]))
        ),
        (
            lambda s: s[1:],
            TensorIndexError,
            "ONNX cannot slice a sequence",
            "take elements with s[i], or loop over it",
        ),
        (
            lambda s: s["a"],
            TensorIndexError,
            "a sequence is indexed with an int or an integer tensor, not 'a'",
            None,
        ),
    ],
)
def test_what_is_refused(
    program: Callable[[Any], Any], kind: Any, message: str, help_text: str | None
) -> None:
    with pytest.raises(kind) as info:
        trace(lambda x: program(pair(x)), FLOAT[2])
    assert (info.value.message, info.value.help) == (message, help_text)

"""Patterns that Python's `re` takes and RE2 does not are refused; those that RE2 takes are not."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from onnxsmith import STRING, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeValueError
from onnxsmith.schema.re2_pattern import missing_in_re2

#: Those that the installed ONNX Runtime takes, and those that it does not. Python's `re` takes the latter.
TAKEN = [
    r"\12", r"\101", r"[(?=]", r"\Q(?=\E", r"\(?=a", r"[]a(?=]", r"[^](?=]", r"a\z", r"(?i)a", r"(?P<n>a)", r"(?:a)",
    r"\\1", r"[[:alpha:](?=]", r"\pL", r"\x{10}", r"a{1000}", r"[*+]", r"\*+", r"(?i:a)", r"\.a+?", r"\w\D\s\b",
]  # fmt: skip
REFUSED = [
    r"(?=a)", r"(?!a)", r"(?<=a)b", r"(?<!a)b", r"(.)\1", r"(?P<n>a)(?P=n)", r"(?>a)", r"(a)?(?(1)b|c)", r"(?#c)a",
    r"a\Z", r"[\u0041]", r"a++", r"a*+", r"a{2}+", r"a{1001}", r"\u0041", r"(?x)a b", r"(?a)a",
]  # fmt: skip


def is_taken(pattern: str) -> bool:
    """True if a bare session of ONNX Runtime has the pattern."""
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, [1])],
        [helper.make_tensor_value_info("y", TensorProto.BOOL, [1])],
    )
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


@pytest.mark.parametrize("pattern", TAKEN)
def test_patterns_of_re2_are_taken(pattern: str) -> None:
    assert is_taken(pattern)
    assert missing_in_re2(pattern) is None


@pytest.mark.parametrize("pattern", REFUSED)
def test_patterns_of_python_alone_are_refused(pattern: str) -> None:
    assert not is_taken(pattern)
    if "+" not in pattern[-2:] and ">" not in pattern:  # from Python 3.11 on
        re.compile(pattern)
    assert missing_in_re2(pattern)


def test_they_are_refused_eagerly_jitted_and_in_a_model() -> None:
    texts = np.array(["aa", "ab"])

    def doubled(x: STRING["N"]):  # type: ignore[no-untyped-def]
        return op.RegexFullMatch(x, pattern=r"(.)\1")

    for run in (lambda: doubled(texts), lambda: script(doubled), lambda: jit(doubled)(texts)):
        with pytest.raises(AttributeValueError, match=r"RE2, which has no back-reference, '\\1'"):
            run()
    with pytest.raises(AttributeValueError, match="look-ahead"):
        trace(lambda x: op.RegexFullMatch(x, pattern="(?=a).*"), STRING["N"])

"""When two models count as equal: sequences by their elements, maps by their numbers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, Rule, rewrite, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import VerificationError
from onnxsmith.passes.verifying import verdict_on
from tests.passes.agreement import model_of

X = np.float32([1, 2, 3])


def parts_of(size: int) -> Model:
    return model_of(f"""g (float[3] x) => (seq(float[K]) y) {{
        n = Constant<value_int = {size}>() y = SplitToSequence(x, n)
    }}""")


@pytest.mark.parametrize(("size", "words"), [(1, None), (2, "a sequence of 3, and a sequence of 2")])
def test_sequences(size: int, words: str | None) -> None:
    verdict = verdict_on(parts_of(1), parts_of(size), [X])
    assert verdict.is_equal is (words is None)
    assert words is None or words in verdict.text


def labelled(factor: float, names: str = '"a", "b"') -> Model:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
        g (float[1, 2] x) => (seq(map(string, float)) y) <float f = {{{factor:.9f}}}> {{
            z = Mul(x, f)
            y = ai.onnx.ml.ZipMap<classlabels_strings = [{names}]>(z)
        }}"""
    return Model.from_proto(onnx.parser.parse_model(text))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (labelled(1.0), None),
        (labelled(1.0000002), None),
        (labelled(1.5), "by 0.5"),
        (labelled(1.0, '"a", "c"'), "a map with the keys 'a', 'b', and a map with the keys 'a', 'c'"),
    ],
    ids=["same", "rounded otherwise", "another number", "another key"],
)
def test_maps(other: Model, words: str | None) -> None:
    verdict = verdict_on(labelled(1.0), other, [np.float32([[1, 2]])])
    assert verdict.is_equal is (words is None), verdict.text
    assert words is None or words in verdict.text


def test_an_infinity_of_another_sign_is_a_difference() -> None:
    wrong = Rule(lambda x: op.Log(x), lambda x: op.Where(x == 0.0, np.float32(np.inf), op.Log(x)))
    model = trace(lambda x: op.Log(x), FLOAT["N"])
    with pytest.raises(VerificationError, match=r"1 of 3 elements differ: -inf and inf at \[0\]"):
        rewrite(model, [wrong], verify=[np.float32([0, 1, 2])])

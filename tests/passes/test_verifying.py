"""When two models count as equal: sequences by their elements, maps by their numbers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, Rule, rewrite, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import VerificationError
from onnxsmith.passes import verifying
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
    with pytest.raises(VerificationError, match="-inf and inf"):
        rewrite(model, [wrong], verify=True)


@pytest.mark.parametrize(
    "condition",
    [
        lambda x: op.Equal(op.Size(x), np.int64(1)),
        lambda x: op.Greater(op.Size(x), np.int64(2)),
        lambda x: op.Equal(x, np.float32(0)),
        lambda x: op.Equal(op.Reciprocal(x), np.float32(-np.inf)),
        lambda x: op.Equal(x, np.float32(0.75)),
        lambda x: op.And(op.Greater(x, np.float32(0.75)), op.Less(x, np.float32(0.7500001))),
        lambda x: op.Less(op.Abs(x), np.float32(1e-5)),
        lambda x: op.Greater(x, np.float32(1e4)),
        lambda x: op.IsNaN(x),
    ],
    ids=["one element", "seven", "zero", "-0", "a threshold", "next to it", "small", "huge", "NaN"],
)
def test_what_ordinary_inputs_do_not_show(condition) -> None:
    def right(x):
        return op.Where(x > 0.75, op.Cos(x), op.Sin(x))

    model = trace(right, FLOAT["N"])
    wrong = trace(lambda x: op.Where(condition(x), np.float32(3), right(x)), FLOAT["N"])
    assert verdict_on(model, wrong, [np.float32([0.3, 0.6])]).is_equal
    assert verdict_on(model, wrong).is_equal is False


def test_a_kernel_that_takes_no_elements_no_more() -> None:
    model = trace(lambda x: x + 1.0, FLOAT["N", 4])

    def refusing(x):
        first = op.Gather(x, np.int64(0))
        return op.Where(op.Equal(first, first), x, x) + 1.0

    verdict = verdict_on(model, trace(refusing, FLOAT["N", 4]))
    assert verdict.is_equal
    assert verdict.text.startswith(
        "verified: equal results for x [2, 4]; without elements it cannot run any more"
    )


def test_inputs_on_which_a_loop_has_no_end_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run went on for minutes on each of them."""
    monkeypatch.setattr(verifying, "_MOST_SECONDS_OF_LOOPS", 1.0)

    @script
    def doubled(a: FLOAT):
        while a < 100.0:
            a += a
        return a

    model = doubled.to_model()
    verdict = verdict_on(model, model)
    assert verdict.is_equal
    assert verdict.text.endswith("; not on others that were made up, of which some run for too long")

    @script
    def endless(a: FLOAT):
        while a == a:
            a = a * 0.5
        return a

    model = endless.to_model()
    verdict = verdict_on(model, model)
    assert verdict.is_equal is None
    assert "ran longer than 1 seconds" in verdict.text

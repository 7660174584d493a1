"""Upper and lower case without the machine's locales."""

from __future__ import annotations

import locale

import numpy as np
import onnxruntime
import pytest

from onnxsmith import STRING, jit, opset21, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime.facts import letter_case
from tests.laws.named import law
from tests.runtime.facts.probing import wrong_probes

TEXTS = np.array(["the", "The cat", "the dog", "", "Élan"], object)


def without_articles(x):
    return op.StringNormalizer(x, case_change_action="LOWER", stopwords=["the"])


@script
def scripted(x: STRING["N"]):
    return op.StringNormalizer(x, case_change_action="LOWER", stopwords=["the"])


def test_texts_are_dropped_whole_and_keep_their_accents() -> None:
    right = ["the cat", "the dog", "", "élan"]
    before = locale.setlocale(locale.LC_ALL)
    model = trace(without_articles, STRING["N"])
    assert without_articles(TEXTS).tolist() == right
    assert jit(scripted)(TEXTS).tolist() == right
    assert model(TEXTS).tolist() == right
    assert model.for_runtime()(TEXTS).tolist() == right
    assert locale.setlocale(locale.LC_ALL) == before


def test_the_dotted_and_the_dotless_letter_of_turkish() -> None:
    x = np.array(["Iris", "İzmir", "ılık"], object)
    turkish = {"locale": "tr_TR.UTF-8"}
    assert op.StringNormalizer(x, case_change_action="LOWER", **turkish).tolist() == ["ıris", "izmir", "ılık"]
    assert op.StringNormalizer(x, case_change_action="UPPER", **turkish).tolist() == ["IRİS", "İZMİR", "ILIK"]


def test_a_model_of_an_old_opset_gets_a_later_one_for_the_runtime() -> None:
    model = trace(without_articles, STRING["N"], opset_version=12)
    shipped = model.for_runtime()
    assert shipped(TEXTS).tolist() == model(TEXTS).tolist() == ["the cat", "the dog", "", "élan"]
    assert "opset 12 became" in str(shipped.report)


OPTIONS = (
    {},
    {"stopwords": ["a"]},
    {"stopwords": [""], "is_case_sensitive": 1},
    {"case_change_action": "UPPER"},
    {"case_change_action": "LOWER", "stopwords": ["a"]},
)


@pytest.mark.parametrize("shape", [(0,), (1, 0)], ids=["vector", "row"])
@pytest.mark.parametrize("options", OPTIONS)
def test_no_texts_give_one_empty_text(shape, options) -> None:
    """As ONNX has it where all of them are dropped, and as its reference evaluator gives."""
    x, kind = np.zeros(shape, object), STRING["N"] if len(shape) == 1 else STRING[1, "N"]
    model = trace(lambda x: opset21.StringNormalizer(x, **options), kind)
    shipped = onnxruntime.InferenceSession(
        model.for_runtime().proto.SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, {"x": x})[0]
    for found in (opset21.StringNormalizer(x, **options), model(x), shipped):
        assert found.shape == (1,) * len(shape)
        assert found.reshape(-1).tolist() == [""]
    assert model(np.full((1,) * len(shape), "b", object)).reshape(-1).tolist() in (["b"], ["B"])


@pytest.mark.parametrize("x", [np.zeros((2, 0), object), np.full((2, 2), "a", object)], ids=["empty", "full"])
@pytest.mark.parametrize("options", OPTIONS)
def test_shapes_that_it_does_not_take_are_refused(x, options) -> None:
    with pytest.raises(OnnxsmithError):
        opset21.StringNormalizer(x, **options)


def test_the_law() -> None:
    assert not law("letter-case").wrong(0, 12)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(letter_case) == []

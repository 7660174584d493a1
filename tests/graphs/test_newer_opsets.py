"""A model of an opset that the installed onnx does not have is refused by its number, wherever its meaning counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, Opset, errors, script
from onnxsmith.runtime import load_session, using
from onnxsmith.schema import registry

NEWEST = registry.latest_version("")
X = np.float32([1, -2])
HEAD = "g (float[N] x) => (float[N] y)"
TEXTS = {
    "the graph": f'<ir_version: 10, opset_import: ["" : 999]> {HEAD} {{ y = Relu(x) }}',
    "the next one": f'<ir_version: 10, opset_import: ["" : {NEWEST + 1}]> {HEAD} {{ y = Relu(x) }}',
    "by its other name": f'<ir_version: 10, opset_import: ["ai.onnx" : 999]> {HEAD} {{ y = Relu(x) }}',
    "an operator of it": f'<ir_version: 10, opset_import: ["" : 999]> {HEAD} {{ y = BrandNew(x) }}',
    "a function": f'<ir_version: 10, opset_import: ["" : 21, "my" : 1]> {HEAD} {{ y = my.f(x) }}'
    ' <domain: "my", opset_import: ["" : 999]> f (a) => (b) { b = Relu(a) }',
    "another domain": f'<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 999]> {HEAD}'
    " { y = ai.onnx.ml.Scaler <scale = [2.0], offset = [0.0]> (x) }",
}
VERBS: dict[str, tuple[Callable[[Model], Any], type[errors.OnnxsmithError]]] = {
    "call": (lambda model: model(X), errors.NotRunnableError),
    "session": (lambda model: load_session(model.proto), errors.NotRunnableError),
    "check": (lambda model: model.check(), errors.InvalidModelError),
    "for_runtime": (lambda model: model.for_runtime(), errors.NotRunnableError),
    "convert_version": (lambda model: model.convert_version(21), errors.VersionConversionError),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_guessed(name: str, verb: str) -> None:
    model = Model.from_proto(parser.parse_model(TEXTS[name]))
    run, kind = VERBS[verb]
    with pytest.raises(
        kind, match=r"it is of opset \d+.*and the installed onnx has versions 1 to \d+"
    ) as told:
        run(model)
    assert told.value.help == "install a newer onnx, or have the model written in an older opset"


def test_nor_on_the_reference_evaluator() -> None:
    model = Model.from_proto(parser.parse_model(TEXTS["the graph"]))
    with using(runtime="reference"), pytest.raises(errors.NotRunnableError, match="opset 999"):
        model(X)


def test_it_is_loaded_and_saved_as_it_is(tmp_path) -> None:
    model = Model.from_proto(parser.parse_model(TEXTS["the graph"]))
    with pytest.warns(errors.RuntimeSupportWarning, match="opset 999.*\ninstall a newer onnx"):
        model.save(tmp_path / "model.onnx")
    assert Model.load(tmp_path / "model.onnx").opset_imports == {"": 999}


def test_the_newest_one_runs() -> None:
    text = f'<ir_version: 10, opset_import: ["" : {NEWEST}]> {HEAD} {{ y = Relu(x) }}'
    assert Model.from_proto(parser.parse_model(text))(X).tolist() == [1, 0]


def test_others_domains_have_any_version() -> None:
    text = f'<ir_version: 10, opset_import: ["" : 21, "my" : 999]> {HEAD} {{ y = my.f(x) }}'
    body = ' <domain: "my", opset_import: ["" : 21]> f (a) => (b) { b = Relu(a) }'
    assert Model.from_proto(parser.parse_model(text + body))(X).tolist() == [1, 0]


@pytest.mark.parametrize("given", [Opset("", 999), 999, 0])
@pytest.mark.parametrize("parameter", ["default_opset", "opset"])
def test_scripts_name_an_opset_that_is_there(given: Any, parameter: str) -> None:
    number = given if isinstance(given, int) else given.version
    with pytest.raises(errors.AttributeValueError, match=f"{parameter}={number} is not there"):

        @script(**{parameter: given})
        def shifted(x: FLOAT["N"]):
            return x + 1.0


def test_a_decompiled_model_of_one_is_rebuilt(tmp_path) -> None:
    model = Model.from_proto(parser.parse_model(TEXTS["the graph"]))
    assert 'Opset("", 999, checked=False)' in model.decompile()

"""A run falls back to the reference evaluator in silence only where that is known to be right."""

from __future__ import annotations

import re
import warnings
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from onnxsmith import Model, opset20, opset23
from onnxsmith import opset21 as op
from onnxsmith.errors import FallbackWarning, OperatorFailedError
from onnxsmith.runtime import clear_cache, using
from onnxsmith.runtime.reference_table import RIGHT
from onnxsmith.runtime.reference_trust import is_right
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find
from tests.runtime.reference_forms import cast, forms, samples
from tests.runtime.reference_law import judged, warned
from tests.runtime.reference_samples import Node

PICTURE = np.arange(9).reshape(1, 1, 3, 3)
GRID = np.zeros((1, 2, 2, 2), np.float32)


def test_what_was_compared_falls_back_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(op.Tan(np.array([0.5])), np.tan(0.5))


def test_what_nobody_gets_right_warns_at_the_users_line() -> None:
    clear_cache()
    with pytest.warns(
        FallbackWarning, match=r"GridSample-20 on \(int64, float32\) runs on onnx's reference"
    ) as told:
        opset20.GridSample(PICTURE, GRID)
    assert told[0].filename == __file__
    assert len(told) == 1


def test_it_is_said_once() -> None:
    clear_cache()
    with pytest.warns(FallbackWarning):
        opset20.GridSample(PICTURE, GRID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opset20.GridSample(PICTURE, GRID)


def test_a_model_that_falls_back_names_its_nodes() -> None:
    text = "g (int64[1, 1, H, W] x, float[1, 2, 2, 2] v) => (int64[1, 1, 2, 2] y) { [sampled] y = GridSample(x, v) }"
    model = Model.from_proto(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}'))
    with pytest.warns(FallbackWarning, match="GridSample 'sampled'"):
        model(PICTURE, GRID)


def test_as_an_error_it_says_the_same() -> None:
    text = "g (int64[1, 1, H, W] x, float[1, 2, 2, 2] v) => (int64[1, 1, 2, 2] y) { y = GridSample(x, v) }"
    model = Model.from_proto(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> {text}'))
    clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for run in (opset20.GridSample, model):
            with pytest.raises(FallbackWarning, match="on onnx's reference evaluator"):
                run(PICTURE, GRID)


def test_what_ends_in_an_error_does_not_warn() -> None:
    clear_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OperatorFailedError):
            op.Resize(np.array([True]))  # neither scales nor sizes


def test_who_asks_for_the_reference_evaluator_is_not_warned() -> None:
    with using(runtime="reference"), warnings.catch_warnings():
        warnings.simplefilter("error")
        opset20.GridSample(PICTURE, GRID)


def test_the_table_knows_versions_and_types() -> None:
    assert is_right(find("Tan", 22), [DType.DOUBLE])
    assert not is_right(find("GridSample", 20), [DType.INT64, DType.FLOAT])
    assert len(RIGHT) > 180


def test_few_operators_warn_and_the_documentation_lists_them() -> None:
    found = set(warned())
    operators = {name for name, _, _ in found}
    assert len(operators) <= 10
    page = (Path(__file__).parents[2] / "docs/how-to/warnings-and-logging.md").read_text()
    rows = page.partition("## Calls that fall back")[2].partition("## Errors")[0].splitlines()
    listed = {
        name for row in rows if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert operators == listed, sorted(map(str, found))
    # What the rows say of each.
    assert {version for name, version, _ in found if name == "Resize"} == {13}
    assert {kinds[3:] for name, _, kinds in found if name == "MelWeightMatrix"} == {(DType.BFLOAT16,) * 2}
    assert {kinds[2] for name, _, kinds in found if name == "QuantizeLinear"} == {
        DType.FLOAT6E2M3,
        DType.FLOAT6E3M2,
    }
    assert all(kinds[0].kind in ("signed", "unsigned") for name, _, kinds in found if name == "GridSample")


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_infinities_saturate_when_quantized(kind: type) -> None:
    x = np.array([np.inf, -np.inf, 6e4, -6e4, 3.0], kind)
    with using(runtime="reference"):
        given = opset23.QuantizeLinear(x, np.float32(0.5), np.uint8(128))
    assert given.tolist() == [255, 0, 255, 0, 134]


def test_quantizing_in_half_precision_rounds_the_quotient_there() -> None:
    x, scale = np.float16([2049.0, 0.1]), np.float16(0.3)
    with using(runtime="reference"):
        given = opset23.QuantizeLinear(x, scale, np.uint16(0))
    assert given.tolist() == np.rint(x / scale).astype(np.uint16).tolist()


def test_scores_of_whole_numbers_are_floats() -> None:
    sample = next(each for each in samples()["ai.onnx.ml", "SVMClassifier"])
    for kind in (np.float32, np.int32, np.int64):
        node = cast(sample.node, "T1", DType.from_numpy(np.dtype(kind)) or DType.FLOAT)
        assert node is not None
        results = node.run("reference")
        assert results is not None
        assert results[1].dtype == np.float32


def test_keys_of_another_kind_are_refused() -> None:
    op = registry.find("ai.onnx.ml", "LabelEncoder", 4)
    assert op is not None
    attributes = {"keys_strings": ["a"], "values_int64s": [1]}
    with pytest.raises(OperatorFailedError, match="keys_strings"):
        Node(op, attributes, (np.float32([1]),), 1).run("reference")


def test_the_law_on_some_forms() -> None:
    operators = ("Tan", "GRU", "Trilu", "AveragePool", "BitShift", "QLinearMatMul")
    some = islice(chain.from_iterable(forms("", name) for name in operators), 400)
    found = [judged(*form) for form in some]
    wrong = [each.text for each in found if each is not None and each.kind == "wrong"]
    assert not wrong, "\n".join(wrong)
    assert len(found) > 100

"""The law of the round trip: any model comes back from Python as it was, and its text as it was to the byte."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith import script
from tests.decompile.backend_cases import all_cases
from tests.decompile.fidelity import differences
from tests.decompile.only_onnxsmith import offences
from tests.decompile.random_models import models
from tests.decompile.round_trip import compile_text, first_difference, through_folder
from tests.decompile.written_models import FOUND, PROGRAMS

Weights = Literal["inline", "external", "safetensors"]

LENIENT = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


#: Some random models hold operations that cannot work; a model is taken as it is, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")


@settings(LENIENT, max_examples=100)
@given(models())
def test_models_come_back(model: onnx.ModelProto) -> None:
    before = model.SerializeToString(deterministic=True)
    text = onnxsmith.decompile(model)
    assert model.SerializeToString(deterministic=True) == before, "the model itself was changed"
    assert not offences(text), text
    proto = compile_text(text)
    assert not differences(model, proto), text
    assert first_difference(text, onnxsmith.decompile(proto)) is None


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_what_longer_searches_found(text: str) -> None:
    model = onnx.parser.parse_model(text)
    for node in model.graph.node:
        node.op_type = "2D" if node.op_type == "D2" else node.op_type
        if (node.domain, node.op_type) == ("own", "Neg"):
            node.attribute.append(onnx.helper.make_attribute("k", -math.nan))
        for attribute in node.attribute:
            if attribute.HasField("t"):
                attribute.t.doc_string = "what only a stored tensor has"
    code = onnxsmith.decompile(model)
    proto = compile_text(code)
    assert not differences(model, proto), code
    assert first_difference(code, onnxsmith.decompile(proto)) is None


@pytest.mark.parametrize("weights", ["inline", "external", "safetensors"])
@settings(LENIENT, max_examples=25)
@given(model=models())
def test_models_come_back_from_folders(weights: Weights, model: onnx.ModelProto) -> None:
    with tempfile.TemporaryDirectory(prefix="decompiled-") as folder:
        assert not differences(model, through_folder(model, Path(folder), weights))


@settings(LENIENT, max_examples=1)
@given(st.lists(models(), min_size=20, max_size=20))
def test_formatter_leaves_random_models_alone(several: list[onnx.ModelProto]) -> None:
    assert_formatted({str(index): onnxsmith.decompile(model) for index, model in enumerate(several)})


def test_formatter_leaves_backend_cases_alone() -> None:
    assert_formatted({case.name: onnxsmith.decompile(case.model) for case in all_cases()[::25]})


def assert_formatted(text_of: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="decompiled-") as folder:
        for name, text in text_of.items():
            (Path(folder) / f"{name}.py").write_bytes(text.encode())
        command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--diff", folder]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout[:5000] + result.stderr[-500:]


@pytest.mark.parametrize(("program", "wanted"), PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_bodies_are_statements(program: Callable[..., Any], wanted: dict[str, int]) -> None:
    model = script(program).to_model()
    text = onnxsmith.decompile(model)
    words = re.findall(r"^ +(for|while|if|else|break)\b", text, re.MULTILINE)
    assert {each: words.count(each) for each in words} == wanted
    assert "op.Loop" not in text
    assert "op.If" not in text
    again = onnxsmith.Model.from_proto(compile_text(text))
    for n in (0, 1, 4):
        given = np.float32([1, 2]), np.int64(n), np.bool_(n > 1)
        for one, other in zip(model(*given), again(*given), strict=True):
            np.testing.assert_array_equal(one, other)

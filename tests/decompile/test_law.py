"""The law of the round trip: any model comes back from Python as it was, and its text as it was to the byte."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith import BOOL, FLOAT, INT64, script
from tests.decompile.backend_cases import all_cases
from tests.decompile.fidelity import differences
from tests.decompile.only_onnxsmith import offences
from tests.decompile.random_models import models
from tests.decompile.round_trip import compile_text, first_difference, through_folder

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


FOUND = {
    "a function whose first input is called self": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.f(x) }
        <opset_import: ["" : 17], domain: "own"> f (self) => (y) { y = Neg(self) }""",
    "an operator and a value that begin with digits": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { _1a = own.D2(x) y = Neg(_1a) }""",
    "a NaN with a sign": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.Neg(x) }""",
    "attributes that are stored, and no keywords": """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.Foo <class = float[2] {1.0, 2.0}, axis = float[2] {3.0, 4.0}> (x) }""",
}


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


X, N, P = FLOAT["K"], INT64, BOOL


def two_states(x: X, n: N, p: P):
    a, b = x, x * 2.0
    for i in range(n):
        a, b = b + 1.0, a * (i + 2.0)
    return a, b


def three_states_in_a_while(x: X, n: N, p: P):
    a, b, k = x, x * 2.0, n * 0
    while k < n:
        a, b, k = b, a + 1.0, k + 1
    return a, b


def left_early(x: X, n: N, p: P):
    a, b = x, x
    for _ in range(n):
        a = a + 1.0
        if a.sum() > 9.0:
            break
        b = b * 2.0
    return a, b


def left_at_the_end(x: X, n: N, p: P):
    a, b = x, x
    for _ in range(n):
        a, b = a + 1.0, b + a
        if a.sum() > 9.0:
            break
    return a, b


def branches(x: X, n: N, p: P):
    if p:
        a, b = x + 1.0, x
    elif n > 2:
        a, b = x, x * 3.0
    else:
        a, b = -x, x - 4.0
    return a, b


def all_inside_each_other(x: X, n: N, p: P):
    a, b = x, x
    for i in range(n):
        if p:
            k = n * 0
            while k < i:
                a, b, k = a + b, b + 1.0, k + 1
        else:
            for _ in range(i):
                a, b = b, a * 2.0
                if b.sum() > 50.0:
                    b = b - 50.0
    return a, b


#: Programs, and the words of the statements that are written for their models.
PROGRAMS: list[tuple[Callable[..., Any], dict[str, int]]] = [
    (two_states, {"for": 1}),
    (three_states_in_a_while, {"while": 1}),
    (left_early, {"for": 1, "if": 2, "else": 1, "break": 1}),
    (left_at_the_end, {"for": 1, "if": 1, "break": 1}),
    (branches, {"if": 2, "else": 2}),
    (all_inside_each_other, {"for": 2, "while": 1, "if": 2, "else": 2}),
]


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

"""Conditions on sizes in a model's metadata: read as arithmetic and nothing else, and asked before a run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, trace
from onnxsmith.errors import ModelInputError
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition, read, spelled, written


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n <= 4", False),
        ("n > m", True),
        ("n % 2 == 0", True),
        ("2 <= n <= 8", True),
        ("max(n, m) - 2 * m == 2", True),
        ("-n + (n // m) != 0", True),
        ("other > 1", None),
        ("'a name' == 5", True),
        # What is no comparison of sizes has no meaning.
        ("n", None),
        ("__import__('os') == 1", None),
        ("n ** n ** n ** n > 1", None),
        ("n.bit_length() > 1", None),
        ("n // 0 == 1", False),
        ("n <", None),
        ("(" * 400 + "n" + ")" * 400 + " > 1", None),
    ],
)
def test_what_a_condition_means(text, wanted):
    assert SizeCondition(text).holds({"n": 8, "m": 3, "a name": 5}) is wanted


@pytest.mark.parametrize("text", ["", "nonsense", "{}", "[1, {}]", '[{"condition": 3}]', "[" * 100_000])
def test_metadata_of_another_form_is_passed_over(text):
    assert read({SIZES_KEY: text}) == ()


def test_what_is_written_is_read():
    conditions = (SizeCondition(f"{spelled('a name')} <= 4", "model.py:3"), SizeCondition("n != 1"))
    assert read({SIZES_KEY: written(conditions)}) == conditions


def test_a_model_refuses_other_sizes(tmp_path):
    model: Any = trace(lambda x: x + 1.0, FLOAT["n", 2])
    model.ir.metadata_props[SIZES_KEY] = json.dumps([{"condition": "n <= 4", "because": "model.py:3"}])
    model.save(tmp_path / "small.onnx")
    small = Model.load(tmp_path / "small.onnx")
    assert small(np.ones((4, 2), np.float32)).shape == (4, 2)
    with pytest.raises(ModelInputError, match=r"the model is for n <= 4, and was given n = 5") as caught:
        small(np.ones((5, 2), np.float32))
    assert "model.py:3" in (caught.value.help or "")

"""`proto2python`: onnxscript's name and options for what is `decompile` here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op

MODEL = trace(lambda x: op.Relu(x) * 2.0, FLOAT["N"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_operators": False, "inline_const": False},
        {"use_operators": True, "inline_const": True, "clean_names": True, "rename": True},
        {"function_name": "main", "skip_initializers": True},
    ],
)
def test_options_are_taken_and_change_nothing(options: dict[str, Any]) -> None:
    assert onnxsmith.proto2python(MODEL.proto, **options) == onnxsmith.decompile(MODEL.proto)


def test_it_takes_a_path_and_a_function_name_by_position(tmp_path: Path) -> None:
    MODEL.save(tmp_path / "m.onnx")
    text = onnxsmith.proto2python(str(tmp_path / "m.onnx"), "main")
    assert "op.Relu(x)" in text


def test_what_is_no_model_is_an_error() -> None:
    with pytest.raises(onnxsmith.errors.DecompileError):
        onnxsmith.proto2python(MODEL.proto.graph)

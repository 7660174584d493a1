"""Modules of opsets: what importing one loads, and how it is found again."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

import onnxsmith
from onnxsmith import opset18, opset21, opset_ai_onnx_ml5
from onnxsmith.opset.module import is_opset_module, make_missing_opset, standard_version


def test_an_opset_loads_nothing_heavy() -> None:
    heavy = ("onnx", "onnx_ir", "onnxruntime", "ml_dtypes", "torch", "onnxsmith.graphs", "onnxsmith.runtime")
    program = f"import sys; from onnxsmith import opset21; print([each for each in {heavy!r} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_is_a_module_that_can_be_imported() -> None:
    import onnxsmith.opset21 as by_module
    from onnxsmith.opset21 import Relu

    assert by_module is opset21 is onnxsmith.opset21
    assert Relu is opset21.Relu


@pytest.mark.parametrize(("module", "version"), [(opset21, 21), (opset18, 18), (opset_ai_onnx_ml5, None)])
def test_a_module_says_which_opset_it_is(module: types.ModuleType, version: int | None) -> None:
    assert is_opset_module(module)
    assert standard_version(module) == version


@pytest.mark.parametrize("module", [np, onnxsmith, onnxsmith.errors, sys.modules["onnxsmith.opset.module"]])
def test_other_modules_are_none(module: types.ModuleType) -> None:
    assert not is_opset_module(module)
    assert standard_version(module) is None


def test_an_opset_without_a_file_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """An onnx that is newer than the generated modules: its opsets are made when they are asked for."""
    monkeypatch.delitem(sys.modules, "onnxsmith.opset20", raising=False)
    module = make_missing_opset("opset20")
    assert (module.domain, module.version) == ("", 20)
    assert is_opset_module(module)
    assert standard_version(module) == 20
    np.testing.assert_array_equal(module.Relu(np.float32([-1, 1])), [0, 1])

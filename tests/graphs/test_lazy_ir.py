"""onnx-ir, and sympy with it, are loaded when they are needed, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST_RESULT = "import onnxsmith.numpy as xp; assert (xp.asarray([1, 2]) + 1).tolist() == [2, 3]"
ASKED = """
from onnxsmith import FLOAT, opset21 as op, trace
assert len(trace(lambda x: op.Relu(x) + 1.0, FLOAT["N"]).ir.graph) == 2
"""


@pytest.mark.parametrize(("program", "is_loaded"), [(FIRST_RESULT, False), (ASKED, True)])
def test_what_a_program_loads(program: str, is_loaded: bool):
    report = f"{program}\nimport sys; print('onnx_ir' in sys.modules, 'sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    onnx_ir, sympy = (each == "True" for each in done.stdout.split())
    assert onnx_ir == is_loaded
    assert is_loaded or not sympy  # which onnx-ir loads from some version on

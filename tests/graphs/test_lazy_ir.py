"""onnx-ir, and sympy with it, are loaded when they are needed, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST_RESULT = "import onnxsmith.numpy as xp; assert (xp.asarray([1, 2]) + 1).tolist() == [2, 3]"
FIRST_SCRIPT = """
import linecache
import numpy as np
text = 'from onnxsmith import FLOAT, script\\n@script\\ndef f(x: FLOAT["N"]): return x * [1.0, 2.0] + 0.5\\n'
linecache.cache["script.py"] = (len(text), None, text.splitlines(True), "script.py")
names = {"__name__": "script"}
exec(compile(text, "script.py", "exec"), names)
assert names["f"].jit(np.ones(2, np.float32)).tolist() == [1.5, 2.5]
"""
ASKED = """
from onnxsmith import FLOAT, opset21 as op, trace
assert len(trace(lambda x: op.Relu(x) + 1.0, FLOAT["N"]).ir.graph) == 2
"""


@pytest.mark.parametrize(
    ("program", "is_loaded"), [(FIRST_RESULT, False), (FIRST_SCRIPT, False), (ASKED, True)]
)
def test_what_a_program_loads(program: str, is_loaded: bool):
    report = f"{program}\nimport sys; print('onnx_ir' in sys.modules, 'sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    onnx_ir, sympy = (each == "True" for each in done.stdout.split())
    assert onnx_ir == is_loaded
    assert is_loaded or not sympy  # which onnx-ir loads from some version on

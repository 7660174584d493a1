"""A program loads the functions of arrays that it calls, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_FIRST = """
import json, sys
import onnxsmith.numpy as xp
xp.add([1.0, 2.0], [3.0, 4.0])
print(json.dumps([name for name in sys.modules if name.startswith("onnxsmith.")]))
"""


def _printed(program: str) -> Any:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_first_call_loads_what_it_needs() -> None:
    loaded = set(_printed(_FIRST))
    assert "onnxsmith.numpy.ufuncs.arithmetic" in loaded
    others = (
        "onnxsmith.scripting.analysis",
        "onnxsmith.scripting.dialects.numpy",
        "onnxsmith.algorithms.linalg",
        "onnxsmith.numpy.sets",
    )
    assert not [name for name in loaded if name.startswith(others)]


def test_array_is_the_function() -> None:
    """The module of that name does not take its place, whoever imports it first."""
    program = (
        "from onnxsmith.numpy.array import Array\nimport onnxsmith.numpy as xp\nprint(xp.array([1]).tolist())"
    )
    assert _printed(program) == [1]

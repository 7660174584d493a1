"""A program loads the functions of arrays that it calls, and the table of their homes is what the modules enter."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from onnxsmith.numpy.homes import HOMES

_WHO_ENTERS = """
import importlib, json, sys
from onnxsmith.numpy import registry

entered = {}

class Watched(registry.Table):
    def __setitem__(self, name, value):
        frame = sys._getframe(1)
        while frame.f_globals["__name__"] in ("onnxsmith.numpy.registry", "onnxsmith.numpy.ufunc"):
            frame = frame.f_back
        entered.setdefault(frame.f_globals["__name__"].removeprefix("onnxsmith.numpy."), []).append(name)
        super().__setitem__(name, value)

registry.FUNCTIONS, registry.UFUNCS = Watched(), Watched()
importlib.import_module("onnxsmith.numpy.namespace")
print(json.dumps(entered))
"""

_FIRST = """
import json, sys
import onnxsmith.numpy as xp
xp.add([1.0, 2.0], [3.0, 4.0])
print(json.dumps([name for name in sys.modules if name.startswith("onnxsmith.")]))
"""


def _printed(program: str) -> Any:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_table_is_what_modules_enter() -> None:
    entered: dict[str, list[str]] = _printed(_WHO_ENTERS)
    del entered["names"]  # loaded with the first name, whichever that is
    assert {home: sorted(names) for home, names in entered.items()} == {
        home: sorted(names.split()) for home, names in HOMES.items()
    }


def test_first_call_loads_what_it_needs() -> None:
    loaded = set(_printed(_FIRST))
    assert "onnxsmith.numpy.ufuncs.arithmetic" in loaded
    others = (
        "onnxsmith.scripting.analysis",
        "onnxsmith.numpy.staging",
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

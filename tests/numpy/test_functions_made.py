"""Random functions of numpy give as models what numpy gives, or are refused with their line; none is wrong."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.numpy.functions_made import Made, arguments, make
from tests.numpy.same_results import TOLERANCE, difference

#: How many functions are asked; more by hand.
_COUNT = int(os.environ.get("ONNXSMITH_FUNCTIONS", "150"))
_FIRST = int(os.environ.get("ONNXSMITH_FIRST_FUNCTION", "0"))
_TOGETHER = 10


def _loaded(made: Made, folder: Path) -> Any:
    """The function, from a file of its own: that is where its source is read."""
    path = folder / f"made_{made.seed}.py"
    path.write_text(made.source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.made


def judged(made: Made, folder: Path) -> tuple[str, str]:
    """`equal`, `refused` or `wrong`, and why."""
    function = _loaded(made, folder)
    fast = xp.jit(function)
    for (size, dtype), expected in made.results.items():
        try:
            found = fast(*arguments(size, dtype))
        except OnnxsmithError as error:
            if made_place(str(error), made):
                return "refused", str(error)
            return "wrong", f"size {size}, {dtype}: {error}"
        except Exception as error:
            return "wrong", f"size {size}, {dtype}: {type(error).__name__} {error}"
        different = difference(expected, found, TOLERANCE[dtype])
        if different is not None:
            return "wrong", f"size {size}, {dtype}: {different}"
    return "equal", ""


def made_place(text: str, made: Made) -> bool:
    """Whether an error says where in the function it is, and is none of the run."""
    return f"made_{made.seed}.py" in text and "[R" not in text


@pytest.mark.parametrize("first", range(_FIRST, _FIRST + _COUNT, _TOGETHER))
def test_none_is_wrong(first: int, tmp_path: Path):
    for seed in range(first, min(first + _TOGETHER, _FIRST + _COUNT)):
        made = make(seed)
        verdict, why = judged(made, tmp_path)
        assert verdict != "wrong", f"seed {seed}: {why}\n{made.source}"

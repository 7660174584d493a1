"""Every mistake of the catalogue gives the error that its file holds, and shows nothing of our own code."""

from __future__ import annotations

import builtins
import os
from pathlib import Path

import numpy
import onnx
import onnx_ir
import onnxruntime
import pytest

import onnxsmith
from onnxsmith.errors.pages import error_classes
from onnxsmith.runtime.settings import default_settings
from tests.errors.catalogue import Case, no_file_left_open, read_cases, run, write

ALL = read_cases()
#: Folders that a user's traceback must not show. Names of packages alone would not do: a clone may be called `numpy`.
FOREIGN = tuple(
    os.path.dirname(package.__file__) + os.sep for package in (onnxsmith, numpy, onnx, onnx_ir, onnxruntime)
)


@pytest.fixture(autouse=True, scope="module")
def _looked_for_the_runtime() -> None:
    """Whether there is a runtime is asked once in a process: not first by a program that pretends there is none."""
    default_settings()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    with no_file_left_open():
        outcome = run(case.program, tmp_path)
    assert outcome is not None, "the program raised nothing"
    assert type(outcome.error).__name__ == case.raises
    assert outcome.when == case.when
    if update_golden:
        write(case, outcome)
    else:
        assert outcome.described == case.expected
    bases = type(outcome.error).__bases__[1:]
    assert bases
    assert all(getattr(builtins, base.__name__) is base for base in bases)
    shown = [line for line in outcome.formatted.splitlines() if line.lstrip().startswith('File "')]
    assert not [line for line in shown if any(part in line for part in FOREIGN)]
    assert "The above exception was the direct cause" not in outcome.formatted


def test_there_are_enough() -> None:
    assert len(ALL) >= 70


def test_every_error_has_a_case() -> None:
    assert {each.__name__ for each in error_classes()} <= {case.raises for case in ALL}

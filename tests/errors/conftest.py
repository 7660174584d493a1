"""What all tests of errors have in common: skl2onnx is not there, whether it is installed or not."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _without_skl2onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is installed, it is asked last, and messages say what it answered."""
    monkeypatch.setitem(sys.modules, "skl2onnx", None)

"""What all tests of pipelines have in common: skl2onnx is not there, whether it is installed or not."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _without_skl2onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last road depends on what is installed; a test that takes it puts a module in its place."""
    monkeypatch.setitem(sys.modules, "skl2onnx", None)

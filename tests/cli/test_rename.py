"""`onnxsmith rename`."""

from __future__ import annotations

from pathlib import Path

import onnxsmith
from tests.cli.conftest import Run


def test_names(run: Run, model: Path) -> None:
    seen = run(
        "rename", "m.onnx", "--inputs", "x=image", "--outputs", "*=the_*", "--nodes", "*=n.*", "-o", "n.onnx"
    )
    assert (seen.status, seen.err) == (0, "")
    renamed = onnxsmith.load("n.onnx")
    assert [port.name for port in (*renamed.inputs, *renamed.outputs)] == [
        "image",
        "i",
        "the_y",
        "the_picked",
    ]
    assert all((node.name or "").startswith("n.") for node in renamed.ir.graph)


def test_nothing_to_rename(run: Run, model: Path) -> None:
    seen = run("rename", "m.onnx")
    assert seen.status == 1
    assert "rename was told no names" in seen.err


def test_the_same_thing_twice(run: Run, model: Path) -> None:
    assert run("rename", "m.onnx", "--inputs", "x=a", "x=b").status == 2

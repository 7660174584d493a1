"""`onnxsmith set-shapes`."""

from __future__ import annotations

from pathlib import Path

import pytest

import onnxsmith
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "shapes"),
    [
        (["N=1"], [(1, 4), ("K",), (1, 100)]),
        (["N=batch", "K=3"], [("batch", 4), (3,), ("batch", 100)]),
        (["x=2,_", "i=7,"], [(2, 4), (7,), (2, 100)]),
        (["N=1", "x=_,4", "i=K,", "K=3"], [(1, 4), (3,), (1, 100)]),
    ],
)
def test_sizes_names_and_shapes(run: Run, model: Path, words: list[str], shapes: list[object]) -> None:
    seen = run("set-shapes", "m.onnx", *words, "-o", "s.onnx")
    assert (seen.status, seen.err) == (0, "")
    shaped = onnxsmith.load("s.onnx")
    found = [port.type for port in (*shaped.inputs, shaped.outputs[0])]
    assert [getattr(each, "shape", None) for each in found] == shapes


def test_what_cannot_be(run: Run, model: Path) -> None:
    seen = run("set-shapes", "m.onnx", "x=N,5", "-o", "s.onnx")
    assert seen.status == 1
    assert "MatMul" in seen.err
    assert not Path("s.onnx").exists()
    assert run("set-shapes", "m.onnx", "N").status == 2

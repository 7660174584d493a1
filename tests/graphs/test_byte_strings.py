"""Strings that are no UTF-8: bytes are kept on every road, and text that has no bytes is refused on every road."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, Opset, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import InvalidModelError

X = np.ones(1, np.float32)
BYTES: Any = b"\xff\xfe"  # the stubs of string attributes take text only


def in_branch(x: Any) -> Any:
    return op.If(
        x.sum() > 0.0,
        then_branch=lambda: op.Size(op.Constant(value_string=BYTES)),
        else_branch=lambda: op.Size(op.Constant(value_strings=[BYTES, "a"])),
    )


@pytest.mark.parametrize(
    "body",
    [
        lambda x: (x + 1.0, op.Size(op.Constant(value_string=BYTES))),
        lambda x: (x + 1.0, op.Size(op.Constant(value_strings=["a", BYTES]))),
        lambda x: (x + 1.0, op.Size(op.Constant(value=np.array([BYTES], object)))),
        lambda x: (x + 1.0, op.Size(op.Identity(np.array([BYTES], object)))),
        lambda x: (x + 1.0, in_branch(x)),
    ],
    ids=["string", "strings", "tensor", "initializer", "branch"],
)
@pytest.mark.parametrize("has_ir", [False, True])
def test_bytes_are_kept(body: Callable[..., Any], has_ir: bool, tmp_path: Path) -> None:
    model = trace(body, FLOAT["N"])
    if has_ir:
        assert model.ir.graph is not None  # from now on it is held by onnx-ir
    assert BYTES in model.proto.SerializeToString()
    model.save(tmp_path / "model.onnx")
    loaded = onnxsmith.load(tmp_path / "model.onnx")
    assert loaded.proto == model.proto
    for each in (model, loaded):
        np.testing.assert_array_equal(each(X)[0], X + 1)


def test_a_result_that_is_no_text_says_so() -> None:
    """ONNX Runtime gives strings as text."""
    model = trace(lambda x: (x + 1.0, op.Constant(value_string=BYTES)), FLOAT["N"])
    with pytest.raises(onnxsmith.errors.OperatorFailedError, match="can't decode byte 0xff"):
        model(X)


@pytest.mark.parametrize(
    "value", ["\ud800", ["a", "\ud800"], np.array(["\ud800"], object)], ids=["string", "strings", "tensor"]
)
def test_text_that_has_no_bytes_is_refused(value: Any, tmp_path: Path) -> None:
    model = trace(lambda x: Opset("my.dom", 1).Foo(x, a=value), FLOAT["N"])
    with pytest.raises(InvalidModelError, match="surrogates not allowed"):
        _ = model.proto
    with pytest.raises(InvalidModelError, match="surrogates not allowed"):
        model.save(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_an_initializer_that_has_no_bytes_is_refused() -> None:
    with pytest.raises(InvalidModelError, match="surrogates not allowed"):
        trace(lambda x: (x, op.Identity(np.array(["\ud800"], object))), FLOAT["N"])

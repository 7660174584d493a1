"""`export_onnx_lib`, and the options that onnxscript's decorator takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, Opset, script
from onnxsmith import opset15 as op
from onnxsmith.errors import CallError, InputTypeError

LIBRARY = Opset("com.mydomain", 3)


@script(LIBRARY)
def l2norm(X):
    return op.ReduceSum(X * X, keepdims=1)


@script(opset=LIBRARY)
def square_loss(X, Y):
    """The loss."""
    return l2norm(op.Sub(X, Y))


def test_a_file_holds_the_functions(tmp_path: Path) -> None:
    onnxsmith.export_onnx_lib([l2norm, square_loss], tmp_path / "library.onnxlib")
    model = onnx.load(tmp_path / "library.onnxlib")
    assert [(each.domain, each.name, each.doc_string) for each in model.functions] == [
        ("com.mydomain", "l2norm", ""),
        ("com.mydomain", "square_loss", "The loss."),
    ]
    assert {each.domain: each.version for each in model.opset_import} == {"": 15, "com.mydomain": 3}
    assert not model.graph.node

    @script
    def caller(x: FLOAT["N"]):
        return LIBRARY.l2norm(x)

    functions = [each for each in model.functions if each.name == "l2norm"]
    made = caller.to_model(functions=functions, opset_version=15)
    np.testing.assert_array_equal(made(np.float32([1, 2])), [5])


@script(ir_version=8, producer_name="me", producer_version="0.1")
def described(x: FLOAT["N"]):
    return op.Relu(x)


def test_the_decorator_says_what_models_are_described_by() -> None:
    proto = described.to_model_proto()
    assert (proto.ir_version, proto.producer_name, proto.producer_version) == (8, "me", "0.1")
    proto = described.to_model_proto(ir_version=9, producer_name="you")
    assert (proto.ir_version, proto.producer_name, proto.producer_version) == (9, "you", "0.1")


def test_an_opset_is_given_once() -> None:
    with pytest.raises(CallError, match="the opset is given twice"):
        script(LIBRARY, opset=LIBRARY)
    assert script(lambda x: x + 1.0, opset=LIBRARY).domain == "com.mydomain"


def test_a_library_is_made_of_scripts(tmp_path: Path) -> None:
    for wrong in (np.zeros((2, 3)), [3], [len], 3, None):
        with pytest.raises(InputTypeError, match="a library is made of scripts"):
            onnxsmith.export_onnx_lib(wrong, tmp_path / "library.onnx")  # type: ignore[arg-type]

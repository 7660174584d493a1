"""Tensors under other names: the content is shared where it is large, and the tensor that was there keeps its name."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith.graphs.named_tensors import named_tensor, rename_value

SMALL, LARGE = np.arange(3, dtype=np.float32), np.arange(256, dtype=np.float32).reshape(2, 128)
TEXTS = np.array([b"a" * 2000, b"b"], object)


def of_proto(content: np.ndarray) -> ir.TensorProtocol:
    proto = onnx.numpy_helper.from_array(content, "old")
    proto.doc_string = "described"
    return ir.TensorProtoTensor(proto)


TENSORS = {
    "array": ir.tensor(SMALL, name="old", doc_string="described"),
    "small": of_proto(SMALL),
    "large": of_proto(LARGE),
    "just large": of_proto(LARGE),
    "just small": of_proto(LARGE.ravel()[:255]),
    "empty": of_proto(SMALL[:0]),
    "texts": of_proto(TEXTS),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_under_another_name(kind: str) -> None:
    tensor = TENSORS[kind]
    named = named_tensor(tensor, "new")
    assert (named.name, tensor.name) == ("new", "old")
    assert (named.dtype, list(named.shape), named.doc_string) == (
        tensor.dtype,
        list(tensor.shape),
        "described",
    )
    assert named.numpy().tolist() == tensor.numpy().tolist()
    # A small one is copied. A large one is read of the other when it is needed.
    assert isinstance(named, ir.LazyTensor) == (kind in ("large", "just large"))
    assert named_tensor(tensor, "old") is tensor
    assert named_tensor(named, "new") is named


@pytest.mark.parametrize("tensor", [None, *TENSORS.values()], ids=["none", *TENSORS])
def test_a_value_gets_a_name_and_its_tensor_keeps_its_own_elsewhere(
    tensor: ir.TensorProtocol | None,
) -> None:
    value = ir.Value(name="value", const_value=tensor)
    rename_value(value, "new")
    assert value.name == "new"
    if tensor is None:
        assert value.const_value is None
    else:
        assert value.const_value is not None
        assert (value.const_value.name, tensor.name) == ("new", "old")
        assert value.const_value.numpy().tolist() == tensor.numpy().tolist()

"""A model in two parts that pickle: its bytes without the weights, and the weights as arrays.

So a model of any size travels, past protobuf's 2 GB, and pickle passes arrays on without copying them where it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.graphs import files
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import numeric_weights

#: Where a weight that travels beside the model says that its data lies; no file is ever called so.
_MARK = "\0weight:"
#: Tensors smaller than this stay in the model's bytes.
_SMALL_BYTES = 1024


class PackedWeight(NamedTuple):
    """A weight with all that its place in the bytes does not say."""

    array: np.ndarray[Any, Any]
    doc_string: str | None


def pack(model: ir.Model) -> tuple[bytes, list[PackedWeight]]:
    """The bytes of a model, and its weights; nothing is copied but what is small."""
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    weights: list[PackedWeight] = []
    originals: list[tuple[ir.Value, ir.TensorProtocol]] = []
    try:
        for value, tensor in numeric_weights(model):
            if tensor.nbytes < _SMALL_BYTES:
                continue
            originals.append((value, tensor))
            value.const_value = Reference(
                f"{_MARK}{len(weights)}",
                None,
                None,
                tensor.dtype,
                shape=cast(Any, tensor.shape),
                name=value.name or "",
            )
            weights.append(PackedWeight(np.asarray(tensor.numpy()), tensor.doc_string))
        return files.serialize(model), weights
    finally:
        for value, tensor in originals:
            value.const_value = tensor


def unpack(content: bytes, weights: Sequence[PackedWeight]) -> ir.Model:
    """The model of its parts."""
    model = files.from_proto(files.parse(content, "the pickled model"), "the pickled model")
    for value, tensor in numeric_weights(model):
        location = str(cast(Any, tensor).location) if isinstance(tensor, ir.ExternalTensor) else ""
        if location.startswith(_MARK):
            packed = weights[int(location.removeprefix(_MARK))]
            value.const_value = ir.Tensor(
                packed.array, dtype=tensor.dtype, name=value.name, doc_string=packed.doc_string
            )
    return model

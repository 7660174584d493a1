"""A sparse tensor as one of onnx-ir's, which has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir


class SparseTensor(ir.LazyTensor):
    """A sparse tensor among dense ones. It is made dense only when its elements are read."""

    def __init__(self, proto: onnx.SparseTensorProto) -> None:
        super().__init__(
            self._dense,
            dtype=ir.DataType(proto.values.data_type),
            shape=ir.Shape(list(proto.dims)),
            name=proto.values.name,
            doc_string=proto.values.doc_string or None,
        )
        self.proto = proto

    def _dense(self) -> ir.Tensor[Any]:
        values = onnx.numpy_helper.to_array(self.proto.values)
        indices = onnx.numpy_helper.to_array(self.proto.indices)
        dense = np.zeros(tuple(self.proto.dims), values.dtype)
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
        return ir.Tensor(dense, dtype=self.dtype)

"""Tensors that lie in files, which are mapped when the tensor is found: another file in the place is not read."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

import numpy as np
import onnx
import onnx_ir as ir

from onnxsmith.errors import ExternalDataError
from onnxsmith.graphs import stamps
from onnxsmith.graphs.mapped_data import MappedFile


class MappedTensor(ir.ExternalTensor):
    """A tensor of a file that was mapped when the tensor was made."""

    __slots__ = ("_elements", "_file")

    def __init__(self, given: ir.ExternalTensor, file: MappedFile) -> None:
        untyped, base = cast(Any, given), cast(Any, super())  # paths, which onnx-ir gives no full types
        base.__init__(
            untyped.location,
            given.offset,
            given.length,
            given.dtype,
            shape=given.shape,
            name=given.name,
            doc_string=given.doc_string,
            metadata_props=dict(given.metadata_props),
            base_dir=untyped.base_dir,
        )
        self._file = file
        self._elements: np.ndarray[Any, Any] | None = None
        stamps.mark(self, file.stamp)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements; where they lie in the file as in memory, the file's own bytes."""
        if self._elements is None:
            content = self._content()
            if content is None:
                self._elements = super().numpy()
            elif self.dtype.bitwidth >= 8:
                kind = np.dtype(self.dtype.numpy()).newbyteorder("<")
                self._elements = np.frombuffer(content, kind).reshape(self.shape.numpy())
            else:  # onnx-ir unpacks them
                dims = [int(each) for each in self.shape.numpy()]
                packed = onnx.TensorProto(data_type=int(self.dtype), dims=dims, raw_data=bytes(content))
                self._elements = ir.TensorProtoTensor(packed).numpy()
        return self._elements

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.numpy(), dtype)

    def tobytes(self) -> bytes:
        """The bytes as the file has them."""
        content = self._content()
        return super().tobytes() if content is None else bytes(content)

    def tofile(self, file: BinaryIO) -> None:
        """Write the bytes to another file."""
        content = self._content()
        file.write(super().tobytes() if content is None else content)

    def _content(self) -> memoryview | None:
        """The bytes in the mapped file; None where onnx-ir is to read the file, which is the one that was found."""
        now, then = stamps.stamp(self.path), self._file.stamp
        is_held = self._file.content is not None
        is_other = now is None or then is None or now.file != then.file
        if now != then and not (is_other and is_held):
            raise ExternalDataError(
                f"the file {str(self.path)!r}, which holds the weight {self.name!r}, was changed after "
                "the model was loaded",
                help="load the model again, or put the file back",
            )
        if not self.size:
            return memoryview(b"")  # no file can be mapped for it, and onnx-ir reads a tensor once only
        if self._file.content is None:
            return None
        offset = self.offset or 0
        return memoryview(self._file.content)[offset : offset + self.nbytes]

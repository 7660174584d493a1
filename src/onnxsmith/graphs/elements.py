"""The elements of tensors: reads them, and finds those that differ between two arrays. Changes none."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.diagnostics import clipped, described_cause, printable
from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.lazy_ir import ir

#: The elements of a tensor, of any type and shape.
Elements: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_LONGEST_TEXT = 60


def read_only(tensor: ir.TensorProtocol) -> Elements:
    """The elements of a tensor, from where they lie if they lie there as in memory; they cannot be changed.

    A stranger's tensor may hold other data than its type and shape say: that is refused.
    """
    try:
        array = _text(tensor) if tensor.dtype == ir.DataType.STRING else np.asarray(tensor.numpy())[...]
    except Exception as error:  # numpy and onnx-ir raise unrelated classes
        raise _unreadable(tensor, error) from None
    array = array.view() if array.flags.writeable else array
    array.flags.writeable = False
    return array


def stored_bytes(tensor: ir.TensorProtocol) -> bytes:
    """The bytes of a tensor as a file has them. A tensor that cannot be read is refused."""
    try:
        return tensor.tobytes()
    except Exception as error:  # see above
        raise _unreadable(tensor, error) from None


def _unreadable(tensor: ir.TensorProtocol, error: Exception) -> OnnxsmithError:
    if isinstance(error, OnnxsmithError):
        return error
    called = printable(clipped(tensor.name or "", _LONGEST_TEXT))
    kind = clipped(f"{tensor.dtype.name}{list(dimensions_of(tensor))}", _LONGEST_TEXT)
    return InvalidModelError(
        f"the model is not valid: the elements of the tensor '{called}', {kind}, cannot be read:"
        f" {described_cause(error)}",
        help="get the file again, whole",
    )


def _text(tensor: ir.TensorProtocol) -> Elements:
    """Strings as Python has them; bytes that are no UTF-8 keep their values as surrogate escapes."""
    held = np.asarray(tensor.numpy())
    texts = [
        each.decode("utf-8", "surrogateescape") if isinstance(each, bytes) else str(each)
        for each in held.flat
    ]
    result = np.empty(len(texts), object)
    result[:] = texts
    return result.reshape(dimensions_of(tensor))


def differing(left: Elements, right: Elements) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A mask of the elements that differ between two flat arrays of one type: NaN equals NaN, and -0.0 is not 0.0."""
    if left.dtype.kind == "c":
        return np.asarray(differing(_parts(left), _parts(right)).reshape(-1, 2).any(axis=1))
    differs = cast("np.ndarray[Any, np.dtype[np.bool_]]", np.asarray(left != right, np.bool_))
    if left.dtype.kind in "iubOSU":
        return differs
    differs &= ~((left != left) & (right != right))  # only NaN is not what it is
    zeros = np.flatnonzero((left == 0) & (right == 0))
    one, two = (np.ascontiguousarray(each[zeros]).view(np.uint8) for each in (left, right))
    if not np.array_equal(one, two):  # dividing by them gives other infinities
        differs[zeros] = (one != two).reshape(len(zeros), -1).any(axis=1)
    return differs


def _parts(numbers: Elements) -> Elements:
    """Complex numbers as twice as many real ones."""
    return np.ascontiguousarray(numbers).view(f"f{numbers.dtype.itemsize // 2}")

"""Arrays of other libraries come in over their own memory, whatever their element type and layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith.runtime.device_arrays import ort_array
from onnxsmith.schema.foreign_arrays import (
    ELEMENT_CODES,
    ForeignDeviceArray,
    UnreadableArray,
    is_foreign,
    read_foreign,
)
from onnxsmith.types.dtypes import DType

torch = pytest.importorskip("torch")

TYPES = {
    "bool": DType.BOOL,
    "uint8": DType.UINT8,
    "int8": DType.INT8,
    "int16": DType.INT16,
    "int32": DType.INT32,
    "int64": DType.INT64,
    "float16": DType.FLOAT16,
    "bfloat16": DType.BFLOAT16,
    "float32": DType.FLOAT,
    "float64": DType.DOUBLE,
    "complex64": DType.COMPLEX64,
    "float8_e4m3fn": DType.FLOAT8E4M3FN,
    "float8_e5m2": DType.FLOAT8E5M2,
}
LAYOUTS = {
    "in order": lambda x: x,
    "transposed": lambda x: x.T,
    "every second": lambda x: x[::2, 1::2],
    "one row for all": lambda x: x[1].expand(x.shape),
    "a part": lambda x: x[1:, 2:],
    "no dimensions": lambda x: x[1, 1],
    "no elements": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_torch_shares_its_memory(name: str, layout: str) -> None:
    whole = (torch.arange(20).reshape(4, 5) % 3).to(getattr(torch, name))
    given = LAYOUTS[layout](whole)
    found = read_foreign(given)
    assert found.dtype == TYPES[name].numpy
    assert found.shape == tuple(given.shape)
    wanted = given.to(torch.complex64).numpy() if given.is_complex() else given.to(torch.float64).numpy()
    assert np.array_equal(found.astype(wanted.dtype), wanted)
    assert not found.size or found.ctypes.data == given.data_ptr()


def test_the_memory_outlives_the_array_of_the_other_library() -> None:
    found = [read_foreign(torch.full((1000,), k).to(torch.bfloat16)) for k in range(50)]
    assert [float(each[-1]) for each in found] == list(range(50))


def test_a_gradient_would_be_lost() -> None:
    with pytest.raises(UnreadableArray) as caught:
        read_foreign(torch.ones(2, requires_grad=True))
    assert caught.value.help == "give x.detach()"


def test_sparse_tensors_say_why_not() -> None:
    with pytest.raises(UnreadableArray, match=r"[sS]parse|layout"):
        read_foreign(torch.eye(3).to_sparse())


def test_which_values_are_foreign() -> None:
    import onnxsmith
    import onnxsmith.numpy as xp

    theirs = [torch.ones(2), torch.nn.Parameter(torch.ones(2))]
    ours = [onnxsmith.tensor([1.0]), xp.zeros(2), np.zeros(2), np.float32(1), 1.0, [1.0], "x", None]
    assert [is_foreign(each) for each in theirs] == [True, True]
    assert not any(map(is_foreign, ours))


def test_each_element_type_has_one_code() -> None:
    assert len(set(ELEMENT_CODES.values())) == len(ELEMENT_CODES)


class OnAGpu:
    """Stands for an array of a library on a GPU: its capsule is one of the CPU's, of which no element is read."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.copies = 0
        self.streams: list[object] = []

    def __dlpack__(self, *, stream: object = None) -> object:
        self.streams.append(stream)
        return self.tensor.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 1

    def contiguous(self) -> OnAGpu:
        self.copies += 1
        made = OnAGpu(self.tensor.contiguous())
        made.streams = self.streams
        return made


@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (2, 1, 4), (0, 3), (2, 3, 4, 5)], ids=str)
def test_arrays_on_a_gpu_in_order(shape: tuple[int, ...]) -> None:
    given = OnAGpu(torch.zeros(shape))
    found = read_foreign(given)
    assert isinstance(found, ForeignDeviceArray)
    assert (found.dtype, found.shape, found.device) == (np.float32, shape, "cuda:1")
    assert given.copies == 0
    assert given.streams == [1]  # what has begun is done before the default stream goes on


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[:, ::2], lambda x: x.expand(2, 3, 4)])
def test_arrays_on_a_gpu_in_another_order_are_copied_once(view: Callable[[Any], Any]) -> None:
    given = OnAGpu(view(torch.zeros(3, 4)))
    assert read_foreign(given).shape == tuple(given.tensor.shape)
    assert given.copies == 1


def test_a_capsule_is_taken_once() -> None:
    """A function that reads its argument twice reads one array of the runtime's."""
    given = torch.arange(3)
    array = ForeignDeviceArray(np.dtype(np.int64), (3,), "cpu", given.__dlpack__())
    first = ort_array(array)
    assert ort_array(array) is first
    assert array.numpy().tolist() == [0, 1, 2]

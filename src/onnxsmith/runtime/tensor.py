"""A tensor with an array behind it: what scripts hold while they run eagerly."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.target import default_target
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import AttributeValueError, InputTypeError, boundary
from onnxsmith.runtime.device_arrays import OrtArray, capsule_of, copied, moved, ort_array
from onnxsmith.runtime.devices import CPU, read_device
from onnxsmith.schema.foreign_arrays import (
    DEVICE_NAMES,
    DeviceArray,
    UnreadableArray,
    array_on_device,
    is_foreign,
    read_foreign,
)
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.annotations import read_dtype
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.core.target import Target


#: A notebook shows as many elements as cells of a table.
_MOST_CELLS = 200


@shown_as("Tensor")
class EagerTensor(Tensor):
    """A tensor that runs: operators on it execute at once, and it can be printed, compared and converted.

    Its operators are ONNX's, not numpy's, so that a program gives the same result eagerly and as a model.
    """

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        #: An array of numpy, or one on a device, which has numpy's words for its type (`OrtArray`).
        self.array = array

    @property
    def known(self) -> Known:
        return Known(self.type)

    @property
    def type(self) -> TensorType:
        return TensorType(DType.from_numpy(self.array.dtype), self.array.shape)

    @property
    def dtype(self) -> DType | None:
        return DType.from_numpy(self.array.dtype)

    @property
    def target(self) -> Target:
        return default_target()

    def as_number(self) -> Any:
        return self.array.item()

    @boundary
    def numpy(self) -> np.ndarray[Any, Any]:
        """The array behind it, not a copy; of a tensor on another device, a copy on the CPU."""
        return self.array.numpy() if isinstance(self.array, OrtArray) else self.array

    @property
    def device(self) -> str:
        """The device that its elements lie on, as in `cuda:0`.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 2.0]).device
        'cpu'
        """
        return self.array.device if isinstance(self.array, OrtArray) else str(CPU)

    @boundary
    def to_device(self, device: str, /, *, stream: Any = None) -> EagerTensor:
        """The tensor on a device: itself if it is there, else a copy. Calls run where their tensors are.

        >>> from onnxsmith import tensor
        >>> tensor([1.0, 2.0]).to_device("cpu")
        tensor([1., 2.], dtype=float32)
        """
        if stream is not None:
            raise AttributeValueError(
                "a copy waits for all work of the device, and takes no stream",
                culprit=("attribute", "stream"),
            )
        wanted = read_device(device)
        if str(wanted) == self.device:
            return self
        there = moved(cast(Any, self.array), wanted)
        return EagerTensor(there.numpy() if wanted == CPU else cast(Any, there))

    def copied(self) -> EagerTensor:
        """A copy on the same device."""
        array: Any = self.array
        is_there = isinstance(array, OrtArray)
        return EagerTensor(cast(Any, copied(array, read_device(self.device))) if is_there else array.copy())

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """The memory for other libraries: `torch.from_dlpack(x)` has the same elements without a copy."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(
                f"the tensor is on the device {self.device}; x.to_device(…) copies it to another"
            )
        array = self.copied().array if copy else self.array
        return array.capsule() if isinstance(array, OrtArray) else capsule_of(array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _code_of(self.device)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self.array)  # on another device an error, which says so
        array = array if dtype is None else array.astype(dtype, copy=False)
        return array.copy() if copy and array is self.array else array

    def __repr__(self) -> str:
        if isinstance(self.array, OrtArray):
            return f"tensor of {self.type!r} on {self.device}"
        return np.array_repr(self.array).replace("array(", "tensor(").replace("\n      ", "\n       ")

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The display in a notebook: its type, and its elements as a table if it has a few rows."""
        import html  # only notebooks ask for this, and its table of names takes time to load

        head = f"<p><code>{html.escape(repr(self.type))}</code></p>"
        if isinstance(self.array, OrtArray):
            body = f"<p>on {html.escape(self.device)}</p>"
        elif self.array.ndim in (1, 2) and self.array.size <= _MOST_CELLS:
            rows = np.atleast_2d(self.array).tolist()
            cells = ("".join(f"<td>{html.escape(_cell(each))}</td>" for each in row) for row in rows)
            body = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        else:
            body = f"<pre>{html.escape(str(self.array))}</pre>"
        return {"text/plain": repr(self), "text/html": head + body}

    def __str__(self) -> str:
        return repr(self) if isinstance(self.array, OrtArray) else str(self.array)

    def __format__(self, spec: str) -> str:
        if isinstance(self.array, OrtArray) and not (spec and self.array.size == 1):
            return format(repr(self), spec)
        return format(self.array.item() if spec and self.array.size == 1 else self.array, spec)

    def __hash__(self) -> int:
        """A scalar is found in a set or dict as the number that it holds; other tensors have no hash, as arrays."""
        if self.array.ndim:
            raise TypeError("a tensor has no hash, unless it is a scalar")
        return hash(self.array.item())

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        if isinstance(self.array, OrtArray):  # elements of a device are never written to
            return self
        return EagerTensor(self.array.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may have no such device: the elements travel, and are moved there by whoever wants that.
        return EagerTensor, (self.numpy(),)


@functools.lru_cache(maxsize=64)
def _code_of(device: str) -> tuple[int, int]:
    """A device as dlpack has it: a number for its kind, and which of several."""
    kind, index = read_device(device)
    return next(code for code, name in DEVICE_NAMES.items() if name == kind), index


def as_tensor(value: Any) -> Any:
    """An array, of numpy or on a device, as a tensor, also in lists; all else as it is."""
    if isinstance(value, np.ndarray | OrtArray):
        return EagerTensor(cast("np.ndarray[Any, Any]", value))
    if isinstance(value, list):
        return [as_tensor(each) for each in cast("list[Any]", value)]
    return value


def arrays_behind(values: Iterable[Any]) -> list[Any] | None:
    """The arrays of tensors and of other libraries' arrays, where they lie; None if any value is something else."""
    arrays: list[Any] = []
    for value in values:
        if value.__class__ is EagerTensor:
            arrays.append(value.array)
        elif value.__class__ is np.ndarray:
            arrays.append(value)
        elif is_foreign(value):
            try:
                array = read_foreign(value)
            except UnreadableArray:
                return None  # whoever binds the call says which input it is
            arrays.append(ort_array(array) if isinstance(array, DeviceArray) else array)
        else:
            return None
    return arrays


def adopted(value: Any, place: Place) -> EagerTensor:
    """The tensor over the memory of another library's array, on the device where it lies."""
    array: Any = given_array(value, None, place)
    return EagerTensor(cast(Any, ort_array(array)) if isinstance(array, DeviceArray) else array)


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@boundary
def tensor(value: Any, dtype: Any = None) -> EagerTensor:
    """A tensor of an array, a number or a list, to compute with ONNX's operators.

    >>> from onnxsmith import tensor
    >>> tensor([1, 2, 3]) // 2
    tensor([0, 1, 1], dtype=int64)
    """
    if isinstance(value, EagerTensor):
        value = value.array
    wanted = None
    if dtype is not None and (wanted := read_dtype(dtype)) is None:
        raise InputTypeError(
            f"{dtype!r} is no element type", help="write FLOAT, FLOAT.dtype or a numpy dtype"
        )
    place = Place("tensor", "its value", ("input", 0))
    if array_on_device(value) is not None or is_foreign(value):
        given = adopted(value, place)
        return given if wanted in (None, given.dtype) else cast(EagerTensor, given.astype(wanted))
    array = given_array(value, wanted, place)
    return EagerTensor(array if wanted is None else array.astype(wanted.numpy, copy=False))

"""Safetensors files: every element type there and back, as the package of that name reads them, and damaged ones."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith.errors import ModelWriteError, WeightError
from onnxsmith.graphs import safetensors_file
from onnxsmith.graphs.safetensors_file import read, write
from onnxsmith.types.dtypes import DType

#: Numbers and truth values that the installed onnx-ir has; text has no place in such a file.
TYPES = [
    each for each in DType if each is not DType.STRING and int(each) in {int(one) for one in ir.DataType}
]


def tensor_of(dtype: DType, *, name: str = "w") -> ir.TensorProtocol:
    elements = np.arange(6).reshape(2, 3) % 2
    return ir.tensor(elements.astype(dtype.numpy), dtype=ir.DataType(int(dtype)), name=name)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda each: each.name)
def test_every_element_type_there_and_back(dtype: DType, tmp_path: Path) -> None:
    given = tensor_of(dtype)
    write({"w": given}, tmp_path / "w.safetensors", overwrite=False)
    found = read(tmp_path / "w.safetensors")["w"]
    assert (found.dtype, list(found.shape)) == (given.dtype, [2, 3])
    assert found.tobytes() == given.tobytes()


#: Types of the format that numpy has itself.
PLAIN = [each for each in safetensors_file._NAMES if not each.name.startswith(("BFLOAT", "FLOAT8"))]


@pytest.mark.parametrize("dtype", PLAIN, ids=lambda each: each.name)
def test_the_package_reads_what_is_written(dtype: DType, tmp_path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy")
    given = tensor_of(dtype)
    write({"w": given}, tmp_path / "w.safetensors", overwrite=False)
    found = package.load_file(tmp_path / "w.safetensors")["w"]
    assert (found.dtype, found.shape) == (given.numpy().dtype, (2, 3))
    np.testing.assert_array_equal(found, given.numpy())


def header_of(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    return json.loads(content[8 : 8 + length])


def test_a_tensor_of_two_names_lies_there_once_and_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    names = ["a", "b", "__metadata__", "onnx.x", "other"]
    shared = ir.tensor(np.float32([1, 2]))
    tensors: dict[str, ir.TensorProtocol] = dict.fromkeys(names[:2], shared)
    tensors |= {name: ir.tensor(np.float32([k]), name=name) for k, name in enumerate(names[2:])}
    write(tensors, path, overwrite=False)
    header = header_of(path)
    assert header["__metadata__"] == {"format": "onnx", "onnx.same:b": "a"}
    assert list(header) == ["__metadata__", "a", "onnx.tensor:__metadata__", "onnx.tensor:onnx.x", "other"]
    assert header["a"] == {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    assert header["other"]["data_offsets"] == [16, 20]
    assert {name: each.numpy().tolist() for name, each in read(path).items()} == {
        "a": [1, 2],
        "b": [1, 2],
        "__metadata__": [0],
        "onnx.x": [1],
        "other": [2],
    }


def test_a_file_of_other_weights_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write({"w": ir.tensor(np.float32([1]))}, path, overwrite=False)
    write({"w": ir.tensor(np.float32([1]))}, path, overwrite=False)  # the same
    before = path.read_bytes()
    for other in ([2.0], [1.0, 2.0]):
        with pytest.raises(ModelWriteError, match="holds other weights"):
            write({"w": ir.tensor(np.float32(other))}, path, overwrite=False)
    assert path.read_bytes() == before
    write({"w": ir.tensor(np.float32([3]))}, path, overwrite=True)
    assert read(path)["w"].numpy().tolist() == [3]
    assert [each.name for each in tmp_path.iterdir()] == ["w.safetensors"]


def file_of(path: Path, header: Any, content: bytes = b"\0" * 8) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
    return path


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
DAMAGED: dict[str, tuple[Any, str]] = {
    "no JSON": (b"{no", "is not a safetensors file, or only part of one"),
    "no object": ([1], "is not a safetensors file, or only part of one"),
    "an unknown type": ({"w": {**ENTRY, "dtype": "X9"}}, "does not say what its tensor 'w' is"),
    "no offsets": ({"w": {"dtype": "F32", "shape": [2]}}, "does not say what its tensor 'w' is"),
    "no numbers": ({"w": {**ENTRY, "shape": ["a"]}}, "does not say what its tensor 'w' is"),
    "past the end": ({"w": {**ENTRY, "data_offsets": [4, 12]}}, "does not fit into"),
    "before the start": ({"w": {**ENTRY, "data_offsets": [-8, 0]}}, "does not fit into"),
    "backwards": ({"w": {**ENTRY, "data_offsets": [8, 0]}}, "does not fit into"),
    "too short for its shape": ({"w": {**ENTRY, "shape": [3]}}, "does not fit into"),
    "a type of ONNX that is none": (
        {"__metadata__": {"onnx.type:w": '["NOSUCH", [2]]'}, "w": ENTRY},
        "does not say what its tensor 'w' is",
    ),
}


@pytest.mark.parametrize(("header", "told"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_files(header: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(WeightError) as caught:
        read(file_of(tmp_path / "w.safetensors", header))
    assert told in caught.value.message


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(WeightError, match=r"cannot read 'gone\.safetensors': No such file"):
        read(tmp_path / "gone.safetensors")
    for content in (b"", b"1234567", struct.pack("<Q", 10**12) + b"{}"):
        (tmp_path / "short").write_bytes(content)
        with pytest.raises(WeightError, match="is not a safetensors file"):
            read(tmp_path / "short")


def test_a_tensor_that_is_not_as_long_as_its_type_says(tmp_path: Path) -> None:
    class Short(ir.Tensor):
        @property
        def nbytes(self) -> int:
            return 12

    with pytest.raises(WeightError, match="the weight 'w' is not as long as its type says"):
        write({"w": Short(np.float32([1, 2]), name="w")}, tmp_path / "w.safetensors", overwrite=False)
    assert not (tmp_path / "w.safetensors").exists()

"""Values of every element type and kind go in and come out."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from onnxsmith import opset25 as op
from onnxsmith import trace
from onnxsmith.runtime import engine, onnxruntime_api, using
from onnxsmith.runtime.feeds import from_value, pack, unpack
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, SequenceType, TensorType
from tests.runtime.calls import call, find, floats, ints

#: Identity and Reshape do not have all of them.
KEPT = [
    DType.from_onnx_name(each[7:-1])
    for each in sorted(find("Identity", 25).inputs[0].types)
    if each[:7] == "tensor("
]
KEPT = [dtype for dtype in KEPT if dtype.kind not in ("string", "complex") and dtype is not DType.FLOAT8E8M0]
NUMBERS = [dtype for dtype in DType if dtype.kind not in ("string", "complex")]


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_cast_to_and_fro(dtype, runtime) -> None:
    values = floats([0, 1, 1], [1, 0, 1])
    if dtype is DType.FLOAT8E8M0:
        values = floats([1, 2, 4], [8, 1, 2])
    with using(runtime=runtime):
        there = call("Cast", values, to=int(dtype))
        assert there.dtype == dtype.numpy
        back = call("Cast", there, to=1)
    assert back.dtype == np.float32
    assert back.tolist() == values.tolist()


@pytest.mark.parametrize("dtype", KEPT, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3)], ids=str)
def test_values_are_kept(dtype, shape) -> None:
    values = (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype.numpy).reshape(shape)
    for name in ("Identity", "Reshape"):
        inputs = [values] if name == "Identity" else [values, np.array(shape, np.int64)]
        result = call(name, *inputs, version=25)
        assert result.dtype == values.dtype
        assert result.shape == shape
        assert result.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    "dtype", [DType.INT4, DType.UINT4, DType.INT2, DType.UINT2, DType.FLOAT4E2M1], ids=str
)
def test_packing(dtype) -> None:
    lowest, highest = {
        DType.INT4: (-8, 7),
        DType.UINT4: (0, 15),
        DType.INT2: (-2, 1),
        DType.UINT2: (0, 3),
        DType.FLOAT4E2M1: (-6, 6),
    }[dtype]
    for count in (0, 1, 2, 3, 4, 5, 9):
        values = np.linspace(lowest, highest, count).round().astype(dtype.numpy)
        packed = pack(values, dtype.bits)
        assert packed.nbytes == -(-count * dtype.bits // 8)
        assert unpack(packed.tobytes(), dtype, (count,)).tolist() == values.tolist()


@pytest.mark.parametrize("dtype", [each for each in KEPT if each.is_native], ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2)], ids=str)
def test_native_values_of_onnx_runtime(dtype, shape) -> None:
    """Beside an output that numpy has no element type for, all outputs are values of ONNX Runtime's own."""
    array = np.ones(shape, dtype.numpy)
    found = from_value(onnxruntime_api.value_of(array))
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, shape, array.tolist())


def test_packed_values_go_through_onnx_runtime() -> None:
    runner = engine.prepare(find("Cast", 25), [DType.INT4], {"to": int(DType.INT8)}, 1)
    assert runner.source == "onnxruntime"
    assert runner([np.array([-8, 7, -1, 0, 3], ml_dtypes.int4)])[0].tolist() == [-8, 7, -1, 0, 3]
    back = engine.prepare(find("Cast", 25), [DType.INT8], {"to": int(DType.INT4)}, 1)
    assert back([np.array([-8, 7, -1], np.int8)])[0].tolist() == [-8, 7, -1]


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "éb"]),
        np.array([b"a", "éb".encode()]),
        np.array(["a", "éb"], object),
        np.array([b"a", "éb".encode()], object),
        np.array(["a", "éb"], np.dtypes.StringDType()),
    ],
    ids=["U", "S", "object of str", "object of bytes", "T"],
)
def test_strings_of_every_numpy_kind(array, runtime) -> None:
    with using(runtime=runtime):
        result = engine.prepare(find("StringConcat"), [DType.STRING] * 2, {}, 1)([array, array])[0]
    assert result.dtype == object
    assert result.tolist() == ["aa", "ébéb"]


def test_complex_numbers() -> None:
    values = np.array([[1 + 2j, 3]], np.complex64)
    assert call("Transpose", values).tolist() == values.T.tolist()
    assert call("Concat", values, values, axis=1).dtype == np.complex64


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, "U1"], ids=str)
def test_sequences(dtype) -> None:
    element = np.array([1, 2], np.int64).astype(dtype)
    sequence = call("SequenceConstruct", element, element)
    assert isinstance(sequence, list)
    kind = SequenceType(TensorType(DType.from_numpy(element.dtype), None))
    at = engine.prepare(find("SequenceAt"), [kind, DType.INT64], {}, 1)
    assert at([sequence, ints(-1).reshape(())])[0].tolist() == element.tolist()
    length = engine.prepare(find("SequenceLength"), [kind], {}, 1)
    assert length([sequence])[0].tolist() == 2
    assert length([[]])[0].tolist() == 0


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_optionals(runtime) -> None:
    kind = OptionalType(TensorType(DType.FLOAT, None))
    with using(runtime=runtime):
        has = engine.prepare(find("OptionalHasElement", 18), [kind], {}, 1)
        assert has([floats(1)])[0].tolist() is True
        assert has([None])[0].tolist() is False
        get = engine.prepare(find("OptionalGetElement", 18), [kind], {}, 1)
        assert get([floats(1)])[0].tolist() == [1]


def test_exotic_input_beside_sequence_output() -> None:
    parts = call("SplitToSequence", np.arange(4).astype(ml_dtypes.bfloat16), ints(2).reshape(()), axis=0)
    assert [each.tolist() for each in parts] == [[0, 1], [2, 3]]


#: Ways in which the elements of an array can lie in memory other than in order.
LAYOUTS = {
    "transposed": lambda array: array.T,
    "every second": lambda array: array[::2, 1::2],
    "reversed": lambda array: array[::-1, ::-1],
    "one row for all": lambda array: np.broadcast_to(array[1], array.shape),
    "by columns": np.asfortranarray,
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", KEPT, ids=lambda dtype: dtype.name)
def test_elements_in_any_layout(dtype, layout) -> None:
    """As the same elements in order, in every form: large enough that memory which was freed holds something else."""
    array = LAYOUTS[layout]((np.arange(300 * 320) % 7).reshape(300, 320).astype(dtype.numpy))
    wanted = np.ascontiguousarray(array)
    model = trace(op.Identity, TensorType(dtype, ("M", "N")))
    for found in (op.Identity(array), model(array), model.runner()([array])):
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()

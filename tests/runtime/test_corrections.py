"""What onnx's reference evaluator gets wrong, right."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import OperatorFailedError
from onnxsmith.runtime import engine, using
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, SequenceType, TensorType
from tests.runtime.calls import call, find, floats, ints

BOTH = pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
F, INT, B = DType.FLOAT, DType.INT64, DType.BOOL


def body(text: str) -> onnx.GraphProto:
    return onnx.parser.parse_graph(text)


COUNTING = (
    "b (int64 i, bool c, float a) => (bool c_out, float a_out, float s)"
    "{ c_out = Identity(c) a_out = Add(a, a) s = Identity(a) }"
)
MATRICES = "b (int64 i, bool c) => (bool c_out, float[2,2] s) { c_out = Identity(c) s = Identity(outer) }"


@BOTH
def test_loop_without_a_condition(runtime) -> None:
    with using(runtime=runtime):
        runner = engine.prepare(
            find("Loop", 16), [INT, None, F], {"body": body(COUNTING)}, 2, opset_version=16
        )
        last, seen = runner([ints(3).reshape(()), None, np.array(1, np.float32)])
    assert last.tolist() == 8
    assert seen.tolist() == [1, 2, 4]


@BOTH
def test_loop_without_a_count(runtime) -> None:
    text = (
        "b (int64 i, bool c, int64 a) => (bool c_out, int64 a_out)"
        "{ t = Constant <value: tensor = int64 {3}> () a_out = Add(a, a) c_out = Less(i, t) }"
    )
    with using(runtime=runtime):
        runner = engine.prepare(find("Loop", 16), [None, B, INT], {"body": body(text)}, 1, opset_version=16)
        assert runner([None, np.array(True), ints(1)])[0].tolist() == [16]
        assert runner([None, np.array(False), ints(1)])[0].tolist() == [1]


@BOTH
def test_loop_scan_outputs_of_any_rank(runtime) -> None:
    with using(runtime=runtime):
        runner = engine.prepare(
            find("Loop", 16),
            [INT, None],
            {"body": body(MATRICES)},
            1,
            captured={"outer": F},
            opset_version=16,
        )
        seen = runner([ints(3).reshape(()), None, np.eye(2, dtype=np.float32)])[0]
        assert seen.shape == (3, 2, 2)
        assert runner([ints(0).reshape(()), None, np.eye(2, dtype=np.float32)])[0].shape == (0, 2, 2)


@BOTH
def test_scan_axes_and_directions(runtime) -> None:
    graph = body("b (float[2] s, float[2] x) => (float[2] t, float[2] y) { t = Add(s, x) y = Identity(t) }")
    attributes = {
        "body": graph,
        "num_scan_inputs": 1,
        "scan_input_axes": (1,),
        "scan_input_directions": (1,),
        "scan_output_axes": (1,),
        "scan_output_directions": (1,),
    }
    with using(runtime=runtime):
        runner = engine.prepare(find("Scan", 16), [F, F], attributes, 2, opset_version=16)
        state, scanned = runner([floats(0, 0), floats([1, 2, 3], [4, 5, 6])])
    assert state.tolist() == [6, 15]
    assert scanned.tolist() == [[6, 5, 3], [15, 11, 6]]


@BOTH
def test_scatter(runtime) -> None:
    with using(runtime=runtime):
        assert call("Scatter", floats(1, 2, 3), ints(-1, 0), floats(9, 8), version=9).tolist() == [8, 2, 9]


def test_tile_1() -> None:
    result = call("Tile", floats([1, 2]), np.array(2, np.float32), np.array(1, np.float32), version=1)
    assert result.tolist() == [[1, 2, 1, 2]]


@BOTH
def test_unsqueeze_puts_dimensions_where_the_result_has_them(runtime) -> None:
    with using(runtime=runtime):
        assert call("Unsqueeze", floats(1, 2), ints(2, -3), version=13).shape == (1, 2, 1)


def test_unsqueeze_of_a_million_axes_is_refused() -> None:
    """onnx's searches the axes once for each dimension: 10**12 comparisons."""
    with using(runtime="reference"), pytest.raises(OperatorFailedError, match="1,000,001 dimensions"):
        call("Unsqueeze", floats(1), np.arange(1_000_000), version=13)


@BOTH
def test_optional_sequences(runtime) -> None:
    sequence = SequenceType(TensorType(F, None))
    with using(runtime=runtime):
        made = engine.prepare(find("Optional", 15), [sequence], {}, 1)([[floats(1)]])[0]
        assert [each.tolist() for each in made] == [[1]]
        got = engine.prepare(find("OptionalGetElement", 18), [OptionalType(sequence)], {}, 1)([made])[0]
        assert [each.tolist() for each in got] == [[1]]
        has = engine.prepare(find("OptionalHasElement", 18), [OptionalType(sequence)], {}, 1)
        assert has([[floats(1)]])[0].tolist() is True
        assert has([None])[0].tolist() is False


SEQUENCE = SequenceType(TensorType(F, None))


@BOTH
@pytest.mark.parametrize(
    ("place", "expected"), [(0, "9abc"), (3, "abc9"), (-3, "9abc"), (-1, "ab9c"), (4, None), (-4, None)]
)
def test_places_to_insert_at(runtime, place, expected) -> None:
    elements = [np.array(each, object) for each in "abc"]
    kind = SequenceType(TensorType(DType.STRING, None))
    with using(runtime=runtime):
        runner = engine.prepare(find("SequenceInsert", 11), [kind, DType.STRING, INT], {}, 1)
        given = [elements, np.array("9", object), np.array(place)]
        if expected is None:
            with pytest.raises(OperatorFailedError, match=r"Invalid sequence index \(-?4\)"):
                runner(given)
        else:
            assert "".join(each.item() for each in runner(given)[0]) == expected


@BOTH
@pytest.mark.parametrize(("name", "result"), [("SequenceAt", [2]), ("SequenceErase", [1, 3])])
def test_places_to_take_from(runtime, name, result) -> None:
    elements = [floats(1), floats(2), floats(3)]
    with using(runtime=runtime):
        runner = engine.prepare(find(name, 11), [SEQUENCE, INT], {}, 1)
        for place in (1, -2):
            for shape in ((), (1,), (1, 1)):
                found = runner([elements, np.full(shape, place)])[0]
                assert np.concatenate(found if isinstance(found, list) else [found]).tolist() == result
        for place in (3, -4):
            with pytest.raises(OperatorFailedError, match="Invalid sequence index"):
                runner([elements, np.array(place)])


@BOTH
@pytest.mark.parametrize(
    ("saturate", "mode", "codes"),
    [
        (1, "up", [0, 0, 0, 127, 128, 129, 129, 254, 254, 255]),
        (1, "down", [0, 0, 0, 127, 128, 128, 128, 254, 254, 255]),
        (0, "nearest", [255, 255, 0, 127, 128, 128, 129, 255, 255, 255]),
    ],
)
def test_cast_to_powers_of_two(runtime, saturate, mode, codes) -> None:
    data = np.float32([0, 1e-45, 2.0**-127, 1, 2, 2.5, 3, 3e38, np.inf, np.nan])
    with using(runtime=runtime):
        for x in (data, data.reshape(2, 5)):
            result = call("Cast", x, version=24, to=DType.FLOAT8E8M0, saturate=saturate, round_mode=mode)
            assert result.shape == x.shape
            assert result.ravel().view(np.uint8).tolist() == codes
        scalar = call("Cast", data[6:7].reshape(()), version=24, to=DType.FLOAT8E8M0, saturate=1)
        assert float(scalar) == 4


@BOTH
@pytest.mark.parametrize("name", ["Hardmax", "LogSoftmax", "Softmax"])
@pytest.mark.parametrize("axis", [1, 2])
def test_rows_before_opset_13(runtime, name, axis) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    flat = x.reshape((2, 12) if axis == 1 else (6, 4))
    with using(runtime=runtime):
        given = call(name, x, version=1, axis=axis)
        expected = call(name, flat, version=13, axis=1).reshape(x.shape)
    np.testing.assert_allclose(given, expected, rtol=1e-6)


def test_a_linear_regressor_of_integers_gives_fractions() -> None:
    runner = engine.prepare(
        find("LinearRegressor", 1, "ai.onnx.ml"),
        [INT],
        {"coefficients": (1.0, 0.5), "intercepts": (0.25,)},
        1,
    )
    assert runner([np.array([[1, 2], [3, 5]])])[0].tolist() == [[2.25], [5.75]]


@BOTH
def test_a_string_tensor_is_padded_with_empty_texts(runtime) -> None:
    with using(runtime=runtime):
        assert call("Trilu", np.full((2, 2), "a", object), version=14).tolist() == [["a", "a"], ["", "a"]]


@BOTH
def test_averages_of_the_first_opset_leave_out_the_padding(runtime) -> None:
    with using(runtime=runtime):
        found = call(
            "AveragePool",
            np.ones((1, 1, 2, 2), np.float32),
            version=1,
            kernel_shape=(2, 2),
            pads=(1, 1, 1, 1),
        )
    assert found.reshape(-1).tolist() == [1.0] * 9


@BOTH
def test_the_zero_point_of_float4_counts(runtime) -> None:
    kind = np.dtype(DType.FLOAT4E2M1.numpy)
    given = [np.array([0, 3, -2], np.float32).astype(kind), floats(2)[0:1].reshape(()), np.array(3, kind)]
    with using(runtime=runtime):
        runner = engine.prepare(find("DequantizeLinear", 25), [DType.FLOAT4E2M1, F, DType.FLOAT4E2M1], {}, 1)
        assert runner(given)[0].tolist() == [-6, 0, -10]


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize(
    ("said", "shape"), [("axis = 1, ", "3"), ("axis = 0, ", "2, 3"), ("", "3, 4"), ("", "1")]
)
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Div", "Pow", "Less", "Greater"])
def test_operands_before_opset_7_are_aligned_as_attributes_say(name, said, shape, opset) -> None:
    result = "bool" if name in ("Less", "Greater") else "float"
    ports = f"(float[2, 3, 4] x, float[{shape}] w) => ({result}[2, 3, 4] y)"
    text = f'<ir_version: 3, opset_import: ["" : {opset}]> g {ports} {{ y = {name} <{said}broadcast = 1> (x, w) }}'
    model = Model.from_proto(onnx.parser.parse_model(text))
    sizes = [int(each) for each in shape.split(",")]
    x, w = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(np.prod(sizes), dtype=np.float32)
    inputs = x, w.reshape(sizes) + 1
    np.testing.assert_array_equal(model(*inputs), model.convert_version(13)(*inputs))

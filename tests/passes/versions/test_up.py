"""Nodes of old opsets in a new one: they give what their own definition says, computed with numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import Model
from onnxsmith.errors import VersionConversionError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 5
M = X[0]
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


def _softmax(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    made = np.exp(x - x.max(-1, keepdims=True))
    return made / made.sum(-1, keepdims=True)


def _normal(x: np.ndarray[Any, Any], axes: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


#: The opset, the node, its inputs by name, and what it gives.
CASES: dict[str, tuple[int, str, dict[str, Any], Any]] = {
    "Relu with a hint": (1, "y = Relu <consumed_inputs = [0]> (x)", {"x": X}, np.maximum(X, 0)),
    "Selu": (
        1,
        "y = Selu <consumed_inputs = [0]> (x)",
        {"x": X},
        np.where(X > 0, X, 1.6732 * np.expm1(X)) * 1.0507,
    ),
    "Selu with its own numbers": (
        1,
        "y = Selu <alpha = 2.0, gamma = 3.0> (x)",
        {"x": X},
        np.where(X > 0, X, 2 * np.expm1(X)) * 3,
    ),
    "Cast by name": (1, 'y = Cast <to = "DOUBLE"> (x)', {"x": X}, X.astype(np.float64)),
    "Concat without an axis": (1, "y = Concat (x, z)", {"x": X, "z": X}, np.concatenate([X, X], 1)),
    "Concat with one": (1, "y = Concat <axis = 0> (x, z)", {"x": X, "z": X}, np.concatenate([X, X], 0)),
    "Dropout in a test": (6, "y = Dropout <is_test = 1, ratio = 0.9> (x)", {"x": X}, X),
    "Dropout": (7, "y = Dropout <ratio = 0.9> (x)", {"x": X}, X),
    "Dropout with its default": (10, "y = Dropout (x)", {"x": X}, X),
    "mask of Dropout": (7, "z, m = Dropout (x) y = Add(z, m)", {"x": X}, X + 1),
    "Squeeze": (11, "y = Squeeze <axes = [1]> (x)", {"x": X[:, :1]}, X[:, 0]),
    "Squeeze of all": (11, "y = Squeeze (x)", {"x": X[:1, :, :1]}, X[0, :, 0]),
    "Unsqueeze": (11, "y = Unsqueeze <axes = [0, 2]> (x)", {"x": M}, M[None, :, None]),
    "ReduceSum": (11, "y = ReduceSum <axes = [1], keepdims = 0> (x)", {"x": X}, X.sum(1)),
    "ReduceMax": (13, "y = ReduceMax <axes = [0, 2]> (x)", {"x": X}, X.max((0, 2), keepdims=True)),
    "ReduceMean of all": (13, "y = ReduceMean <keepdims = 0> (x)", {"x": X}, X.mean()),
    "Split": (11, "a, y = Split <axis = 2, split = [1, 3]> (x)", {"x": X}, X[:, :, 1:]),
    "Split evenly": (11, "a, y = Split <axis = 2> (x)", {"x": X}, X[:, :, 2:]),
    "Split evenly at first": (13, "y, b = Split (x)", {"x": X}, X[:1]),
    "Split of long ago": (1, "a, y = Split <split = [1, 1]> (x)", {"x": X}, X[1:]),
    "Reshape": (1, "y = Reshape <shape = [4, -1]> (x)", {"x": X}, X.reshape(4, -1)),
    "Clip": (6, "y = Clip <min = -1.0, max = 2.0> (x)", {"x": X}, X.clip(-1, 2)),
    "Clip above": (6, "y = Clip <max = 2.0> (x)", {"x": X}, X.clip(None, 2)),
    "Clip below": (6, "y = Clip <min = 2.0> (x)", {"x": X}, X.clip(2, None)),
    "Clip nothing": (6, "y = Clip (x)", {"x": X}, X),
    "Clip doubles": (
        6,
        "y = Clip (x)",
        {"x": X.astype(np.float64) * 1e300},
        (X.astype(np.float64) * 1e300).clip(*np.array([-1, 1]) * np.finfo(np.float32).max),
    ),
    "paddings": (
        1,
        "y = Pad <paddings = [0, 1, 0, 0, 0, 2], value = 7.0> (x)",
        {"x": X},
        np.pad(X, ((0, 0), (1, 0), (0, 2)), constant_values=7),
    ),
    "pads": (2, "y = Pad <pads = [0, 1, 0, 0]> (x)", {"x": M}, np.pad(M, ((0, 0), (1, 0)))),
    "pads that reflect": (
        2,
        'y = Pad <pads = [0, 1, 0, 2], mode = "reflect"> (x)',
        {"x": M},
        np.pad(M, ((0, 0), (1, 2)), "reflect"),
    ),
    "Slice": (9, "y = Slice <starts = [1, 0], ends = [3, -1], axes = [1, 2]> (x)", {"x": X}, X[:, 1:3, :-1]),
    "Slice of the first axes": (1, "y = Slice <starts = [1], ends = [2]> (x)", {"x": X}, X[1:2]),
    "TopK": (1, "y, i = TopK <k = 2> (x)", {"x": M}, np.sort(M)[:, :1:-1]),
    "places of TopK": (1, "v, y = TopK <k = 2, axis = 0> (x)", {"x": M}, np.tile(np.array([[2], [1]]), 4)),
    "Tile": (
        1,
        "t = Constant <value = float {2.0}> () a = Constant <value = float {1.0}> () y = Tile(x, t, a)",
        {"x": X},
        np.tile(X, (1, 2, 1)),
    ),
    "broadcast at an axis": (
        6,
        "y = Sub <broadcast = 1, axis = 1> (x, z)",
        {"x": X, "z": np.float32([1, 2, 3])},
        X - np.float32([1, 2, 3])[:, None],
    ),
    "broadcast at an axis from the end": (
        6,
        "y = Sub <broadcast = 1, axis = -2> (x, z)",
        {"x": X, "z": np.float32([1, 2, 3])},
        X - np.float32([1, 2, 3])[:, None],
    ),
    "broadcast at the first axis": (
        6,
        "y = Sub <broadcast = 1, axis = 0> (x, z)",
        {"x": X, "z": M[:2, :3]},
        X - M[:2, :3, None],
    ),
    "broadcast at the end": (6, "y = Mul <broadcast = 1> (x, z)", {"x": X, "z": M[0]}, X * M[0]),
    "not broadcast": (6, "y = Mul <broadcast = 0> (x, z)", {"x": X, "z": X}, X * X),
    "Gemm": (
        6,
        "y = Gemm <broadcast = 1, transB = 1> (x, z, c)",
        {"x": M, "z": M, "c": M[0, :3]},
        M @ M.T + M[0, :3],
    ),
    "PRelu of channels": (
        6,
        "y = PRelu(x, s)",
        {"x": X, "s": np.float32([1, 2, 3])},
        np.where(X > 0, X, X * np.float32([1, 2, 3])[:, None]),
    ),
    "PRelu of one": (6, "y = PRelu(x, s)", {"x": X, "s": np.float32([2])}, np.where(X > 0, X, X * 2)),
    "Softmax of a matrix": (11, "y = Softmax (x)", {"x": X}, _softmax(X.reshape(2, 12)).reshape(X.shape)),
    "Softmax of the last axis": (11, "y = Softmax <axis = 2> (x)", {"x": X}, _softmax(X)),
    "Softmax of all": (
        11,
        "y = Softmax <axis = 0> (x)",
        {"x": X},
        _softmax(X.reshape(1, 24)).reshape(X.shape),
    ),
    "LogSoftmax from behind": (
        11,
        "y = LogSoftmax <axis = -2> (x)",
        {"x": X},
        np.log(_softmax(X.reshape(2, 12))).reshape(X.shape),
    ),
    "Softmax before ones": (
        11,
        "y = Softmax <axis = 1> (x)",
        {"x": X[:, :, :1]},
        _softmax(X[:, :, 0])[:, :, None],
    ),
    "Scatter": (
        9,
        "y = Scatter <axis = 1> (x, i, u)",
        {"x": M, "i": np.array([[1]]), "u": np.float32([[9]])},
        np.where(np.arange(12).reshape(3, 4) == 1, 9, M),
    ),
    "Upsample of images": (
        1,
        'y = Upsample <height_scale = 2.0, width_scale = 1.0, mode = "nearest"> (x)',
        {"x": IMAGE},
        IMAGE.repeat(2, 2),
    ),
    "Upsample": (7, "y = Upsample <scales = [1.0, 1.0, 1.0, 2.0]> (x)", {"x": IMAGE}, IMAGE.repeat(2, 3)),
    "Resize to more": (
        10,
        "s = Constant <value = float[4] {1.0, 1.0, 2.0, 1.0}> () y = Resize(x, s)",
        {"x": IMAGE},
        IMAGE.repeat(2, 2),
    ),
    "BatchNormalization": (
        1,
        "y = BatchNormalization <is_test = 1, consumed_inputs = [0, 0, 0, 1, 1]> (x, a, b, m, v)",
        {"x": X, **{k: np.float32([1, 2, 3]) for k in "abmv"}},
        (
            (X.transpose(0, 2, 1) - [1, 2, 3]) / np.sqrt(np.array([1, 2, 3]) + 1e-5) * [1, 2, 3] + [1, 2, 3]
        ).transpose(0, 2, 1),
    ),
    "GroupNormalization": (
        18,
        "y = GroupNormalization <num_groups = 2> (x, a, b)",
        {"x": X.reshape(1, 4, 6), "a": np.float32([1, 2]), "b": np.float32([3, 4])},
        (_normal(X.reshape(1, 2, 12), (2,)) * [[1], [2]] + [[3], [4]]).reshape(1, 4, 6),
    ),
    "GridSample": (
        16,
        'y = GridSample <mode = "bilinear"> (x, g)',
        {"x": IMAGE, "g": np.zeros((1, 1, 1, 2), np.float32)},
        np.full((1, 1, 1, 1), 7.5),
    ),
    "OneHot": (
        9,
        "y = OneHot(i, d, v)",
        {"i": np.array([0, -1, 5, 2]), "d": np.array(3), "v": np.float32([1, 4])},
        np.float32([[4, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 4]]),
    ),
    "Resize from corner to corner": (
        18,
        'y = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , s)',
        {"x": IMAGE, "s": np.float32([1, 1, 1.7, 1])},
        np.linspace(0, 3, 6)[None, None, :, None] * 4 + np.arange(4),
    ),
    "Erf of integers": (
        9,
        "y = Erf(x)",
        {"x": np.array([-7, -3, -1, 0, 2, 3, 7])},
        np.array([int(math.erf(each)) for each in (-7, -3, -1, 0, 2, 3, 7)]),
    ),
}
#: The element types of results that are not float32.
OUTPUTS = {
    "Cast by name": "double",
    "Clip doubles": "double",
    "places of TopK": "int64",
    "Erf of integers": "int64",
}
KINDS = {"float32": "float", "float64": "double", "int64": "int64"}


def _model(opset: int, nodes: str, given: dict[str, Any], kind: str = "float") -> Model:
    ports = ", ".join(
        f"{KINDS[each.dtype.name]}[{', '.join(map(str, each.shape))}] {name}" for name, each in given.items()
    )
    text = f'<ir_version: 4, opset_import: ["" : {opset}]> g ({ports}) => ({kind} y) {{ {nodes} }}'
    proto = parser.parse_model(text)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    return Model.from_proto(proto)


@pytest.mark.parametrize("name", CASES)
def test_a_node_gives_what_it_gave(name: str) -> None:
    opset, nodes, given, expected = CASES[name]
    made = _model(opset, nodes, given, OUTPUTS.get(name, "float")).convert_version(21)
    found = made(**given)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


REFUSED: dict[str, tuple[int, str, dict[str, Any], str]] = {
    "a type that there is not": (
        1,
        'y = Cast <to = "NUMBER"> (x)',
        {"x": X},
        "'NUMBER', which is no element type",
    ),
    "a broken power": (1, "y = GlobalLpPool <p = 2.5> (x)", {"x": IMAGE}, "its power p is 2.5"),
    "no window": (1, "y = LpPool (x)", {"x": IMAGE}, "its kernel_shape is left out"),
    "a shape that is not there": (1, "y = Reshape (x)", {"x": X}, "its attribute shape is not given"),
    "no paddings": (1, "y = Pad (x)", {"x": X}, "its attribute paddings is not given"),
    "tiles that are computed": (
        1,
        "y = Tile(x, z, z)",
        {"x": X, "z": M[0, 0].reshape(())},
        "computed when the model runs",
    ),
    "dropping": (6, "y = Dropout (x)", {"x": X}, "is_test=0"),
    "statistics of activations": (
        7,
        "y = BatchNormalization <spatial = 0> (x, z, z, z, z)",
        {"x": X, "z": M},
        "spatial=0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_is_refused_with_the_reason(name: str) -> None:
    opset, nodes, given, words = REFUSED[name]
    with pytest.raises(VersionConversionError) as caught:
        _model(opset, nodes, given).convert_version(11 if name == "dropping" else 21)
    assert words in str(caught.value)

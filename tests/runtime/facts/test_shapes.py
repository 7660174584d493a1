"""Shapes that no runtime should be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession

from onnxsmith import Model
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import Refused, adapt
from onnxsmith.runtime.facts import shapes
from tests.runtime.facts.probing import without_ranks, wrong_probes


def _model(nodes: str) -> Model:
    header = '<ir_version: 10, opset_import: ["" : 21]>'
    graph = f"g (float[1] x, int64[2] s) => (float[N] y) {{ {nodes} }}"
    return Model.from_proto(onnx.parser.parse_model(f"{header} {graph}"))


_RANGE = (
    "a = Constant <value_int = 0> () b = Constant <value_int = 131072> () d = Constant <value_int = 1> ()"
    " r = Range(a, b, d)"
)
#: A shape of 2**17 sizes, by 17 doublings.
_DOUBLED = "r0 = Constant <value_ints = [1]> () " + " ".join(
    f"r{n + 1} = Concat <axis = 0> (r{n}, r{n})" for n in range(17)
)


@pytest.mark.parametrize(
    "nodes",
    [
        f"{_RANGE} y = ConstantOfShape(r)",
        f"{_RANGE} y = Expand(x, r)",
        f"{_RANGE} y = Reshape(x, r)",
        f"{_DOUBLED} y = ConstantOfShape(r17)",
    ],
    ids=["ConstantOfShape", "Expand", "Reshape", "doubled"],
)
def test_a_shape_without_measure_is_refused(nodes: str) -> None:
    """Of 2**24 sizes, ONNX Runtime opens such a model in minutes, and in gigabytes of memory."""
    model = _model(nodes)
    with pytest.raises(Refused, match="a tensor of 131,072 dimensions"):
        adapt(model.proto, (1, 21))
    with pytest.raises(OnnxsmithError):
        model(np.ones(1, np.float32), np.array([2, 3]))


def test_shapes_that_are_put_together_of_sizes_run() -> None:
    nodes = "n = Shape(x) m = Concat <axis = 0> (s, n) z = ConstantOfShape(m) y = Reshape(z, s)"
    assert _model(nodes)(np.ones(1, np.float32), np.array([2, 3])).shape == (2, 3)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(shapes) == []


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _three(*numbers: float) -> dict[str, Any]:
    return {name: np.array(each, np.float32) for name, each in zip("abc", numbers, strict=True)}


#: Nodes, their inputs, and what they give; None where the shapes do not fit and the model says so.
CALLS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "squeeze one": ("y = Squeeze(x, a)", {"x": X[:1], "a": np.array([0])}, X[0]),
    "squeeze none": ("y = Squeeze(x, a)", {"x": X[:1], "a": np.zeros(0, np.int64)}, X[:1]),
    "squeeze all": ("y = Squeeze(x)", {"x": X[:1, :, :1]}, X[0, :, 0]),
    "back to the start": (
        "y = Slice(x, s, e, a, t)",
        {"x": X, "s": np.array([1]), "e": np.array([-(2**31)]), "a": np.array([0]), "t": np.array([-1])},
        X[::-1],
    ),
    "back to far away": (
        "y = Slice(x, s, e, a, t)",
        {"x": X, "s": np.array([1]), "e": np.array([2**31 - 1]), "a": np.array([0]), "t": np.array([-1])},
        X[1 : 2**31 : -1],
    ),
    "forth to far away": (
        "y = Slice(x, s, e, a, t)",
        {"x": X, "s": np.array([1]), "e": np.array([2**31 - 1]), "a": np.array([2]), "t": np.array([2])},
        X[:, :, 1::2],
    ),
    "joined": ("y = Concat <axis = 1> (x, z)", {"x": X, "z": X[:, :1]}, np.concatenate([X, X[:, :1]], 1)),
    "joined at the end": ("y = Concat <axis = -1> (x, z)", {"x": X, "z": X}, np.concatenate([X, X], -1)),
    "joined with nothing": ("y = Concat <axis = 0> (x, z)", {"x": X, "z": X[:0]}, X),
    "joined of other ranks": ("y = Concat <axis = 0> (x, z)", {"x": X, "z": X[0]}, None),
    "joined of other sizes": ("y = Concat <axis = 1> (x, z)", {"x": X, "z": X[:1]}, None),
    "joined of other sizes of nothing": ("y = Concat <axis = 1> (x, z)", {"x": X, "z": X[:0]}, None),
    "joined at an axis that is not there": ("y = Concat <axis = 3> (x, z)", {"x": X, "z": X}, None),
    "gathered by batch": (
        "y = GatherND <batch_dims = 1> (x, i)",
        {"x": X, "i": np.array([[1], [2]])},
        np.stack([X[0, 1], X[1, 2]]),
    ),
    "more batches than dimensions": (
        "y = GatherND <batch_dims = 2> (x, i)",
        {"x": X, "i": np.array([[1], [2]])},
        None,
    ),
    "reversed": (
        "y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, i)",
        {"x": X, "i": np.array([1, 3])},
        np.stack([X[0], X[1, ::-1]]),
    ),
    "reversed with too few lengths": (
        "y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, i)",
        {"x": X, "i": np.array([1])},
        None,
    ),
    "split by sizes": ("y, _r = Split <axis = 1> (x, s)", {"x": X, "s": np.array([1, 2])}, X[:, :1]),
    "einsum": (
        'y = Einsum <equation = "ijk,kl->il"> (x, z)',
        {"x": X, "z": X[0].T},
        np.einsum("ijk,kl->il", X, X[0].T),
    ),
    "einsum with dots": ('y = Einsum <equation = "...k,k"> (x, z)', {"x": X, "z": X[0, 0]}, X @ X[0, 0]),
    "einsum of a row": ('y = Einsum <equation = "ij,j->i"> (x, z)', {"x": X[0], "z": X[0, 0, :3]}, None),
    "einsum of too few": ('y = Einsum <equation = "ij"> (x, z)', {"x": X[0], "z": X[0]}, None),
    "einsum of another rank": ('y = Einsum <equation = "ij->j"> (x)', {"x": X}, None),
    "range": (
        "y = Range(a, b, c)",
        _three(*[1, 2, 0.5]),
        np.float32([1, 1.5]),
    ),
    "range backwards": (
        "y = Range(a, b, c)",
        _three(*[1, 0, -0.5]),
        np.float32([1, 0.5]),
    ),
    "range without end": (
        "y = Range(a, b, c)",
        _three(*[1, np.inf, 1]),
        None,
    ),
    "loss": (
        'y = SoftmaxCrossEntropyLoss <reduction = "sum"> (x, t)',
        {"x": X * 0, "t": np.zeros((2, 4), np.int64)},
        np.float32(8 * np.log(3)),
    ),
    "loss of too few labels": (
        "y = SoftmaxCrossEntropyLoss (x, t)",
        {"x": X, "t": np.zeros((2, 3), np.int64)},
        None,
    ),
    "loss with too few weights": (
        "y = SoftmaxCrossEntropyLoss (x, t, w)",
        {"x": X, "t": np.zeros((2, 4), np.int64), "w": np.ones(2, np.float32)},
        None,
    ),
}


@pytest.mark.parametrize("has_ranks", [True, False], ids=["", "without ranks"])
@pytest.mark.parametrize("name", CALLS)
def test_adapted_calls_compute_what_numpy_does(name: str, has_ranks: bool) -> None:
    nodes, given, expected = CALLS[name]
    kinds = {np.dtype(np.float32): "float", np.dtype(np.int64): "int64"}
    ports = ", ".join(
        f"{kinds[each.dtype]}{[f'{key}{k}' for k in range(each.ndim)]} {key}".replace("'", "")
        for key, each in given.items()
    )
    graph = f"g ({ports.replace('[] ', ' ')}) => (float[] y) {{ {nodes} }}"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {graph}')
    model.graph.output[0].type.tensor_type.ClearField("shape")
    try:
        adapted = adapt(model if has_ranks else without_ranks(model), onnxruntime_api.version())
    except Refused:
        assert expected is None
        return
    try:
        session = InferenceSession(adapted.model.SerializeToString(), providers=["CPUExecutionProvider"])
        (found, *_) = session.run(None, given)
    except Exception:  # each of the runtime's errors says that shapes do not fit
        assert expected is None
        return
    assert expected is not None
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6)

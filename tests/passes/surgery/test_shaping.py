"""`model.with_shapes`: names and sizes through a model, and what cannot be."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from onnxsmith import FLOAT, Dim, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AnnotationError,
    CallError,
    DuplicateNameError,
    OnnxsmithError,
    ShapeError,
    UnknownNameError,
)
from onnxsmith.graphs.size_conditions import SIZES_KEY
from onnxsmith.types.value_types import TensorType
from tests.decompile.backend_cases import Case, all_cases
from tests.passes.surgery.test_laws import run


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def network() -> Model:
    return trace(lambda x, w: op.Relu(op.MatMul(x, w)), FLOAT["batch", "K"], FLOAT["K", 8])


def shapes(model: Model) -> list[object]:
    graph = model.proto.graph
    infos = {each.name: each for each in (*graph.input, *graph.value_info, *graph.output)}
    return [
        tuple(each.dim_param or each.dim_value for each in infos[name].type.tensor_type.shape.dim)
        for name in ("x", "w", "mat_mul", "relu")
    ]


def test_names_and_sizes_go_everywhere() -> None:
    model = network()
    assert shapes(model.with_shapes(batch="N")) == [("N", "K"), ("K", 8), ("N", 8), ("N", 8)]
    assert shapes(model.with_shapes(batch=2, K=4)) == [(2, 4), (4, 8), (2, 8), (2, 8)]
    assert shapes(model.with_shapes(batch=Dim("N"))) == shapes(model.with_shapes({"batch": "N"}))
    assert shapes(model.with_shapes(batch=np.int64(3)))[0] == (3, "K")
    assert shapes(model) == [("batch", "K"), ("K", 8), ("batch", 8), ("batch", 8)]


def test_shapes_of_inputs_and_outputs() -> None:
    model = network()
    assert shapes(model.with_shapes(x=(1, "features"))) == [(1, "features"), ("features", 8), (1, 8), (1, 8)]
    assert shapes(model.with_shapes(x=(1, None))) == [(1, "K"), ("K", 8), (1, 8), (1, 8)]
    assert shapes(model.with_shapes(relu=(7, 8))) == [(7, "K"), ("K", 8), (7, 8), (7, 8)]


def test_a_fixed_size_is_opened() -> None:
    fixed = network().with_shapes(batch=1, K=4)
    opened = fixed.with_shapes(x=("N", 4))
    assert shapes(opened) == [("N", 4), (4, 8), ("N", 8), ("N", 8)]
    assert shapes(fixed.with_shapes(x=(16, 4))) == [(16, 4), (4, 8), (16, 8), (16, 8)]
    x, w = np.ones((3, 4), np.float32), np.ones((4, 8), np.float32)
    np.testing.assert_array_equal(run(opened.proto, {"x": x, "w": w})["relu"], x @ w)


def test_a_size_that_the_model_relies_on_is_not_opened() -> None:
    weight = np.ones((4, 8), np.float32)
    model = trace(lambda x: x @ weight, FLOAT[1, 4])
    with pytest.raises(ShapeError, match="MatMul"):
        model.with_shapes(x=(1, 5))


def test_a_size_that_only_fits_as_it_was_is_not_opened() -> None:
    # An export of a batch of one: the elements of a row are counted with the batch in them.
    flat = trace(lambda x: op.Reshape(x, [1, -1]) @ np.ones((8, 2), np.float32), FLOAT[1, 2, 4])
    with pytest.raises(ShapeError, match=r"only for the one that it had: with 2, node 'mat_mul' \(MatMul\)"):
        flat.with_shapes(x=("N", 2, 4))
    # One that works for some sizes is opened.
    eights = trace(lambda x: op.Reshape(x, [-1, 8]), FLOAT[16])
    assert eights.with_shapes(x=("N",)).outputs[0].type == FLOAT["N//8", 8]


def test_sizes_that_are_computed_follow() -> None:
    model = trace(lambda x: op.Concat(x, x, axis=0), FLOAT["N+1"])
    assert model.with_shapes(N=4).inputs[0].type == FLOAT[5]
    assert model.with_shapes(N=4).outputs[0].type == FLOAT[10]
    assert model.with_shapes(N="M").inputs[0].type == FLOAT["M+1"]
    assert model.with_shapes(N=4, x=("N+1",)).inputs[0].type == FLOAT[5]
    assert model.with_shapes(N=4, x=(5,)).outputs[0].type == FLOAT[10]
    with pytest.raises(ShapeError, match=r"'N\+1' would be 5 by N=4, and 6 by the shape of 'x'"):
        model.with_shapes(N=4, x=(6,))


def test_bodies_follow() -> None:
    @script
    def loop(x: FLOAT["N", 4]):
        y = x
        for _ in range(3):
            y = y + op.Exp(x)
        return y

    fixed = loop.to_model().with_shapes(N=2)
    found = {node.op_type: node.outputs[0].shape for graph in fixed.ir.graph.subgraphs() for node in graph}
    assert list(found["Exp"] or ()) == [2, 4]
    onnx.checker.check_model(fixed.proto, full_check=True)


def test_declarations_that_are_wrong_are_named() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N, 4] x) => (float[7, 4] y) { a = Relu (x)  y = Exp (a) }"""
    )
    with pytest.raises(ShapeError, match=r"Exp.*'y'.*\(2, 4\).*\(7, 4\)"):
        model.with_shapes(N=2)


def test_sizes_that_the_model_is_for() -> None:
    proto = network().proto
    helper.set_model_props(proto, {SIZES_KEY: '[{"condition": "batch <= 4"}, {"condition": "K == 3"}]'})
    model = Model.from_proto(proto)
    with pytest.raises(ShapeError, match=r"batch <= 4.*batch = 5"):
        model.with_shapes(batch=5)
    props = {each.key: each.value for each in model.with_shapes(batch=4, K="L").proto.metadata_props}
    assert "L == 3" in props[SIZES_KEY]
    assert "batch" not in props[SIZES_KEY]
    assert not model.with_shapes(batch=4, K=3).proto.metadata_props


def test_sequences_and_unknown_ranks() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (seq(float[N, 2]) s, int64 i) => (float[N, 2] y) { y = SequenceAt (s, i) }"""
    )
    assert repr(model.with_shapes(N=3).inputs[0].type) == "Sequence[FLOAT[3, 2]]"
    with pytest.raises(ShapeError, match="only tensors"):
        model.with_shapes(s=(3, 2))
    anything = trace(lambda x: op.Relu(x), FLOAT[...])
    assert anything.with_shapes(x=(2, 3)).outputs[0].type == FLOAT[2, 3]


def test_names_change_places() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["A", "B"])
    assert model.with_shapes(A="B", B="A").outputs[0].type == FLOAT["B", "A"]
    assert model.with_shapes(A="n", B="n").outputs[0].type == FLOAT["n", "n"]
    assert model.with_shapes(x=("n", "n")).outputs[0].type == FLOAT["n", "n"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"batch": 1, "x": (None, 4)}, [(1, 4), (4, 8), (1, 8), (1, 8)]),
        ({"x": ("batch", 4), "batch": 1}, [(1, 4), (4, 8), (1, 8), (1, 8)]),
        ({"x": (2, "K"), "w": (5, 8)}, [(2, 5), (5, 8), (2, 8), (2, 8)]),
        ({"batch": "N", "x": (None, 4)}, [("N", 4), (4, 8), ("N", 8), ("N", 8)]),
        ({"batch": "K", "K": 3}, [(3, 3), (3, 8), (3, 8), (3, 8)]),
        ({"batch": "K+1", "w": (3, None)}, [(4, 3), (3, 8), (4, 8), (4, 8)]),
        ({"x": ("K", None), "w": (3, 8)}, [(3, 3), (3, 8), (3, 8), (3, 8)]),
        ({"K": 3, "w": ("K", "K")}, [("batch", 3), (3, 3), ("batch", 3), ("batch", 3)]),
    ],
)
def test_what_is_said_of_one_dimension_is_put_together(words: dict[str, object], expected: object) -> None:
    assert shapes(network().with_shapes(**words)) == expected  # type: ignore[arg-type]


def shape_of(kind: object) -> tuple[object, ...]:
    assert isinstance(kind, TensorType)
    assert kind.shape is not None
    return kind.shape


def test_equal_names_stay_equal_and_a_size_is_everywhere() -> None:
    """For all that can be said of a product: no name stands where its dimension has a size, or another name."""
    model = trace(lambda x, y: op.Relu(x) @ y, FLOAT["N", "K"], FLOAT["K", "M"])
    choices = (None, "N", "K", "M", "n", 3, 4)
    accepted = 0
    for n, k, first, second, third in itertools.product((None, 3, "n"), (None, 4, "n"), *[choices] * 3):
        words = {"N": n, "K": k, "x": (first, second), "y": (third, None)}
        try:
            made = model.with_shapes({name: each for name, each in words.items() if each is not None})
        except (ShapeError, DuplicateNameError):
            continue
        accepted += 1
        x, y, out = (shape_of(each.type) for each in (*made.inputs, *made.outputs))
        assert (x[1], x[0], y[1]) == (y[0], *out), words
        for written, got in zip((n, k, first, second, third), (x[0], x[1], x[0], x[1], y[0]), strict=True):
            assert written == got or not isinstance(written, int), words
        for name, size in (("N", n), ("K", k)):
            assert not isinstance(size, int) or name not in (*x, *y, *out), words
    assert accepted > 200


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({}, CallError),
        ({"nix": 3}, UnknownNameError),
        ({"nix": (3, 4)}, UnknownNameError),
        ({"batch": "K"}, DuplicateNameError),
        ({"batch": -1}, AnnotationError),
        ({"batch": ""}, AnnotationError),
        ({"x": (1, 2, 3)}, ShapeError),
        ({"x": (1.5, 2)}, AnnotationError),
        ({"x": None}, AnnotationError),
        ({"x": {1, 2}}, AnnotationError),
        ({"batch": 1, "x": (2, None)}, ShapeError),
        ({"x": (2, 4), "w": (5, 8)}, ShapeError),
        ({"x": ("batch", 4), "batch": "N"}, ShapeError),
        ({"x": ("K", "K"), "K": "L"}, ShapeError),
    ],
)
def test_what_is_refused(words: dict[str, object], error: type[OnnxsmithError]) -> None:
    with pytest.raises(error):
        network().with_shapes(**words)  # type: ignore[arg-type]


def test_a_pytorch_like_reshape_is_not_opened_silently() -> None:
    model = trace(lambda x: op.MatMul(op.Reshape(x, [1, 8]), np.ones((8, 2), np.float32)), FLOAT[1, 2, 4])
    with pytest.raises(ShapeError, match=r"node 'reshape' \(Reshape\)"):
        model.with_shapes(x=("N", 2, 4))


def test_what_a_body_carries_is_opened_too() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[1, 4] x, int64 n) => (float[1, 4] y) {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[1, 4] s) => (bool d, float[1, 4] t) {
                d = Identity (c)  t = Add (s, s) }>
        }"""
    )
    opened = model.with_shapes(x=("N", 4))
    onnx.checker.check_model(opened.proto, full_check=True)
    assert "1" not in str([each.shape for graph in opened.ir.graph.subgraphs() for each in graph.inputs])
    x = np.ones((3, 4), np.float32)
    np.testing.assert_array_equal(run(opened.proto, {"x": x, "n": np.array(2)})["y"], x * 4)


def is_valid(proto: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception:  # the checker and inference raise unrelated classes
        return False
    return True


@pytest.mark.parametrize("case", all_cases()[::8], ids=lambda case: case.name)
def test_the_shapes_of_models_that_are_right_are_right(case: Case) -> None:
    """The same shapes again: nothing is refused, and what is declared besides passes onnx's own inference."""
    model = Model.from_proto(case.model)
    given = {
        port.name: port.type.shape
        for port in model.inputs
        if isinstance(port.type, TensorType) and port.type.shape is not None
    }
    if not given:
        return
    shaped = model.with_shapes(given)
    assert shaped.inputs == model.inputs
    assert is_valid(shaped.proto) or not is_valid(case.model)


@pytest.mark.parametrize("given", [2.0, None, (1, 2)])
def test_a_dimension_is_a_size_or_a_name(given: Any) -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N", 4])
    with pytest.raises(AnnotationError, match="the dimension 'N' is an int or a name"):
        model.with_shapes(N=given)

"""`first.then(second)` and `compose`: what the whole has of each."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, parser

import onnxsmith
from onnxsmith import DOUBLE, FLOAT, INT64, Model, script, trace
from onnxsmith import opset13 as op13
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    CallError,
    ConvertedModelWarning,
    DuplicateNameError,
    JoinError,
    OpsetConflictError,
    UnknownNameError,
    UnreadableModelError,
)
from onnxsmith.graphs.size_conditions import SIZES_KEY
from tests.passes.surgery.test_laws import run


def relu() -> Model:
    return trace(lambda x: op.Relu(x), FLOAT["N"])


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def test_names_first_then_order() -> None:
    first = trace(lambda x: (op.Relu(x), op.Neg(x)), FLOAT["N"])
    by_name = trace(lambda neg, relu: op.Sub(neg, relu), FLOAT["N"], FLOAT["N"])
    by_order = trace(lambda a, b: op.Sub(a, b), FLOAT["N"], FLOAT["N"])
    x = np.float32([-1, 2])
    np.testing.assert_array_equal(first.then(by_name)(x), np.float32([1, -4]))
    np.testing.assert_array_equal(first.then(by_order)(x), np.float32([-1, 4]))


def test_models_with_the_same_names_all_over() -> None:
    model = relu().rename(outputs={"relu": "y"})
    four = onnxsmith.compose(model, model, model, model)
    onnx.checker.check_model(four.proto, full_check=True)
    assert [port.name for port in (*four.inputs, *four.outputs)] == ["x", "y"]
    assert len({node.name for node in four.ir.graph}) == 4
    np.testing.assert_array_equal(four(np.float32([-1, 2])), np.float32([0, 2]))


def test_what_is_not_joined_stays() -> None:
    first = trace(lambda x: (op.Relu(x), op.Exp(x)), FLOAT["N"])
    second = trace(lambda a, b: op.Mul(a, b), FLOAT["N"], FLOAT["N"])
    whole = first.then(second, map={"relu": "a"})
    assert [port.name for port in whole.inputs] == ["x", "b"]
    assert [port.name for port in whole.outputs] == ["exp", "mul"]


def test_a_shared_input() -> None:
    first = trace(lambda x, mask: op.Mul(x, mask), FLOAT["N"], FLOAT["N"])
    second = trace(lambda y, mask: op.Sub(y, mask), FLOAT["M"], FLOAT["M"])
    with pytest.raises(DuplicateNameError, match="'mask' would be"):
        first.then(second, map={"mul": "y"})
    whole = first.then(second, map={"mul": "y", "mask": "mask"})
    found = run(whole.proto, {"x": np.float32([2, 3]), "mask": np.float32([5, 7])})
    np.testing.assert_array_equal(found["sub"], np.float32([5, 14]))


def test_dimensions_that_meet_are_one() -> None:
    first = trace(lambda x: op.Relu(x), FLOAT["batch", "K"])
    second = trace(lambda y, z: op.MatMul(y, z), FLOAT["N", 4], FLOAT[4, "M"])
    whole = first.then(second, map={"relu": "y"})
    assert repr(whole).startswith(
        "Model(x: FLOAT['batch', 4], z: FLOAT[4, 'M']) -> mat_mul: FLOAT['batch', 'M']"
    )


def test_one_name_for_two_dimensions_is_two_names() -> None:
    first = trace(lambda x, n: (op.Relu(x), op.Exp(n)), FLOAT["K"], FLOAT["N"])
    second = trace(lambda y, n2: (op.Neg(y), op.Tanh(n2)), FLOAT["K"], FLOAT["N"])
    whole = first.then(second, map={"relu": "y"})
    shapes = {port.name: port.type.shape for port in whole.inputs}  # type: ignore[union-attr]
    assert shapes == {"x": ("K",), "n": ("N",), "n2": ("N_1",)}
    results = whole(np.ones(2, np.float32), np.ones(3, np.float32), np.ones(5, np.float32))
    assert [each.shape for each in results] == [(3,), (2,), (5,)]


def test_two_dimensions_of_the_first_become_one() -> None:
    first = trace(lambda x, y: (op.Relu(x), op.Exp(y)), FLOAT["A"], FLOAT["B"])
    second = trace(lambda a, b: op.Add(a, b), FLOAT["K"], FLOAT["K"])
    assert len({port.type.shape for port in first.then(second).inputs}) == 1  # type: ignore[union-attr]


def test_sizes_that_models_are_for() -> None:
    first, second = relu().proto, trace(lambda y: op.Exp(y), FLOAT["M"]).proto
    helper.set_model_props(first, {SIZES_KEY: '[{"condition": "N >= 2"}]', "author": "me"})
    helper.set_model_props(second, {SIZES_KEY: '[{"condition": "M <= 4"}]', "author": "you", "more": "1"})
    whole = Model.from_proto(first).then(Model.from_proto(second))
    props = {each.key: each.value for each in whole.proto.metadata_props}
    assert (props["author"], props["more"]) == ("me", "1")
    assert "N >= 2" in props[SIZES_KEY]
    assert "N <= 4" in props[SIZES_KEY]
    for size in (1, 5):
        with pytest.raises(onnxsmith.errors.ModelInputError):
            whole(np.ones(size, np.float32))


def test_shared_weights_are_one() -> None:
    weight = np.ones((4, 4), np.float32)
    model = trace(lambda x: op.Relu(x @ weight) @ weight, FLOAT["N", 4])
    whole = onnxsmith.compose(*model.split("relu"))
    assert list(whole.ir.graph.initializers) == ["weight"]
    other = model.replace_weights({"weight": weight + 1})
    front, back = model.split("relu")[0], other.split("relu")[1]
    assert list(front.then(back).ir.graph.initializers) == ["weight", "weight_1"]
    x = np.ones((1, 4), np.float32)
    np.testing.assert_array_equal(front.then(back)(x), (x @ weight) @ (weight + 1))


@script(domain="mine", name="f")
def double(x: FLOAT["N"]):
    return x * 2.0


@script(domain="mine", name="f")
def triple(x: FLOAT["N"]):
    return x * 3.0


def test_functions_of_one_name() -> None:
    @script
    def first(x: FLOAT["N"]):
        return double(x)

    @script
    def second(y: FLOAT["N"]):
        return triple(y)

    one, other = first.to_model(), second.to_model()
    whole = one.then(other)
    np.testing.assert_array_equal(run(whole.proto, {"x": np.float32([1])})[whole.outputs[0].name], [6])
    assert len(whole.ir.functions) == 2
    twice = one.then(one)
    assert len(twice.ir.functions) == 1
    np.testing.assert_array_equal(run(twice.proto, {"x": np.float32([1])})[twice.outputs[0].name], [4])


def test_an_operator_of_one_is_no_function_of_the_other() -> None:
    @script
    def second(y: FLOAT["N"]):
        return double(y)

    custom = trace(lambda x: onnxsmith.Opset("mine", 1).f(x), FLOAT["N"])
    for whole in (custom.then(second.to_model()), second.to_model().then(custom)):
        called = [node.op_identifier() in whole.ir.functions for node in whole.ir.graph]
        assert sorted(called) == [False, True]


def test_names_inside_bodies() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[2] x, bool c) => (float[2] {out}) {{
            h = Relu (x)
            {out} = If (c) <then_branch = t () => (float[2] a) {{ a = Add (h, x) }},
                            else_branch = e () => (float[2] b) {{ b = Neg (h) }}>
        }}"""
    first = parsed(text.format(out="y"))
    # In the second, what the first calls h is inside a body, and the input that it takes is called otherwise.
    second = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[2] v, bool d) => (float[2] z) {
            a = Exp (v)
            z = If (d) <then_branch = t () => (float[2] y) { h = Mul (v, a)  y = Add (h, v) },
                        else_branch = e () => (float[2] y) { y = Neg (v) }>
        }"""
    )
    whole = first.then(second, map={"y": "v"})
    onnx.checker.check_model(whole.proto, full_check=True)
    x = np.float32([1, 2])
    for c in (True, False):
        for d in (True, False):
            between = run(first.proto, {"x": x, "c": np.array(c)})["y"]
            wanted = run(second.proto, {"v": between, "d": np.array(d)})["z"]
            found = run(whole.proto, {"x": x, "c": np.array(c), "d": np.array(d)})["z"]
            np.testing.assert_array_equal(found, wanted)


def test_a_value_that_is_only_handed_on() -> None:
    second = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N] y) => (float[N] y, float[N] z) { z = Exp (y) }"""
    )
    whole = relu().then(second)
    onnx.checker.check_model(whole.proto, full_check=True)
    assert [port.name for port in whole.outputs] == ["y", "z"]
    np.testing.assert_array_equal(run(whole.proto, {"x": np.float32([-1, 2])})["y"], np.float32([0, 2]))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_newer_opset_is_taken_and_said(swapped: bool) -> None:
    old, new = trace(lambda x: op13.Relu(x), FLOAT["N"]), relu()
    first, second = (new, old) if swapped else (old, new)
    called = "second" if swapped else "first"
    with pytest.warns(
        ConvertedModelWarning, match=f"the {called} model is of ai.onnx 13, .* to 21"
    ) as caught:
        joined = first.then(second, map={"relu": "x"})
    assert caught[0].filename == __file__
    assert joined.opset_imports == {"": 21}
    assert old.opset_imports == {"": 13}
    onnx.checker.check_model(joined.proto, full_check=True)


def test_what_changed_its_meaning_is_converted() -> None:
    old = trace(lambda x: onnxsmith.opset12.Softmax(x), FLOAT["N", 4, 2])  # type: ignore[attr-defined]
    gelu = trace(lambda x: op.Gelu(x), FLOAT["N", 4, 2])
    data = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    for models in ((old, gelu), (gelu, old)):
        with pytest.warns(ConvertedModelWarning):
            joined = onnxsmith.compose(*models)
        onnx.checker.check_model(joined.proto, full_check=True)
        np.testing.assert_allclose(joined(data), models[1](models[0](data)), rtol=1e-6)


def test_where_the_older_has_no_form_the_newer_goes_down() -> None:
    text = """<ir_version: 7, opset_import: ["": 8]> g (float[2, 2] x) => (float[2, 2] y) {
        y = BatchNormalization <spatial = 0> (x, v, v, v, v) }"""
    proto = parser.parse_model(text)
    proto.graph.initializer.append(helper.make_tensor("v", 1, [2], [1.0, 1.0]))
    with pytest.warns(ConvertedModelWarning, match="the second model is of ai.onnx 21, .* to 8"):
        joined = Model.from_proto(proto).then(trace(lambda y: op.Relu(y), FLOAT[2, 2]))
    assert joined.opset_imports == {"": 8}
    with pytest.raises(OpsetConflictError) as caught:
        Model.from_proto(proto).then(trace(lambda y: op.Cast(y, to=onnxsmith.FLOAT8E5M2), FLOAT[2, 2]))
    assert "BatchNormalization" in str(caught.value.help)
    assert "Cast" in str(caught.value.help)


def test_the_standard_domain_has_two_names() -> None:
    text = '<ir_version: 8, opset_import: ["ai.onnx": 21]> g (float[N] x) => (float[N] y) { y = ai.onnx.Relu (x) }'
    joined = Model.from_proto(parser.parse_model(text)).then(relu(), map={"y": "x"})
    assert joined.opset_imports == {"": 21}
    np.testing.assert_array_equal(joined(np.float32([-1, 2])), np.float32([0, 2]))


def test_domains_whose_versions_nobody_knows() -> None:
    models = [trace(lambda x, k=k: onnxsmith.Opset("mine", k).Foo(x), FLOAT["N"]) for k in (1, 2)]
    models = [Model.from_proto(_typed(each.proto)) for each in models]
    with pytest.raises(OpsetConflictError, match=r"mine 1.*mine 2"):
        models[0].then(models[1])


def _typed(proto: onnx.ModelProto) -> onnx.ModelProto:
    proto.graph.output[0].CopyFrom(proto.graph.input[0])
    proto.graph.output[0].name = proto.graph.node[0].output[0]
    return proto


def test_ir_versions() -> None:
    old = parsed(
        """<ir_version: 3, opset_import: ["": 8]>
        g (float[2] x, float[2] w = {1.0, 2.0}) => (float[2] y) { y = Add (x, w) }"""
    )
    twice = old.then(old, map={"y": "x"})
    assert [port.name for port in twice.optional_inputs] == ["w"]
    np.testing.assert_array_equal(twice(np.float32([0, 0])), np.float32([2, 4]))
    np.testing.assert_array_equal(twice(np.float32([0, 0]), w=np.float32([5, 5])), np.float32([10, 10]))


@pytest.mark.parametrize(
    ("second", "given", "error"),
    [
        (trace(lambda y: op.Exp(y), DOUBLE["N"]), None, JoinError),
        (trace(lambda y: op.Exp(y), FLOAT["N", 4]), None, JoinError),
        (trace(lambda y, z: op.Add(y, z), FLOAT["N"], FLOAT["N"]), None, JoinError),
        (trace(lambda y: op.Exp(y), FLOAT["N"]), {}, JoinError),
        (trace(lambda y: op.Exp(y), FLOAT["N"]), {"relu": "z"}, UnknownNameError),
        (trace(lambda y: op.Exp(y), FLOAT["N"]), {"exp": "x"}, JoinError),
        (trace(lambda y: op.Exp(y), FLOAT["N"]), {"relu": "y", "x": "y"}, JoinError),
        (trace(lambda y: op.Exp(y), FLOAT["N"]).rename(outputs={"exp": "x"}), None, DuplicateNameError),
        ("nowhere.onnx", None, UnreadableModelError),
        (5, None, CallError),
    ],
)
def test_what_cannot_be_joined(second: Model, given: dict[str, str] | None, error: type[Exception]) -> None:
    first = relu()
    before = first.proto
    with pytest.raises(error):
        first.then(second, map=given)
    assert first.proto == before


def test_compose_says_which_model_does_not_fit() -> None:
    plain = trace(lambda x: op.Exp(x), FLOAT["N"])
    whole = trace(lambda x: op.Cast(x, to=INT64), FLOAT["N"])
    with pytest.raises(
        JoinError, match="the second is argument 3 of compose, and the first is all before it"
    ):
        onnxsmith.compose(plain, whole, plain)
    with pytest.raises(JoinError) as caught:
        onnxsmith.compose(whole, plain)
    assert "argument" not in str(caught.value)


def test_compose_needs_models() -> None:
    with pytest.raises(CallError):
        onnxsmith.compose()
    assert onnxsmith.compose(relu()).proto == relu().proto


def test_the_name_of_a_value_that_is_handed_on_is_free() -> None:
    first = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N] x) => (float[N] r) { y = Neg (x)  r = Relu (y) }"""
    )
    second = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N] y) => (float[N] y, float[N] z) { z = Exp (y) }"""
    )
    whole = first.then(second)
    onnx.checker.check_model(whole.proto, full_check=True)
    np.testing.assert_array_equal(run(whole.proto, {"x": np.float32([-3])})["y"], np.float32([3]))


def test_functions_with_text_that_is_no_utf8() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "local" : 1, "other" : 1]>
        g (float[N] x) => (float[N] y) { y = local.f (x) }
        <domain: "local", opset_import: ["other" : 1]> f (a) => (r) { r = other.Thing <words = "ab"> (a) }"""
    proto = onnx.parser.parse_model(text)
    proto.functions[0].node[0].attribute[0].s = b"\xff\xfe"
    model = Model.from_proto(proto)
    joined = model.then(model.rename(prefix="p."))
    assert len(joined.ir.functions) == 1
    assert joined.proto.functions[0].node[0].attribute[0].s == b"\xff\xfe"


def test_dimensions_meet_inside_sequences() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[4, N] x) => (float[2, N] y) <int64 one = {1}> {
        parts = SplitToSequence <axis = 0> (x, sizes) y = SequenceAt (parts, one) }"""
    proto = parser.parse_model(text)
    proto.graph.initializer.append(helper.make_tensor("sizes", 7, [2], [2, 2]))
    pieces = Model.from_proto(proto).split("parts")
    joined = onnxsmith.compose(pieces[0], pieces[1].with_shapes(N="M"))
    assert joined.outputs[0].type.shape == (2, "N")
    with pytest.raises(JoinError, match=r"shape \(2, 3\), and the second"):
        pieces[0].with_shapes(N=3).then(pieces[1].with_shapes(N=5))

"""`convert_version`: what stays, what is shared, what is refused, and where nodes may stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, parser

import onnxsmith
from onnxsmith import (
    FLOAT,
    INT64,
    Model,
    convert_version,
    errors,
    opset11,
    opset13,
    opset18,
    opset21,
    script,
    trace,
)
from onnxsmith.passes import verifying
from onnxsmith.passes.versions import step as step_module
from onnxsmith.passes.versions.step import Answer, Step
from onnxsmith.schema import equivalent_versions, registry
from onnxsmith.schema.registry import default_opset_version

X = np.float32([[1, -2, 3, 4]])


def read(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def operators(model: Model) -> list[str]:
    parts = [model.ir.graph, *(each.graph for each in model.ir.functions.values())]
    return [node.op_type for part in parts for node in part.all_nodes()]


def test_the_given_model_stays_as_it_is_and_weights_are_shared() -> None:
    weight = np.ones((4, 4), np.float32)
    model = trace(lambda x: opset11.Squeeze(x @ weight, axes=[0]), FLOAT[1, 4])
    before = model.proto.SerializeToString()
    newer = model.convert_version(21)
    assert model.proto.SerializeToString() == before
    tensors = [each.ir.graph.initializers["weight"].const_value for each in (model, newer)]
    assert tensors[0] is tensors[1]


def test_a_model_that_means_the_same_only_names_another_opset() -> None:
    model = trace(lambda x: opset13.Relu(x) + 1.0, FLOAT["N", 4], opset_version=13)
    newer = convert_version(model, 21)
    assert newer.report.edits == ()
    assert newer.opset_imports[""] == 21
    assert [str(each) for each in newer.ir.graph] == [str(each) for each in model.ir.graph]


def test_the_log_says_what_became_what_and_where_it_was_written() -> None:
    model = trace(lambda x: opset11.Softmax(x, axis=1), FLOAT["N", 3, 4])
    (edit,) = model.convert_version(13).report.edits
    assert (edit.pass_name, edit.rule) == ("versions", "along all that follows")
    assert [each.operator for each in edit.before] == ["Softmax"]
    assert [each.operator for each in edit.after] == ["Flatten", "Softmax", "Shape", "Reshape"]
    assert "test_convert.py:" in edit.sources[0]


def test_names_of_outputs_and_types_that_are_declared_stay() -> None:
    model = trace(lambda x: opset11.Softmax(x, axis=1) * 2.0, FLOAT["N", 3, 4])
    newer = model.convert_version(21)
    assert newer.outputs == model.outputs
    declared = {each.name for each in newer.proto.graph.value_info}
    assert declared <= {each.name for each in model.proto.graph.value_info}


def test_nodes_in_branches_loops_and_functions_are_converted() -> None:
    @script
    def inner(x: FLOAT["N", 4]):
        return opset11.ReduceSum(x, axes=[1])

    @script
    def outer(x: FLOAT["N", 4]):
        total = opset11.Identity(x)
        for _ in range(2):
            if opset11.ReduceSum(total, keepdims=0) > 0.0:
                total = opset11.Softmax(total, axis=0)
            else:
                total = total + inner(x)
        return total

    model = outer.to_model(opset_version=11)
    newer = model.convert_version(21)
    onnx.checker.check_model(newer.proto, full_check=True)
    assert {
        each.version for part in newer.proto.functions for each in part.opset_import if not each.domain
    } == {21}
    np.testing.assert_allclose(newer(X), model(X), rtol=1e-6)
    older = newer.convert_version(11)
    onnx.checker.check_model(older.proto, full_check=True)
    np.testing.assert_allclose(older(X), model(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("before", "body", "added"),
    [
        ("", "o = Add(e, k)", 1),
        ("w = Neg(k)", "h = Add(e, w)  o = Add(h, k)", 0),
        # The name of an input of the definition of SequenceMap.
        ("input_sequence = Neg(k)", "o = Add(e, input_sequence)", -1),
        (
            "c = Constant <value = bool {1}> ()",
            "o = If(c) <then_branch = t () => (float[n] p) { p = Add(e, k) },"
            " else_branch = f () => (float[n] q) { q = Neg(k) }>",
            1,
        ),
    ],
)
def test_a_definition_reads_what_bodies_of_the_node_read_from_around_it(
    before: str, body: str, added: int
) -> None:
    model = read(
        f"""<ir_version: 8, opset_import: ["": 17]> g (seq(float[n]) s, float[n] k) => (seq(float[n]) y) {{
        {before} y = SequenceMap(s) <body = b (float[n] e) => (float[n] o) {{ {body} }}> }}"""
    )
    inputs = [np.float32([1, 2]), np.float32([3, 4])], np.float32([10, 20])
    older = model.convert_version(13)
    assert operators(older).count("Loop") == 1
    for given, found in zip(inputs[0], older.run(*inputs), strict=True):
        np.testing.assert_array_equal(found, given + added * inputs[1])


def test_constants_that_calls_pass_to_a_function_are_constants() -> None:
    layer = trace(lambda x: opset21.ReduceMean(x, [1]), FLOAT["N", 4])
    model = trace(lambda x: opset21.Relu(layer(x)) + layer(x * 2.0), FLOAT["N", 4])
    older = model.convert_version(13)
    onnx.checker.check_model(older.proto, full_check=True)
    np.testing.assert_allclose(older(X), model(X))


def test_an_attribute_of_a_function_becomes_an_input() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 11, "f": 1]>
        g (float[1, 4] x) => (float[4] y) { y = f.squeezed <axes = [0]> (x) }
        <domain: "f", opset_import: ["": 11]>
        squeezed <axes> (x) => (y) { y = Squeeze <axes: ints = @axes> (x) }
    """)
    newer = model.convert_version(21)
    onnx.checker.check_model(newer.proto, full_check=True)
    np.testing.assert_array_equal(newer(X), X[0])


def test_a_function_that_is_never_called_keeps_its_opset() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 11, "f": 1]> g (float[1, 4] x) => (float[1, 4] y) { y = Neg (x) }
        <domain: "f", opset_import: ["": 11]> unused (x) => (y) { y = Squeeze <axes = [0]> (x) }
    """)
    newer = model.convert_version(21)
    assert [each.version for each in newer.proto.functions[0].opset_import] == [11]


def test_what_was_only_an_attribute_leaves_no_initializer() -> None:
    model = trace(lambda x: opset21.Squeeze(x, [0]), FLOAT[1, 4])
    older = model.convert_version(11)
    assert not older.ir.graph.initializers
    np.testing.assert_array_equal(older(X), X[0])


@pytest.mark.parametrize(("opset", "wanted"), [(13, 8), (18, 8), (21, 10), (23, 11)])
def test_the_ir_version_is_raised_where_it_has_to_be(opset: int, wanted: int) -> None:
    model = read('<ir_version: 8, opset_import: ["": 13]> g (float[N] x) => (float[N] y) { y = Relu (x) }')
    assert model.convert_version(opset).proto.ir_version == wanted


def test_the_ir_version_is_lowered_with_the_opset() -> None:
    model = trace(lambda x: opset21.Relu(x), FLOAT["N"])
    assert model.convert_version(13).proto.ir_version == 7


def test_a_model_of_ir_3_stays_valid() -> None:
    weight = helper.make_tensor("w", 1, [4], [1.0, 2.0, 3.0, 4.0])
    ports = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 4]), ("w", [4]))]
    nodes = [
        helper.make_node("Add", ["x", "w"], ["s"], broadcast=1),
        helper.make_node("Squeeze", ["s"], ["y"], axes=[0]),
    ]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_tensor_value_info("y", 1, [4])], [weight])
    given = helper.make_model(graph, ir_version=3, opset_imports=[helper.make_opsetid("", 6)])
    for opset in (7, 8, 13, 21):
        model = Model.from_proto(given).convert_version(opset)
        onnx.checker.check_model(model.proto, full_check=True)
        np.testing.assert_array_equal(model(X), (X + np.float32([1, 2, 3, 4]))[0])


def test_other_domains_stay_unless_they_are_named() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 13, "ai.onnx.ml": 1]>
        g (float[1, 4] x) => (float[1, 4] y) { z = Neg (x) y = ai.onnx.ml.Scaler <offset = [0.0], scale = [2.0]> (z) }
    """)
    assert dict(model.convert_version(21).opset_imports) == {"": 21, "ai.onnx.ml": 1}
    both = model.convert_version({"ai.onnx": 15, "ai.onnx.ml": 3})
    assert dict(both.opset_imports) == {"": 15, "ai.onnx.ml": 3}
    np.testing.assert_array_equal(both(X), -2 * X)


@pytest.mark.parametrize(
    ("version", "kind", "mention"),
    [
        (0, errors.AttributeValueError, "opset 0 is not there"),
        (999, errors.AttributeValueError, "opset 999 is not there"),
        ("21", errors.AttributeTypeError, 'an int, "newest" or "runtime", and this is \'21\''),
        ({"nobody": 1}, errors.AttributeValueError, "nothing is known of the domain 'nobody'"),
    ],
)
def test_wrong_versions(version: Any, kind: type[Exception], mention: str) -> None:
    model = trace(lambda x: opset21.Relu(x), FLOAT["N"])
    with pytest.raises(kind, match=mention):
        model.convert_version(version)


@pytest.mark.parametrize(
    ("make", "version", "mention"),
    [
        (
            lambda: trace(lambda x, a: opset21.Squeeze(x, a), FLOAT[1, 4], INT64["K"]),
            11,
            "make axes a constant",
        ),
        (
            lambda: trace(lambda x: opset21.Cast(x, to=onnxsmith.FLOAT8E5M2), FLOAT["N"]),
            18,
            "is float8_e5m2, which Cast gives since opset 19",
        ),
        (
            lambda: trace(
                lambda x: opset21.GridSample(x, np.zeros((1, 2, 2, 2), np.float32)), FLOAT[1, 1, 4, 4]
            ),
            13,
            "GridSample came",
        ),
    ],
)
def test_refusals_name_the_node_and_why(make: Any, version: int, mention: str) -> None:
    with pytest.raises(errors.VersionConversionError) as caught:
        make().convert_version(version)
    assert mention in str(caught.value)
    assert caught.value.node is not None
    assert f"opset {version}" in caught.value.message


def test_a_type_that_is_not_known_is_not_guessed() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 14, "nobody": 1]>
        g (float[N] x) => (y) { z = nobody.Thing (x) y = Add (z, z) }
    """)
    with pytest.raises(errors.VersionConversionError, match="the element type of its input 0 is not known"):
        model.convert_version(13)


def test_the_standard_domain_has_two_names() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["ai.onnx": 11]>
        g (float[1, 4] x) => (float[4] y) { y = ai.onnx.Squeeze <axes = [0]> (x) }
    """)
    newer = model.convert_version(21)
    assert dict(newer.opset_imports) == {"": 21}
    np.testing.assert_array_equal(newer(X), X[0])


@pytest.mark.parametrize(
    ("opset", "node"),
    [
        (11, "Nope (x)"),
        (11, "Squeeze (x, x, x)"),
        (11, 'Clip <min = "low"> (x)'),
        (11, "Softmax <axis = 9> (x)"),
        (11, "Unsqueeze <axes = 3> (x)"),
        (18, 'Pad <mode = "wrap"> (x)'),
        (21, 'ReduceMax <noop_with_empty_axes = "t"> (x)'),
        (21, "AveragePool <kernel_shape = [2], dilations = [2, 2], ceil_mode = 1> (x)"),
        (21, "Split <num_outputs = 2, axis = 7> (x)"),
        (21, "Gelu ()"),
        (23, "LSTM <layout = 1> (x)"),
    ],
)
@pytest.mark.parametrize("target", [5, 13, 21, 28])
def test_a_node_that_is_wrong_already_is_converted_or_refused(opset: int, node: str, target: int) -> None:
    text = f'<ir_version: 8, opset_import: ["": {opset}]> g (float[1, 4] x) => (y) {{ y = {node} }}'
    try:
        read(text).convert_version(target)
    except errors.OnnxsmithError as error:
        assert error.node is not None or isinstance(error, errors.InvalidModelError)  # noqa: PT017


def test_maps_and_sparse_weights_pass_through() -> None:
    values = helper.make_tensor("w", 1, [2], [1.0, 2.0])
    places = helper.make_tensor("places", 7, [2], [0, 3])
    kind = helper.make_map_type_proto(7, helper.make_tensor_type_proto(1, []))
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "w"], ["s"]),
            helper.make_node("Softmax", ["s"], ["p"]),
            helper.make_node("ZipMap", ["p"], ["m"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2, 3]),
        ],
        "g",
        [helper.make_tensor_value_info("x", 1, [1, 4])],
        [helper.make_value_info("m", helper.make_sequence_type_proto(kind))],
        sparse_initializer=[helper.make_sparse_tensor(values, places, [4])],
    )
    opsets = [helper.make_opsetid("", 11), helper.make_opsetid("ai.onnx.ml", 1)]
    model = Model.from_proto(helper.make_model(graph, ir_version=8, opset_imports=opsets))
    newer = model.convert_version(21)
    assert len(newer.proto.graph.sparse_initializer) == 1
    assert newer.report.opset_after == 21
    assert newer(X) == model(X)


@pytest.mark.parametrize("opset", [8, 11, 15])
def test_a_sparse_constant_is_refused_where_it_cannot_stay(opset: int) -> None:
    """Also where the node that holds it would be a function of older operators, which onnx-ir cannot write."""
    numbers = helper.make_tensor("w", 1, [2], [1.0, 2.0]), helper.make_tensor("places", 7, [2], [0, 3])
    constant = helper.make_node("Constant", [], ["c"], sparse_value=helper.make_sparse_tensor(*numbers, [4]))
    ports = [helper.make_tensor_value_info(each, 1, [4]) for each in ("e", "r")]
    body = helper.make_graph(
        [constant, helper.make_node("Add", ["e", "c"], ["r"])], "b", ports[:1], ports[1:]
    )
    mapped = helper.make_node("SequenceMap", ["s"], ["y"], body=body)
    rows = [helper.make_tensor_sequence_value_info(each, 1, [4]) for each in ("s", "y")]
    graphs = [helper.make_graph([mapped], "g", rows[:1], rows[1:]), body]
    for graph in graphs if opset > 11 else graphs[1:]:
        opsets = [helper.make_opsetid("", 17 if opset > 11 else 13)]
        model = Model.from_proto(helper.make_model(graph, ir_version=8, opset_imports=opsets))
        if opset > 11 and graph is body:
            assert model.convert_version(opset).report.opset_after == opset
            continue
        with pytest.raises(errors.OnnxsmithError, match=r"Constant 'c'|it holds a sparse tensor"):
            model.convert_version(opset)


def test_group_normalization_that_was_taken_back_is_still_read() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[1, 4, 2] x, float[2] s, float[2] b) => (float[1, 4, 2] y) {
            y = GroupNormalization <num_groups = 2> (x, s, b)
        }
    """)
    newer = model.convert_version(21)
    assert "GroupNormalization" in operators(newer)
    data = np.random.default_rng(0).normal(size=(1, 4, 2)).astype(np.float32)
    scale, bias = np.float32([2, 3]), np.float32([1, -1])
    grouped = data.reshape(1, 2, 4)
    centred = grouped - grouped.mean(-1, keepdims=True)
    normal = centred / np.sqrt(grouped.var(-1, keepdims=True) + 1e-5)
    expected = normal * scale[None, :, None] + bias[None, :, None]
    np.testing.assert_allclose(newer(data, scale, bias), expected.reshape(1, 4, 2), rtol=1e-4, atol=1e-5)


def test_scan_8_over_a_batch_becomes_a_scan_in_a_scan() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 8]>
        g (float[2, 3] s, float[2, 5, 3] x) => (float[2, 3] t, float[2, 5, 3] y) {
            t, y = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] c, float[3] d) {
                c = Add (a, e) d = Identity (c) }> (, s, x)
        }
    """)
    newer = model.convert_version(21)
    onnx.checker.check_model(newer.proto, full_check=True)
    start = np.ones((2, 3), np.float32)
    data = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    last, every = newer(start, data)
    np.testing.assert_allclose(every, start[:, None] + data.cumsum(1), rtol=1e-5)
    np.testing.assert_allclose(last, every[:, -1])


def test_axes_that_are_worked_out_of_a_known_rank_become_an_attribute() -> None:
    scale = np.ones(4, np.float32)
    model = trace(lambda x: onnxsmith.opset23.RMSNormalization(x, scale), FLOAT["N", 4])
    older = model.convert_version(13)
    assert "If" not in operators(older)
    assert "Range" not in operators(older)
    np.testing.assert_allclose(older(X), model(X), rtol=1e-6)


def test_a_weight_that_a_call_may_replace_is_no_constant() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[1, 4] x, int64[1] axes = {1}) => (y) { y = ReduceMax <keepdims = 0> (x, axes) }
    """)
    older = model.convert_version(13)
    np.testing.assert_array_equal(older(X), model(X))
    np.testing.assert_array_equal(older(X, axes=np.array([0])), model(X, axes=np.array([0])))


def test_verification_on_inputs_that_are_made_up_or_given() -> None:
    model = trace(lambda x: opset11.Softmax(x, axis=1), FLOAT["N", 3, 4])
    assert model.convert_version(21, verify=True).report.verification == (
        "verified: equal results for x [2, 3, 4]"
    )
    given = np.ones((5, 3, 4), np.float32)
    for verify in ({"x": given}, [given]):
        newer = convert_version(model, 21, verify=verify)
        assert newer.report.verification == "verified: equal results for x [5, 3, 4]"
    with pytest.raises(errors.ModelInputError, match="no value for the input 'x'"):
        convert_version(model, 21, verify={"y": given})


def wrong_adapter(step: Step) -> Answer:
    return step.op("Neg", step.required(0))


@pytest.mark.parametrize(
    "make",
    [
        lambda model: model.convert_version(21, verify=True),
        lambda model: model.optimize(opset=21, verify=True),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        "a = Exp (x) b = Squeeze <axes = [0]> (a) c = Abs (b) y = Squeeze <axes = [0]> (c)",
        """t = Constant <value = bool {1}> () a = Exp (x)
        b = If (t) <then_branch = g () => (u) { u = Squeeze <axes = [0]> (a) },
                    else_branch = h () => (v) { v = Squeeze <axes = [0]> (a) }>
        c = Abs (b) y = Squeeze <axes = [0]> (c)""",
    ],
    ids=["main graph", "branch"],
)
def test_verification_names_the_change_of_the_first_node_that_differs(
    monkeypatch: pytest.MonkeyPatch, make: Any, body: str
) -> None:
    monkeypatch.setitem(step_module.INTO, ("", "Squeeze", 13), wrong_adapter)
    model = read(f"""
        <ir_version: 8, opset_import: ["": 11]> g (float[1, 1, 4] x) => (y) {{ {body} }}
    """)
    with pytest.raises(errors.VerificationError) as caught:
        make(model)
    assert "of the pass versions, by the rule 'wrong adapter': Squeeze" in caught.value.message
    assert "'y'" not in caught.value.message.partition("by the rule")[2]


def test_verification_names_a_node_that_means_something_else_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(equivalent_versions._UNCHANGED, ("Softmax", 13), "")  # pyright: ignore[reportPrivateUsage]
    model = trace(lambda x: opset11.Abs(opset11.Softmax(opset11.Exp(x), axis=1)), FLOAT["N", 3, 4])
    with pytest.raises(
        errors.VerificationError, match="begins at Softmax 'softmax', which was left as it is"
    ):
        model.convert_version(13, verify=True)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(errors.CallError, match="convert_version takes a model, not an int"):
        convert_version(21, 21)  # type: ignore[arg-type]  # that is the mistake


def test_branches_of_several_shapes_have_no_form_before_opset_11() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 13]>
        g (float[2, 3] x, bool c) => (float[N, 3] y) {
            y = If (c) <then_branch = t () => (float[2, 3] a) { a = Neg (x) },
                        else_branch = e () => (float[4, 3] b) { b = Concat <axis = 0> (x, x) }>
        }
    """)
    assert model.convert_version(11).opset_imports[""] == 11
    with pytest.raises(errors.VersionConversionError, match="several shapes, which If allows since opset 11"):
        model.convert_version(10)


def test_a_node_that_became_several_is_named_once() -> None:
    model = read("""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[3, 2, 2] x, int64[1] axes = {0}) => (y) { y = ReduceMean (x, axes) }
    """)
    with pytest.raises(errors.VersionConversionError, match="for a node:") as caught:
        model.convert_version(9)
    assert caught.value.message.count("ReduceMean 'y'") == 1


@pytest.mark.parametrize("kind", ["int4", "uint4", "int16", "uint16"])
def test_quantised_types_of_opset_21_are_refused_before(kind: str) -> None:
    model = read(f"""
        <ir_version: 10, opset_import: ["": 21]>
        g ({kind}[4] x) => (float[4] y) <float s = {{0.5}}> {{ y = DequantizeLinear (x, s) }}
    """)
    with pytest.raises(errors.VersionConversionError, match="which DequantizeLinear takes since opset 21"):
        model.convert_version(20)


def test_the_newest_version_and_that_of_the_runtime_by_name() -> None:
    model = trace(lambda x: opset11.Squeeze(x, axes=[0]), FLOAT[1, "N"])
    newest = model.convert_version("newest")
    assert newest.opset_imports[""] == registry.latest_version("")
    assert newest.convert_version("runtime").opset_imports[""] == default_opset_version()
    assert model.convert_version({"": "runtime"}).opset_imports[""] == default_opset_version()
    with pytest.raises(
        errors.AttributeValueError, match=r"ai\.onnx\.ml the installed ONNX Runtime loads is not known"
    ):
        model.convert_version({"ai.onnx.ml": "runtime"})
    with pytest.raises(errors.AttributeTypeError, match="'latest'"):
        model.convert_version("latest")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("is_on_runtime", [True, False])
def test_a_version_that_the_runtime_does_not_load_is_said(
    monkeypatch: pytest.MonkeyPatch, is_on_runtime: bool
) -> None:
    """What it was verified by is said as well: nobody shall think that the file runs here."""
    monkeypatch.setattr(verifying, "default_opset_version", lambda: 20)
    if not is_on_runtime:
        with onnxsmith.runtime.using(runtime="reference"):
            newer = _squeezed().convert_version(21, verify=True)
    else:
        newer = _squeezed().convert_version(21, verify=True)
    by = "ONNX Runtime on the same model in opset 20" if is_on_runtime else "the reference evaluator"
    limit = "the installed ONNX Runtime loads up to opset 20"
    assert newer.report.verification == f"verified by {by}: equal results for x [1, 2]; {limit}"
    assert newer.report.notes == []
    assert _squeezed().convert_version(21).report.notes == [limit]
    assert _squeezed().convert_version(20).report.notes == []


def _squeezed() -> Model:
    return trace(lambda x: opset11.Squeeze(x, axes=[0]), FLOAT[1, "N"])


def test_the_report_names_what_became_of_shapes() -> None:
    model = trace(
        lambda x: opset21.Reshape(x, opset21.Shape(x, start=1), allowzero=1), FLOAT[1, 4], opset_version=21
    )
    assert {*model.convert_version(13).report.rules} == {"shape then slice", "zero sizes without allowzero"}


#: Reshapes whose `allowzero` is dropped: a 0 cannot be there, or would be copied from where it is.
WITHOUT_ZEROS = {
    "known sizes": (FLOAT[4, 6], lambda x, n: opset18.Concat(n, opset18.Shape(x)[1:], axis=0)),
    "the batch": (FLOAT["N", 4], lambda x, n: opset18.Concat(opset18.Shape(x)[:1], np.int64([2, 2]), axis=0)),
    "one more than a size": (
        FLOAT["N", 4],
        lambda x, n: opset18.Concat(np.int64([-1]), opset18.Shape(opset18.Concat(n, n, axis=0)), axis=0),
    ),
}


@pytest.mark.parametrize("name", WITHOUT_ZEROS)
def test_allowzero_is_dropped_where_no_size_is_zero(name: str) -> None:
    kind, shape = WITHOUT_ZEROS[name]
    model = trace(lambda x, n: opset18.Reshape(x, shape(x, n), allowzero=1), kind, INT64[1], opset_version=18)
    older = model.convert_version(
        13, verify=[np.ones((4, 6 if name == "known sizes" else 4), np.float32), np.int64([4])]
    )
    assert "If" not in [node.op_type for node in older.proto.graph.node]
    assert (older.report.verification or "").startswith("verified")


def test_allowzero_stays_where_a_size_may_be_zero() -> None:
    model = trace(
        lambda x: opset18.Reshape(
            x, opset18.Concat(np.int64([3]), opset18.Shape(x)[:1], axis=0), allowzero=1
        ),
        FLOAT["N", 3],
        opset_version=18,
    )
    older = model.convert_version(13)
    for size in (0, 5):
        np.testing.assert_array_equal(older(np.ones((size, 3), np.float32)), np.ones((3, size), np.float32))

"""`optimize` as a whole: the same results for ONNX's own cases and for random models, and the promises around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper

import onnxsmith
from onnxsmith.errors import CallError, OnnxsmithError, UnreadableModelError, VerificationError
from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.model import Model
from onnxsmith.passes import optimize, optimizing
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.worklist import NamedRule
from tests.backend.node_cases import all_cases
from tests.passes.agreement import model_of, operators

#: Every so many of ONNX's node cases, and a third of those that spell an operator out.
STRIDE = 17


def chosen_cases() -> list[str]:
    names = sorted(all_cases())
    return sorted({*names[::STRIDE], *[each for each in names if each.endswith("_expanded")][::3]})


def as_inputs(values: list[Any]) -> list[Any]:
    return [numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each for each in values]


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return len(left) == len(right) and all(equal(a, b) for a, b in zip(left, right, strict=True))
    one, other = np.asarray(left), np.asarray(right)
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if one.dtype.kind in "iubOSU":
        return bool((one == other).all())
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    within = 2e-2 if one.dtype.itemsize < 4 else 1e-5
    return bool(np.allclose(other.astype(wide), one.astype(wide), rtol=within, atol=within, equal_nan=True))


@pytest.mark.parametrize("part", range(6))
def test_node_cases_give_the_same(part: int) -> None:
    """Each is valid afterwards and gives what it gave; those that cannot run here are at least valid."""
    wrong: list[str] = []
    for name in chosen_cases()[part::6]:
        case = all_cases()[name]
        model = Model.from_proto(case.model)
        small = optimize(model)
        onnx.checker.check_model(small.proto)
        if any(is_random(node) for node in _nodes(model)):
            continue
        inputs = as_inputs(case.data_sets[0][0])
        try:
            wanted = model(*inputs)
        except OnnxsmithError:
            continue
        pairs = [(wanted, small(*inputs))]
        if isinstance(wanted, tuple):
            pairs = list(zip(*pairs[0], strict=True))
        if not all(equal(*each) for each in pairs):
            wrong.append(name)
    assert not wrong


def _nodes(model: Model) -> list[Any]:
    return [] if model.is_proto_only else list(model.ir.graph.all_nodes())


def test_it_is_a_method_and_a_function() -> None:
    model = model_of("g (float[N] x) => (float[N] y) { a = Neg(x) y = Neg(a) }")
    assert operators(model.optimize()) == operators(onnxsmith.optimize(model))


def test_a_model_without_anything_to_do_stays_as_it_is() -> None:
    model = model_of("g (float[N] x) => (float[N] y) { a = Neg(x) y = Exp(a) }")
    small = optimize(model)
    assert small.report.edits == ()
    assert small.proto.graph.node == model.proto.graph.node


def test_types_are_declared_as_before() -> None:
    text = "g (float[N, 4] x) => (float[N, 4] y) <float[N, 4] a> { a = Neg(x) b = Exp(a) c = Identity(b) y = Abs(c) }"
    small = optimize(model_of(text))
    assert [each.name for each in small.proto.graph.value_info] == ["a"]


def test_models_of_ir_version_3_stay_valid() -> None:
    text = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1.0, 2.0}>"
    body = " { c = Constant<value = float[1] {2.0}>() a = Mul(c, c) b = Mul(x, a) y = Add(b, w) }"
    small = optimize(model_of(text + body, opset=7, ir_version=3))
    onnx.checker.check_model(small.proto)
    assert operators(small) == ["Add", "Mul"]
    assert [each.name for each in small.proto.graph.initializer] == ["w"]


def test_custom_domains_pass_through() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>
        g (float[N] x) => (float[N] y) { a = Identity(x) b = mine.Draw(a) c = mine.Draw(a) y = Add(b, c) }"""
    small = optimize(Model.from_proto(onnx.parser.parse_model(text)))
    assert operators(small) == ["Add", "Draw", "Draw"]


def test_sparse_weights_pass_through() -> None:
    model = model_of("g (float[3] x) => (float[3] y) { a = Identity(x) y = Add(a, w) }").proto
    sparse = model.graph.sparse_initializer.add(dims=[3])
    sparse.values.CopyFrom(numpy_helper.from_array(np.float32([5]), "w"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([1]), "i"))
    small = optimize(Model.from_proto(model))
    assert [node.op_type for node in small.proto.graph.node] == ["Add"]
    assert small.proto.graph.sparse_initializer == model.graph.sparse_initializer
    assert small.report.nodes_after == 1


CONSTANTS = """g (float[N] vector, float[N, M] matrix, float open) => (float y) <
        float scalar = {2.0}, float[1] one = {2.0}, float[1, 1] square = {2.0}, float[2] two = {2.0, 3.0},
        int64[2] axes = {0, -1}, int64 axis = {3}, bool[1] truth = {1}
    > { held = Constant <value = float {2.0}>() y = Identity(open) }"""
#: What is known of a constant: its number, that beside a vector, a matrix, and what has no known rank; its ints.
KNOWN = [
    ("scalar", 2.0, 2.0, 2.0, 2.0, None),
    ("held", 2.0, 2.0, 2.0, 2.0, None),
    ("one", 2.0, 2.0, 2.0, None, None),
    ("square", 2.0, None, 2.0, None, None),
    ("two", None, None, None, None, None),
    ("axes", None, None, None, None, (0, -1)),
    ("axis", 3.0, 3.0, 3.0, 3.0, (3,)),
    ("truth", 1.0, 1.0, 1.0, None, None),
    ("vector", None, None, None, None, None),
]


@pytest.mark.parametrize(("name", "alone", "by_vector", "by_matrix", "by_unknown", "ints"), KNOWN)
def test_what_is_known_of_constants(
    name: str, alone: Any, by_vector: Any, by_matrix: Any, by_unknown: Any, ints: Any
) -> None:
    edit = Editor(model_of(CONSTANTS).ir)
    graph = edit.model.graph
    values = {each.name: each for each in (*graph.inputs, *graph.initializers.values())}
    values |= {each.name: each for node in graph for each in node.outputs}
    value = values[name]
    assert (edit.number(value), edit.numbers(value)) == (alone, ints)
    beside = [edit.number_beside(value, values[other]) for other in ("vector", "matrix")]
    assert beside == [by_vector, by_matrix]
    assert [edit.number_beside(value, other) for other in (None, ir.Value(name="new"))] == [by_unknown] * 2
    assert edit.is_constant(value) == (name != "vector")
    assert edit.number_beside(None, value) is None


def test_verification_names_the_change_that_made_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(at: Attempt) -> Outcome:
        return at.op("Neg", at.input(0))

    table = {**optimizing._CLEANUP, ("", "Exp"): [NamedRule("wrong rule", wrong)]}  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(optimizing, "_CLEANUP", table)
    model = model_of(
        "g (float[N] x) => (float[N] y) { a = Identity(x) b = Exp(a) c = Identity(b) y = Abs(c) }"
    )
    with pytest.raises(VerificationError, match=r"by the rule 'wrong rule': Exp 'b' -> Neg") as caught:
        optimize(model, verify=True)
    assert "clean-up" in caught.value.message


def test_verification_on_given_inputs() -> None:
    model = model_of("g (float[N] x) => (float[N] y) { a = Identity(x) y = Abs(a) }")
    small = optimize(model, verify={"x": np.float32([1, -2])})
    assert small.report.verification == "verified: equal results for x [2]"


def test_a_model_that_cannot_run_is_not_verified() -> None:
    model = model_of(
        "g (float[3] x) => (float y) { i = Constant<value_int=9>() a = Identity(x) y = Gather(a, i) }"
    )
    small = optimize(model, verify=True)
    assert small.report.verification is not None
    assert small.report.verification.startswith("not verified: the model cannot run as it was")


def test_what_was_put_in_for_a_runtime_stays() -> None:
    body = "p = Constant<value_ints=[0, 0, 1, 1, 0, 0, 1, 1]>() a = Pad(x, p) y = MaxPool<kernel_shape=[3, 3]>(a)"
    model = model_of(f"g (float[N, 1, 2, 2] x) => (float[N, 1, 2, 2] y) {{ {body} }}")
    shipped = model.for_runtime()
    assert operators(shipped) == ["Max", "MaxPool", "Pad"]
    assert operators(optimize(shipped)) == ["Max", "MaxPool", "Pad"]


@pytest.mark.parametrize("operator", ["RandomNormalLike", "Bernoulli"])
def test_what_is_drawn_cannot_be_verified(operator: str) -> None:
    model = model_of(f"g (float[N] x) => (float[N] y) {{ a = Identity(x) y = {operator}(a) }}", opset=15)
    small = optimize(model, verify=True)
    assert small.report.verification is not None
    assert small.report.verification.startswith(f"not verified: {operator}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros(2, np.float32), "not a ndarray"),
        ("yes", "not a str"),
        (1e-3, "not a float"),
        ({"typo": np.zeros(2, np.float32)}, "no value for the input 'x'"),
        ({"x": np.zeros(2, np.float32), "z": 1}, "a value for 'z'"),
        ([np.zeros(2, np.float32)] * 2, "2 values, and the model 1 input"),
        ({"x": np.zeros(2)}, "inputs that the model does not take: input 'x' is float32"),
        ([np.zeros((2, 2), np.float32)], "inputs that the model does not take: input 'x' has shape"),
    ],
)
def test_inputs_that_are_none_are_refused(given: Any, words: str) -> None:
    model = model_of("g (float[N] x) => (float[N] y) { a = Identity(x) y = Abs(a) }")
    with pytest.raises(OnnxsmithError, match=words):
        optimize(model, verify=given)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(CallError, match="optimize takes a model, not an int"):
        optimize(3)  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(UnreadableModelError, match=r"cannot read 'nowhere\.onnx'"):
        optimize("nowhere.onnx")


@pytest.mark.parametrize("opset", [17, 21])
def test_weights_that_do_not_change_stay_where_they_are(tmp_path: Path, opset: int) -> None:
    """In the file that they are mapped from: neither copied, nor computed before somebody reads them."""
    rng = np.random.default_rng(0)
    plain, turned = rng.standard_normal((2, 640, 640)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "plain"], ["a"]),
        helper.make_node("Erf", ["a"], ["b"]),
        helper.make_node("Transpose", ["turned"], ["c"], perm=[1, 0]),
        helper.make_node("MatMul", ["b", "c"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, 1, ["N", 640]) for name in ("x", "y")]
    weights = [numpy_helper.from_array(plain, "plain"), numpy_helper.from_array(turned, "turned")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    Model.from_proto(proto).save(tmp_path / "m.onnx", external_data=True)

    model = onnxsmith.load(tmp_path / "m.onnx")
    small = optimize(model)
    before, after = model.ir.graph.initializers, small.ir.graph.initializers
    assert list(after) == ["plain", "turned.T"]
    assert np.shares_memory(after["plain"].const_value.numpy(), before["plain"].const_value.numpy())
    assert isinstance(after["turned.T"].const_value, ir.LazyTensor)
    small.save(tmp_path / "small.onnx", external_data=True)
    written = onnxsmith.load(tmp_path / "small.onnx").ir.graph.initializers
    np.testing.assert_array_equal(written["plain"].const_value.numpy(), plain)
    np.testing.assert_array_equal(written["turned.T"].const_value.numpy(), turned.T)

"""Models of strangers: what is refused before anything looks at it, and who is to blame when something fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, parser

from onnxsmith import FLOAT, Opset, trace
from onnxsmith.errors import InvalidModelError, OnnxsmithError, UnreadableModelError
from onnxsmith.graphs import files
from onnxsmith.graphs.soundness import (
    blaming,
    check_ir,
    check_opsets,
    check_proto,
    check_rules,
    fault_of,
    newer_opset_of,
    refuse_endless_calls,
)

HEADER = '<ir_version: 10, opset_import: ["" : 21, "own" : 1]> '
GRAPH = "g (float[N] x) => (float[N] y) { y = Relu(x) }"


def made(text: str = GRAPH) -> onnx.ModelProto:
    return parser.parse_model(HEADER + text)


def both(check: Callable[[onnx.ModelProto | ir.Model], None], proto: onnx.ModelProto) -> None:
    """As a proto and as onnx-ir has it."""
    check(proto)
    check(ir.serde.deserialize_model(proto))


def test_a_sound_model_passes() -> None:
    proto = made()
    check_proto(proto, "it")
    model = ir.serde.deserialize_model(proto)
    assert check_ir(model, "it") is model
    check_rules(proto)
    check_opsets(proto)
    assert newer_opset_of(proto) is None
    both(refuse_endless_calls, proto)
    both(lambda each: None if fault_of(each, ValueError("x")) is None else pytest.fail("blamed"), proto)


CALLS = """ <domain: "own", opset_import: ["own" : 1, "" : 21]> F (a) => (b) { b = %s(a) }
 <domain: "own", opset_import: ["own" : 1, "" : 21]> G (a) => (b) { b = %s(a) }"""


@pytest.mark.parametrize(
    ("one", "other", "names"), [("own.G", "own.F", "F, G"), ("own.F", "Relu", "F"), ("own.G", "Relu", None)]
)
def test_functions_that_call_each_other_without_end(one: str, other: str, names: str | None) -> None:
    proto = made("g (float[N] x) => (float[N] y) { y = own.F(x) }" + CALLS % (one, other))
    for model in (proto, ir.serde.deserialize_model(proto)):
        if names is None:
            refuse_endless_calls(model)
            continue
        with pytest.raises(InvalidModelError) as caught:
            refuse_endless_calls(model)
        assert caught.value.message == (
            f"the model is not valid: functions call each other without end ({names})"
        )


def weighted(tensor: onnx.TensorProto) -> onnx.ModelProto:
    proto = made()
    proto.graph.initializer.append(tensor)
    return proto


def test_weights_without_an_element_type() -> None:
    nothing = TensorProto(name="w", dims=[2])
    strange = TensorProto(name="w", dims=[2], data_type=99)
    for tensor in (nothing, strange):
        with pytest.raises(UnreadableModelError) as caught:
            check_proto(weighted(tensor), "m.onnx")
        assert caught.value.message == (
            f"m.onnx is not a valid ONNX model: the tensor 'w' has no element type (data_type {tensor.data_type})"
        )
    with pytest.raises(UnreadableModelError, match="the tensor 'w' has no element type"):
        check_ir(ir.serde.deserialize_model(weighted(nothing)), "m.onnx")
    check_proto(weighted(TensorProto()), "m.onnx")  # none that is there


def test_an_attribute_without_an_element_type() -> None:
    proto = made("g (float[N] x) => (float[N] y) { y = ConstantOfShape<value = float[1] {1.0}>(x) }")
    proto.graph.node[0].attribute[0].t.data_type = 0
    with pytest.raises(UnreadableModelError, match="has no element type"):
        check_ir(ir.serde.deserialize_model(proto), "it")
    with pytest.raises(UnreadableModelError, match="has no element type"):
        check_proto(proto, "it")


def test_weights_that_are_too_short() -> None:
    tensor = onnx.numpy_helper.from_array(np.zeros(4, np.float32), "w")
    tensor.raw_data = tensor.raw_data[:-1]
    with pytest.raises(OnnxsmithError):
        check_proto(weighted(tensor), "it")


#: Where a name stands that is no text.
PLACES: dict[str, Callable[[ir.Model, object], None]] = {
    "producer": lambda m, text: setattr(m, "producer_name", text),
    "version": lambda m, text: setattr(m, "producer_version", text),
    "domain": lambda m, text: setattr(m, "domain", text),
    "doc": lambda m, text: setattr(m, "doc_string", text),
    "graph": lambda m, text: setattr(m.graph, "name", text),
    "graph doc": lambda m, text: setattr(m.graph, "doc_string", text),
    "node": lambda m, text: setattr(m.graph.node(0), "name", text),
    "operator": lambda m, text: setattr(m.graph.node(0), "op_type", text),
    "node domain": lambda m, text: setattr(m.graph.node(0), "domain", text),
    "node doc": lambda m, text: setattr(m.graph.node(0), "doc_string", text),
    "input": lambda m, text: setattr(m.graph.inputs[0], "name", text),
    "input doc": lambda m, text: setattr(m.graph.inputs[0], "doc_string", text),
    "output": lambda m, text: setattr(m.graph.outputs[0], "name", text),
    "metadata": lambda m, text: m.metadata_props.update({"key": text}),  # type: ignore[dict-item]
    "metadata key": lambda m, text: m.metadata_props.update({text: "value"}),  # type: ignore[dict-item]
    "graph metadata": lambda m, text: m.graph.metadata_props.update({"key": text}),  # type: ignore[dict-item]
    "node metadata": lambda m, text: m.graph.node(0).metadata_props.update({"key": text}),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("place", PLACES)
def test_names_that_are_no_text(place: str) -> None:
    model = ir.serde.deserialize_model(made())
    PLACES[place](model, b"\xff")
    with pytest.raises(UnreadableModelError, match=r"the name b'\\xff' is no UTF-8"):
        check_ir(model, "it")


def test_an_opset_that_nobody_has_yet() -> None:
    proto = made()
    proto.opset_import[0].version = 99
    with pytest.raises(InvalidModelError, match="the model cannot be checked"):
        check_opsets(proto)
    other = made(GRAPH + CALLS % ("Relu", "Relu"))
    other.functions[1].opset_import[1].version = 99
    assert newer_opset_of(other) is not None


def test_types_are_checked() -> None:
    with pytest.raises(Exception, match=r"(?i)infer|type"):
        check_rules(made("g (float[N] x) => (int64[N] y) { y = Relu(x) }"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("g (float[N] x) => (float[N] y) { y = Nosuch(x) }", "Nosuch"),
        ("g (float[N] x) => (int64[N] y) { y = Relu(x) }", "nference"),
    ],
)
def test_who_is_to_blame(text: str, told: str) -> None:
    def blames(model: onnx.ModelProto | ir.Model) -> None:
        with pytest.raises(InvalidModelError) as caught, blaming(model):
            raise ValueError("what failed")
        assert told in caught.value.message
        assert caught.value.help == "it fails with: what failed"

    both(blames, made(text))


def test_a_sound_model_is_not_to_blame() -> None:
    own = InvalidModelError("ours")
    for error in (ValueError("mine"), own):
        with pytest.raises(type(error)) as caught, blaming(made()):
            raise error
        assert caught.value is error


def model_of(nodes: list[ir.Node], inputs: list[ir.Value], outputs: list[ir.Value]) -> ir.Model:
    graph = ir.Graph(inputs, outputs, nodes=nodes, name="g", opset_imports={"": 21})
    return ir.Model(graph, ir_version=10)


def test_a_function_that_reads_what_nothing_gives() -> None:
    proto = made("g (float[N] x) => (float[N] y) { y = own.F(x) }" + CALLS % ("Relu", "Relu"))
    model = ir.serde.deserialize_model(proto)
    function = model.functions["own", "F", ""]
    function.graph.node(0).replace_input_with(0, ir.Value(name="nowhere"))
    error = fault_of(model, ValueError("x"))
    assert error is not None
    assert "nowhere" in error.message


def test_a_model_past_what_a_checker_reads_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = made("g (float[N] x) => (float[N] y) <float[4] w = {1.0, 2.0, 3.0, 4.0}> { y = Nosuch(x, w) }")
    model = ir.serde.deserialize_model(wrong)
    held = ir.tensor(np.zeros(4, np.float32), name="v")
    model.graph.register_initializer(ir.Value(name="v", const_value=held))
    monkeypatch.setattr(files, "EXTERNAL_PAST_BYTES", 10_000)
    assert fault_of(model, ValueError("x")) is not None
    monkeypatch.setattr(files, "EXTERNAL_PAST_BYTES", 16)  # what one holds is beyond it only with the other
    assert fault_of(model, ValueError("x")) is None


def test_an_output_of_an_operator_that_nobody_knows_has_no_type() -> None:
    model = trace(lambda x: Opset("tests.unknown", 1).Any(x), FLOAT["N"], output_names=["y"])
    with pytest.raises(InvalidModelError, match="the output 'y' has no type, because nothing is known"):
        model.check()

"""onnx-ir is made of records when somebody asks for it: once, with weights by reference and places that are known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith import FLOAT, Weights, script, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import VARIABLE_KEY, WEIGHT_KEY
from onnxsmith.graphs.origins import SOURCE_KEY, Written
from onnxsmith.graphs.records import ModelRecord

WEIGHT = np.ones((8, 64), np.float32)


def _model() -> Model:
    return trace(lambda x: op.Relu(x @ WEIGHT), FLOAT["N", 8])


def test_a_model_is_onnx_ir_only_for_who_asks() -> None:
    model = _model()
    _ = model.proto, model.inputs, model.outputs, model.opset_imports, repr(model)
    assert isinstance(model._held, ModelRecord)
    assert model.ir is model.ir
    assert isinstance(model._held, ir.Model)


def test_a_change_of_the_ir_is_a_change_of_the_model() -> None:
    model = _model()
    model.ir.graph.outputs[0].name = "renamed"
    assert model.proto.graph.output[0].name == "renamed"


def test_weights_are_the_arrays_themselves() -> None:
    (value,) = _model().ir.graph.initializers.values()
    assert value.const_value is not None
    assert value.const_value.raw is WEIGHT  # type: ignore[attr-defined]


def test_threads_get_one_ir() -> None:
    for _ in range(20):
        model = _model()
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda _, model=model: model.ir, range(4)))
        assert len({id(each) for each in made}) == 1


def test_a_node_knows_its_place() -> None:
    node = _model().ir.graph[1]
    said = node.metadata_props[SOURCE_KEY]
    assert isinstance(said, Written)
    assert said.span.function == "_model"
    assert said.span.file == __file__


def test_a_body_sees_the_values_around_it() -> None:
    @script
    def doubled(x: FLOAT["N"], c: FLOAT) -> FLOAT["N"]:
        y = x + 1.0
        if c > 0.0:
            z = y * 2.0
        else:
            z = y
        return z

    graph = doubled.to_model().ir.graph
    choice: Any = next(node for node in graph if node.op_type == "If")
    outside = next(node for node in graph if node.op_type == "Add").outputs[0]
    then = choice.attributes["then_branch"].as_graph()
    assert then[0].inputs[0] is outside
    assert {use.node for use in outside.uses()} >= {then[0]}


def test_notes_of_values_come_along() -> None:
    """The weight that a value was made of, and the variable that it is called in the program."""

    @script
    def scaled(x: FLOAT["N", 8]) -> FLOAT["N", 64]:
        product = x @ WEIGHT
        return op.Relu(product)

    graph = scaled.to_model().ir.graph
    assert [each.outputs[0].meta.get(VARIABLE_KEY) for each in graph if each.op_type == "MatMul"] == [
        "product"
    ]


def test_a_value_knows_the_weight_that_it_was_made_of() -> None:
    weights = Weights({"factor": (FLOAT[2], [1.0, 2.0])})
    model = trace(lambda x: x * weights["factor"] + np.float32([3.0, 4.0]), FLOAT["N", 2])
    noted = [value.meta.get(WEIGHT_KEY) for value in model.ir.graph.initializers.values()]
    assert noted == ["factor", None]

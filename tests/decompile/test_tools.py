"""The tools of these tests see what they are to see: a model that is the same, and every way in which one is not."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from onnx import helper

from tests.decompile.backend_cases import all_cases
from tests.decompile.fidelity import differences
from tests.decompile.only_onnxsmith import offences
from tests.decompile.random_models import models
from tests.decompile.round_trip import first_difference
from tests.decompile.test_law import LENIENT


def sample() -> onnx.ModelProto:
    """A model with one of everything that is compared."""
    body = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["inner"])],
        "then",
        [],
        [helper.make_tensor_value_info("inner", 1, None)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", 1, [1], [1.5])),
            helper.make_node("If", ["b"], ["i"], name="choice", then_branch=body, else_branch=body),
            helper.make_node("f", ["i"], ["y"], domain="local", alpha=0.5),
        ],
        "graph",
        [helper.make_tensor_value_info("x", 1, ["N", 2]), helper.make_tensor_value_info("b", 9, [])],
        [helper.make_tensor_value_info("y", 1, ["N", 2])],
        [helper.make_tensor("w", 1, [2], [1.0, 2.0])],
    )
    function = helper.make_function(
        "local",
        "f",
        ["a"],
        ["r"],
        [helper.make_node("Relu", ["a"], ["r"])],
        [helper.make_opsetid("", 21)],
        ["alpha"],
        [helper.make_attribute("beta", 1.0)],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=10)
    helper.set_model_props(model, {"key": "value"})
    return model


Change = Callable[[onnx.ModelProto], object]

#: What is changed, and a part of what must be said about it.
CHANGES: tuple[tuple[Change, str], ...] = (
    (lambda m: setattr(m.graph.input[0], "name", "z"), "input 0 (x), name: 'x' became 'z'"),
    (lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 11), "('tensor', 'DOUBLE', ('N', 2))"),
    (lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "M"), "('M', 2)"),
    (lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 3), "('N', 3)"),
    (lambda m: m.graph.output[0].type.tensor_type.ClearField("shape"), "None)"),
    (lambda m: setattr(m.opset_import[0], "version", 20), "opset imports, '': 21 became 20"),
    (lambda m: m.opset_import.add(domain="other", version=1), "opset imports: 'other' is new"),
    (lambda m: setattr(m.graph.initializer[0], "name", "v"), "initializer 'w' is missing"),
    (lambda m: m.graph.initializer[0].float_data.__setitem__(0, 3.0), "initializer 'w', content"),
    (lambda m: m.graph.initializer[0].dims.insert(0, 1), "initializer 'w', shape: (2,) became (1, 2)"),
    (lambda m: m.functions.pop(), "functions: function"),
    (lambda m: setattr(m.functions[0], "overload", "o"), "is missing"),
    (lambda m: setattr(m.functions[0], "doc_string", "d"), "doc string: '' became 'd'"),
    (lambda m: m.functions[0].input.append("b"), "inputs: 1 became 2"),
    (lambda m: m.functions[0].attribute.pop(), "attributes without default"),
    (lambda m: setattr(m.functions[0].attribute_proto[0], "f", 2.0), "attribute 'beta', value"),
    (lambda m: setattr(m.functions[0].opset_import[0], "version", 20), "21 became 20"),
    (lambda m: setattr(m.functions[0].node[0], "op_type", "Neg"), "node 0"),
    (lambda m: setattr(m.metadata_props[0], "value", "v"), "metadata, 'key': 'value' became 'v'"),
    (lambda m: setattr(m, "producer_name", "p"), "producer: '' became 'p'"),
    (lambda m: setattr(m, "ir_version", 9), "IR version: 10 became 9"),
    (lambda m: setattr(m, "doc_string", "d"), "model, doc string"),
    (lambda m: setattr(m.graph, "name", "g"), "graph, name"),
    (lambda m: setattr(m.graph.node[1], "name", "n"), "name: 'choice' became 'n'"),
    (lambda m: setattr(m.graph.node[1], "doc_string", "d"), "doc string"),
    (lambda m: setattr(m.graph.node[2], "domain", "other"), "node 2"),
    (lambda m: setattr(m.graph.node[2], "overload", "o"), "node 2"),
    (lambda m: m.graph.node[2].output.__setitem__(0, "q"), "outputs 0: 'y' became 'q'"),
    (lambda m: m.graph.node[2].input.insert(0, ""), "inputs: 1 became 2"),
    (lambda m: setattr(m.graph.node[2].attribute[0], "f", 0.25), "attribute 'alpha', value"),
    (lambda m: m.graph.node[2].attribute.pop(), "attribute 'alpha' is missing"),
    (lambda m: m.graph.node[1].attribute[0].g.node[0].input.reverse(), "inputs 0: 'x' became 'w'"),
    (lambda m: m.graph.node[1].metadata_props.add(key="k", value="v"), "metadata: 'k' is new"),
    (lambda m: m.graph.node.pop(), "node: 3 became 2"),
    (lambda m: m.graph.node.insert(2, m.graph.node.pop(0)), "node 0"),
)


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_each_change_is_seen(change: Change, words: str) -> None:
    changed = sample()
    change(changed)
    found = differences(sample(), changed)
    assert found
    assert any(words in each for each in found), found


def respell(model: onnx.ModelProto) -> None:
    """Spell the same model in other ways."""
    weight = model.graph.initializer[0]
    weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight), weight.name))
    model.graph.node[2].input.append("")
    model.graph.node[0].domain = "ai.onnx"
    model.graph.node[0].metadata_props.add(key="onnxsmith.source", value="m.py:1:1-1:2")
    model.opset_import.reverse()
    model.metadata_props.reverse()


def test_other_spellings_are_the_same() -> None:
    other = sample()
    respell(other)
    assert differences(sample(), other) == []


def test_a_constant_that_moves_is_a_difference() -> None:
    moved = sample()
    moved.graph.node.insert(2, moved.graph.node.pop(0))
    assert differences(sample(), moved)


def test_backend_cases_are_equal_to_themselves_through_onnx_ir() -> None:
    for case in all_cases()[::20]:
        assert differences(case.model, ir.to_proto(ir.from_proto(case.model))) == [], case


@settings(LENIENT, max_examples=20)
@given(models())
def test_random_models_differ_when_an_output_is_renamed(model: onnx.ModelProto) -> None:
    assert differences(model, model) == []
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.graph.output[0].name += "'"
    assert differences(model, changed)


def test_first_difference_names_the_line() -> None:
    assert first_difference("a\nb\n", "a\nb\n") is None
    assert first_difference("a\nb", "a\nc") == "line 2 was 'b' and is 'c'"
    assert first_difference("a", "a\n") == "line 2 was None and is ''"


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "from subprocess import run",
        "from numpy import load",
        "import numpy as np\nx = np.load('f')",
        "x = open('f')",
        "x = __import__('os')",
        "x = ().__class__",
        "import onnxsmith\nonnxsmith.load('x')",
        "if True:\n    x = 1",
        "x = lambda: 1",
        'x = f"{1}"',
        "class A:\n    pass",
        "# \u202e",
        "x = '\u2028'",
        "print(1)",
    ],
)
def test_offences_are_seen(text: str) -> None:
    assert offences(text)


def test_plain_modules_have_no_offences() -> None:
    text = '"""A model."""\n\nimport numpy as np\nfrom onnxsmith import FLOAT, opset21 as op, script\n\n\n'
    text += '@script\ndef f(x: FLOAT["N", 2]):\n    y = op.Relu(x) + np.float32(1)\n    return y\n\n\nmodel = f.model\n'
    assert offences(text) == []

"""Nodes that mean the same in an older version: an operator that only takes other element types since."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from onnxsmith import FLOAT, Model, opset13, trace
from onnxsmith.errors import OnnxsmithError
from tests.passes.versions.backend_cases import backend_cases, newest, outcome
from tests.passes.versions.page import OLDER, refused_cases
from tests.passes.versions.test_convert import X, operators, read


def only_types_differ(before: onnx.defs.OpSchema, after: onnx.defs.OpSchema) -> bool:
    def signature(op: onnx.defs.OpSchema) -> object:
        parts = ([(each.name, each.option) for each in part] for part in (op.inputs, op.outputs))
        return (*parts, sorted((name, each.required) for name, each in op.attributes.items()))

    return signature(before) == signature(after)


def holds_graphs(op: onnx.defs.OpSchema) -> bool:
    return any(each.type == onnx.defs.OpSchema.AttrType.GRAPH for each in op.attributes.values())


def changed_in(version: int) -> list[str]:
    """The operators whose definition of this version has the parameters and attributes of the one before.

    If and Loop, which hold graphs, have a test of their own.
    """
    ops = [
        each
        for each in onnx.defs.get_all_schemas_with_history()
        if not each.domain and not each.deprecated and not holds_graphs(each)
    ]
    found: list[str] = []
    for op in (each for each in ops if each.since_version == version):
        older = [each for each in ops if each.name == op.name and each.since_version < version]
        if older and only_types_differ(max(older, key=lambda each: each.since_version), op):
            found.append(op.name)
    return sorted(found)


def model_of(name: str, version: int) -> Model:
    """A model of one node, on floats wherever the operator takes them."""
    op = onnx.defs.get_schema(name, version)
    types = {each.type_param_str: list(each.allowed_type_strs) for each in op.type_constraints}

    def info(formal: onnx.defs.OpSchema.FormalParameter) -> onnx.ValueInfoProto:
        allowed = types.get(formal.type_str, [formal.type_str])
        chosen = "tensor(float)" if "tensor(float)" in allowed else allowed[0]
        kind = chosen.removeprefix("tensor(").removesuffix(")").upper()
        return helper.make_tensor_value_info(formal.name, getattr(onnx.TensorProto, kind), None)

    values = {
        onnx.defs.OpSchema.AttrType.INT: 1,
        onnx.defs.OpSchema.AttrType.INTS: [1, 1],
        onnx.defs.OpSchema.AttrType.STRING: "none",
        onnx.defs.OpSchema.AttrType.TENSOR: onnx.numpy_helper.from_array(X),
    }
    attributes = {key: values[each.type] for key, each in op.attributes.items() if each.required}
    inputs, outputs = [info(each) for each in op.inputs], [info(each) for each in op.outputs]
    node = helper.make_node(
        name, [each.name for each in inputs], [each.name for each in outputs], **attributes
    )
    graph = helper.make_graph([node], "g", inputs, outputs)
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=7)
    )


# Opset 11 is left out: axes and indices may be negative since then, so that ranks and values have to be known.
@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version in (9, 10, 12, 13) for name in changed_in(version)]
)
def test_an_operator_that_takes_other_types_is_older_for_floats(version: int, name: str) -> None:
    assert name in operators(model_of(name, version).convert_version(version - 1))


def test_branches_and_loops_that_take_other_types_are_older_for_floats() -> None:
    model = read(
        """<ir_version: 7, opset_import: ["": 13]>
        g (bool c, int64 n, float[N] x) => (float[N] y, float[N] z) {
            y = If (c) <then_branch = a () => (float[N] p) { p = Relu (x) },
                        else_branch = b () => (float[N] q) { q = Erf (x) }>
            z = Loop (n, c, x) <body = l (int64 i, bool d, float[N] s) => (bool e, float[N] t) {
                e = Identity (d)  t = Add (s, x) }>
        }"""
    )
    older = model.convert_version(12)
    assert older.report.edits == ()
    onnx.checker.check_model(older.proto, full_check=True)


def test_erf_takes_fewer_types_than_it_did_and_floats_as_before() -> None:
    model = trace(lambda x: opset13.Erf(x), FLOAT["N", 4])
    older = model.convert_version(12)
    assert (older.opset_imports[""], operators(older)) == (12, ["Erf"])
    np.testing.assert_array_equal(older(X), model(X))


@pytest.mark.parametrize("target", [OLDER, newest()])
def test_cases_of_all_kinds_go_their_whole_way(target: int) -> None:
    """Others than those of `test_backend_cases.py`, which takes more of them."""
    listed = refused_cases()
    wrong = []
    for name in list(backend_cases())[3::48]:
        found = outcome(backend_cases()[name], target)
        if found.kind == "wrong" or (found.kind == "refused") != (target == OLDER and name in listed):
            wrong.append(f"{name}: {found.kind} {found.text}")
    assert wrong == []


#: A graph of a definition that was taken back or changed, its opset, the target, and what it becomes or what is said.
DEFINITIONS = {
    "a definition that holds": ("y = Relu(x)", 14, 21, ["Relu"]),
    "the same opset": ("y = Relu(x)", 21, 21, ["Relu"]),
    "one that was taken back": ("y = Upsample<scales = [1.0, 2.0]>(x)", 7, 13, ["Resize"]),
    "one that is not there yet": ("y = Gelu(x)", 20, 13, None),
    "one that never was": ("y = Nosuch(x)", 13, 21, "Nosuch"),
    "one that was not there any more": ("y = Upsample(x, x)", 10, 13, "it was taken back"),
}


@pytest.mark.parametrize(("body", "opset", "target", "found"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_definitions(body: str, opset: int, target: int, found: list[str] | str | None) -> None:
    text = f'<ir_version: 7, opset_import: ["" : {opset}]> g (float[N, 4] x) => (y) {{ {body} }}'
    model = Model.from_proto(onnx.parser.parse_model(text))
    if isinstance(found, str):
        with pytest.raises(OnnxsmithError, match=found):
            model.convert_version(target)
        return
    made = model.convert_version(target)
    assert made.opset_imports[""] == target
    if found is None:
        assert "Gelu" not in operators(made)
    else:
        assert found[0] in operators(made)
        assert "Upsample" not in operators(made)


def test_nodes_of_other_domains_stay() -> None:
    text = '<ir_version: 7, opset_import: ["" : 13, "own" : 1]> g (float[N] x) => (y) { a = own.Own(x) y = Relu(a) }'
    made = Model.from_proto(onnx.parser.parse_model(text)).convert_version(21)
    assert operators(made) == ["Own", "Relu"]
    assert made.opset_imports["own"] == 1

"""Every operator definition says what its schema says, in all domains and versions."""

from __future__ import annotations

import onnx.defs
import pytest

from onnxsmith.schema import from_onnx, from_onnxruntime
from onnxsmith.schema.definition import OperatorDef, Parameter

SCHEMAS = onnx.defs.get_all_schemas_with_history()
OPTIONS = {"single": "Single", "optional": "Optional", "variadic": "Variadic"}


def check_parameters(ours: tuple[Parameter, ...], theirs: list[onnx.defs.OpSchema.FormalParameter]) -> None:
    assert [each.name for each in ours] == [each.name for each in theirs]
    for parameter, formal in zip(ours, theirs, strict=True):
        assert parameter.type_name == formal.type_str
        assert parameter.types == set(formal.types)
        assert OPTIONS[parameter.option] == formal.option.name
        assert parameter.is_homogeneous == formal.is_homogeneous
        assert parameter.min_arity == formal.min_arity
        assert parameter.doc == formal.description


def check_attributes(ours: OperatorDef, theirs: onnx.defs.OpSchema) -> None:
    assert list(ours.attributes) == sorted(theirs.attributes)
    for name, formal in theirs.attributes.items():
        attribute = ours.attributes[name]
        assert attribute.name == name
        assert attribute.type.name == formal.type.name
        assert attribute.is_required == formal.required
        assert attribute.doc == formal.description
        assert (attribute.default is None) == (formal.default_value.type == 0)
        if attribute.default is not None:
            assert onnx.helper.make_attribute(name, attribute.default) == formal.default_value


@pytest.mark.parametrize("domain", sorted({schema.domain for schema in SCHEMAS}))
def test_definition_says_what_the_schema_says(domain: str) -> None:
    for schema in (each for each in SCHEMAS if each.domain == domain):
        op = from_onnx.convert(schema)
        assert (op.domain, op.name, op.since_version) == (schema.domain, schema.name, schema.since_version)
        assert (op.min_inputs, op.max_inputs) == (schema.min_input, schema.max_input)
        assert (op.min_outputs, op.max_outputs) == (schema.min_output, schema.max_output)
        assert (op.doc, op.is_deprecated, op.is_known) == (schema.doc or "", schema.deprecated, True)
        assert op.has_function == (schema.has_function or schema.has_context_dependent_function)
        check_parameters(op.inputs, list(schema.inputs))
        check_parameters(op.outputs, list(schema.outputs))
        check_attributes(op, schema)


def test_every_parameter_allows_some_type() -> None:
    for schema in SCHEMAS:
        op = from_onnx.convert(schema)
        assert all(parameter.types for parameter in (*op.inputs, *op.outputs)), op


def test_defaults_are_the_shortest_decimals() -> None:
    op = from_onnx.convert(onnx.defs.get_schema("BatchNormalization", 15))
    assert op.attributes["epsilon"].default == 1e-05
    assert op.attributes["momentum"].default == 0.9


def test_onnxruntime_operators() -> None:
    pytest.importorskip("onnxruntime")
    contrib = from_onnxruntime.schemas()["com.microsoft"]
    assert len(contrib) > 100
    for held in contrib.values():
        for since, schema in held.items():
            op = from_onnxruntime.convert(schema)
            assert (op.domain, op.name, op.since_version) == ("com.microsoft", schema.name, since)
            assert [each.name for each in op.inputs] == [each.name for each in schema.inputs]
            assert [each.types for each in op.inputs] == [set(each.types) for each in schema.inputs]
            assert {name: each.is_required for name, each in op.attributes.items()} == {
                name: each.required for name, each in schema.attributes.items()
            }
            needed = sum(each.min_arity for each in op.inputs if each.option != "optional")
            assert needed <= op.min_inputs <= op.max_inputs


def test_onnxruntime_defaults_are_python_values() -> None:
    pytest.importorskip("onnxruntime")
    schema = from_onnxruntime.schemas()["com.microsoft"]["LinearAttention"][1]
    assert from_onnxruntime.convert(schema).attributes["update_rule"].default == "gated_delta"

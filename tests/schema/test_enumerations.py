"""The hand-kept table agrees with what onnx's schemas, their prose and the backend cases say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

import onnx
import onnx.defs
import pytest

from onnxsmith.schema import enumerations, from_onnx, from_onnxruntime
from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef

STRINGS = (AttributeType.STRING, AttributeType.STRINGS)

# String attributes that hold text of the user's, not a choice.
FREE = {
    "activations",
    "default_string",
    "delimiter",
    "equation",
    "locale",
    "pattern",
    "stopwords",
    "value_string",
    "y",
} | {
    f"{prefix}_strings" for prefix in ("cats", "classes", "classlabels", "keys", "pool", "value", "values")
} | {"string_vocabulary", "xs", "zs"}  # fmt: skip


def operators() -> Iterator[OperatorDef]:
    for schema in onnx.defs.get_all_schemas_with_history():
        yield from_onnx.convert(schema)
    for held in from_onnxruntime.schemas().get("com.microsoft", {}).values():
        for schema in held.values():
            yield from_onnxruntime.convert(schema)


def attributes() -> Iterator[tuple[OperatorDef, Attribute]]:
    for op in operators():
        for attribute in op.attributes.values():
            yield op, attribute


def test_every_default_is_a_choice() -> None:
    for op, attribute in attributes():
        if attribute.choices is not None and attribute.default is not None:
            values = (attribute.default,) if isinstance(attribute.default, str) else attribute.default
            assert set(values) <= set(attribute.choices), (op, attribute.name)


def test_every_choice_stands_in_the_documentation() -> None:
    # Cast-1 refers to an enumeration; GRU-1's misspelling is in its default alone; v_cache_dtype refers to
    # k_cache_dtype; an empty description says nothing either way.
    elsewhere = {("Cast", 1, "to"), ("GRU", 1, "direction"), ("PagedAttention", 1, "v_cache_dtype")}
    for op, attribute in attributes():
        if attribute.choices is None or not attribute.doc:
            continue
        if (op.name, op.since_version, attribute.name) in elsewhere:
            continue
        words = {word.lower() for word in re.findall(r"\w+", f"{attribute.doc} {op.doc}")}
        assert {choice.lower() for choice in attribute.choices if choice} <= words, (op, attribute.name)


def test_no_quoted_word_of_the_documentation_is_missing() -> None:
    """A value added in a newer onnx shows up here as a quoted word that the table lacks."""
    aside = {
        "x_original", "scale", "axes", "sizes", "mode", "nearest", "linear", "cubic", "d", "i", "round_int",
        "keep_aspect_ratio_policy", "x_resized", "length_original", "length_resized", "output_width",
        "output_width_int", "beta", "decay", "key_cache", "value_cache", "value", "kv_num_heads", "v_head_size",
        "v_scale", "k_scale", "k_cache_dtype", "max_sequence_length", "nodes_values", "activation", "roi_x", "roi",
        "scales",
    }  # fmt: skip
    for op, attribute in attributes():
        if attribute.choices is None:
            continue
        quoted = {
            a or b or c for a, b, c in re.findall(r"`\"?(\w+)\"?`|'(\w+)[,.]?'|\"(\w+)\"", attribute.doc)
        }
        assert quoted - aside <= set(attribute.choices), (op, attribute.name)


def test_every_string_attribute_is_a_choice_or_known_to_be_free() -> None:
    for op, attribute in attributes():
        if attribute.type in STRINGS and attribute.choices is None and op.domain != "com.microsoft":
            assert attribute.name in FREE, (op, attribute.name)


def test_a_version_beyond_the_table_is_not_restricted() -> None:
    beyond = enumerations.CHECKED_UP_TO[""] + 1
    assert enumerations.choices("", "Pad", beyond, "mode") is None


@pytest.mark.parametrize(
    ("operator", "version", "attribute", "choice", "is_allowed"),
    [
        ("Pad", 18, "mode", "wrap", False),
        ("Pad", 19, "mode", "wrap", True),
        ("ScatterND", 16, "reduction", "max", False),
        ("ScatterND", 18, "reduction", "max", True),
        ("GridSample", 16, "mode", "bilinear", True),
        ("GridSample", 20, "mode", "bilinear", False),
        ("Resize", 10, "mode", "cubic", False),
        ("Resize", 11, "coordinate_transformation_mode", "tf_half_pixel_for_nn", True),
        ("Resize", 13, "coordinate_transformation_mode", "tf_half_pixel_for_nn", False),
        ("Upsample", 1, "mode", "bilinear", True),
        ("Upsample", 9, "mode", "bilinear", False),
    ],
)
def test_choices_follow_the_version(
    operator: str, version: int, attribute: str, choice: str, is_allowed: bool
) -> None:
    allowed = enumerations.choices("", operator, version, attribute)
    assert allowed is not None
    assert (choice in allowed) == is_allowed


def test_dtype_attributes_have_dtypes_as_defaults() -> None:
    dtypes = set(onnx.TensorProto.DataType.values())
    named = [(op, attribute) for op, attribute in attributes() if attribute.names_dtype]
    assert {attribute.name for _, attribute in named} == enumerations.DTYPE_ATTRIBUTES
    for op, attribute in named:
        assert attribute.type is AttributeType.INT
        assert attribute.default in {None, *dtypes}, (op, attribute.name)


def test_backend_cases_use_the_choices() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases' own code overflows on purpose
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    assert len(cases) > 1000
    for case in cases:
        opsets = {each.domain: each.version for each in case.model.opset_import}
        for node in case.model.graph.node:
            if not onnx.defs.has(node.op_type, node.domain):
                continue
            schema = onnx.defs.get_schema(node.op_type, opsets[node.domain], node.domain)
            for attribute in node.attribute:
                allowed = enumerations.choices(
                    node.domain, node.op_type, schema.since_version, attribute.name
                )
                if allowed is not None and attribute.type in STRINGS:
                    values = {each.decode() for each in (attribute.strings or [attribute.s])}
                    assert values <= set(allowed), (case.name, attribute.name)

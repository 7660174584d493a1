"""Attributes of nodes beside those of patterns: defaults of both sides, element types, and how a mismatch is said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.definitions import (
    ABSENT,
    attribute_mismatch,
    attribute_of,
    captured_attribute,
    definition_of,
    is_equal,
    means,
)
from onnxsmith.passes.rules.pattern import CapturedAttribute, PatternNode
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType
from onnxsmith.types.annotations import AttributeAnnotation


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, 1.0, False),
        (True, 1, True),
        (0.1, float(np.float32(0.1)), True),
        (0.1, 0.2, False),
        (1.0, 1, True),
        (1.0, "1", False),
        ("a", b"a", True),
        ("a", "b", False),
        ((1, 2), (1, 2), True),
        ((1, 2), (1, 3), False),
        ((1, 2), (1, 2, 3), False),
        ((), (), True),
        ((0.1,), (float(np.float32(0.1)),), True),
        ((1, 2), 1, False),
        (1, (1, 2), False),
        ((1, 2), ABSENT, False),
        (ABSENT, ABSENT, True),
        (ABSENT, 0, False),
        (np.float32([1, 2]), np.float32([1, 2]), True),
        (np.float32([1, 2]), np.float32([1, 3]), False),
        (np.float32([1, 2]), np.float64([1, 2]), False),
        (np.float32([1, 1]), np.float32([[1, 1]]), False),
        (np.float32([[1], [1]]), np.float32([1, 1]), False),
        (np.float32(1), 1.0, False),
        (1.0, np.float64(1), True),
        (float("nan"), float("nan"), True),
        (np.float32([np.nan]), np.float32([np.nan]), True),
        (0.0, -0.0, False),
        (np.float32([0.0]), np.float32([-0.0]), False),
    ],
)
def test_attributes_with_one_value(one: object, other: object, wanted: bool) -> None:
    assert is_equal(one, other) is wanted


def edit_of(version: int) -> Editor:
    return cast(Editor, SimpleNamespace(version=lambda node, domain: version))


def node_of(op_type: str, **attributes: Any) -> ir.Node:
    inputs = [ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([2, 3]))]
    return ir.node(op_type, inputs, attributes)


def pattern_of(op_type: str, version: int = 21, allows: bool = False, **attributes: Any) -> PatternNode:
    definition = registry.lookup("", op_type, version)
    return PatternNode(definition, version, (None,), attributes, 1, allows_attributes=allows)


CAPTURED = CapturedAttribute("k", AttributeType.INT, cast(AttributeAnnotation, None))


@pytest.mark.parametrize(
    ("node", "pattern", "wanted"),
    [
        (node_of("Softmax"), pattern_of("Softmax"), None),
        (node_of("Softmax", axis=-1), pattern_of("Softmax"), None),
        (node_of("Softmax"), pattern_of("Softmax", axis=-1), None),
        (node_of("Softmax", axis=1), pattern_of("Softmax"), "axis is 1, not -1"),
        (node_of("Softmax"), pattern_of("Softmax", axis=1), "axis is -1, not 1"),
        (node_of("Softmax", axis=1), pattern_of("Softmax", axis=CAPTURED), None),
        (node_of("Softmax", axis=1), pattern_of("Softmax", allows=True), None),
        (node_of("Softmax", axis=1), pattern_of("Softmax", allows=True, axis=0), "axis is 1, not 0"),
        (node_of("Transpose", perm=[1, 0]), pattern_of("Transpose", perm=(1, 0)), None),
        (
            node_of("Transpose", perm=[1, 0]),
            pattern_of("Transpose", perm=(0, 1)),
            "perm is [1, 0], not [0, 1]",
        ),
        (node_of("Transpose"), pattern_of("Transpose", perm=(0, 1)), "perm is left out, not [0, 1]"),
        (node_of("Transpose", perm=[1, 0]), pattern_of("Transpose"), "perm is [1, 0], not left out"),
        (
            node_of("Resize", mode="cubic"),
            pattern_of("Resize", mode="linear"),
            "mode is 'cubic', not 'linear'",
        ),
        (
            node_of("ConstantOfShape", value=ir.tensor(np.float32([1]))),
            pattern_of("ConstantOfShape", value=np.float32([1])),
            None,
        ),
    ],
    # The text of a node has its address, which differs between the processes that run tests.
    ids=lambda given: given.op_type if isinstance(given, ir.Node) else type(given).__name__,
)
def test_attributes_that_differ_are_said(node: ir.Node, pattern: PatternNode, wanted: str | None) -> None:
    assert attribute_mismatch(edit_of(21), node, pattern) == wanted


def test_an_attribute_of_the_function_around_a_node_is_no_value() -> None:
    node = node_of("Softmax")
    node.attributes["axis"] = ir.RefAttr("axis", "k", ir.AttributeType.INT)
    wanted = "axis is an attribute of the function around it, not -1"
    assert attribute_mismatch(edit_of(21), node, pattern_of("Softmax")) == wanted


def test_what_a_captured_attribute_is() -> None:
    edit = edit_of(21)
    node = node_of("Resize", axes=[2, 3], mode="linear")
    found = {name: captured_attribute(edit, node, name) for name in ("axes", "mode", "antialias", "none")}
    assert found == {"axes": [2, 3], "mode": "linear", "antialias": 0, "none": ABSENT}
    assert attribute_of(node, "axes") == (2, 3)
    assert attribute_of(node, "antialias") is ABSENT


@pytest.mark.parametrize(
    ("op_type", "version", "written_in", "wanted"),
    [
        ("Softmax", 21, 21, True),
        ("Softmax", 21, 13, True),
        ("Softmax", 11, 13, False),
        ("Softmax", 13, 11, False),
        ("Relu", 13, 21, True),
        ("Relu", 21, 13, True),
        ("ReduceSum", 11, 13, False),
        ("NoSuchOperator", 21, 21, True),
        ("NoSuchOperator", 21, 20, False),
    ],
)
def test_versions_of_an_operator_that_mean_the_same(
    op_type: str, version: int, written_in: int, wanted: bool
) -> None:
    node, edit = node_of(op_type), edit_of(version)
    known = registry.find("", op_type, written_in)
    definition = known or registry.unchecked("", op_type, written_in)
    pattern = PatternNode(definition, written_in, (None,), {}, 1)
    assert means(edit, node, pattern) is wanted
    assert definition_of(edit, node).name == op_type

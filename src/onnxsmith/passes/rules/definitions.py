"""Checks that a node of a model is the operator that a pattern means: by definition, not by name and version.

An attribute that is left out is its default, on both sides. Versions of an operator that mean the same are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.identity import value_key
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.pattern import CapturedAttribute, PatternNode
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType, OperatorDef
from onnxsmith.schema.equivalent_versions import ANY_TYPE, Use, range_of_meaning


class Absent:
    """An attribute that is neither given nor has a default."""

    def __repr__(self) -> str:
        return "left out"


#: There is one.
ABSENT = Absent()


def definition_of(edit: Editor, node: ir.Node) -> OperatorDef:
    """The definition of a node's operator, in the version that its graph imports."""
    version = edit.version(node, node.domain)
    found = registry.find(node.domain, node.op_type, version)
    return found or registry.unchecked(node.domain, node.op_type, version)


def means(edit: Editor, node: ir.Node, pattern: PatternNode) -> bool:
    """True if a node, which has the operator's name, means what the pattern means by it."""
    definition = definition_of(edit, node)
    if definition is pattern.definition:
        return True
    if not definition.is_known or not pattern.definition.is_known:
        return False
    if _is_within(pattern.version, definition, None):
        return True
    use = Use(
        tuple([_type_name(each) for each in node.inputs]),
        tuple([_type_name(each) for each in node.outputs]),
        frozenset(node.attributes),
    )
    return _is_within(pattern.version, definition, use)


@lru_cache(maxsize=4096)
def _is_within(version: int, definition: OperatorDef, use: Use | None) -> bool:
    first, end = range_of_meaning(definition, () if use is None else (use,))
    return first <= version and (end is None or version < end)


def _type_name(value: ir.Value | None) -> str | None:
    """ONNX's name of a type. What is not known fits: only the meaning counts, and that did not change with types."""
    return None if value is None else type_from_ir(value.type, value.shape).onnx_name or ANY_TYPE


def attribute_mismatch(edit: Editor, node: ir.Node, pattern: PatternNode) -> str | None:
    """Why the attributes of a node are not those of a pattern; None where they are. Captured ones are not looked at."""
    if not node.attributes and not pattern.attributes:
        return None
    definition = definition_of(edit, node)
    mentioned = pattern.attributes if pattern.allows_attributes else {**pattern.attributes, **node.attributes}
    for name in mentioned:
        expected = pattern.attributes.get(name)
        if isinstance(expected, CapturedAttribute):
            continue
        if expected is None:
            expected = _default(pattern.definition, definition, name)
        actual = attribute_of(node, name)
        if actual is ABSENT:
            actual = _default(definition, pattern.definition, name)
        if not is_equal(expected, actual):
            return f"{name} is {_shown(actual)}, not {_shown(expected)}"
    return None


def captured_attribute(edit: Editor, node: ir.Node, name: str) -> object:
    """The value of an attribute, its default where it is left out, or ABSENT."""
    found = attribute_of(node, name)
    if found is ABSENT:
        definition = definition_of(edit, node)
        found = _default(definition, definition, name)
    return list(cast("tuple[Any, ...]", found)) if isinstance(found, tuple) else found


def attribute_of(node: ir.Node, name: str) -> object:
    """An attribute as a plain value; ABSENT where a node leaves it out."""
    attribute = node.attributes.get(name)
    if attribute is None:
        return ABSENT
    if attribute.is_ref():
        return attribute
    value = attribute.value
    if attribute.type == ir.AttributeType.TENSOR:
        return attribute.as_tensor().numpy()
    return tuple(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else value


def _default(first: OperatorDef, second: OperatorDef, name: str) -> object:
    attribute = first.attributes.get(name) or second.attributes.get(name)
    if attribute is None or attribute.default is None:
        return ABSENT
    default = attribute.default
    if attribute.type in (AttributeType.INTS, AttributeType.FLOATS, AttributeType.STRINGS):
        return tuple(default)
    return default


def is_equal(expected: object, actual: object) -> bool:
    """True if two attributes have one value."""
    expected, actual = _normal(expected), _normal(actual)
    if isinstance(expected, tuple) and isinstance(actual, tuple):
        left, right = cast("tuple[object, ...]", expected), cast("tuple[object, ...]", actual)
        return len(left) == len(right) and all(map(is_equal, left, right))
    if isinstance(expected, float) and isinstance(actual, int | float):
        # A file keeps 32 bits of a float.
        return value_key(np.float32(expected)) == value_key(np.float32(actual))
    return value_key(cast(object, expected)) == value_key(actual)


def _normal(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return tuple(cast("list[object]", value))
    return value.tensor.numpy() if isinstance(value, Weight) else value


def _shown(value: object) -> str:
    if isinstance(value, ir.Attr):
        return "an attribute of the function around it"
    if isinstance(value, np.ndarray | Weight):
        return "another tensor"
    if isinstance(value, Absent):
        return repr(value)
    normal = _normal(value)
    return repr(list(cast("tuple[Any, ...]", normal)) if isinstance(normal, tuple) else normal)[:80]

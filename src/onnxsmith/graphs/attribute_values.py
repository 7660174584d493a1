"""Checks that attributes of a model have values that their operators know: names in a list, flags, dtypes, seeds.

Runtimes take some of the others for one of those, each for another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import described_node
from onnxsmith.schema import registry
from onnxsmith.schema.attributes import is_limited, read_attribute
from onnxsmith.schema.bind import check_node
from onnxsmith.schema.definition import Attribute, OperatorDef

#: The attributes of an operator that have only some values.
_Limited = tuple[OperatorDef, dict[str, Attribute]] | None


def check_attribute_values(model: ir.Model) -> None:
    """Refuse a model in which an attribute has a value that its operator does not know."""
    scopes: list[tuple[ir.Graph, Mapping[str, int]]] = [(model.graph, model.opset_imports)]
    scopes += [(each.graph, each.opset_imports) for each in model.functions.values()]
    for graph, versions in scopes:
        limited: dict[tuple[str, str], _Limited] = {}
        for node in graph.all_nodes():
            if not node.attributes or node.op_identifier() in model.functions:
                continue
            key = node.domain, node.op_type
            if key not in limited:
                limited[key] = _limited(node, versions)
            _check(node, limited[key])


def _limited(node: ir.Node, versions: Mapping[str, int]) -> _Limited:
    version = versions.get(node.domain)
    op = None if version is None else registry.find(node.domain, node.op_type, version)
    if op is None:
        return None
    found = {name: each for name, each in op.attributes.items() if is_limited(each)}
    return (op, found) if found else None


def _normal(attribute: ir.Attr) -> object:
    value: object = attribute.value
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _check(node: ir.Node, limited: _Limited) -> None:
    if limited is None:
        return
    op, attributes = limited
    for name, given in node.attributes.items():
        formal = attributes.get(name)
        if formal is None or given.is_ref() or int(given.type) != int(formal.type):
            continue
        try:
            try:
                read_attribute(op, formal, _normal(given))
            except OnnxsmithError:
                # What a call is refused for first comes first: inputs and attributes that there are not.
                plain = {key: _normal(each) for key, each in node.attributes.items() if not each.is_ref()}
                check_node(op, node.inputs, plain)
                raise
        except OnnxsmithError as error:
            called = described_node(node)
            error.message = f"{called} of the model: {error.message}"
            error.culprit = None
            error.node = (node.op_type, node.name or "")
            raise

"""Models in opsets so old that runtimes lack some of their operators, told in later definitions that mean the same.

Only the few earliest definitions are known here; which runtime lacks what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import onnx
from onnx import helper

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import all_nodes, plain_domain
from onnxsmith.schema import registry
from onnxsmith.schema.equivalent_versions import range_of_meaning
from onnxsmith.types.dtypes import DType


class OldNode(NamedTuple):
    """The facts that decide whether a node has a form in a later definition."""

    attributes: Mapping[str, Any]
    input_count: int


#: Attributes that are new or other in the later definition; None when it would not mean the same.
Adaptation = Callable[[OldNode], Mapping[str, Any] | None]


class _Change(NamedTuple):
    """A node in a later definition: the version that brought it, and the attributes."""

    since: int
    attributes: list[onnx.AttributeProto]


def in_later_definitions(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model in the first opset that has later definitions of all its old operators; None if it has none."""
    entry = next((each for each in model.opset_import if not plain_domain(each.domain)), None)
    if entry is None or entry.version >= _NO_LONGER_OLD or model.functions:
        return None
    changes = _changes(model, entry.version)
    version = max((each.since for each in changes.values()), default=entry.version)
    if not changes or not _mean_the_same(model, entry.version, version):
        return None
    told = copied(model)
    for position, node in enumerate(all_nodes(told.graph.node)):
        if position in changes:
            del node.attribute[:]
            node.attribute.extend(changes[position].attributes)
    for each in told.opset_import:
        if not plain_domain(each.domain):
            each.version = version
    return told


def _changes(model: onnx.ModelProto, version: int) -> dict[int, _Change]:
    """The nodes that change, by their position."""
    found: dict[int, _Change] = {}
    for position, node in enumerate(all_nodes(model.graph.node)):
        later = _later(node, version)
        if later is None:
            continue
        since, dropped, adapt = later
        given = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        changed = adapt(OldNode(given, len(node.input)))
        if changed is not None:
            attributes = [each for each in node.attribute if each.name not in {*dropped, *changed}]
            attributes += [helper.make_attribute(name, value) for name, value in changed.items()]
            found[position] = _Change(since, attributes)
    return found


def _later(node: onnx.NodeProto, version: int) -> tuple[int, tuple[str, ...], Adaptation] | None:
    op = None if plain_domain(node.domain) else registry.find("", node.op_type, version)
    return None if op is None else _LATER.get((op.name, op.since_version))


def _mean_the_same(model: onnx.ModelProto, version: int, later: int) -> bool:
    """True if the nodes, those that change changed, mean the same in a later opset."""
    for node in all_nodes(model.graph.node):
        if plain_domain(node.domain):
            continue
        change = _later(node, version)
        op = registry.find("", node.op_type, version if change is None else change[0])
        if op is None:
            return False
        _, end = range_of_meaning(op)
        if end is not None and later >= end:
            return False
    return True


def _as_it_is(node: OldNode) -> Mapping[str, Any] | None:
    return {}


def _while_testing(node: OldNode) -> Mapping[str, Any] | None:
    # Later definitions have no mode for training, or another operator's.
    return {} if node.attributes.get("is_test", 0) else None


def _when_broadcasting(node: OldNode) -> Mapping[str, Any] | None:
    # Later definitions always broadcast, and align the last axes.
    return {} if node.attributes.get("broadcast", 0) and "axis" not in node.attributes else None


def _cast_by_name(node: OldNode) -> Mapping[str, Any] | None:
    dtype = DType.__members__.get(node.attributes["to"].decode(errors="replace").upper())
    return None if dtype is None else {"to": int(dtype)}


def _without_split_input(node: OldNode) -> Mapping[str, Any] | None:
    return {"axis": node.attributes.get("axis", 0)} if node.input_count == 1 else None


def _whole_power(node: OldNode) -> Mapping[str, Any] | None:
    power = node.attributes.get("p", 2.0)
    return {"p": int(power)} if power == int(power) else None


def _four_scales(node: OldNode) -> Mapping[str, Any] | None:
    return {"scales": (1.0, 1.0, node.attributes["height_scale"], node.attributes["width_scale"])}


_LATER: dict[tuple[str, int], tuple[int, tuple[str, ...], Adaptation]] = {
    ("AveragePool", 1): (7, (), _as_it_is),
    ("BatchNormalization", 1): (7, ("is_test", "consumed_inputs"), _while_testing),
    ("BatchNormalization", 6): (7, ("is_test",), _while_testing),
    ("Cast", 1): (6, ("to",), _cast_by_name),
    ("Clip", 1): (6, ("consumed_inputs",), _as_it_is),
    ("Dropout", 1): (7, ("is_test", "consumed_inputs"), _while_testing),
    ("Dropout", 6): (7, ("is_test",), _while_testing),
    ("Gemm", 1): (7, ("broadcast",), _when_broadcasting),
    ("Gemm", 6): (7, ("broadcast",), _when_broadcasting),
    ("GlobalLpPool", 1): (2, ("p",), _whole_power),
    ("Pow", 1): (7, ("broadcast",), _when_broadcasting),
    ("RNN", 1): (7, ("output_sequence",), _as_it_is),
    ("Split", 1): (2, (), _without_split_input),
    ("Upsample", 1): (7, ("height_scale", "width_scale"), _four_scales),
}
#: From this opset on all operators are those that runtimes have.
_NO_LONGER_OLD = max(since for since, _, _ in _LATER.values())

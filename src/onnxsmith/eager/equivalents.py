"""Earlier definitions of an operator that mean the same for a given call.

A new version of an operator often only allows more element types. A runtime that has not caught up with it still
has the earlier one, which gives the same result on the element types it knew. Which runtime lacks what is not
known here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from onnxsmith.eager.single_node import Call
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

#: Attributes for the earlier definition, or None when it would not mean the same.
Adaptation = Callable[[Call], Mapping[str, Any] | None]


def earlier_calls(call: Call) -> Iterator[Call]:
    """The same call by earlier definitions, the latest first, as far back as they mean the same."""
    op = call.op
    if not op.is_known or call.opset_version is not None:
        return
    attributes = call.attributes
    for since in reversed([each for each in registry.versions(op.domain, op.name) if each < call.op.since_version]):
        earlier = registry.find(op.domain, op.name, since)
        if earlier is None:
            return
        adapt = _ADAPTED.get((op.name, op.since_version, since))
        if adapt is not None:
            adapted = adapt(replace(call, op=op, attributes=attributes))
            if adapted is None:
                return
            attributes = adapted
        elif not _says_the_same(op, earlier):
            return
        if _allows(earlier, call):
            yield replace(call, op=earlier, attributes=attributes)
        op = earlier


@functools.lru_cache(maxsize=1024)
def _says_the_same(later: OperatorDef, earlier: OperatorDef) -> bool:
    """Whether two definitions differ in nothing but the element types they allow."""
    return _without_types(later) == _without_types(earlier)


def _without_types(op: OperatorDef) -> tuple[Any, ...]:
    return (
        " ".join(op.doc.split()),
        [(each.name, each.type_name, each.option, each.is_homogeneous) for each in op.inputs],
        [(each.name, each.type_name, each.option) for each in op.outputs],
        {name: (each.type, each.is_required, each.default) for name, each in op.attributes.items()},
    )


def _allows(op: OperatorDef, call: Call) -> bool:
    """Whether the definition allows the input types of a call."""
    for position, value_type in enumerate(call.input_types):
        if value_type is None or not op.inputs:
            continue
        parameter = op.inputs[min(position, len(op.inputs) - 1)]
        name = f"tensor({value_type.onnx_name})" if isinstance(value_type, DType) else value_type.onnx_name
        if parameter.types and name not in parameter.types:
            return False
    return True


def _range(call: Call) -> Mapping[str, Any] | None:
    # stash_type only matters for float16 and bfloat16, which the earlier definition does not have.
    return {name: value for name, value in call.attributes.items() if name != "stash_type"}


def _mod(call: Call) -> Mapping[str, Any] | None:
    # The later definition only adds floor-modulus of floats, and says more about special values.
    element = call.input_types[0]
    is_float = isinstance(element, DType) and element.is_float
    return call.attributes if bool(call.attributes.get("fmod", 0)) == is_float else None


def _space_to_depth(call: Call) -> Mapping[str, Any] | None:
    if call.attributes.get("mode", "DCR") != "DCR":
        return None
    return {name: value for name, value in call.attributes.items() if name != "mode"}


_ADAPTED: dict[tuple[str, int, int], Adaptation] = {
    ("Range", 27, 11): _range,
    ("Mod", 28, 13): _mod,
    ("SpaceToDepth", 28, 13): _space_to_depth,
}

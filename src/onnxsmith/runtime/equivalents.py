"""Other definitions of an operator that mean the same for a given call.

A new version of an operator often only allows more element types. A runtime that has not caught up with it still
has the earlier one, which gives the same result on the element types it knew; and one that never had the oldest
versions has a later one that can say the same. Which runtime lacks what is not known here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

from onnxsmith.runtime.single_node import Call
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
    for since in reversed(
        [each for each in registry.versions(op.domain, op.name) if each < call.op.since_version]
    ):
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


def earliest_same(op: OperatorDef, attribute_names: Set[str]) -> int:
    """The earliest version whose definition says the same as `op`, but for the element types it allows.

    On types that it does not allow, a runtime refuses it, so that nothing wrong comes of it.
    """
    since = op.since_version
    for version in reversed(
        [each for each in registry.versions(op.domain, op.name) if each < op.since_version]
    ):
        earlier = registry.find(op.domain, op.name, version)
        if earlier is None:
            break
        added = _ONLY_ADD.get((op.name, op.since_version, version))
        if not _says_the_same(op, earlier) and (added is None or added in attribute_names):
            break
        op, since = earlier, version
    return since


def later_call(call: Call) -> Call | None:
    """The same call by a later definition, for the few earliest ones that no runtime has; None for all others."""
    adapt = _LATER.get((call.op.name, call.op.since_version)) if not call.op.domain else None
    if adapt is None:
        return None
    since, dropped, change = adapt
    changes = change(call)
    later = registry.find("", call.op.name, since)
    if changes is None or later is None:
        return None
    kept = {name: value for name, value in call.attributes.items() if name not in dropped}
    return replace(call, op=later, attributes={**kept, **changes})


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


#: Definitions that only add an attribute whose default is the former meaning.
_ONLY_ADD: dict[tuple[str, int, int], str] = {
    ("Range", 27, 11): "stash_type",
    ("SpaceToDepth", 28, 13): "mode",
}

_ADAPTED: dict[tuple[str, int, int], Adaptation] = {
    ("Range", 27, 11): _range,
    ("Mod", 28, 13): _mod,
    ("SpaceToDepth", 28, 13): _space_to_depth,
}


def _as_it_is(call: Call) -> Mapping[str, Any] | None:
    return {}


def _while_testing(call: Call) -> Mapping[str, Any] | None:
    # Later definitions have no mode for training, or another operator's.
    return {} if call.attributes.get("is_test", 0) else None


def _when_broadcasting(call: Call) -> Mapping[str, Any] | None:
    # Later definitions always broadcast, and align the last axes.
    return {} if call.attributes.get("broadcast", 0) and "axis" not in call.attributes else None


def _cast_by_name(call: Call) -> Mapping[str, Any] | None:
    dtype = DType.__members__.get(str(call.attributes["to"]).upper())
    return None if dtype is None else {"to": int(dtype)}


def _without_split_input(call: Call) -> Mapping[str, Any] | None:
    return {"axis": call.attributes.get("axis", 0)} if len(call.input_types) == 1 else None


def _whole_power(call: Call) -> Mapping[str, Any] | None:
    power = call.attributes.get("p", 2.0)
    return {"p": int(power)} if power == int(power) else None


def _four_scales(call: Call) -> Mapping[str, Any] | None:
    return {"scales": (1.0, 1.0, call.attributes["height_scale"], call.attributes["width_scale"])}


_LATER: dict[tuple[str, int], tuple[int, tuple[str, ...], Adaptation]] = {
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

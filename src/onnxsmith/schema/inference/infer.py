"""The one entry point: which rule answers for a call.

Holds no rule itself; `rules/` does, one file per family of operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.call import Call, Result, Rule, UnresolvedAttribute, find_rule
from onnxsmith.schema.inference.fallback import infer_by_onnx
from onnxsmith.schema.inference.known import NOTHING, BodyOutputs, Known
from onnxsmith.schema.inference.signature import outputs_by_signature, parameter_at
from onnxsmith.types.value_types import TensorType, describe_shape

_NO_BODIES: Mapping[str, BodyOutputs] = MappingProxyType({})

_LARGEST_SIZE = 2**63 - 1
_CACHE_LIMIT = 8192
# Definitions are made once and compared by identity, so one lookup answers for every later call.
_rule_cache: dict[OperatorDef, Rule] = {}


def infer(
    op: OperatorDef,
    version: int,
    inputs: Sequence[Known | None],
    attributes: Mapping[str, Any],
    output_count: int,
    bodies: Mapping[str, BodyOutputs] = _NO_BODIES,
) -> tuple[Known, ...]:
    """Infer the types, and where possible the contents, of the `output_count` outputs of one call.

    `version` is the opset version that the call is made in. A None input is an optional one left out. `attributes`
    are Python values (arrays for tensors), without graphs: what is known of the outputs of those stands in `bodies`.

    Raises ShapeError, TensorIndexError, AttributeValueError or InferenceError where the call certainly cannot work.
    """
    answer = _rule_cache.get(op) or _find(op)
    call = Call(op, version, inputs, attributes, output_count, bodies)
    try:
        result = answer(call)
    except UnresolvedAttribute:
        result = outputs_by_signature(op, inputs, output_count)
    if result is None:
        result = infer_by_onnx(call)
    _check_sizes(call, result)
    if len(result) == output_count:
        return result
    if len(result) > output_count:
        return result[:output_count]
    return (*result, *outputs_by_signature(op, inputs, output_count)[len(result) :])


def _check_sizes(call: Call, result: Sequence[Known]) -> None:
    """Raise for an output that no tensor can be: of a negative size, or of one that no model can say."""
    for position, known in enumerate(result):
        kind = known.type
        if isinstance(kind, TensorType) and kind.shape:
            for size in kind.shape:
                if isinstance(size, int) and not 0 <= size <= _LARGEST_SIZE:
                    parameter = parameter_at(call.op.outputs, position)
                    name = f"output {position}" if parameter is None else parameter.name
                    shape = describe_shape(kind.shape)
                    raise call.shape_error(f"cannot give {name} of shape {shape}: no tensor has it")


def _find(op: OperatorDef) -> Rule:
    found = (find_rule(op) or infer_by_onnx) if op.is_known else _know_nothing
    if len(_rule_cache) >= _CACHE_LIMIT:
        _rule_cache.clear()
    _rule_cache[op] = found
    return found


def _know_nothing(call: Call) -> Result:
    return (NOTHING,) * call.output_count

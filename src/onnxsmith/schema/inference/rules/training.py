"""Optimizers: tensors that are trained, with their gradients and what is remembered of them, all of one shape."""

from __future__ import annotations

from onnxsmith.schema.inference.call import Call, Result, rule
from onnxsmith.types.value_types import shapes_differ

#: The learning rate and the count of updates come first.
_FIRST = 2


@rule("Adagrad", "Momentum", "Adam", domain="ai.onnx.preview.training")
def optimizer(call: Call) -> Result:
    """Groups of as many tensors each: the tensors, their gradients, then one or two that are remembered."""
    groups = 4 if call.op.name == "Adam" else 3
    count, rest = divmod(len(call.inputs) - _FIRST, groups)
    if rest or count < 1:
        return None
    for position in range(_FIRST + count, len(call.inputs)):
        own = _FIRST + (position - _FIRST) % count
        first, second = call.shape(own), call.shape(position)
        if shapes_differ(first, second):
            raise call.shape_error(
                f"needs one shape, not {call.described(own)} and {call.described(position)}", position
            )
    kept = [call.inputs[position] for position in range(_FIRST, _FIRST + count)]
    if any(each is None for each in kept):
        return None
    return tuple(each for each in kept if each is not None) * (groups - 1)

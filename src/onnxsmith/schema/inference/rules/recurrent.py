"""Recurrent layers: `RNN`, `GRU`, `LSTM`."""

from __future__ import annotations

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.types.value_types import Dimension, sizes_differ

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@rule("RNN", "GRU", "LSTM")
def recurrent(call: Call) -> Result:
    shape, weights, recurrence = call.shape(0), call.shape(1), call.shape(2)
    dtype = call.dtype(0, 1, 2)
    for position, given in enumerate((shape, weights, recurrence)):
        if given is not None and len(given) != 3:
            raise call.shape_error(f"needs three axes, not {call.described(position)}", position)
    directions = 2 if call.string("direction", "forward") == "bidirectional" else 1
    hidden: Dimension = call.attribute("hidden_size")
    if hidden is None and recurrence is not None:
        hidden = recurrence[2]
    if hidden is None and weights is not None:
        hidden = symbolic.floordiv(weights[1], _GATES[call.op.name])
    length, batch, features = shape if shape is not None else (None, None, None)
    taken = weights[2] if weights is not None else None
    if sizes_differ(features, taken):
        raise call.shape_error(
            f"cannot apply {call.described(1)} to {call.described(0)}: "
            f"the weights take {taken} features, the input has {features}"
        )
    if call.integer("layout", 0):
        length, batch = batch, length
        every = tensor(dtype, (batch, length, directions, hidden))
        last = tensor(dtype, (batch, directions, hidden))
    else:
        every = tensor(dtype, (length, directions, batch, hidden))
        last = tensor(dtype, (directions, batch, hidden))
    return every, last, last

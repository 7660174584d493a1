"""How single operators are run: with how many threads, with known ranks.

Nothing is run here. What an engine gets wrong is told in `facts`.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from onnxsmith.runtime.settings import usable_cores
from onnxsmith.runtime.single_node import Call
from onnxsmith.schema.definition import OperatorDef

#: Threads are per session, so a thousand sessions with many threads each would be a thousand pools. Only operators
#: that do much work per byte get more than one.
_PARALLEL = frozenset(
    """
    Attention CausalConvWithState Conv ConvInteger ConvTranspose DeformConv Einsum FlexAttention GRU Gemm If
    LSTM LinearAttention Loop MatMul MatMulInteger QLinearConv QLinearMatMul RNN Resize Scan
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
_MOST_THREADS = 4

#: ONNX Runtime's Scan insists that its body's outputs have ranks; the others have a Scan in their function body, or
#: a function body that is only written out for known ranks.
_NEED_RANKS = frozenset({"Scan", "CausalConvWithState", "FlexAttention", "LinearAttention"})


def threads_for(op: OperatorDef) -> int:
    """How many threads a session of this operator gets."""
    return min(usable_cores(), _MOST_THREADS) if op.name in _PARALLEL else 1


def needs_ranks(call: Call) -> bool:
    """True if runtimes only take this call when they know how many dimensions each input has."""
    if call.op.name in _NEED_RANKS or _counts_from_the_end(call):
        return True
    bodies = (each for each in call.attributes.values() if isinstance(each, onnx.GraphProto))
    return any(_uses(body.node, _NEED_RANKS) for body in bodies)


def _counts_from_the_end(call: Call) -> bool:
    """True if a reduction has axes as attributes that only a rank tells apart from others."""
    if call.op.domain or not call.op.name.startswith(("Reduce", "Arg")):
        return False
    axis, axes = call.attributes.get("axis", 0), call.attributes.get("axes", ())
    return axis < 0 or any(each < 0 for each in axes)


def _uses(nodes: Iterable[onnx.NodeProto], names: frozenset[str]) -> bool:
    return any(
        node.op_type in names or any(_uses(attribute.g.node, names) for attribute in node.attribute)
        for node in nodes
    )

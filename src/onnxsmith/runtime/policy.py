"""Who should run an operator, and how, where the usual answer is wrong.

Tables of facts with their reasons; nothing is run here. The backend cases in `tests/backend` are the judge of
every entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import onnx

from onnxsmith.runtime.settings import usable_cores
from onnxsmith.runtime.single_node import Call
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

#: Who to ask first, where it is not ONNX Runtime.
Preference: TypeAlias = Literal["function body", "reference"] | None

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

#: Their results hang on more than their inputs, so that a cached session is not enough.
RANDOM = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)


def threads_for(op: OperatorDef) -> int:
    """How many threads a session of this operator gets."""
    return min(usable_cores(), _MOST_THREADS) if op.name in _PARALLEL else 1


def needs_ranks(call: Call) -> bool:
    """Whether runtimes only take this call when they know how many dimensions each input has."""
    if call.op.name in _NEED_RANKS:
        return True
    bodies = (each for each in call.attributes.values() if isinstance(each, onnx.GraphProto))
    return any(_uses(body.node, _NEED_RANKS) for body in bodies)


def _uses(nodes: Iterable[onnx.NodeProto], names: frozenset[str]) -> bool:
    return any(
        node.op_type in names or any(_uses(attribute.g.node, names) for attribute in node.attribute)
        for node in nodes
    )


def preferred_source(call: Call) -> Preference:
    """Who runs this call better than ONNX Runtime does, or None."""
    if call.op.name in RANDOM and "seed" in call.attributes:
        # A session goes on where it stopped, so that the second call would give something else than the first;
        # the reference evaluator begins anew each time, with numpy's generator, which ONNX's own data uses.
        return "reference"
    rule = _PREFERRED.get(call.op.qualified_name)
    return None if rule is None else rule(call)


def _attention(call: Call) -> Preference:
    # qk_matmul_output shows masked scores, which are -inf and which ONNX Runtime gives as the lowest float. For
    # float16 it rounds intermediate results more often than the function body does.
    return "function body" if call.output_count == 4 or call.input_types[0] is DType.FLOAT16 else None


def _max_unpool(call: Call) -> Preference:
    # With output_shape, indices still refer to the inferred shape; ONNX Runtime takes them into output_shape.
    return "reference" if len(call.input_types) > 2 and call.input_types[2] is not None else None


def _roi_align(call: Call) -> Preference:
    # ONNX Runtime says of itself that "max" is computed wrongly, on stderr.
    return "reference" if call.attributes.get("mode") == "max" else None


def _tree_classifier(call: Call) -> Preference:
    # Of two classes with weights for both, ONNX Runtime takes the wrong one, and gives 0 or 1 for its label.
    labels = call.attributes.get("classlabels_int64s") or call.attributes.get("classlabels_strings") or ()
    return "reference" if len(labels) == 2 and len(set(call.attributes.get("class_ids", ()))) == 2 else None


def _always_reference(_: Call) -> Preference:
    return "reference"


_PREFERRED: dict[str, Callable[[Call], Preference]] = {
    "Attention": _attention,
    # ONNX's function body, which is all that ONNX Runtime has, draws 1 where it should draw 0.
    "Bernoulli": _always_reference,
    # Lengths that are no powers of two: ONNX Runtime's float32 is off by 1.4 at 10,007 points, numpy's by 0.0001.
    "DFT": _always_reference,
    "STFT": _always_reference,
    "MaxUnpool": _max_unpool,
    "RoiAlign": _roi_align,
    "ai.onnx.ml.TreeEnsembleClassifier": _tree_classifier,
}


def wrong_on(call: Call) -> Callable[[Sequence[Any]], bool] | None:
    """Which inputs ONNX Runtime gives a wrong result for, or dies of; None for operators that have none such."""
    if call.op.domain:
        return None
    name = call.op.name
    if name == "Resize" and call.attributes.get("coordinate_transformation_mode") == "align_corners":
        return _has_fractional_length
    if name.startswith("Reduce") or name == "Unique":
        return _is_empty  # negative axes keep their length of 0; Unique aborts the process
    if name == "Squeeze" and len(call.input_types) > 1 and call.input_types[1] is not None:
        return _has_no_axes  # an empty list of axes is no list of all axes
    if name == "Slice" and len(call.input_types) > 4 and call.input_types[4] is not None:
        return _goes_backwards_from_far
    if name in ("GlobalAveragePool", "GlobalMaxPool"):
        return _has_many_dimensions
    dtype = call.input_types[0] if call.input_types else None
    if name in ("Div", "Mod") and dtype in (DType.INT32, DType.INT64):
        return _overflows
    return None


def _is_empty(inputs: Sequence[Any]) -> bool:
    return inputs[0].size == 0


def _has_no_axes(inputs: Sequence[Any]) -> bool:
    return inputs[1].size == 0


def _goes_backwards_from_far(inputs: Sequence[Any]) -> bool:
    # An end of INT_MAX or more with a negative step: nothing lies between, but ONNX Runtime takes it for "to the
    # first element".
    return bool((inputs[4] < 0).any() and (inputs[2] >= np.iinfo(np.int32).max).any())


def _has_many_dimensions(inputs: Sequence[Any]) -> bool:
    return inputs[0].ndim > 5


def _overflows(inputs: Sequence[Any]) -> bool:
    # The lowest integer by -1: the processor traps. numpy wraps around.
    divided, divisor = inputs
    return bool((divisor == -1).any() and (divided == np.iinfo(divided.dtype).min).any())


def _has_fractional_length(inputs: Sequence[Any]) -> bool:
    # align_corners divides by the resized length less one; with a scale that length may be a fraction, which
    # ONNX Runtime rounds down (Resize-19).
    scales = inputs[2] if len(inputs) > 2 else None
    if scales is None or scales.size == 0 or scales.size > inputs[0].ndim:
        return False
    lengths = scales * inputs[0].shape[-scales.size :]
    return bool((lengths != lengths.astype(np.int64)).any())


#: What ONNX Runtime says where ONNX defines a result and it has none to give: (operator, words of its message).
_REFUSALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # An attn_mask may be shorter than the total sequence length; it is padded (Attention-24).
    ("Attention", re.compile("inconsistent total_sequence_length")),
    # A body whose results have ranks that only its values tell.
    ("Scan", re.compile("must have the shape set for all outputs")),
    # ReduceMax and ReduceMin of no booleans are False and True (ReduceMax-20).
    ("ReduceMax", re.compile("not defined for empty set with bool")),
    ("ReduceMin", re.compile("not defined for empty set with bool")),
)


def is_mere_refusal(op: OperatorDef, message: str) -> bool:
    """Whether what ONNX Runtime says about these inputs is a limit of its own and no mistake of the caller's."""
    return any(op.name == name and pattern.search(message) for name, pattern in _REFUSALS)

"""What ONNX's inference does not check, and ONNX Runtime crashes on, goes on for ever on, or answers with nonsense.

One small function per operator, from a call to a check or None; found by `tests/laws`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.runtime.memory import memory_objection
from onnxsmith.runtime.single_node import Call
from onnxsmith.types.dtypes import DType

#: From inputs to what is wrong with them, in plain words, or None.
Check: TypeAlias = Callable[[Sequence[Any]], str | None]
Rule: TypeAlias = Callable[[Call], Check | None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A check that no inputs pass, because of the attributes."""

    reason: str

    def __call__(self, inputs: Sequence[Any]) -> str:
        return self.reason


def _tfidf(call: Call) -> Check | None:
    # ONNX Runtime counts up to these without a look at the input.
    for name in ("max_skip_count", "max_gram_length", "min_gram_length"):
        value = call.attributes.get(name, 0)
        if not 0 <= value <= 1 << 16:
            return Refusal(f"{name} is {value}, not a small number")
    pool = call.attributes.get("pool_int64s") or call.attributes.get("pool_strings") or ()
    starts = call.attributes.get("ngram_counts", ())
    if list(starts) != sorted(starts) or any(not 0 <= each <= len(pool) for each in starts):
        return Refusal(f"ngram_counts must be ascending positions in the pool of {len(pool)}")
    indexes = call.attributes.get("ngram_indexes", ())
    if any(not 0 <= each <= 1 << 30 for each in indexes):
        return Refusal("ngram_indexes must not be negative, nor huge")
    lengths = [end - start for start, end in zip(starts, (*starts[1:], len(pool)), strict=False)]
    if any(length % size for size, length in enumerate(lengths, 1)):
        return Refusal("ngram_counts must leave whole n-grams")
    if sum(length // size for size, length in enumerate(lengths, 1)) != len(indexes):
        return Refusal("ngram_indexes must have one entry for each n-gram in the pool")
    return None


def _attention(call: Call) -> Check | None:
    # Divides by the numbers of heads, whatever they are.
    heads = [call.attributes[name] for name in ("q_num_heads", "kv_num_heads") if name in call.attributes]
    if any(not 1 <= each <= 1 << 31 for each in heads):
        return Refusal("q_num_heads and kv_num_heads must be positive")
    if len(heads) == 2 and heads[0] % heads[1]:
        return Refusal(f"q_num_heads, {heads[0]}, must be a multiple of kv_num_heads, {heads[1]}")

    def check(inputs: Sequence[Any]) -> str | None:
        query, key, value = inputs[0], inputs[1], inputs[2]
        if not query.ndim == key.ndim == value.ndim or query.ndim not in (3, 4):
            return f"Q, K and V must all have three or four dimensions, not {query.ndim}, {key.ndim} and {value.ndim}"
        if query.ndim == 3:
            if len(heads) < 2:
                return "q_num_heads and kv_num_heads are needed for inputs of three dimensions"
            for name, array, count in (("Q", query, heads[0]), ("K", key, heads[1]), ("V", value, heads[1])):
                if array.shape[2] % count:
                    return f"the last dimension of {name}, {array.shape[2]}, must be a multiple of its {count} heads"
        elif query.ndim == 4:
            counts = query.shape[1], key.shape[1]
            if min(counts) == 0 or counts[0] % counts[1]:
                return f"the heads of Q, {counts[0]}, must be a multiple of the heads of K, {counts[1]}"
        if 0 in key.shape or 0 in query.shape or 0 in value.shape:
            return "there is nothing to attend to"
        if key.shape[-2] != value.shape[-2] or not query.shape[0] == key.shape[0] == value.shape[0]:
            return "Q, K and V must agree in the batch, and K and V in the sequence length"
        return _past(inputs, heads)

    return check


def _past(inputs: Sequence[Any], heads: Sequence[int]) -> str | None:
    for name, past, present in zip(("past_key", "past_value"), inputs[4:6], inputs[1:3], strict=False):
        batch, length = present.shape[0], present.shape[-1]
        count = present.shape[1] if present.ndim == 4 else heads[1]
        size = length if present.ndim == 4 else length // count
        if past is not None and (past.ndim != 4 or (*past.shape[:2], past.shape[3]) != (batch, count, size)):
            return f"{name} must be of shape ({batch}, {count}, past length, {size}), not {past.shape}"
    return None


def _recurrent(call: Call) -> Check | None:
    hidden = call.attributes.get("hidden_size")
    is_batch_first = call.attributes.get("layout", 0) == 1
    if call.attributes.get("layout", 0) not in (0, 1):
        return Refusal("layout must be 0 or 1")

    def check(inputs: Sequence[Any]) -> str | None:
        x, weights, recurrence = inputs[0], inputs[1], inputs[2]
        if not x.ndim == weights.ndim == recurrence.ndim == 3:
            return "X, W and R must have three dimensions"
        if hidden is not None and hidden != recurrence.shape[2]:
            return f"hidden_size is {hidden}, but R has {recurrence.shape[2]}"
        if x.size == 0 or recurrence.size == 0:
            return "there is nothing to go through: X is empty"
        lengths = inputs[4] if len(inputs) > 4 else None
        steps = x.shape[1] if is_batch_first else x.shape[0]
        if lengths is not None and lengths.size and not 0 <= lengths.min() <= lengths.max() <= steps:
            return f"sequence_lens must be between 0 and {steps}"
        return None

    return check


def _normalization(call: Call) -> Check | None:
    axis = call.attributes.get("axis", -1)

    def check(inputs: Sequence[Any]) -> str | None:
        x = inputs[0]
        if not -x.ndim <= axis < x.ndim:
            return f"axis is {axis}, but X has {x.ndim} dimensions"
        if x.size == 0:
            return "X is empty"
        normalized = x.shape[axis % x.ndim :]
        for name, array in zip(("Scale", "B"), inputs[1:3], strict=False):
            if array is not None and not _broadcasts_to(array.shape, normalized) and array.shape != x.shape:
                return f"{name} of shape {array.shape} does not broadcast to {normalized}"
        return None

    return check


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    kept = shape[max(0, len(shape) - len(target)) :]
    if any(length != 1 for length in shape[: max(0, len(shape) - len(target))]):
        return False
    return all(one in (1, other) for one, other in zip(reversed(kept), reversed(target), strict=False))


def _roi_align(call: Call) -> Check | None:
    sizes = [call.attributes.get(name, 1) for name in ("output_height", "output_width")]
    if any(not 1 <= each <= 1 << 20 for each in sizes):
        return Refusal("output_height and output_width must be positive")
    if not 0 <= call.attributes.get("sampling_ratio", 0) <= 1 << 10:
        return Refusal("sampling_ratio must be 0 or a small positive number")

    def check(inputs: Sequence[Any]) -> str | None:
        x, rois, indices = inputs
        if x.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 4 or indices.shape != rois.shape[:1]:
            return "X must have four dimensions, rois be of shape (N, 4), batch_indices of shape (N,)"
        if indices.size and not 0 <= indices.min() <= indices.max() < x.shape[0]:
            return f"batch_indices must be between 0 and {x.shape[0] - 1}"
        if not np.isfinite(rois).all() or np.abs(rois.astype(np.float64)).max(initial=0) > 1 << 20:
            return "rois must be finite and of the size of X"
        return memory_objection((rois.shape[0], x.shape[1], *sizes), DType.FLOAT)

    return check


def _split(call: Call) -> Check | None:
    count = call.attributes.get("num_outputs", call.output_count)
    if count != call.output_count:
        return Refusal(f"num_outputs is {count}, but {call.output_count} outputs are asked for")
    return None


_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


def _einsum(call: Call) -> Check | None:
    equation = str(call.attributes.get("equation", "")).replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if not all(_TERM.fullmatch(term) for term in (*terms, right)):
        return Refusal(f"the equation {equation!r} has something else than letters, commas, '...' and '->'")
    if len(terms) != len(call.input_types):
        return Refusal(f"the equation {equation!r} has {len(terms)} terms for {len(call.input_types)} inputs")
    unknown = set(right) - set(left) - {"."}
    if unknown or any(right.count(letter) > 1 for letter in right if letter != "."):
        return Refusal(
            f"the result of the equation {equation!r} names an index twice, or one that no term has"
        )

    def check(inputs: Sequence[Any]) -> str | None:
        lengths: dict[str, int] = {}
        for term, array in zip(terms, inputs, strict=True):
            letters = term.replace("...", "")
            if len(letters) != array.ndim and ("..." not in term or len(letters) > array.ndim):
                return f"the term {term!r} is for {len(letters)} dimensions, not {array.ndim}"
            before, _, after = term.partition("...")
            pairs = [
                *zip(before, array.shape, strict=False),
                *zip(reversed(after), reversed(array.shape), strict=False),
            ]
            for letter, length in pairs:
                if lengths.setdefault(letter, length) != length:
                    if 1 not in (length, lengths[letter]):
                        return f"index {letter!r} is {lengths[letter]} and {length} long"
                    lengths[letter] = max(length, lengths[letter])
        result = right if arrow else [letter for letter in lengths if left.count(letter) == 1]
        dtype = call.input_types[0]
        if isinstance(dtype, DType) and "." not in left:
            return memory_objection(tuple(lengths[letter] for letter in result), dtype)
        return None

    return check


def _range(call: Call) -> Check | None:
    dtype = call.input_types[0]

    def check(inputs: Sequence[Any]) -> str | None:
        if any(each.size != 1 for each in inputs):
            return "start, limit and delta must be single numbers"
        start, limit, delta = (float(each.reshape(())) for each in inputs)
        if delta == 0:
            return "delta is 0"
        if not all(map(math.isfinite, (start, limit, delta))):
            return "start, limit and delta must be finite"
        count = max(0, math.ceil((limit - start) / delta))
        return memory_objection((count,), dtype) if isinstance(dtype, DType) else None

    return check


def _arg_extreme(call: Call) -> Check | None:
    axis = call.attributes.get("axis", 0)

    def check(inputs: Sequence[Any]) -> str | None:
        data = inputs[0]
        if data.size == 0 and (not -data.ndim <= axis < data.ndim or data.shape[axis] == 0):
            return f"dimension {axis} is empty, so it has neither a smallest nor a largest element"
        return None

    return check


def _convolution(call: Call) -> Check | None:
    def check(inputs: Sequence[Any]) -> str | None:
        if 0 in inputs[0].shape[1:] or 0 in inputs[1].shape:
            return "there is nothing to convolve"
        return None

    return check


def _pooling(call: Call) -> Check | None:
    # Goes through every place of the kernel, whatever the size of the input.
    sizes = [*call.attributes.get("kernel_shape", ()), *call.attributes.get("dilations", ())]
    return None if all(each <= 1 << 20 for each in sizes) else Refusal("the kernel is larger than any input")


def _transpose(call: Call) -> Check | None:
    # Larger numbers are cut to 32 bits.
    order = call.attributes.get("perm", ())
    return (
        None
        if sorted(order) == list(range(len(order)))
        else Refusal(f"perm is {order}, which is no permutation")
    )


def _gather_nd(call: Call) -> Check | None:
    count = call.attributes.get("batch_dims", 0)
    if count < 0:
        return Refusal(f"batch_dims is {count}")
    return lambda inputs: None if count < min(inputs[0].ndim, inputs[1].ndim) else f"batch_dims is {count}"


def _integer_division(call: Call) -> Check | None:
    # ONNX Runtime says so, too; the reference evaluator would give 0.
    dtype = call.input_types[1]
    if not isinstance(dtype, DType) or not dtype.is_integer:
        return None
    return lambda inputs: None if inputs[1].all() else "integer division by zero"


RULES: dict[str, Rule] = {
    "ArgMax": _arg_extreme,
    "ArgMin": _arg_extreme,
    "Attention": _attention,
    "AveragePool": _pooling,
    "Conv": _convolution,
    "ConvTranspose": _convolution,
    "Einsum": _einsum,
    "GRU": _recurrent,
    "GatherND": _gather_nd,
    "LSTM": _recurrent,
    "LayerNormalization": _normalization,
    "LpPool": _pooling,
    "MaxPool": _pooling,
    "RMSNormalization": _normalization,
    "RNN": _recurrent,
    "Range": _range,
    "RoiAlign": _roi_align,
    "Split": _split,
    "TfIdfVectorizer": _tfidf,
    "Transpose": _transpose,
    "Div": _integer_division,
    "Mod": _integer_division,
}

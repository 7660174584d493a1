"""Attention: numbers of heads that divide, outputs that the kernel gets wrong.

ONNX Runtime has a kernel since 1.23, and opset 24 since 1.24; before that it runs the operator by its definition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.runtime.function_body import body_in_place
from onnxsmith.types.dtypes import DType

_NO_HEADS = np.ones((1, 0, 2, 4), np.float32)
_MOST_HEADS = (1 << 31) - 1


@check(
    "Attention",
    "it divides by the numbers of heads, whatever they are, which ends the process",
    probe="g (float[B, H, S, D] q, float[B, K, T, D] k, float[B, K, T, D] v) => (float[B, H, S, D] y)"
    " { y = Attention(q, k, v) }",
    given={"q": np.ones((1, 3, 2, 4), np.float32), "k": _NO_HEADS, "v": _NO_HEADS},
    opset=23,
    first="1.23",
)
def has_heads(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    counts: list[int] = []
    for name in ("q_num_heads", "kv_num_heads"):
        if site.has_attribute(name):
            count = site.integer(name, 1)
            yield Requirement(1 <= count <= _MOST_HEADS, f"{name} is {count}, not a positive number")
            counts.append(count)
    has_four = terms.equal(terms.rank(0), 4)
    for position, letter in enumerate("QK"):
        some = terms.is_positive(terms.dimension(position, 1))
        yield Requirement(terms.implies(has_four, some), f"{letter} has no heads")
    for position, name in ((4, "past_key"), (5, "past_value")):
        if site.has(position):
            some = terms.is_positive(terms.dimension(position, 1))
            yield Requirement(some, f"{name} has no heads")
    has_three = terms.equal(terms.rank(0), 3)
    if len(counts) < 2:
        yield Requirement(
            terms.negated(has_three), "q_num_heads and kv_num_heads are needed for inputs of three dimensions"
        )


@rewrite(
    "Attention",
    "a mask that is shorter than the keys is refused; what it does not reach is masked",
    probe="g (float[B, H, S, D] q, float[B, H, T, D] k, float[B, H, T, D] v, bool[S, M] m) => (float[B, H, S, D] y)"
    " { y = Attention (q, k, v, m) }",
    given={
        "q": np.zeros((1, 1, 1, 2), np.float32),
        "k": np.zeros((1, 1, 2, 2), np.float32),
        "v": np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2),
        "m": np.array([[True]]),
    },
    right=[np.array([[[[0, 1]]]], np.float32)],
    opset=24,
    since=24,
    first="1.24",
)
def mask_as_long_as_the_keys(site: Site) -> bool:
    dtype, rank = site.dtype(3), site.rank(3)
    if dtype is None or rank == 0 or _shows_scores(site):
        return False
    terms, emit = Terms(site), site.emit
    total, reached = terms.dimension(1, -2), terms.dimension(3, -1)
    if site.has(4):
        past = terms.dimension(4, -2)
        if isinstance(total, int) and isinstance(past, int):
            total += past
        else:
            total = emit.op("Add", terms.name(total), terms.name(past))
    if isinstance(total, int) and isinstance(reached, int) and total <= reached:
        return False
    left = emit.op("Sub", terms.name(total), terms.name(reached))
    left = emit.op("Mul", left, emit.cast(emit.op("Greater", left, emit.constant(0)), DType.INT64))
    shape = emit.op("Shape", site.input(3))
    zeros = emit.op("Sub", shape, shape)
    ends = emit.op("Slice", zeros, emit.constant([1]), emit.constant([_MOST_HEADS]))
    pads = emit.op("Concat", zeros, ends, emit.unsqueeze(left, [0]), axis=0)
    hidden = emit.constant(0 if dtype is DType.BOOL else -np.inf, dtype)
    inputs = list(site.node.input)
    inputs[3] = emit.op("Pad", site.input(3), pads, hidden)
    site.same_node(inputs)
    return True


def _shows_scores(site: Site) -> bool:
    return site.output(3) != "" or site.dtype(0) is DType.FLOAT16


def _is_by_definition(site: Site) -> bool:
    """True if the operator's definition runs, which joins what is remembered with what comes in as it is."""
    mask = site.dtype(3) if site.has(3) else None
    return _shows_scores(site) or (mask is not None and mask.is_integer)


@check(
    "Attention",
    "with a mask of integers the definition runs, and joins keys of different batches, which reads past the end",
    probe="g (float[B, H, S, D] q, float[B, H, T, D] k, float[B, H, T, D] v, int8[S, M] m, float[C, H, P, D] a,"
    " float[E, H, P, D] b) => (float[B, H, S, D] y) { y = Attention (q, k, v, m, a, b) }",
    given={
        "q": np.ones((2, 1, 1, 2), np.float32),
        "k": np.ones((2, 1, 1, 2), np.float32),
        "v": np.ones((2, 1, 1, 2), np.float32),
        "m": np.zeros((1, 3), np.int8),
        "a": np.ones((0, 1, 2, 2), np.float32),
        "b": np.ones((2, 1, 2, 2), np.float32),
    },
    opset=23,
    first="1.24",
)
def remembered_of_the_same_batch(site: Site) -> Iterator[Requirement]:
    if not _is_by_definition(site):
        return  # the kernel compares
    terms, has_four = Terms(site), Terms(site).equal(Terms(site).rank(1), 4)
    for past, now, name in ((4, 1, "past_key"), (5, 2, "past_value")):
        if not site.has(past):
            continue
        for axis in (0, 1, 3):
            same = terms.equal(terms.dimension(past, axis), terms.dimension(now, axis))
            # Of three dimensions only the batch is where it is with four.
            holds = same if axis == 0 else terms.implies(has_four, same)
            yield Requirement(holds, f"{name} does not fit what comes in: axis {axis} has another size")


@rewrite(
    "Attention",
    "the kernel gives masked scores as the lowest float, where they are -inf, and rounds float16 more often than"
    " the definition does",
    probe="g (float[B, H, S, D] q, float[B, H, T, D] k, float[B, H, T, D] v, bool[S, T] m)"
    " => (float[B, H, S, D] y, float[B, H, T, D] a, float[B, H, T, D] b, float[B, H, S, T] scores)"
    " { y, a, b, scores = Attention <qk_matmul_output_mode = 2> (q, k, v, m) }",
    given={
        "q": np.zeros((1, 1, 1, 2), np.float32),
        "k": np.zeros((1, 1, 2, 2), np.float32),
        "v": np.ones((1, 1, 2, 2), np.float32),
        "m": np.array([[True, False]]),
    },
    right=[
        np.ones((1, 1, 1, 2), np.float32),
        np.zeros((1, 1, 2, 2), np.float32),
        np.ones((1, 1, 2, 2), np.float32),
        np.array([[[[0.0, -np.inf]]]], np.float32),
    ],
    opset=23,
    first="1.23",
)
def scores_by_definition(site: Site) -> bool:
    return _shows_scores(site) and body_in_place(site)

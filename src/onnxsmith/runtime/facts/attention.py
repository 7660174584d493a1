"""Attention: numbers of heads that divide, outputs that the kernel gets wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Check, Family, Probe, Requirement, Rewrite
from onnxsmith.runtime.function_body import body_in_place
from onnxsmith.types.dtypes import DType

FAMILY = Family()

_NO_HEADS = np.ones((1, 0, 2, 4), np.float32)
_MOST_HEADS = (1 << 31) - 1


@FAMILY.fact(
    "Attention",
    met_by=Check,
    reason="it divides by the numbers of heads, whatever they are, which ends the process",
    probe=Probe(
        "g (float[B, H, S, D] q, float[B, K, T, D] k, float[B, K, T, D] v) => (float[B, H, S, D] y)"
        " { y = Attention(q, k, v) }",
        {"q": np.ones((1, 3, 2, 4), np.float32), "k": _NO_HEADS, "v": _NO_HEADS},
        opset=23,
    ),
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
    has_three = terms.equal(terms.rank(0), 3)
    if len(counts) < 2:
        yield Requirement(
            terms.negated(has_three), "q_num_heads and kv_num_heads are needed for inputs of three dimensions"
        )


@FAMILY.fact(
    "Attention",
    met_by=Rewrite,
    reason="the kernel gives masked scores as the lowest float, where they are -inf, and rounds float16 more often than"
    " the definition does",
    probe=Probe(
        "g (float[B, H, S, D] q, float[B, H, T, D] k, float[B, H, T, D] v, bool[S, T] m)"
        " => (float[B, H, S, D] y, float[B, H, T, D] a, float[B, H, T, D] b, float[B, H, S, T] scores)"
        " { y, a, b, scores = Attention <qk_matmul_output_mode = 2> (q, k, v, m) }",
        {
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
    ),
)
def scores_by_definition(site: Site) -> bool:
    shows_scores = site.output(3) != ""
    return (shows_scores or site.dtype(0) is DType.FLOAT16) and body_in_place(site)

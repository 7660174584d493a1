"""Random numbers: what a seed means, and a function body that draws the opposite.

A seed fixes what a node gives, in every run: the numbers of numpy's `RandomState(seed)`, as in ONNX's own reference.
ONNX Runtime takes it for the state that a session begins with, so that a second run gives other numbers.
"""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Family, Probe, Refusal, Rewrite
from onnxsmith.types.dtypes import DType

FAMILY = Family()

#: Numbers that are drawn when the session is made are kept in it: 64 MB of them at the most.
_MOST_DRAWN = 1 << 24

_SEED_REASON = "a seed is the state that a session begins with, so that each run gives other numbers"


@FAMILY.fact(
    "RandomNormal",
    "RandomUniform",
    met_by=Rewrite,
    reason=_SEED_REASON,
    probe=Probe(
        "g () => (float[N] y) { y = RandomNormal <shape = [3], seed = 1.0> () }",
        {},
        right=[np.random.RandomState(1).randn(3).astype(np.float32)],  # what ONNX's reference draws
    ),
)
def drawn_beforehand(site: Site) -> bool:
    shape = site.integers("shape")
    if not has_seed(site) or not 0 <= math.prod(shape) <= _MOST_DRAWN or any(each < 0 for each in shape):
        return False
    dtype = DType(site.integer("dtype", int(DType.FLOAT)))
    state = np.random.RandomState(int(site.number("seed", 0.0)))
    if site.node.op_type == "RandomNormal":
        numbers = state.randn(*shape) * site.number("scale", 1.0) + site.number("mean", 0.0)
    else:
        low, high = site.number("low", 0.0), site.number("high", 1.0)
        numbers = state.rand(*shape) * (high - low) + low
    site.emit.cast(site.emit.constant(numbers, dtype), dtype, into=site.output(0))
    return True


def has_seed(site: Site) -> bool:
    """Whether a node has a seed that a generator takes."""
    return site.has_attribute("seed") and 0 <= site.number("seed", -1.0) < 2**32


@FAMILY.fact(
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormalLike",
    "RandomUniformLike",
    met_by=Refusal,
    reason=_SEED_REASON,
    probe=None,  # the one above
)
def drawn_anew(site: Site) -> str | None:
    if not site.has_attribute("seed"):
        return None
    if site.node.op_type == "Dropout" and not _is_training(site):
        return None
    return "with a seed ONNX Runtime gives other numbers in each run"


def _is_training(site: Site) -> bool:
    if not site.has(2):
        return False
    mode = site.constant(2)
    return mode is None or bool(mode.any())


@FAMILY.fact(
    "Bernoulli",
    met_by=Rewrite,
    reason="its definition, which is all that ONNX Runtime has, draws 1 where it should draw 0",
    since=15,
    probe=Probe(
        "g (float[N] x) => (float[N] y) { y = Bernoulli(x) }",
        {"x": np.zeros(8, np.float32)},
        right=[np.zeros(8, np.float32)],
    ),
)
def below_the_probability(site: Site) -> bool:
    dtype = site.dtype(0)
    if dtype is None:
        return False
    emit = site.emit
    drawn = emit.op("RandomUniformLike", site.input(0), dtype=int(DType.FLOAT))
    chance = site.input(0) if dtype is DType.FLOAT else emit.cast(site.input(0), DType.FLOAT)
    result = DType(site.integer("dtype", int(dtype)))
    emit.cast(emit.op("Less", drawn, chance), result, into=site.output(0))
    return True

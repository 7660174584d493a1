"""Normalizations: what they write into, which attributes they lose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.types.dtypes import DType


@rewrite(
    "BatchNormalization",
    "in training, the new mean and variance are written over the old ones, which may be the caller's own arrays",
    probe="g (int64 n, bool t, float[N, C] x, float[C] o, float[C] m) => (float[A, C] z) {"
    " z = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[C] e) { d = Identity(c)"
    " y, p, q = BatchNormalization <training_mode = 1, momentum = 0.5> (x, o, o, m, o) e = Neg(p) }> }",
    given={
        "n": np.array(2),
        "t": np.array(True),
        "x": np.zeros((2, 1), np.float32),
        "o": np.ones(1, np.float32),
        "m": np.ones(1, np.float32),
    },
    right=[np.full((2, 1), -0.5, np.float32)],
    opset=15,
    since=14,
    is_ordinary=True,
)
def statistics_of_its_own(site: Site) -> bool:
    if site.integer("training_mode", 0) != 1 or not (site.has(3) and site.has(4)):
        return False
    # One part joined is a copy that no optimizer takes out; Identity shares memory.
    copies = [site.emit.op("Concat", site.input(position), axis=0) for position in (3, 4)]
    site.same_node([*site.node.input[:3], *copies])
    return True


_DEFAULT_AXES = (0, 2, 3)
#: Added to the deviation, as ONNX defines the operator.
_EPSILON = 1e-9


@rewrite(
    "MeanVarianceNormalization",
    "there is no kernel for DOUBLE, and the constants of its definition are FLOAT, which do not fit",
    probe="g (double[A, B] x) => (double[A, B] y) { y = MeanVarianceNormalization <axes = [0, 1]> (x) }",
    given={"x": np.array([[1.0, 3.0]])},
    right=[np.array([[-1.0, 1.0]])],
    since=9,
    dtypes=(DType.DOUBLE,),
)
def defined_in_double(site: Site) -> bool:
    if site.dtype(0) is not DType.DOUBLE:
        return False
    emit, x, axes = site.emit, site.input(0), site.integers("axes", _DEFAULT_AXES)
    mean = emit.reduce("Mean", x, axes, keepdims=True)
    centred = emit.op("Sub", x, mean)
    # E[(x - m)²], which is E[x²] - m² without its cancellation: that may come out below zero.
    variance = emit.reduce("Mean", emit.op("Mul", centred, centred), axes, keepdims=True)
    deviation = emit.op("Add", emit.op("Sqrt", variance), emit.constant(_EPSILON, DType.DOUBLE))
    emit.op("Div", centred, deviation, into=site.output(0))
    return True


@rewrite(
    "MeanVarianceNormalization",
    "in a function, axes that are left out are not there, instead of their default",
    since=9,
    # No probe: a probe has no functions; the fuzz of the laws has
)
def axes_written_out(site: Site) -> bool:
    if site.has_attribute("axes"):
        return False
    site.same_node(list(site.node.input), changed={"axes": _DEFAULT_AXES})
    return True


@check(
    "MeanVarianceNormalization",
    "axes are cut to 32 bits",
    probe="g (float[A, B, C, D] x) => (float[A, B, C, D] y)"
    " { y = MeanVarianceNormalization <axes = [1099511627776, -1]> (x) }",
    given={"x": np.ones((3, 3, 3, 1), np.float32)},
    since=9,
)
def axes_are_no_longer_than_32_bits(site: Site) -> Iterator[Requirement]:
    axes = site.integers("axes", _DEFAULT_AXES)
    yield Requirement(all(abs(axis) < 1 << 31 for axis in axes), f"axes are {list(axes)}")

"""Rows that are scaled to a length."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.types.dtypes import DType

#: The smallest ordinary float32: a row of zeros is divided by it.
_SMALLEST = float(np.finfo(np.float32).tiny)


@rewrite(
    "Normalizer",
    "by the L2 norm it loses the signs where it writes its result over its input",
    probe="g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] before, float[2, 2] scaled>"
    ' { before = Neg(x) scaled = ai.onnx.ml.Normalizer <norm = "L2"> (before) y = Neg(scaled) }',
    given={"x": np.array([[3.0, -4.0], [0.0, 0.0]], np.float32)},
    right=[np.array([[0.6, -0.8], [0.0, 0.0]], np.float32)],
    domains={"ai.onnx.ml": 3},
    domain="ai.onnx.ml",
    is_ordinary=True,
)
def loses_signs(site: Site) -> bool:
    # The last of one or two axes; the operator takes no more.
    if site.text("norm", "MAX") != "L2" or site.rank(0) not in (None, 1, 2):
        return False
    emit, dtype = site.emit, site.dtype(0)
    value = site.input(0) if dtype is DType.FLOAT else emit.cast(site.input(0), DType.FLOAT)
    length = emit.reduce("L2", value, [-1], keepdims=True)
    emit.op("Div", value, emit.op("Max", length, emit.constant(_SMALLEST, DType.FLOAT)), into=site.output(0))
    return True

"""`op` as translations call it: `algorithms.operators.op`."""

from __future__ import annotations

from onnxsmith.algorithms.operators import op as op

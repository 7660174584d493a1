"""`op` as translations call it: `algorithms.operators.op`, whose calls may have any number of results."""

from __future__ import annotations

from typing import Any

from onnxsmith.algorithms import operators

op: Any = operators.op
